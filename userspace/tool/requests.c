// SPDX-License-Identifier: GPL-2.0-only
/*
 * Requests to block devices, from block_rq_insert, block_rq_issue and block_rq_complete.
 *
 * A request is known by its device and where on it it begins.  It may be done piece by piece: then
 * what is left begins where the piece has ended.
 */
#include <errno.h>
#include <stdlib.h>
#include <string.h>
#include "map.h"
#include "requests.h"

enum role { ROLE_NONE, ROLE_INSERT, ROLE_ISSUE, ROLE_COMPLETE };

enum { DEV, SECTOR, SECTORS, BYTES, KIND, ERROR, FIELDS };

struct plan {
	enum role role;
	const struct tb_format_field *fields[FIELDS];
};

/* @open: it was issued; @at, @left: what is not done yet */
struct pending {
	struct request request;
	uint64_t inserted, losses;
	uint64_t at, left;
	bool is_inserted, open;
};

struct requests {
	void (*each)(void *context, const struct request *request);
	void *context;
	uint64_t losses, last;
	struct map pending;
	struct plan plans[];
};

static enum role role_of(const struct tb_format *format)
{
	if (strcmp(format->system, "block"))
		return ROLE_NONE;
	return !strcmp(format->name, "block_rq_insert") ? ROLE_INSERT :
	       !strcmp(format->name, "block_rq_issue") ? ROLE_ISSUE :
	       !strcmp(format->name, "block_rq_complete") ? ROLE_COMPLETE :
	       ROLE_NONE;
}

bool requests_wants(const struct tb_format *format)
{
	return role_of(format) != ROLE_NONE;
}

struct requests *requests_open(const struct tb_trace *trace,
			       void (*each)(void *context, const struct request *request),
			       void *context)
{
	static const char *const names[] = {
		"dev", "sector", "nr_sector", "bytes", "rwbs", "error",
	};
	unsigned int count = tb_trace_formats(trace), i, k;
	struct requests *requests;
	const struct tb_format *format;
	struct plan *plan;

	requests = calloc(1, sizeof(*requests) +
			     count * sizeof(requests->plans[0]));
	if (!requests)
		return NULL;
	requests->each = each;
	requests->context = context;
	for (i = 0; i < count; i++) {
		format = tb_trace_format_at(trace, i);
		plan = &requests->plans[i];
		for (k = 0; k < FIELDS; k++)
			plan->fields[k] = tb_format_field(format, names[k]);
		if (plan->fields[DEV] && plan->fields[SECTOR])
			plan->role = role_of(format);
	}
	return requests;
}

void requests_close(struct requests *requests)
{
	if (!requests)
		return;
	map_free(&requests->pending, free);
	free(requests);
}

static uint64_t number(const struct tb_view *view, const struct plan *plan,
		       unsigned int which)
{
	uint64_t value = 0;

	if (plan->fields[which])
		tb_field_u64(view, plan->fields[which], &value);
	return value;
}

static uint64_t key_of(uint32_t device, uint64_t sector)
{
	return sector ^ device * 0x9e3779b97f4a7c15ull;
}

/* The place of a request that begins there; NULL: ENOMEM */
static struct pending *place(struct requests *requests, uint32_t device,
			     uint64_t sector)
{
	void **slot = map_at(&requests->pending, key_of(device, sector));

	if (slot && !*slot)
		*slot = calloc(1, sizeof(struct pending));
	return slot ? *slot : NULL;
}

static void end(struct requests *requests, struct pending *pending, uint64_t ns,
		bool done)
{
	pending->request.done = ns;
	pending->request.whole = done && pending->losses == requests->losses;
	pending->open = pending->is_inserted = false;
	requests->each(requests->context, &pending->request);
}

static void issue(struct requests *requests, struct pending *pending,
		  const struct plan *plan, const struct tb_view *view, uint64_t ns)
{
	struct request *request = &pending->request;
	const char *text;
	size_t length;

	if (pending->open)
		end(requests, pending, request->issued, false);
	memset(request, 0, sizeof(*request));
	request->issued = ns;
	request->device = (uint32_t)number(view, plan, DEV);
	request->sector = number(view, plan, SECTOR);
	request->sectors = number(view, plan, SECTORS);
	request->bytes = number(view, plan, BYTES);
	request->cpu = view->cpu;
	request->tid = view->tid;
	if (plan->fields[KIND] &&
	    !tb_field_str(view, plan->fields[KIND], &text, &length))
		memcpy(request->kind, text, length < REQUEST_KIND_MAX ? length :
		       REQUEST_KIND_MAX - 1);
	request->has_queued = pending->is_inserted &&
			      pending->losses == requests->losses;
	if (request->has_queued)
		request->queued = ns - pending->inserted;
	pending->is_inserted = false;
	pending->losses = requests->losses;
	pending->at = request->sector;
	pending->left = request->sectors;
	pending->open = true;
}

/* It is over: of each place where requests have begun only the number stays in memory */
static void drop(struct requests *requests, struct pending *pending)
{
	void **slot = map_at(&requests->pending,
			     key_of(pending->request.device, pending->at));

	if (slot)
		*slot = NULL;
	free(pending);
}

/* What of it is left begins further on */
static int move_on(struct requests *requests, struct pending *pending,
		   uint64_t sectors)
{
	struct pending *rest;

	rest = place(requests, pending->request.device, pending->at + sectors);
	pending = map_get(&requests->pending,
			  key_of(pending->request.device, pending->at));
	if (!rest)
		return -ENOMEM;
	*rest = *pending;
	rest->at += sectors;
	rest->left -= sectors;
	drop(requests, pending);
	return 0;
}

static int complete(struct requests *requests, const struct plan *plan,
		    const struct tb_view *view, uint64_t ns)
{
	uint32_t device = (uint32_t)number(view, plan, DEV);
	uint64_t sector = number(view, plan, SECTOR);
	uint64_t sectors = number(view, plan, SECTORS);
	struct pending *pending;
	int64_t error = 0;

	pending = map_get(&requests->pending, key_of(device, sector));
	if (!pending || !pending->open || pending->request.device != device ||
	    pending->at != sector)
		return 0;
	if (plan->fields[ERROR])
		tb_field_s64(view, plan->fields[ERROR], &error);
	if (!error && sectors && sectors < pending->left)
		return move_on(requests, pending, sectors);
	pending->request.error = error;
	end(requests, pending, ns, true);
	drop(requests, pending);
	return 0;
}

int requests_take(struct requests *requests, const struct tb_view *view, uint64_t ns)
{
	const struct plan *plan;
	struct pending *pending;

	if (ns > requests->last)
		requests->last = ns;
	if (view->kind == TB_VIEW_LOST) {
		requests->losses++;
		return 0;
	}
	if (view->kind != TB_VIEW_EVENT || !view->format)
		return 0;
	plan = &requests->plans[view->format->index];
	if (plan->role == ROLE_NONE)
		return 0;
	if (plan->role == ROLE_COMPLETE)
		return complete(requests, plan, view, ns);
	pending = place(requests, (uint32_t)number(view, plan, DEV),
			number(view, plan, SECTOR));
	if (!pending)
		return -ENOMEM;
	if (plan->role == ROLE_ISSUE) {
		issue(requests, pending, plan, view, ns);
	} else if (!pending->open) {
		pending->is_inserted = true;
		pending->inserted = ns;
		pending->losses = requests->losses;
	}
	return 0;
}

void requests_finish(struct requests *requests)
{
	struct pending *pending;
	size_t i;

	for (i = 0; i < requests->pending.nr_slots; i++) {
		pending = requests->pending.slots[i].value;
		if (pending && pending->open)
			end(requests, pending, requests->last, false);
	}
}
