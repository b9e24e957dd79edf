// SPDX-License-Identifier: GPL-2.0-only
/*
 * tracebuf export - records of programs in FXT.
 *
 * Slices are drawn on the track of the thread that wrote them, among its system calls, where they
 * must be nested.  So two kinds of slices are asynchronous events, with the writer as correlation
 * id: those of another writer of the thread while the first has open slices, and those of unknown
 * threads.  Slices in one record can overlap, and each gets a correlation id of its own.  Ends
 * without a beginning are left out.  A loss of records ends all open slices of the writer.
 */
#include <errno.h>
#include <inttypes.h>
#include <stdlib.h>
#include <string.h>
#include "tool/command/command.h"
#include "tool/show/slots.h"
#include "fxt.h"
#include "tool/show/user_writers.h"

#define FLOWS_MAX	(1u << 16)

/**
 * struct writer - a writer of a program
 * @drawing: it draws on the track of its thread, else asynchronously
 * @on_track: number of its open slices on that track
 * @beyond: number of its open slices deeper than SLICE_DEPTH_MAX, which were written as instants
 * @own: open asynchronous slices
 * @endless: open slices in one record, the program of which did not say when they end
 */
struct writer {
	bool drawing;
	uint32_t on_track, beyond;
	struct fxt_opens own, endless;
};

/* Correlation ids of slices in one record are beyond those of writers */
#define SLICE_IDS	(1ull << 32)

struct fxt_user {
	struct fxt_threads *threads;
	struct fxt_out *out;
	struct slots writers;
	uint64_t *flows;		/* flows that have begun: id + 1, by hash */
	uint64_t unmatched, deep, cut, nr_slices;
	struct fxt_name *value, *data, *text, *mark, *note, *tracebuf, *lost, *records,
			*at_most, *cause, *flow, *none;
};

struct fxt_user *fxt_user_open(struct fxt_threads *threads)
{
	struct fxt_user *user = calloc(1, sizeof(*user));
	struct fxt_out *out = threads->out;

	if (!user)
		return NULL;
	user->threads = threads;
	user->out = out;
	user->value = fxt_name(out, "value", 5);
	user->data = fxt_name(out, "data", 4);
	user->text = fxt_name(out, "text", 4);
	user->mark = fxt_name(out, "mark", 4);
	user->note = user->tracebuf = fxt_name(out, "tracebuf", 8);
	user->lost = fxt_name(out, "tracebuf_lost", 13);
	user->records = fxt_name(out, "records", 7);
	user->at_most = fxt_name(out, "records at most", 15);
	user->cause = fxt_name(out, "cause", 5);
	user->flow = fxt_name(out, "flow", 4);
	user->none = fxt_name(out, "user", 4);
	return user;
}

static void free_writer(void *at)
{
	struct writer *writer = at;

	free(writer->own.list);
	free(writer->endless.list);
	free(writer);
}

void fxt_user_close(struct fxt_user *user)
{
	if (!user)
		return;
	slots_free(&user->writers, free_writer);
	free(user->flows);
	free(user);
}

void fxt_user_note(const struct fxt_user *user)
{
	user_slices_note(user->unmatched, user->deep, 0);
	if (user->cut)
		fprintf(stderr, "%" PRIu64 " records were too long: texts cut off, arguments left out\n",
			user->cut);
}

/* ---- writers and their tracks ---- */

void fxt_user_popped(void *context, const struct fxt_open *open)
{
	struct fxt_user *user = context;
	struct writer *writer;

	if (open->kind != FXT_OPEN_BEGIN)
		return;
	writer = user->writers.list[open->id];
	writer->on_track--;
}

/* Let the writer draw on the track of its thread, unless another one draws there now */
static void choose_track(struct fxt_user *user, struct writer *writer,
			 struct fxt_thread *thread, const struct tb_user *record)
{
	const struct writer *owner;

	if (writer->on_track || writer->own.count)
		return;
	writer->drawing = false;
	if (!record->tid)
		return;
	owner = thread->owner ? user->writers.list[thread->owner - 1] : NULL;
	if (owner && owner != writer && owner->on_track)
		return;
	thread->owner = record->writer + 1;
	writer->drawing = true;
}

/* ---- arguments ---- */

static void put_arg(struct fxt_user *user, const struct tb_user_arg *arg)
{
	struct fxt_name *name = fxt_name(user->out, arg->name, strlen(arg->name));

	switch (arg->type) {
	case TB_ARG_S64:
		fxt_arg_signed(user->out, name, arg->value.s64);
		break;
	case TB_ARG_DOUBLE:
		fxt_arg_double(user->out, name, arg->value.f64);
		break;
	case TB_ARG_POINTER:
		fxt_arg_pointer(user->out, name, arg->value.u64);
		break;
	case TB_ARG_TEXT:
		fxt_arg_text(user->out, name, arg->text, strlen(arg->text));
		break;
	default:
		fxt_arg_unsigned(user->out, name, arg->value.u64);
	}
}

static uint32_t nr_args(const struct tb_user *record)
{
	return record->nr_args + (record->type == TB_REC_SIMPLE) +
	       (record->type == TB_REC_EVENT) + (record->type == TB_REC_MARK) +
	       !!(record->flags & TB_USER_CLAMPED) + !!(record->flags & TB_USER_NO_TIME);
}

/* Write values, data, flags and arguments of @record */
static void put_args(struct fxt_user *user, const struct tb_user *record)
{
	char digits[EXPORT_TEXT_MAX + 1];
	uint32_t i;

	if (record->type == TB_REC_SIMPLE)
		fxt_arg_unsigned(user->out, user->value, record->value.u64);
	if (record->type == TB_REC_EVENT)
		fxt_arg_text(user->out, user->data, digits,
			     export_bytes(record->data, record->data_bytes, digits));
	if (record->type == TB_REC_MARK)
		fxt_arg_text(user->out, user->text, record->data,
			     strnlen(record->data, record->data_bytes));
	if (record->flags & TB_USER_CLAMPED)
		fxt_arg_text(user->out, user->note, "impossible time", 15);
	if (record->flags & TB_USER_NO_TIME)
		fxt_arg_text(user->out, user->note, "unknown clock", 13);
	for (i = 0; i < record->nr_args; i++)
		put_arg(user, &record->args[i]);
}

/*
 * ---- flows ----
 *
 * A flow binds to the slice around it, so an instant with a flow is a slice without duration.
 */

/*
 * Return true if the flow has begun before, and note that it has, or that it @ends.  Flows share
 * slots of the table: one that was forgotten begins again.
 */
static bool flow_begun(struct fxt_user *user, uint64_t flow, bool ends)
{
	uint64_t *slot = &user->flows[flow * 0x9e3779b97f4a7c15ull >> 48];
	bool begun = *slot == flow + 1;

	*slot = ends ? begun ? 0 : *slot : flow + 1;
	return begun;
}

static int put_flow(struct fxt_user *user, struct fxt_thread *thread,
		    const struct tb_user *record, uint64_t ns, struct fxt_name *category)
{
	bool ends = record->flags & TB_USER_FLOW_END;
	enum fxt_event_type type;

	if (!(record->flags & TB_USER_FLOW))
		return 0;
	if (!user->flows)
		user->flows = calloc(FLOWS_MAX, sizeof(*user->flows));
	if (!user->flows)
		return -ENOMEM;
	type = flow_begun(user, record->flow, ends) ? FXT_FLOW_STEP : FXT_FLOW_BEGIN;
	fxt_event(user->threads, thread, ends ? FXT_FLOW_END : type, ns, category,
		  user->flow, 0);
	fxt_record_end(user->out, &record->flow);
	return 0;
}

/* ---- records ---- */

/* A record, and where and when it is drawn */
struct drawn {
	const struct tb_user *record;
	struct writer *writer;
	struct fxt_thread *thread;
	struct fxt_name *category, *name;
	uint64_t ns, end_ns;
};

static void put_record(struct fxt_user *user, const struct drawn *drawn,
		       enum fxt_event_type type, const uint64_t *last)
{
	fxt_event(user->threads, drawn->thread, type, drawn->ns, drawn->category,
		  drawn->name, nr_args(drawn->record));
	put_args(user, drawn->record);
	fxt_record_end(user->out, last);
	user->cut += user->out->cut;
}

static void put_bare(struct fxt_user *user, const struct drawn *drawn,
		     enum fxt_event_type type, uint64_t ns, struct fxt_name *category,
		     struct fxt_name *name, const uint64_t *last)
{
	fxt_event(user->threads, drawn->thread, type, ns, category, name, 0);
	fxt_record_end(user->out, last);
}

static int put_instant(struct fxt_user *user, const struct drawn *drawn)
{
	const uint64_t id = drawn->record->writer + 1ull;
	int result;

	if (!(drawn->record->flags & TB_USER_FLOW)) {
		/* an instant inside an asynchronous slice is asynchronous, too */
		if (drawn->writer->own.count)
			put_record(user, drawn, FXT_ASYNC_INSTANT, &id);
		else
			put_record(user, drawn, FXT_INSTANT, NULL);
		return 0;
	}
	put_record(user, drawn, FXT_BEGIN, NULL);
	result = put_flow(user, drawn->thread, drawn->record, drawn->ns, drawn->category);
	put_bare(user, drawn, FXT_END, drawn->ns, drawn->category, drawn->name, NULL);
	return result;
}

/* Write a slice in one record.  If the program did not say its end, a loss of records ends it */
static int put_slice(struct fxt_user *user, const struct drawn *drawn)
{
	const struct fxt_open entry = {
		.kind = FXT_OPEN_BEGIN, .id = ++user->nr_slices, .ns = drawn->ns,
		.category = drawn->category, .name = drawn->name,
	};
	const uint64_t id = SLICE_IDS + entry.id;
	int result;

	if (drawn->record->flags & TB_USER_OPEN &&
	    drawn->writer->endless.count >= SLICE_DEPTH_MAX) {
		user->deep++;
		return put_instant(user, drawn);
	}

	put_record(user, drawn, FXT_ASYNC_BEGIN, &id);
	result = put_flow(user, drawn->thread, drawn->record, drawn->ns, drawn->category);
	if (!(drawn->record->flags & TB_USER_OPEN))
		put_bare(user, drawn, FXT_ASYNC_END, drawn->end_ns, drawn->category, drawn->name,
			 &id);
	else if (!result)
		result = fxt_push(&drawn->writer->endless, &entry);
	return result;
}

static int put_begin(struct fxt_user *user, const struct drawn *drawn)
{
	const struct tb_user *record = drawn->record;
	struct writer *writer = drawn->writer;
	struct fxt_opens *opens = writer->drawing ? &drawn->thread->opens : &writer->own;
	const struct fxt_open entry = {
		.kind = FXT_OPEN_BEGIN, .id = record->writer, .ns = drawn->ns,
		.category = drawn->category, .name = drawn->name,
	};
	const uint64_t id = record->writer + 1ull;
	int result;

	if (opens->count >= SLICE_DEPTH_MAX) {
		writer->beyond++;
		user->deep++;
		return put_instant(user, drawn);
	}
	put_record(user, drawn, writer->drawing ? FXT_BEGIN : FXT_ASYNC_BEGIN,
		   writer->drawing ? NULL : &id);
	result = put_flow(user, drawn->thread, record, drawn->ns, drawn->category);
	if (!result) {
		result = fxt_push(opens, &entry);
		writer->on_track += !result && writer->drawing;
	}
	return result;
}

/* End slices, the innermost first, until @count are open on the track or of the writer */
static void close_to(struct fxt_user *user, const struct drawn *drawn, uint32_t count)
{
	const uint64_t id = drawn->record->writer + 1ull;
	struct fxt_opens *own = &drawn->writer->own;
	const struct fxt_open *open;

	if (drawn->writer->drawing) {
		fxt_close_to(user->threads, drawn->thread, count, drawn->ns,
			     fxt_user_popped, user);
		return;
	}
	while (own->count > count) {
		open = &own->list[--own->count];
		put_bare(user, drawn, FXT_ASYNC_END, drawn->ns, open->category,
			 open->name, &id);
	}
}

static int put_slice_end(struct fxt_user *user, const struct drawn *drawn)
{
	struct writer *writer = drawn->writer;
	uint32_t at;

	if (writer->beyond) {
		writer->beyond--;
		return 0;
	}
	at = fxt_find(writer->drawing ? &drawn->thread->opens : &writer->own,
		      FXT_OPEN_BEGIN, drawn->record->writer);
	if (at)
		close_to(user, drawn, at - 1);
	else
		user->unmatched++;
	return 0;
}

static int put_counter(struct fxt_user *user, const struct drawn *drawn)
{
	const struct tb_user *record = drawn->record;
	const uint64_t id = record->producer;

	fxt_event(user->threads, drawn->thread, FXT_COUNTER, drawn->ns, drawn->category,
		  drawn->name, 1 + record->nr_args);
	if (record->flags & TB_USER_DOUBLE)
		fxt_arg_double(user->out, user->value, record->value.f64);
	else
		fxt_arg_signed(user->out, user->value, record->value.s64);
	fxt_record_end(user->out, &id);
	return 0;
}

static int put_lost(struct fxt_user *user, const struct drawn *drawn)
{
	const struct tb_user *record = drawn->record;
	struct writer *writer = drawn->writer;
	struct fxt_opens *opens = writer->drawing ? &drawn->thread->opens : &writer->own;
	uint32_t first = opens->count, i;
	const struct fxt_open *open;
	char causes[512];
	uint64_t id;

	for (i = opens->count; i > 0; i--)
		if (opens->list[i - 1].kind >= FXT_OPEN_BEGIN &&
		    opens->list[i - 1].id == record->writer)
			first = i - 1;
	close_to(user, drawn, first);
	while (writer->endless.count) {
		open = &writer->endless.list[--writer->endless.count];
		id = SLICE_IDS + open->id;
		put_bare(user, drawn, FXT_ASYNC_END, drawn->ns, open->category, open->name, &id);
	}
	writer->beyond = 0;
	lost_causes(record->cause, causes, sizeof(causes));
	fxt_lost_mark(user->out);
	fxt_event(user->threads, drawn->thread, FXT_INSTANT, drawn->ns, user->tracebuf,
		  user->lost, 2);
	fxt_arg_unsigned(user->out, record->flags & TB_USER_AT_MOST ? user->at_most :
			 user->records, record->lost);
	fxt_arg_text(user->out, user->cause, causes, strlen(causes));
	fxt_record_end(user->out, NULL);
	return 0;
}

int fxt_user_write(struct fxt_user *user, const struct tb_view *view, uint64_t ns,
		   uint64_t end_ns)
{
	const struct tb_user *record = view->user;
	struct drawn drawn = {
		.record = record, .ns = ns, .end_ns = end_ns > ns ? end_ns : ns,
		.writer = slots_get(&user->writers, record->writer,
				      sizeof(struct writer)),
		.thread = fxt_thread_of(user->threads, record->pid,
					record->tid ? record->tid : record->pid),
		.category = user->none,
		.name = user->mark,
	};

	if (!drawn.writer || !drawn.thread)
		return -ENOMEM;
	if (record->category_id)
		drawn.category = fxt_name(user->out, record->category,
					  strlen(record->category));
	if (record->type != TB_REC_MARK && view->kind != TB_VIEW_USER_LOST)
		drawn.name = fxt_name(user->out, record->name, strlen(record->name));
	choose_track(user, drawn.writer, drawn.thread, record);
	if (view->kind == TB_VIEW_USER_LOST)
		return put_lost(user, &drawn);
	switch (record->type) {
	case TB_REC_BEGIN:
		return put_begin(user, &drawn);
	case TB_REC_SLICE:
		return put_slice(user, &drawn);
	case TB_REC_END:
		return put_slice_end(user, &drawn);
	case TB_REC_COUNTER:
		return put_counter(user, &drawn);
	default:
		return put_instant(user, &drawn);
	}
}
