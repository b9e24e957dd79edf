// SPDX-License-Identifier: GPL-2.0-only
/*
 * See producer.h.
 */
#include <errno.h>
#include <fcntl.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/ioctl.h>
#include <sys/mman.h>
#include <unistd.h>

#include "producer.h"

static int result(int ret)
{
	return ret < 0 ? -errno : ret;
}

int producer_open_node(void)
{
	return result(open("/dev/tracebuf_producer", O_RDWR | O_CLOEXEC));
}

int producer_setup(int fd, struct tb_producer_setup *s)
{
	return result(ioctl(fd, TB_PIOC_SETUP, s));
}

static int map(struct producer *p)
{
	uint64_t offset = p->setup.chunks_offset, bytes = p->setup.map_bytes - offset;

	p->page = mmap(NULL, offset, PROT_READ, MAP_SHARED, p->fd, 0);
	if (p->page == MAP_FAILED)
		return -errno;
	if (!bytes)
		return 0;
	p->chunks = mmap(NULL, bytes, PROT_READ | PROT_WRITE, MAP_SHARED, p->fd, offset);
	return p->chunks == MAP_FAILED ? -errno : 0;
}

int producer_open(struct producer *p, const char *provider, uint32_t chunk_bytes,
		  uint32_t chunks)
{
	int ret;

	*p = (struct producer){ .setup = { .chunk_bytes = chunk_bytes, .chunks = chunks } };
	p->fd = producer_open_node();
	if (p->fd < 0)
		return p->fd;
	ret = producer_setup(p->fd, &p->setup);
	if (!ret)
		ret = map(p);
	if (!ret && provider)
		ret = producer_target(p->fd, provider);
	if (ret < 0)
		close(p->fd);
	return ret;
}

void producer_close(struct producer *p)
{
	munmap((void *)p->page, p->setup.chunks_offset);
	if (p->chunks)
		munmap(p->chunks, p->setup.map_bytes - p->setup.chunks_offset);
	close(p->fd);
}

int producer_target(int fd, const char *provider)
{
	struct tb_target_req r = { 0 };
	int ret;

	snprintf(r.provider, sizeof(r.provider), "%s", provider);
	ret = result(ioctl(fd, TB_PIOC_TARGET, &r));
	return ret < 0 ? ret : (int)r.target;
}

int producer_writer(int fd, uint16_t writer, uint16_t target, uint32_t tid, uint32_t flags)
{
	struct tb_writer_req r = { .writer = writer, .target = target, .tid = tid,
				   .flags = flags };

	return result(ioctl(fd, TB_PIOC_WRITER, &r));
}

int producer_category(int fd, const char *name)
{
	struct tb_category_req r = { 0 };
	int ret;

	snprintf(r.name, sizeof(r.name), "%s", name);
	ret = result(ioctl(fd, TB_PIOC_CATEGORY, &r));
	return ret < 0 ? ret : (int)r.index;
}

int producer_commit(int fd, struct tb_commit *c)
{
	return result(ioctl(fd, TB_PIOC_COMMIT, c));
}

int producer_answer(int fd, uint32_t flush)
{
	struct tb_commit c = { .flush = flush };

	return producer_commit(fd, &c);
}

/* ---- writing ---------------------------------------------------------- */

struct tb_chunk *chunk_at(const struct producer *p, uint32_t n)
{
	return (void *)(p->chunks + (size_t)n * p->setup.chunk_bytes);
}

struct tb_chunk *chunk_begin(const struct producer *p, uint32_t n, uint16_t writer, uint32_t id,
			     uint64_t first)
{
	struct tb_chunk *c = chunk_at(p, n);
	uint32_t state = __atomic_load_n(&c->state, __ATOMIC_RELAXED), next;

	next = TB_CHUNK_WORD(TB_CHUNK_WRITING, TB_CHUNK_WRAP(state));
	if (TB_CHUNK_STATE(state) != TB_CHUNK_FREE ||
	    !__atomic_compare_exchange_n(&c->state, &state, next, false, __ATOMIC_ACQUIRE,
					 __ATOMIC_RELAXED))
		return NULL;
	c->id = id;
	c->writer = writer;
	c->flags = TB_CLOCK_MONO;
	c->cause = 0;
	c->first = first;
	return c;
}

bool chunk_put(const struct producer *p, struct tb_chunk *c)
{
	uint32_t bytes = TB_PUBLISHED_BYTES(c->published);
	uint32_t records = TB_PUBLISHED_RECORDS(c->published);
	struct tb_record *r = (void *)((char *)(c + 1) + bytes);
	uint64_t number = c->first + records;

	if (sizeof(*c) + bytes + RECORD_BYTES > p->setup.chunk_bytes)
		return false;
	*r = (struct tb_record){ .bytes = RECORD_BYTES, .type = TB_REC_SIMPLE, .id = c->writer };
	memcpy(r + 1, &number, sizeof(number));
	__atomic_store_n(&c->published, TB_PUBLISHED(bytes + RECORD_BYTES, records + 1),
			 __ATOMIC_RELEASE);
	return true;
}

uint32_t chunk_fill(const struct producer *p, struct tb_chunk *c, uint32_t records)
{
	uint32_t n = 0;

	while (n < records && chunk_put(p, c))
		n++;
	return n;
}

void chunk_complete(struct tb_chunk *c)
{
	uint32_t wrap = TB_CHUNK_WRAP(c->state);

	__atomic_store_n(&c->state, TB_CHUNK_WORD(TB_CHUNK_COMPLETE, wrap), __ATOMIC_RELEASE);
}

int chunk_commit(const struct producer *p, uint32_t n)
{
	struct tb_chunk_ref ref = { .chunk = n };
	struct tb_commit c = { .refs = (uintptr_t)&ref, .nr_refs = 1 };
	int ret = producer_commit(p->fd, &c);

	if (ret)
		return ret;
	return c.taken == !ref.result ? ref.result : -EPROTO;
}

int patch_commit(const struct producer *p, struct tb_patch patch)
{
	struct tb_commit c = { .patches = (uintptr_t)&patch, .nr_patches = 1 };

	return producer_commit(p->fd, &c);
}

int chunk_write(const struct producer *p, uint32_t n, uint16_t writer, uint32_t id,
		uint64_t first, uint32_t records)
{
	struct tb_chunk *c = chunk_begin(p, n, writer, id, first);

	if (!c || chunk_fill(p, c, records) != records)
		return -EBUSY;
	chunk_complete(c);
	return chunk_commit(p, n);
}

/* ---- reading ---------------------------------------------------------- */

void pieces_take(struct pieces *p, const struct stream_event *e)
{
	struct piece *piece;

	if (e->id == TB_EV_PATCH) {
		if (p->nr_patches < sizeof(p->patch) / sizeof(*p->patch))
			memcpy(&p->patch[p->nr_patches], e->payload, sizeof(*p->patch));
		p->nr_patches++;
	}
	if (e->id != TB_EV_CHUNK)
		return;
	if (!(p->nr & (p->nr + 1)))
		p->piece = realloc(p->piece, (2 * p->nr + 2) * sizeof(*piece));
	piece = &p->piece[p->nr++];
	memcpy(&piece->e, e->payload, sizeof(piece->e));
	piece->bytes = e->length - sizeof(piece->e);
	piece->data = malloc(piece->bytes + 1);
	memcpy(piece->data, e->payload + sizeof(piece->e), piece->bytes);
}

static void collect(void *ctx, const struct stream_event *e)
{
	pieces_take(ctx, e);
}

void pieces_collect(struct pieces *p, struct stream *s)
{
	memset(p, 0, sizeof(*p));
	s->event = collect;
	s->ctx = p;
}

void pieces_free(struct pieces *p)
{
	while (p->nr)
		free(p->piece[--p->nr].data);
	free(p->piece);
	memset(p, 0, sizeof(*p));
}

static int as_written(const void *a, const void *b)
{
	const struct tb_chunk_event *x = &((const struct piece *)a)->e;
	const struct tb_chunk_event *y = &((const struct piece *)b)->e;

	if (x->producer != y->producer)
		return x->producer < y->producer ? -1 : 1;
	if (x->writer != y->writer)
		return x->writer < y->writer ? -1 : 1;
	if (x->chunk != y->chunk)
		return x->chunk < y->chunk ? -1 : 1;
	return x->offset < y->offset ? -1 : x->offset > y->offset;
}

void pieces_sort(struct pieces *p)
{
	qsort(p->piece, p->nr, sizeof(*p->piece), as_written);
}

/* Is this record number @number of @writer? */
static bool is_record(const uint8_t *at, uint16_t writer, uint64_t number)
{
	struct tb_record r = { .bytes = RECORD_BYTES, .type = TB_REC_SIMPLE, .id = writer };

	return !memcmp(at, &r, sizeof(r)) && !memcmp(at + sizeof(r), &number, sizeof(number));
}

static int64_t wrong(const struct piece *p, const char *what)
{
	fprintf(stderr, "# producer %u writer %u chunk %u offset %u first %llu records %u: %s\n",
		p->e.producer, p->e.writer, p->e.chunk, p->e.offset,
		(unsigned long long)p->e.first, p->e.records, what);
	return -1;
}

int64_t pieces_of(const struct pieces *p, uint32_t producer, uint16_t writer, uint64_t *next,
		  uint32_t *causes)
{
	uint64_t expected = 0;
	int64_t count = 0;
	uint32_t i, k;

	*causes = 0;
	for (i = 0; i < p->nr; i++) {
		const struct piece *piece = &p->piece[i];

		if (piece->e.producer != producer || piece->e.writer != writer)
			continue;
		if (piece->bytes != piece->e.records * RECORD_BYTES)
			return wrong(piece, "records and bytes do not fit");
		if (piece->e.first < expected)
			return wrong(piece, "out of order, or twice");
		if (piece->e.first > expected && !piece->e.cause)
			return wrong(piece, "something is missing before it, and it does not say why");
		for (k = 0; k < piece->e.records; k++)
			if (!is_record(piece->data + k * RECORD_BYTES, writer, piece->e.first + k))
				return wrong(piece, "not what was written");
		expected = piece->e.first + piece->e.records;
		count += piece->e.records;
		*causes |= piece->e.cause;
	}
	*next = expected;
	return count;
}
