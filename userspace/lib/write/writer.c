// SPDX-License-Identifier: LGPL-2.1-or-later
/*
 * Writers: create and destroy them, and record what takes more than a few words.
 *
 * The inline functions of tracebuf_record.h do the frequent work.  The rare work is here: new
 * chunks, names, and lost records.  A writer numbers its records, lost ones included; the numbers
 * in a chunk have no gaps, so after a loss the writer begins another chunk.
 */
#include <errno.h>
#include <sys/syscall.h>
#include <time.h>
#include <unistd.h>
#include "arbiter.h"

#define NAMES_MAX	(1 + 2 * TB_ARGUMENTS_MAX)
_Static_assert(NAMES_MAX <= 64, "struct pending_names has a bit for each");

/* Accepts all calls and records nothing.  It is always busy, so no function writes to it. */
static const struct writer null_writer = {
	.pub = { .busy = 1, .changes = &null_writer.pub.generation },
	.handle = HANDLE_NONE,
};

uint64_t tb_clock_monotonic(void)
{
	struct timespec time;

	clock_gettime(CLOCK_MONOTONIC, &time);
	return (uint64_t)time.tv_sec * 1000000000u + (uint64_t)time.tv_nsec;
}

/* ---- making and destroying ---- */

static bool life_begin(struct tb_arbiter *arbiter)
{
	uint32_t life = shared_get(&arbiter->life);

	do {
		if (life & LIFE_SHUTDOWN)
			return false;
	} while (!shared_cas(&arbiter->life, &life, life + 1));
	return true;
}

static void life_end(struct tb_arbiter *arbiter)
{
	/* release: the writer's work, to the thread that shuts down */
	TB_STEP(&arbiter->life);
	__atomic_fetch_sub(&arbiter->life, 1, __ATOMIC_RELEASE);
}

/* Reserve an id, preferably one that was not used for long; 0: none */
static uint32_t id_new(struct tb_arbiter *arbiter)
{
	uint32_t start = shared_get(&arbiter->next_id), i, word, old;

	for (i = 0; i <= WRITERS / 32; i++) {
		word = (start / 32 + i) % (WRITERS / 32);
		old = shared_get(&arbiter->ids[word]);
		/* ids of the first word below @start are tried in the last round */
		for (;;) {
			uint32_t taken = old | (i ? 0 : (1u << start % 32) - 1);
			uint32_t id;

			if (taken == ~0u)
				break;
			id = word * 32 + (uint32_t)__builtin_ctz(~taken);
			/* pairs with the release of the thread that freed the id */
			if (shared_cas(&arbiter->ids[word], &old, old | 1u << id % 32)) {
				shared_set(&arbiter->next_id, (id + 1) % WRITERS);
				return id;
			}
		}
	}
	return 0;
}

static void writer_free(struct tb_arbiter *arbiter, struct writer *w, uint32_t id)
{
	if (id)
		/* release: the id, to the next writer that gets it */
		__atomic_fetch_and(&arbiter->ids[id / 32], ~(1u << id % 32), __ATOMIC_RELEASE);
	tb_unmap(w, sizeof(*w));
	life_end(arbiter);
}

/* Create a writer without its target; NULL: shut down, no id, or no memory */
static struct writer *writer_new(struct tb_arbiter *arbiter, uint32_t source, uint32_t full)
{
	struct writer *w;
	uint32_t id;

	if (!life_begin(arbiter))
		return NULL;
	id = id_new(arbiter);
	w = id ? tb_map(sizeof(*w)) : NULL;
	if (!w) {
		writer_free(arbiter, NULL, id);
		return NULL;
	}
	w->arbiter = arbiter;
	w->id = id;
	w->handle = HANDLE_NONE;
	w->full = full;
	w->source = source;
	w->tid = (uint32_t)syscall(SYS_gettid);
	w->pub.changes = &arbiter->revision;
	w->pub.generation = shared_get(&arbiter->revision);
	return w;
}

struct tb_writer *tb_writer_null(void)
{
	return (struct tb_writer *)(uintptr_t)&null_writer.pub;
}

struct tb_writer *tb_writer_create(struct tb_arbiter *arbiter, unsigned int target,
				   enum tb_full full)
{
	struct writer *w;

	if (!shared_get_acquire(&arbiter->bound) || target >= TB_TARGETS_MAX ||
	    full > TB_FULL_STALL_THEN_DROP || (arbiter->ever_unbound && full != TB_FULL_DROP))
		return tb_writer_null();
	w = writer_new(arbiter, TARGET_KNOWN, full);
	if (!w)
		return tb_writer_null();
	w->target = target;
	w->pub.wants = 1u << target;
	if (tb_commit_register(arbiter, w) < 0) {
		writer_free(arbiter, w, w->id);
		return tb_writer_null();
	}
	/* release: the writer, to a thread that finds it by its id */
	shared_set_release(&arbiter->writers[w->id], w);
	return &w->pub;
}

struct tb_writer *tb_writer_create_startup(struct tb_arbiter *arbiter, uint32_t reservation)
{
	struct writer *w;
	int index;

	index = tb_arbiter_reserve(arbiter, reservation);
	w = index < 0 ? NULL : writer_new(arbiter, TARGET_RESERVED, TB_FULL_DROP);
	if (!w)
		return tb_writer_null();
	w->reservation = (uint32_t)index;
	w->pub.wants = w->pub.always = ~0u;
	/* release: as in tb_writer_create() */
	shared_set_release(&arbiter->writers[w->id], w);
	return &w->pub;
}

bool tb_writer_is_null(const struct tb_writer *pub)
{
	return !writer_of(pub)->arbiter;
}

unsigned int tb_writer_id(const struct tb_writer *pub)
{
	return writer_of(pub)->id;
}

void tb_writer_read_stats(const struct tb_writer *pub, struct tb_writer_stats *stats)
{
	const struct writer *w = writer_of(pub);
	uint64_t nested = shared_get(&w->nested);

	stats->attempted = w->first + TB_PUBLISHED_RECORDS(w->pub.published) + nested;
	stats->lost = w->lost + nested;
	stats->refused = shared_get(&w->refused);
}

/* Complete the chunk and report losses; the writer stays busy, so signal handlers cannot record */
static bool writer_close(struct writer *w)
{
	if (!w->arbiter || w->forked)
		return false;
	__atomic_store_n(&w->pub.busy, 1, __ATOMIC_RELAXED);
	__atomic_signal_fence(__ATOMIC_SEQ_CST);
	tb_writer_complete(w);
	tb_writer_tell_lost(w);
	return true;
}

void tb_writer_destroy(struct tb_writer *pub)
{
	struct tb_arbiter *arbiter;
	struct writer *w;

	if (!pub || !writer_close(writer_of(pub)))
		return;
	w = writer_of(pub);
	arbiter = w->arbiter;
	tb_futex_lock_acquire(&arbiter->commit);
	tb_commit_all(arbiter, 0, false);
	/* that may have freed a chunk to report what the writer has lost */
	tb_writer_tell_lost(w);
	if (shared_get(&w->queued))
		tb_commit_all(arbiter, 0, false);
	tb_commit_leave(arbiter, w);
	tb_futex_lock_release(&arbiter->commit);
	life_end(arbiter);
}

int tb_writer_flush(struct tb_writer *pub)
{
	struct writer *w = writer_of(pub);
	int result;

	if (!writer_close(w))
		return 0;
	result = tb_arbiter_commit(w->arbiter);
	__atomic_signal_fence(__ATOMIC_SEQ_CST);
	__atomic_store_n(&pub->busy, 0, __ATOMIC_RELAXED);
	return result;
}

/* ---- what happens seldom ---- */

/* Nothing to record: make the writer usable again; returns NULL */
static struct tb_record *make_idle(struct writer *w)
{
	__atomic_signal_fence(__ATOMIC_SEQ_CST);
	__atomic_store_n(&w->pub.busy, 0, __ATOMIC_RELAXED);
	return NULL;
}

static struct tb_record *lose_record(struct writer *w, uint32_t cause)
{
	tb_writer_complete(w);
	w->first++;
	w->lost++;
	w->cause |= cause;
	return make_idle(w);
}

struct tb_record *tb_writer_nested(struct tb_writer *pub)
{
	struct writer *w = writer_of(pub);

	if (!w->arbiter)
		return NULL;
	/* atomic, because another handler may interrupt this one */
	shared_add(&w->nested, 1);
	__atomic_signal_fence(__ATOMIC_SEQ_CST);
	/* a record number is missing here, so the next record needs another chunk */
	shared_set(&pub->room, 0);
	return NULL;
}

static uint32_t name_length(const struct writer *w, const char *text)
{
	uint32_t limit = (chunk_room(w->arbiter) - 3 * (uint32_t)sizeof(struct tb_record)) / 4;

	return (uint32_t)strnlen(text, limit > 255 ? 255 : limit);
}

static uint32_t name_bytes(const struct writer *w, const char *text)
{
	return (uint32_t)sizeof(struct tb_record) + (name_length(w, text) + 7) / 8 * 8;
}

static bool is_recorded(const struct writer *w, uint32_t id)
{
	return w->pub.recorded[id % TB_WRITER_NAMES] == (w->pub.epoch | id);
}

/* Record a name in the chunk, which has room for it */
static void record_name(struct writer *w, const char *text, uint32_t id, uint32_t kind,
			uint32_t category)
{
	uint32_t length = name_length(w, text), bytes = name_bytes(w, text);
	struct tb_record *record;

	if (is_recorded(w, id))
		return;
	record = (struct tb_record *)((unsigned char *)(w->pub.chunk + 1) +
				      TB_PUBLISHED_BYTES(w->pub.published));
	memset((unsigned char *)record + bytes - 8, 0, 8);
	*record = (struct tb_record) {
		.bytes = (uint16_t)bytes,
		.type = TB_REC_NAME,
		.id = id,
		.time = (uint64_t)category << 32 | kind << 16 | length,
	};
	memcpy(record + 1, text, length);
	/* tb_record_end() of the record that needs it publishes it, too */
	w->pub.published += TB_PUBLISHED(bytes, 1);
	w->pub.recorded[id % TB_WRITER_NAMES] = w->pub.epoch | id;
}

static uint32_t category_id(const struct tb_name *name)
{
	return name->category ? shared_get(&name->category->id) : 0;
}

/* Names of a record that are not in the trace yet: bit i for name i, and for its category */
struct pending_names {
	uint64_t names, categories;
};

/*
 * Find the names that must be recorded, and return their size; without a chunk, all names.
 *
 * Call this before recording the first of them: a name that is recorded can remove another name of
 * the same record from recorded[], although the trace has both.
 */
static uint32_t find_pending_names(const struct writer *w, struct tb_name *const *names,
				   unsigned int count, struct pending_names *pending)
{
	uint32_t bytes = 0;
	unsigned int i;

	*pending = (struct pending_names){ 0 };
	for (i = 0; i < count; i++) {
		uint32_t category = category_id(names[i]);

		if (w->pub.chunk && is_recorded(w, names[i]->id))
			continue;
		pending->names |= 1ull << i;
		bytes += name_bytes(w, names[i]->text);
		if (category && !(w->pub.chunk && is_recorded(w, category))) {
			pending->categories |= 1ull << i;
			bytes += name_bytes(w, names[i]->category->name);
		}
	}
	return bytes;
}

/*
 * Reserve room for a record of @bytes in a chunk, after all @names that are not recorded yet.
 * The writer is busy.  NULL: the record is not wanted, or lost.
 */
static struct tb_record *reserve_record(struct writer *w, struct tb_name *const *names,
					unsigned int count, uint32_t bytes)
{
	struct tb_category *category = count ? names[0]->category : NULL;
	struct pending_names pending;
	uint32_t cause;
	unsigned int i;

	if (shared_get(&w->forked))
		return make_idle(w);
	if (category && tb_category_is_unknown(category)) {
		tb_category_attach(w->arbiter, category);
		if (!tb_category_wanted(category, &w->pub))
			return make_idle(w);
	}
	for (i = 0; i < count; i++)
		tb_name_id(names[i]);
	if (w->pub.chunk && (!shared_get(&w->pub.room) ||
			     shared_get(w->pub.changes) != w->pub.generation))
		tb_writer_complete(w);
	if (w->pub.chunk && TB_PUBLISHED_BYTES(w->pub.published) + bytes +
	    find_pending_names(w, names, count, &pending) > chunk_room(w->arbiter))
		tb_writer_complete(w);
	if (!w->pub.chunk) {
		if (bytes + find_pending_names(w, names, count, &pending) > chunk_room(w->arbiter))
			return lose_record(w, TB_LOST_OVERSIZE);
		cause = tb_writer_acquire(w, true);
		if (cause)
			return lose_record(w, cause);
	}
	find_pending_names(w, names, count, &pending);
	for (i = 0; i < count; i++) {
		uint32_t id = category_id(names[i]);

		if (pending.categories >> i & 1)
			record_name(w, names[i]->category->name, id, TB_NAME_CATEGORY, 0);
		if (pending.names >> i & 1)
			record_name(w, names[i]->text, names[i]->id, names[i]->kind, id);
	}
	return (struct tb_record *)((unsigned char *)(w->pub.chunk + 1) +
				    TB_PUBLISHED_BYTES(w->pub.published));
}

struct tb_record *tb_writer_prepare(struct tb_writer *pub, struct tb_name *name, uint32_t bytes)
{
	return reserve_record(writer_of(pub), &name, name ? 1 : 0, bytes);
}

/* ---- records that are more than a few words ---- */

void tb_put_args(struct tb_writer *pub, struct tb_name *name, enum tb_record_type type,
		 uint64_t flow, const struct tb_argument *arguments, unsigned int count)
{
	struct tb_name *names[NAMES_MAX] = { name }, *texts[TB_ARGUMENTS_MAX] = { NULL };
	struct tb_name own[TB_ARGUMENTS_MAX];
	unsigned int nr_names = 1, i;
	struct tb_record *record;
	struct tb_arg *arg;
	uint32_t bytes;

	if (shared_get(&pub->busy)) {
		tb_writer_nested(pub);
		return;
	}
	if (count > TB_ARGUMENTS_MAX)
		count = TB_ARGUMENTS_MAX;
	for (i = 0; i < count; i++) {
		names[nr_names++] = arguments[i].name;
		if (arguments[i].type == TB_ARG_TEXT) {
			texts[i] = tb_text_name((const char *)(uintptr_t)arguments[i].value,
						TB_NAME_TEXT, NULL, &own[i]);
			names[nr_names++] = texts[i];
		}
	}
	bytes = (uint32_t)(sizeof(*record) + (flow ? 8 : 0) + count * sizeof(*arg));
	shared_set(&pub->busy, 1);
	__atomic_signal_fence(__ATOMIC_SEQ_CST);
	record = reserve_record(writer_of(pub), names, nr_names, bytes);
	if (!record) {
		if (type == TB_REC_BEGIN)
			tb_slice_began(pub, name->category, false);
		return;
	}
	*record = (struct tb_record) {
		.bytes = (uint16_t)bytes,
		.type = (uint8_t)type,
		.flags = (uint8_t)((flow ? TB_REC_FLOW : 0) | (count ? TB_REC_ARGS : 0)),
		.id = name->id,
		.time = tb_clock_read(pub->clock),
	};
	arg = (struct tb_arg *)((uint64_t *)(record + 1) + (flow ? 1 : 0));
	if (flow)
		*(uint64_t *)(record + 1) = flow;
	for (i = 0; i < count; i++)
		arg[i] = (struct tb_arg) {
			.name = arguments[i].name->id,
			.type = arguments[i].type,
			.value = texts[i] ? texts[i]->id : arguments[i].value,
		};
	tb_record_end(pub, bytes);
	if (type == TB_REC_BEGIN)
		tb_slice_began(pub, name->category, true);
}

/* ---- ends ---- */

static bool is_of(uintptr_t open, const struct tb_category *category)
{
	const struct tb_category *other = (const struct tb_category *)(open & ~TB_SLICE_SILENT);

	/* two files of a program may each define a category of this name */
	return other == category || (other && category && !strcmp(other->name, category->name));
}

void tb_writer_end(struct tb_writer *pub, struct tb_category *category)
{
	uint32_t depth = shared_get(&pub->depth), at;

	if (shared_get(&pub->busy)) {
		tb_writer_nested(pub);
		return;
	}
	at = depth < TB_WRITER_OPEN ? depth : TB_WRITER_OPEN;
	for (; at && !is_of(pub->open[at - 1], category); at--)
		;
	/* also end slices in it that the program has left without an end */
	for (; at && depth >= at; depth--)
		tb_put_end(pub);
}

/* ---- slices in one record ---- */

static bool is_direct(const struct writer *w)
{
	return HANDLE_POOL(w->handle) == POOL_OWN || w->arbiter->direct_patch;
}

struct tb_slice tb_slice_begin(struct tb_writer *pub, struct tb_name *name, uint64_t flow)
{
	uint32_t bytes = (uint32_t)sizeof(struct tb_record) + (flow ? 16 : 8);
	struct tb_record *record = tb_record_begin(pub, name, bytes);
	struct writer *w = writer_of(pub);
	struct tb_slice slice = { .writer = NULL };
	uint32_t at;

	if (!record)
		return slice;
	*record = (struct tb_record) {
		.bytes = (uint16_t)bytes,
		.type = TB_REC_SLICE,
		.flags = flow ? TB_REC_FLOW : 0,
		.id = name->id,
		.time = tb_clock_read(pub->clock),
	};
	if (flow)
		*(uint64_t *)(record + 1) = flow;
	shared_set(slice_value(record), 0);
	at = TB_PUBLISHED_BYTES(pub->published);
	/* before publishing: a thread that sees the record sees that it has a hole */
	if (is_direct(w) && !w->holes++)
		shared_set(&pub->chunk->hole, at + 1);
	slice = (struct tb_slice) {
		.writer = pub,
		.began = record->time,
		.owner = OWNER(w->id, w->serial - 1),
		.chunk = w->handle,
		.offset = (uint16_t)(at + bytes - 8),
		.clock = (uint16_t)pub->clock,
	};
	tb_record_end(pub, bytes);
	return slice;
}

/* Fill a hole of the current chunk, which only this thread changes */
static void fill_current(struct writer *w, uint32_t offset, uint64_t value)
{
	struct tb_chunk *chunk = w->pub.chunk;

	shared_set((uint64_t *)((unsigned char *)(chunk + 1) + offset), value);
	if (--w->holes)
		tb_chunk_rehole(chunk, shared_get(&chunk->hole) - 1);
	else
		/* release: all values, to a thread that reads beyond the hole */
		shared_set_release(&chunk->hole, 0);
}

void tb_slice_end(struct tb_slice *slice)
{
	struct writer *w = slice->writer ? writer_of(slice->writer) : NULL;
	struct patch patch = {
		.handle = slice->chunk,
		.owner = slice->owner,
		.offset = slice->offset,
	};
	uint32_t busy;

	slice->writer = NULL;
	if (!w || shared_get(&w->forked))
		return;
	patch.value = tb_clock_read(slice->clock) - slice->began;
	/* 0 would be a hole */
	if (!patch.value)
		patch.value = 1;
	/* set busy, so that a signal handler cannot complete the chunk meanwhile */
	busy = shared_get(&w->pub.busy);
	shared_set(&w->pub.busy, 1);
	__atomic_signal_fence(__ATOMIC_SEQ_CST);
	if (!busy && w->pub.chunk && OWNER(w->id, w->serial - 1) == patch.owner && is_direct(w))
		fill_current(w, patch.offset, patch.value);
	else
		tb_patch_add(w->arbiter, &patch);
	__atomic_signal_fence(__ATOMIC_SEQ_CST);
	shared_set(&w->pub.busy, busy);
}
