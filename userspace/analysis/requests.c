// SPDX-License-Identifier: GPL-2.0-only
/*
 * Requests to block devices, from block_rq_insert, block_rq_issue and block_rq_complete.
 *
 * Device and first sector identify a request.  A device may complete it in pieces: the rest begins
 * where the completed piece ends.  If two are pending at the same place, a completion does not tell
 * which of them it ends: neither is whole.  A request that is requeued (block_rq_requeue) is not
 * pending until it is issued again.  One that is merged into another (block_rq_merge) is never
 * issued.  block.c does the same for the report, so both have the same counts.
 */
#include <errno.h>
#include <inttypes.h>
#include <search.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include "request_place.h"
#include "requests.h"
#include "spans.h"

/* No machine has as many requests pending or queued: the ends of some are missing */
#define REQUESTS_MAX 65536

enum role { ROLE_NONE, ROLE_INSERT, ROLE_MERGE, ROLE_ISSUE, ROLE_COMPLETE, ROLE_REQUEUE };

enum { DEV, SECTOR, SECTORS, BYTES, KIND, ERROR, FIELDS };

struct plan {
	enum role role;
	const struct tb_format_field *fields[FIELDS];
};

/* First member of all items of a tree */
struct place {
	uint64_t sector;
	uint32_t device;
};

/*
 * A request in a queue.
 * @ns: when it was inserted last; not valid if @requeued
 * @made: when it was inserted or issued for the first time
 * @requeued: it was requeued, and not inserted since
 */
struct waiting {
	struct place place;
	uint64_t ns, made, losses;
	bool requeued;
};

/*
 * A request that was issued.
 * @place, @left: where the part begins that is not complete, and its sectors
 * @made: when it was inserted or issued for the first time
 * @shared: another request was pending at this place
 */
struct pending {
	struct place place;
	struct request request;
	uint64_t made, left, losses;
	bool     shared;
};

/* Items of one kind, by place */
struct tree {
	void *root;
	size_t count;
};

struct requests {
	void (*each)(void *context, const struct request *request);
	void *context;
	uint64_t losses, last;
	const struct spans *missing;	/* NULL: losses are counted when the cursor shows them */
	struct tree waiting, pending;
	uint64_t made;			/* for requests_made() */
	struct plan plans[];
};

const char *disk_text(const struct tb_trace *trace, uint32_t device, char text[DISK_TEXT_MAX])
{
	const char *name = tb_trace_string(trace, TB_STRING_DISK, device);
	char number[32];

	snprintf(number, sizeof(number), "%" PRIu32 ":%" PRIu32, device >> 20, device & 0xfffff);
	snprintf(text, DISK_TEXT_MAX, name ? "%.31s (%s)" : "%s%s", name ? name : "", number);
	return text;
}

static enum role role_of(const struct tb_format *format)
{
	if (strcmp(format->system, "block"))
		return ROLE_NONE;
	return !strcmp(format->name, "block_rq_insert") ? ROLE_INSERT :
	       !strcmp(format->name, "block_rq_merge") ? ROLE_MERGE :
	       !strcmp(format->name, "block_rq_issue") ? ROLE_ISSUE :
	       !strcmp(format->name, "block_rq_complete") ? ROLE_COMPLETE :
	       !strcmp(format->name, "block_rq_requeue") ? ROLE_REQUEUE :
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
	tdestroy(requests->waiting.root, free);
	tdestroy(requests->pending.root, free);
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

/* ---- trees ---- */

static int compare(const void *one, const void *other)
{
	const struct place *a = one, *b = other;

	if (a->device != b->device)
		return a->device < b->device ? -1 : 1;
	return a->sector < b->sector ? -1 : a->sector > b->sector;
}

static void *find(const struct tree *tree, const struct place *place)
{
	void **found = tfind(place, &tree->root, compare);

	return found ? *found : NULL;
}

/* Any item, or NULL */
static void *any(const struct tree *tree)
{
	return tree->root ? *(void **)tree->root : NULL;
}

/* Remove @at, without freeing it */
static void take_out(struct tree *tree, const void *at)
{
	tdelete(at, &tree->root, compare);
	tree->count--;
}

/* Add @at, where there is no item.  Takes over @at, even on failure */
static int put_in(struct tree *tree, void *at)
{
	if (!tsearch(at, &tree->root, compare)) {
		free(at);
		return -ENOMEM;
	}
	tree->count++;
	return 0;
}

/* ---- requests ---- */

static void forget(struct tree *tree, void *at)
{
	take_out(tree, at);
	free(at);
}

void requests_missing(struct requests *requests, const struct spans *missing)
{
	requests->missing = missing;
}

/* True if events are missing between @begin, when there were @losses losses, and now, @ns */
static bool lost_since(const struct requests *requests, uint64_t losses, uint64_t begin, uint64_t ns)
{
	return requests->missing ? spans_meet(requests->missing, begin, ns) :
				   losses != requests->losses;
}

static void end_request(struct requests *requests, struct pending *pending, uint64_t ns, bool done)
{
	pending->request.done = ns;
	pending->request.whole = done && !pending->shared &&
				 !lost_since(requests, pending->losses,
					     pending->request.issued, ns);
	if (requests->each)
		requests->each(requests->context, &pending->request);
	forget(&requests->pending, pending);
}

/* End a request whose end is missing */
static void give_up(struct requests *requests, struct pending *pending)
{
	end_request(requests, pending, pending->request.issued, false);
}

/* Add a pending request, instead of another at its place.  Takes over @pending, even on failure */
static int add_pending(struct requests *requests, struct pending *pending)
{
	struct pending *before = find(&requests->pending, &pending->place);

	if (before) {
		give_up(requests, before);
		pending->shared = true;
	}
	return put_in(&requests->pending, pending);
}

/* The waiting request at @place, a new one if there is none; NULL: no memory */
static struct waiting *wait_at(struct requests *requests, const struct place *place)
{
	struct waiting *waiting = find(&requests->waiting, place);

	if (!waiting) {
		/* forget how long one of the others has waited */
		if (requests->waiting.count >= REQUESTS_MAX)
			forget(&requests->waiting, any(&requests->waiting));
		waiting = calloc(1, sizeof(*waiting));
		if (!waiting)
			return NULL;
		waiting->place = *place;
		if (put_in(&requests->waiting, waiting))
			return NULL;
	}
	return waiting;
}

static int insert(struct requests *requests, const struct place *place, uint64_t ns)
{
	struct waiting *waiting = wait_at(requests, place);

	if (!waiting)
		return -ENOMEM;
	waiting->ns = ns;
	if (!waiting->requeued) {
		waiting->made = ns;
		waiting->losses = requests->losses;
	}
	waiting->requeued = false;
	return 0;
}

/* Keep a request that the kernel will issue again, with the time of its first beginning */
static int requeue(struct requests *requests, const struct place *place, struct pending *pending)
{
	struct waiting *waiting = wait_at(requests, place);

	if (!waiting)
		return -ENOMEM;
	waiting->made = pending->made;
	waiting->losses = pending->losses;
	waiting->requeued = true;
	forget(&requests->pending, pending);
	return 0;
}

static void take_queued(struct requests *requests, struct pending *pending)
{
	struct waiting *waiting = find(&requests->waiting, &pending->place);
	struct request *request = &pending->request;

	if (!waiting)
		return;
	if (!lost_since(requests, waiting->losses, waiting->made, request->issued)) {
		pending->made = waiting->made;
		request->has_queued = !waiting->requeued;
	}
	if (request->has_queued)
		request->queued = request->issued - waiting->ns;
	forget(&requests->waiting, waiting);
}

static int issue(struct requests *requests, const struct place *place,
		 const struct plan *plan, const struct tb_view *view, uint64_t ns)
{
	struct pending *pending;
	struct request *request;
	const char *text;
	size_t length;

	if (requests->pending.count >= REQUESTS_MAX)
		give_up(requests, any(&requests->pending));
	pending = calloc(1, sizeof(*pending));
	if (!pending)
		return -ENOMEM;
	request = &pending->request;
	request->issued = pending->made = ns;
	request->device = place->device;
	request->sector = number(view, plan, SECTOR);
	request->sectors = number(view, plan, SECTORS);
	request->bytes = number(view, plan, BYTES);
	request->cpu = view->cpu;
	/* now: when the request is done, another thread may have the number */
	if (view->task)
		request->task = *view->task;
	request->task.tid = view->tid;
	if (plan->fields[KIND] &&
	    !tb_field_str(view, plan->fields[KIND], &text, &length))
		memcpy(request->kind, text, length < REQUEST_KIND_MAX ? length :
		       REQUEST_KIND_MAX - 1);
	pending->place = *place;
	pending->left = request->sectors;
	pending->losses = requests->losses;
	take_queued(requests, pending);
	return add_pending(requests, pending);
}

static int complete(struct requests *requests, struct pending *pending,
		    const struct plan *plan, const struct tb_view *view, uint64_t ns)
{
	uint64_t sectors = number(view, plan, SECTORS);
	int64_t error = 0;

	if (plan->fields[ERROR])
		tb_field_s64(view, plan->fields[ERROR], &error);
	if (!error && sectors && sectors < pending->left) {
		take_out(&requests->pending, pending);
		pending->place.sector += sectors;
		pending->left -= sectors;
		return add_pending(requests, pending);
	}
	pending->request.error = error;
	end_request(requests, pending, ns, true);
	return 0;
}

int requests_take(struct requests *requests, const struct tb_view *view, uint64_t ns)
{
	struct pending *pending;
	struct waiting *waiting;
	const struct plan *plan;
	struct place place;

	requests->made = 0;
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
	place.device = (uint32_t)number(view, plan, DEV);
	place.sector = number(view, plan, SECTOR);
	if (plan->fields[SECTORS])
		place.sector = request_place(place.sector, number(view, plan, SECTORS));
	if (plan->role == ROLE_INSERT)
		return insert(requests, &place, ns);
	if (plan->role == ROLE_MERGE) {
		waiting = find(&requests->waiting, &place);
		if (waiting)
			forget(&requests->waiting, waiting);
		return 0;
	}
	if (plan->role == ROLE_ISSUE)
		return issue(requests, &place, plan, view, ns);
	pending = find(&requests->pending, &place);
	if (!pending)
		return 0;
	requests->made = pending->shared ||
			 lost_since(requests, pending->losses, pending->made, ns) ? 0 :
			 pending->made;
	return plan->role == ROLE_COMPLETE ? complete(requests, pending, plan, view, ns) :
					     requeue(requests, &place, pending);
}

uint64_t requests_made(const struct requests *requests)
{
	return requests->made;
}

void requests_finish(struct requests *requests)
{
	struct pending *pending;

	while ((pending = any(&requests->pending)))
		end_request(requests, pending, requests->last, false);
}
