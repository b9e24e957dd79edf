/* SPDX-License-Identifier: GPL-2.0-only */
/*
 * A kernel in user space, for tests of writers: the other end of a channel. It accepts chunks by
 * the rules of linux/tracebuf_producer.h, and a test can make it have no room, refuse, or fail.
 *
 * fake.got has all accepted records in order, with the number of missing records before each.
 * fake.error is the first violation of the rules.
 */
#ifndef FAKE_PRODUCER_H
#define FAKE_PRODUCER_H

#include <assert.h>
#include <errno.h>
#include <pthread.h>
#include <stdio.h>
#include <stdlib.h>
#include "lib/write/arbiter.h"

struct got {
	uint32_t writer, chunk, offset, flags, cause;
	uint64_t number, missing;
	struct tb_record record;
	uint64_t words[8];		/* the first words after the record's head */
};

struct fake_writer {
	bool there;
	bool refused;			/* the last chunk, at least in part */
	bool open;			/* a part of the last chunk is still to come */
	uint32_t target, tid, flags, next_id;
	uint64_t next, received, missing;
};

struct fake {
	struct tb_endpoint endpoint;
	pthread_mutex_t lock;
	union {
		struct tb_producer_page page;
		unsigned char bytes[TB_PRODUCER_PAGE_BYTES];
	};
	unsigned char *chunks;
	uint32_t chunk_bytes, nr_chunks, no_shared;
	uint32_t *wraps, *taken_bytes, *taken_records;
	struct fake_writer *writers;	/* by id */
	char providers[TB_TARGETS_MAX][TB_PROVIDER_NAME_MAX];
	char categories[TB_CATEGORIES_MAX][TB_NAME_MAX];
	uint32_t nr_targets, nr_categories;
	struct got *got;
	size_t nr_got, room_got;
	struct tb_patch patches[1024];
	uint32_t nr_patches;
	const char *error;

	/* how the test wants it to behave */
	bool no_log;			/* count only */
	bool no_direct;			/* without TB_PRODUCER_DIRECT_PATCH */
	bool full;			/* ENOBUFS for every chunk */
	int answer;			/* for the next chunk, once */
	int fail_setup, fail_writer, fail_category, fail_target, fail_commit;
	uint32_t fits;			/* the largest chunk size that it accepts; 0: any */
	uint32_t target_is, category_is;	/* the wrong id that it returns, + 1 */
	void (*on_nap)(struct fake *fake);
	void (*on_commit)(struct fake *fake);

	/* what it has counted */
	uint64_t now, slept, naps[512];
	uint32_t nr_naps, commits, answered, closed, closed_inherited, wait;
	uint32_t largest;		/* chunks in one commit */
};

static inline struct fake *fake_of(struct tb_endpoint *endpoint)
{
	return (struct fake *)endpoint;
}

static inline void fake_wrong(struct fake *fake, const char *what)
{
	if (!fake->error)
		fake->error = what;
}

static inline struct tb_chunk *fake_chunk(struct fake *fake, uint32_t index)
{
	return (struct tb_chunk *)(fake->chunks + (size_t)index * fake->chunk_bytes);
}

static inline void fake_log(struct fake *fake, const struct got *got)
{
	if (fake->no_log)
		return;
	if (fake->nr_got == fake->room_got) {
		fake->room_got = fake->room_got ? 2 * fake->room_got : 1024;
		fake->got = realloc(fake->got, fake->room_got * sizeof(*fake->got));
		assert(fake->got);
	}
	fake->got[fake->nr_got++] = *got;
}

/*
 * Accept records of a chunk from offset @at to @end; *records: those before @at. Return an errno.
 * The program may write to @chunk meanwhile.
 */
static inline int fake_take(struct fake *fake, struct tb_chunk *chunk, uint32_t at, uint32_t end,
			    uint32_t *records)
{
	const unsigned char *data = (const unsigned char *)(chunk + 1);
	struct fake_writer *w = &fake->writers[chunk->writer];
	struct got got = {
		.writer = chunk->writer, .chunk = chunk->id, .flags = chunk->flags,
		.cause = *records ? 0 : chunk->cause,
	};
	uint64_t number = chunk->first + *records;

	if (!w->there || chunk->flags & ~TB_CHUNK_FLAGS || chunk->cause & ~TB_LOST_PRODUCER ||
	    chunk->reserved16 || chunk->reserved[0] || chunk->reserved[1] ||
	    end > fake->chunk_bytes - sizeof(*chunk) || end % 8)
		return EINVAL;
	if (number < w->next || (!*records && chunk->id < w->next_id)) {
		fake_wrong(fake, "a chunk came too late");
		return EINVAL;
	}
	if (!*records && chunk->id != w->next_id)
		fake_wrong(fake, "a chunk is missing");
	if (number > w->next && !(*records ? 0 : chunk->cause) && !w->refused)
		fake_wrong(fake, "records are missing, and there is no cause");
	if (!*records)
		w->next_id = chunk->id + 1;
	w->refused = false;
	got.missing = number - w->next;
	w->missing += got.missing;
	if (!end && got.missing) {
		got.number = number;
		fake_log(fake, &got);
	}
	while (at < end) {
		size_t more;

		memcpy(&got.record, data + at, sizeof(got.record));
		if (got.record.bytes < sizeof(got.record) || got.record.bytes % 8 ||
		    got.record.bytes > end - at || !got.record.type) {
			fake_wrong(fake, "a record is not whole");
			return EINVAL;
		}
		more = got.record.bytes - sizeof(got.record);
		memset(got.words, 0, sizeof(got.words));
		memcpy(got.words, data + at + sizeof(got.record),
		       more < sizeof(got.words) ? more : sizeof(got.words));
		got.offset = at;
		got.number = number++;
		fake_log(fake, &got);
		got.missing = got.cause = 0;
		at += got.record.bytes;
		++*records;
		w->received++;
	}
	w->next = number;
	return 0;
}

/* As the kernel frees a chunk: it has nothing published. */
static inline void fake_free_chunk(struct fake *fake, uint32_t n)
{
	struct tb_chunk *chunk = fake_chunk(fake, n);

	fake->taken_bytes[n] = fake->taken_records[n] = 0;
	fake->wraps[n] = (fake->wraps[n] + 1) & 0xffff;
	__atomic_store_n(&chunk->published, 0, __ATOMIC_RELAXED);
	__atomic_store_n(&chunk->hole, 0, __ATOMIC_RELAXED);
	__atomic_store_n(&chunk->state, TB_CHUNK_WORD(TB_CHUNK_FREE, fake->wraps[n]),
			 __ATOMIC_RELEASE);
}

static inline int fake_take_ref(struct fake *fake, struct tb_chunk_ref *ref)
{
	uint32_t published, records = 0, at = 0, state;
	struct tb_chunk *chunk;
	int result = 0;

	if (fake->no_shared ? ref->chunk || !ref->data :
	    ref->chunk >= fake->nr_chunks || ref->data) {
		fake_wrong(fake, "no such chunk");
		return EINVAL;
	}
	if (fake->no_shared) {
		chunk = (struct tb_chunk *)(uintptr_t)ref->data;
		if (TB_CHUNK_STATE(chunk->state) != TB_CHUNK_COMPLETE)
			return ESTALE;
	} else {
		chunk = fake_chunk(fake, ref->chunk);
		state = __atomic_load_n(&chunk->state, __ATOMIC_ACQUIRE);
		if (state != TB_CHUNK_WORD(TB_CHUNK_COMPLETE, fake->wraps[ref->chunk])) {
			/* a flush took it; any other state is damage, and the chunk is missing */
			if (state != TB_CHUNK_WORD(TB_CHUNK_FREE, fake->wraps[ref->chunk])) {
				fake->writers[chunk->writer].refused = true;
				fake->writers[chunk->writer].next_id = chunk->id + 1;
			}
			return ESTALE;
		}
		at = fake->taken_bytes[ref->chunk];
		records = fake->taken_records[ref->chunk];
	}
	published = __atomic_load_n(&chunk->published, __ATOMIC_ACQUIRE);
	if (fake->answer || fake->full) {
		result = fake->answer ? fake->answer : ENOBUFS;
		fake->answer = 0;
		fake->writers[chunk->writer].refused = true;
		fake->writers[chunk->writer].next_id = chunk->id + 1;
	} else {
		result = fake_take(fake, chunk, at, TB_PUBLISHED_BYTES(published), &records);
		if (!result && records != TB_PUBLISHED_RECORDS(published))
			fake_wrong(fake, "the number of records is wrong");
	}
	fake->writers[chunk->writer].open = false;
	if (!fake->no_shared) {
		if (result)
			ref->data = fake->taken_records[ref->chunk];
		fake_free_chunk(fake, ref->chunk);
	}
	return result;
}

static inline int fake_by_number(const void *a, const void *b)
{
	const struct tb_chunk *const *x = a, *const *y = b;

	if ((*x)->writer != (*y)->writer)
		return (*x)->writer < (*y)->writer ? -1 : 1;
	return (*x)->id < (*y)->id ? -1 : (*x)->id > (*y)->id;
}

/* A reader flushes: accept published records up to the first hole, and free complete chunks. */
static inline void fake_scrape(struct fake *fake)
{
	struct tb_chunk *list[1024];
	uint32_t i, count = 0;

	pthread_mutex_lock(&fake->lock);
	for (i = 0; !fake->no_shared && i < fake->nr_chunks; i++) {
		struct tb_chunk *chunk = fake_chunk(fake, i);
		uint32_t state = __atomic_load_n(&chunk->state, __ATOMIC_ACQUIRE);

		if (TB_CHUNK_STATE(state) != TB_CHUNK_FREE &&
		    TB_CHUNK_WRAP(state) == fake->wraps[i])
			list[count++] = chunk;
	}
	qsort(list, count, sizeof(*list), fake_by_number);
	for (i = 0; i < count; i++) {
		struct tb_chunk *chunk = list[i];
		uint32_t n = (uint32_t)((size_t)((unsigned char *)chunk - fake->chunks) /
					fake->chunk_bytes);
		uint32_t state = __atomic_load_n(&chunk->state, __ATOMIC_ACQUIRE);
		uint32_t published = __atomic_load_n(&chunk->published, __ATOMIC_ACQUIRE);
		uint32_t hole = __atomic_load_n(&chunk->hole, __ATOMIC_ACQUIRE);
		uint32_t end = TB_PUBLISHED_BYTES(published);

		/*
		 * Nothing after a hole. A writer may also have claimed a chunk that comes before
		 * this one after the loop above had passed it.
		 */
		if (!fake->taken_records[n] &&
		    (chunk->id != fake->writers[chunk->writer].next_id ||
		     fake->writers[chunk->writer].open))
			continue;
		if (hole && hole - 1 < end && !fake->no_direct)
			end = hole - 1;
		/* a complete, empty chunk reports the loss before it */
		if ((end > fake->taken_bytes[n] ||
		     (TB_CHUNK_STATE(state) == TB_CHUNK_COMPLETE && !published)) &&
		    fake_take(fake, chunk, fake->taken_bytes[n], end, &fake->taken_records[n]))
			continue;
		fake->taken_bytes[n] = end;
		fake->writers[chunk->writer].open = fake->taken_records[n] != 0;
		if (TB_CHUNK_STATE(state) != TB_CHUNK_COMPLETE ||
		    end != TB_PUBLISHED_BYTES(published))
			continue;
		fake->writers[chunk->writer].open = false;
		fake_free_chunk(fake, n);
	}
	pthread_mutex_unlock(&fake->lock);
}

/* ---- operations that the arbiter calls ---- */

static inline void fake_free_chunks(struct fake *fake)
{
	free(fake->chunks);
	free(fake->wraps);
	free(fake->taken_bytes);
	free(fake->taken_records);
}

static inline int fake_setup(struct tb_endpoint *endpoint, struct tb_producer_setup *setup,
			     const struct tb_producer_page **page, void **chunks)
{
	struct fake *fake = fake_of(endpoint);

	if (fake->fail_setup)
		return fake->fail_setup;
	fake->no_shared = setup->flags & TB_SETUP_NO_SHARED;
	fake->chunk_bytes = setup->chunk_bytes;
	fake->nr_chunks = setup->chunks;
	if (!fake->no_shared) {
		/* a second setup: the arbiter does not use the old memory any more */
		fake_free_chunks(fake);
		fake->chunks = calloc(setup->chunks, setup->chunk_bytes);
		fake->wraps = calloc(setup->chunks, sizeof(*fake->wraps));
		fake->taken_bytes = calloc(setup->chunks, sizeof(*fake->taken_bytes));
		fake->taken_records = calloc(setup->chunks, sizeof(*fake->taken_records));
		assert(fake->chunks && fake->wraps && fake->taken_bytes && fake->taken_records);
		*chunks = fake->chunks;
	}
	setup->features = fake->no_direct ? 0 : TB_PRODUCER_DIRECT_PATCH;
	*page = &fake->page;
	return 0;
}

static inline int fake_target(struct tb_endpoint *endpoint, struct tb_target_req *request)
{
	struct fake *fake = fake_of(endpoint);
	uint32_t i;

	if (fake->fail_target)
		return fake->fail_target;
	if (fake->fits && fake->chunk_bytes > fake->fits)
		return -EMSGSIZE;
	for (i = 0; i < fake->nr_targets; i++)
		if (!strcmp(fake->providers[i], request->provider))
			break;
	if (i == TB_TARGETS_MAX)
		return -ENOSPC;
	if (i == fake->nr_targets)
		strcpy(fake->providers[fake->nr_targets++], request->provider);
	request->target = fake->target_is ? fake->target_is - 1 : i;
	return 0;
}

static inline int fake_writer(struct tb_endpoint *endpoint, const struct tb_writer_req *request)
{
	struct fake *fake = fake_of(endpoint);
	struct fake_writer *w = &fake->writers[request->writer];
	int result = fake->fail_writer;

	pthread_mutex_lock(&fake->lock);
	if (fake->fail_writer == -ESRCH)
		fake->fail_writer = 0;
	if (!request->writer)
		fake_wrong(fake, "writer 0");
	if (!result && request->flags & TB_WRITER_GONE) {
		if (w->there)
			w->there = false;
		else
			result = -ENOENT;
	} else if (!result) {
		if (w->there)
			result = -EEXIST;
		*w = (struct fake_writer){
			.there = true, .target = request->target, .tid = request->tid,
			.flags = request->flags,
		};
	}
	pthread_mutex_unlock(&fake->lock);
	return result;
}

static inline int fake_category(struct tb_endpoint *endpoint, struct tb_category_req *request)
{
	struct fake *fake = fake_of(endpoint);
	uint32_t i;

	if (fake->fail_category)
		return fake->fail_category;
	for (i = 0; i < fake->nr_categories; i++)
		if (!strcmp(fake->categories[i], request->name))
			break;
	if (i == fake->nr_categories)
		strcpy(fake->categories[fake->nr_categories++], request->name);
	request->index = fake->category_is ? fake->category_is - 1 : i;
	return 0;
}

static inline int fake_commit(struct tb_endpoint *endpoint, struct tb_commit *commit)
{
	struct fake *fake = fake_of(endpoint);
	struct tb_chunk_ref *refs = (struct tb_chunk_ref *)(uintptr_t)commit->refs;
	const struct tb_patch *patches = (const struct tb_patch *)(uintptr_t)commit->patches;
	uint32_t i;

	if (fake->on_commit)
		fake->on_commit(fake);
	pthread_mutex_lock(&fake->lock);
	fake->commits++;
	if (fake->fail_commit) {
		pthread_mutex_unlock(&fake->lock);
		return fake->fail_commit;
	}
	if (commit->nr_refs > TB_COMMIT_MAX || commit->nr_patches > TB_COMMIT_MAX)
		fake_wrong(fake, "too much in one commit");
	if (commit->nr_refs > fake->largest)
		fake->largest = commit->nr_refs;
	for (i = 0; i < commit->nr_refs; i++)
		refs[i].result = fake_take_ref(fake, &refs[i]);
	for (i = 0; i < commit->nr_patches; i++) {
		if (!fake->writers[patches[i].writer].there)
			fake_wrong(fake, "a patch of no writer");
		if (patches[i].offset % 8 || !patches[i].value)
			fake_wrong(fake, "a patch of no hole");
		if (patches[i].chunk >= fake->writers[patches[i].writer].next_id)
			fake_wrong(fake, "a patch of a chunk that was not committed");
		if (fake->nr_patches < 1024)
			fake->patches[fake->nr_patches++] = patches[i];
	}
	if (commit->flush)
		fake->answered = commit->flush;
	pthread_mutex_unlock(&fake->lock);
	return 0;
}

static inline int fake_wait(struct tb_endpoint *endpoint, int timeout_ms)
{
	struct fake *fake = fake_of(endpoint);

	(void)timeout_ms;
	return (int)__atomic_exchange_n(&fake->wait, 0, __ATOMIC_ACQ_REL);
}

static inline uint64_t fake_now_us(struct tb_endpoint *endpoint)
{
	return __atomic_load_n(&fake_of(endpoint)->now, __ATOMIC_RELAXED);
}

static inline void fake_nap(struct tb_endpoint *endpoint, uint64_t us)
{
	struct fake *fake = fake_of(endpoint);

	pthread_mutex_lock(&fake->lock);
	if (fake->nr_naps < 512)
		fake->naps[fake->nr_naps] = us;
	fake->nr_naps++;
	fake->slept += us;
	pthread_mutex_unlock(&fake->lock);
	if (fake->on_nap)
		fake->on_nap(fake);
}

static inline void fake_close(struct tb_endpoint *endpoint)
{
	fake_of(endpoint)->closed++;
}

static inline void fake_close_inherited(struct tb_endpoint *endpoint)
{
	fake_of(endpoint)->closed_inherited++;
}

static inline void fake_init(struct fake *fake)
{
	static const struct tb_endpoint_ops ops = {
		.setup = fake_setup, .target = fake_target, .writer = fake_writer,
		.category = fake_category, .commit = fake_commit, .wait = fake_wait,
		.now_us = fake_now_us, .nap = fake_nap, .close = fake_close,
		.close_inherited = fake_close_inherited,
	};

	memset(fake, 0, sizeof(*fake));
	fake->endpoint.ops = &ops;
	pthread_mutex_init(&fake->lock, NULL);
	fake->writers = calloc(TB_WRITER_MAX + 1, sizeof(*fake->writers));
	assert(fake->writers);
	fake->page.abi = TB_PRODUCER_ABI;
	fake->page.recording = ~0u;
	fake->page.targets[0].clock = TB_CLOCK_MONO;
	fake->page.targets[0].generation = 1;
	fake->page.targets[1] = fake->page.targets[0];
}

static inline void fake_free(struct fake *fake)
{
	fake_free_chunks(fake);
	free(fake->writers);
	free(fake->got);
	pthread_mutex_destroy(&fake->lock);
}

/* The @nth accepted record of this type, from 0; NULL: there is none */
static inline const struct got *fake_got(const struct fake *fake, uint32_t type, size_t nth)
{
	size_t i;

	for (i = 0; i < fake->nr_got; i++)
		if (fake->got[i].record.type == type && !nth--)
			return &fake->got[i];
	return NULL;
}

static inline size_t fake_count(const struct fake *fake, uint32_t type)
{
	size_t i, count = 0;

	for (i = 0; i < fake->nr_got; i++)
		count += fake->got[i].record.type == type;
	return count;
}

#endif /* FAKE_PRODUCER_H */
