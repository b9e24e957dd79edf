// SPDX-License-Identifier: GPL-2.0-only
/*
 * Requests to block devices, from issue to completion.
 *
 * Device and first sector identify a request.  If two requests are pending at the same place, a
 * completion does not tell which of them it ends: the first one counts as open, the second as
 * uncertain.  A request that is requeued is not pending.  A device may complete a request in
 * pieces: the rest begins where the completed piece ends.
 */
#include <search.h>
#include <stdlib.h>
#include <string.h>
#include "engine.h"
#include "request_place.h"

/* No machine has as many pending requests: the ends of some are missing */
#define REQUESTS_MAX 65536

/* @sector, @left: the part that is not complete */
struct request {
	uint64_t sector, left, issued, bytes, losses;
	uint32_t dev, cpu;
	bool     of_thread;		/* the options select the thread that issued it */
	bool     shared;		/* another request was pending at this place */
	char     op;
};

static bool wants(const struct analysis *a, const struct request *request)
{
	return request->of_thread && a->total.end >= a->options.from &&
	       analysis_wants_cpu(a, request->cpu);
}

static int compare(const void *one, const void *other)
{
	const struct request *a = one, *b = other;

	if (a->dev != b->dev)
		return a->dev < b->dev ? -1 : 1;
	return a->sector < b->sector ? -1 : a->sector > b->sector;
}

/* The operation of rwbs: 'W' for "FWFS", because a flush before a write is not its purpose */
static char op_of(const struct tb_view *view, const struct plan *plan)
{
	const char *text;
	size_t length;
	char op;

	if (!plan->name || tb_field_str(view, plan->name, &text, &length) || !length)
		return 'N';
	op = text[0];
	if (op == 'F' && length > 1 && memchr("WDR", text[1], 3))
		op = text[1];
	return memchr("RWDF", op, 4) ? op : 'N';
}

static struct analysis_block *block_of(struct analysis *a, uint32_t dev, char op)
{
	struct analysis_block *block;
	size_t i;

	for (i = 0; i < a->blocks.count; i++) {
		block = a->blocks.list[i];
		if (block->dev == dev && block->op == op)
			return block;
	}
	block = listed_add(&a->blocks, sizeof(*block));
	if (block) {
		block->dev = dev;
		block->op = op;
	}
	return block;
}

static void free_request(struct analysis *a, struct request *request)
{
	tdelete(request, &a->requests, compare);
	a->nr_requests--;
	free(request);
}

/* Count a request without an end, and free it */
static int give_up(struct analysis *a, struct request *request)
{
	struct analysis_block *block = NULL;

	if (wants(a, request)) {
		block = block_of(a, request->dev, request->op);
		if (!block)
			return -1;
		block->stat.open++;
	}
	free_request(a, request);
	return 0;
}

/* Add a pending request, or fail if it is NULL.  Takes over @request, even on failure */
static int add_request(struct analysis *a, struct request *request)
{
	struct request **found = request ? tfind(request, &a->requests, compare) : NULL;

	if (found)
		request->shared = true;
	if (!request || (found && give_up(a, *found)) ||
	    !tsearch(request, &a->requests, compare)) {
		free(request);
		return -1;
	}
	a->nr_requests++;
	return 0;
}

static int issue_request(struct analysis *a, const struct request *key)
{
	struct request *request;

	if (a->nr_requests >= REQUESTS_MAX && give_up(a, *(struct request **)a->requests))
		return -1;
	request = malloc(sizeof(*request));
	if (request)
		*request = *key;
	return add_request(a, request);
}

/* The first @sectors are complete: keep the rest */
static int move_on(struct analysis *a, struct request *request, uint64_t sectors)
{
	tdelete(request, &a->requests, compare);
	a->nr_requests--;
	request->sector += sectors;
	request->left -= sectors;
	return add_request(a, request);
}

static int complete_request(struct analysis *a, struct request *request, uint64_t ns, bool failed)
{
	struct analysis_block *block;

	if (!wants(a, request))
		return 0;
	block = block_of(a, request->dev, request->op);
	if (!block)
		return -1;
	block->failed += failed;
	if (request->shared || losses_since(a, request->losses, request->issued, ns)) {
		block->stat.uncertain++;
		return 0;
	}
	block->bytes += request->bytes;
	stat_add(&block->stat, ns - request->issued);
	histogram_add(&block->histogram, ns - request->issued);
	histogram_add(&a->block_latency, ns - request->issued);
	return 0;
}

int block_take(struct analysis *a, const struct tb_view *view, const struct plan *plan)
{
	bool has_dev, has_sector, has, failed;
	struct request key = {
		.dev = (uint32_t)plan_number(view, plan->fields[BLOCK_DEV], &has_dev),
		.sector = (uint64_t)plan_number(view, plan->fields[BLOCK_SECTOR], &has_sector),
		.issued = view->ns, .losses = a->total.losses,
		.cpu = view->cpu, .op = op_of(view, plan),
		.left = (uint64_t)plan_number(view, plan->fields[BLOCK_SECTORS], &has),
	};
	struct request **found;
	int result = 0;

	if (plan->fields[BLOCK_SECTORS])
		key.sector = request_place(key.sector, key.left);
	if (!has_dev || !has_sector)
		return 0;
	if (plan->role == ROLE_ISSUE) {
		key.bytes = (uint64_t)plan_number(view, plan->fields[BLOCK_BYTES], &has);
		/* now: when the request is done, another thread may have the number */
		key.of_thread = analysis_wants_thread(a, view->tid);
		return issue_request(a, &key);
	}
	found = tfind(&key, &a->requests, compare);
	if (!found)
		return 0;
	if (plan->role == ROLE_COMPLETE) {
		failed = plan_number(view, plan->fields[BLOCK_ERROR], &has) != 0;
		if (!failed && key.left && key.left < (*found)->left)
			return move_on(a, *found, key.left);
		result = complete_request(a, *found, view->ns, failed);
	}
	free_request(a, *found);
	return result;
}

void block_end(struct analysis *a)
{
	while (a->requests) {
		struct request *request = *(struct request **)a->requests;

		if (give_up(a, request))
			free_request(a, request);
	}
}

const struct analysis_block *analysis_block(const struct analysis *a, unsigned int index)
{
	return index < a->blocks.count ? a->blocks.list[index] : NULL;
}

const struct analysis_histogram *analysis_block_latency(const struct analysis *a)
{
	return &a->block_latency;
}
