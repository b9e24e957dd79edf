/* SPDX-License-Identifier: GPL-2.0-only */
/*
 * The arguments for the fuzzer test_ioctl_fuzz.c: structures of all ioctls of both devices, most of
 * them nearly legal, in memory that ends at an inaccessible page.
 */
#ifndef FUZZ_IOCTL_H
#define FUZZ_IOCTL_H

#include "producer.h"
#include "tbtest.h"

#define FDS		24
#define MAPS		4
#define PAGE		4096
#define ARENA		(8 * PAGE)
#define NAMES		6

static const char * const patterns[] = {
	"signal:signal_generate", "signal", "raw_syscalls", "sched_switch", "irq:softirq_*", "",
	"*_w?keup", "nothing_like_it", "sched:", ":", "task", "user*", "task_newtask",
};

/*
 * The arguments are far from the program's own memory: an address with some bytes changed still
 * points into these 256 GiB, where nothing else is mapped.
 */
#define FAR(f, n)	((void *)(0x100000000000ull + ((uint64_t)(f)->number << 38) + \
				  ((uint64_t)(n) << 34)))

/* Few names, so that threads contend for them. */
static const char * const names[NAMES] = { "kernel", "f1", "f2", "f3", "no such", "" };

enum kind { DEVICE, PRODUCER, CHANNEL };

/* Shared by all threads: the thread that takes a descriptor out closes it. */
static int fds[FDS];

struct fuzzer {
	uint64_t seed;
	uint32_t calls, rare;
	int number;
	char *arena;			/* ends at an inaccessible page */
	char *readonly;
	char *hole;			/* PROT_NONE */
	struct { char *at; size_t bytes; bool whole; } maps[MAPS];	/* whole: or nothing */
	struct tb_ref refs[16];		/* the last acquired ones */
	uint32_t nr_refs;
	int holder;			/* file that acquired them */
	uint64_t done, accepted;
	time_t until;			/* by CLOCK_MONOTONIC */
	pthread_t thread;
	char wrong[200];		/* the first error, or empty */
};

static uint32_t dice(struct fuzzer *f)
{
	f->seed = f->seed * 6364136223846793005ull + 1442695040888963407ull;
	return f->seed >> 33;
}

#define ONE_IN(f, n)	(!(dice(f) % (n)))
#define PICK(f, array)	((array)[dice(f) % ARRAY_SIZE(array)])

static uint64_t nasty(struct fuzzer *f)
{
	static const uint64_t edges[] = {
		0, 1, 2, 3, 7, 8, 63, 64, 65, 255, 256, 1023, 1024, 1025, 4095, 4096, 4097, 0x7fff,
		0xffff, 0x10000, 0x7fffffff, 0x80000000, 0xffffffff, 1ull << 32, ~0ull >> 1,
		1ull << 63, ~0ull, 0xffff888000000000ull, 0x7ffffffff000ull, 0x5a5a5a5a5a5a5a5aull,
	};

	return ONE_IN(f, 3) ? (uint64_t)dice(f) << 32 | dice(f) : PICK(f, edges);
}

/* Memory for @bytes near the end of the arena; once in 40 times a bad address. */
static void *place(struct fuzzer *f, size_t bytes)
{
	char *at = f->arena + ARENA - bytes % ARENA - dice(f) % 8 * 512 % (ARENA / 2);

	if (!ONE_IN(f, 40))
		return at;
	switch (dice(f) % 7) {
	case 0: return NULL;
	case 1: return f->readonly;
	case 2: return f->hole;
	case 3: return (void *)(uintptr_t)nasty(f);
	case 4: return f->arena + ARENA - bytes / 2;	/* half of it */
	case 5: return f->maps[0].at ? f->maps[0].at : f->hole;
	}
	return at + 1;
}

/* May the fuzzer write there before the call? */
static bool mine(struct fuzzer *f, const void *at, size_t bytes)
{
	uintptr_t offset = (uintptr_t)at - (uintptr_t)f->arena;

	return offset <= ARENA && bytes <= ARENA - offset;
}

static uint64_t place_copy(struct fuzzer *f, const void *from, size_t bytes)
{
	void *at = place(f, bytes);

	if (mine(f, at, bytes))
		memcpy(at, from, bytes);
	return (uintptr_t)at;
}

static uint64_t place_text(struct fuzzer *f, uint32_t *length)
{
	const char *text = PICK(f, patterns);

	*length = strlen(text);
	return place_copy(f, text, *length);
}

static void put_name(struct fuzzer *f, char *name)
{
	snprintf(name, TB_PROVIDER_NAME_MAX, "%s", names[dice(f) % NAMES]);
}

/* Devices are in the first half of fds, then producers, then channels. */
static int *slot(struct fuzzer *f, enum kind kind)
{
	static const int first[] = { 0, FDS / 2, FDS * 3 / 4, FDS };

	return &fds[first[kind] + dice(f) % (first[kind + 1] - first[kind])];
}

static int some_device(struct fuzzer *f)
{
	return __atomic_load_n(slot(f, DEVICE), __ATOMIC_ACQUIRE);
}

/* ---- contents of the structures ----------------------------------------- */

static void fill_none(struct fuzzer *f, void *arg)
{
}

static void fill_configure(struct fuzzer *f, void *arg)
{
	struct tb_config *c = arg;

	static const uint32_t modes[] = { TB_MODE_CIRCULAR, TB_MODE_CIRCULAR, TB_MODE_STREAMING,
					  TB_MODE_ONESHOT, 0, 4 };

	c->mode = PICK(f, modes);
	c->policy = ONE_IN(f, 4) ? dice(f) % 4 : 0;
	/* Mostly small: running out of memory is not the subject. */
	c->buffers = ONE_IN(f, 200) ? 4096 : dice(f) % 9;
	c->elements = ONE_IN(f, 200) ? 65536 : ONE_IN(f, 20) ? 32 : 64 << dice(f) % 5;
	c->watermark = dice(f) % 102;
	c->clock = ONE_IN(f, 3) ? TB_CLOCK_MONO : 0;
	c->durable_kib = ONE_IN(f, 10) ? 0 : 64;
	c->durable_max_kib = ONE_IN(f, 2) ? 64 << dice(f) % 4 : 0;
	c->flush_ms = ONE_IN(f, 3) ? dice(f) % 50 : 0;
	c->flags = dice(f) % 2;
	if (ONE_IN(f, 4)) {
		c->cpus_bytes = 1 + dice(f) % 8;
		c->cpus = place_copy(f, "\1\0\0\0\0\0\0\0", c->cpus_bytes);
	}
}

static void fill_start(struct fuzzer *f, void *arg)
{
	((struct tb_start *)arg)->flags = ONE_IN(f, 8) ? 0 : 1 + dice(f) % 3;
}

static void fill_flush(struct fuzzer *f, void *arg)
{
	struct tb_flush *fl = arg;

	fl->cpu = (int)(dice(f) % 4) - 1;
	if (ONE_IN(f, 4)) {
		fl->flags = TB_FLUSH_ASK;
		fl->cpu = -1;
	}
}

static void fill_select(struct fuzzer *f, void *arg)
{
	struct tb_select *s = arg;

	s->op = 1 + dice(f) % 2;
	s->form = s->op == TB_SELECT_ENABLE ? dice(f) % 3 : 0;
	s->pattern = place_text(f, &s->length);
	/* A start with all events takes as long as hundreds of other calls. */
	if (s->op == TB_SELECT_DISABLE ? ONE_IN(f, 3) : ONE_IN(f, 300)) {
		s->pattern = place_copy(f, "all", 3);
		s->length = 3;
	}
}

static void fill_event(struct fuzzer *f, void *arg)
{
	struct tb_event_info *i = arg;

	i->index = dice(f) % 300;
	i->flags = ONE_IN(f, 3) ? TB_INFO_COMPACT : 0;
	i->desc_size = dice(f) % 8000;
	i->desc = (uintptr_t)place(f, i->desc_size);
}

static void fill_stats(struct fuzzer *f, void *arg)
{
	((struct tb_stats *)arg)->cpu = dice(f) % 3;
}

static void fill_acquire(struct fuzzer *f, void *arg)
{
	struct tb_batch *b = arg;

	b->count = 1 + dice(f) % ARRAY_SIZE(f->refs);
	b->flags = dice(f) % 4;
	b->refs = (uintptr_t)place(f, b->count * sizeof(struct tb_ref));
}

static void fill_release(struct fuzzer *f, void *arg)
{
	struct tb_ref refs[ARRAY_SIZE(f->refs)];
	struct tb_batch *b = arg;

	memcpy(refs, f->refs, sizeof(refs));
	b->count = ONE_IN(f, 10) ? dice(f) % 20 : f->nr_refs;
	if (ONE_IN(f, 5))
		((uint32_t *)refs)[dice(f) % (sizeof(refs) / 4)] = nasty(f);
	b->refs = place_copy(f, refs, sizeof(refs));
}

static void fill_attach(struct fuzzer *f, void *arg)
{
	put_name(f, ((struct tb_attach *)arg)->name);
}

static void fill_provider(struct fuzzer *f, void *arg)
{
	struct tb_provider_req *r = arg;

	r->op = 1 + dice(f) % 2;
	put_name(f, r->name);
}

static void fill_providers(struct fuzzer *f, void *arg)
{
	((struct tb_provider_info *)arg)->index = dice(f) % 6;
}

static void fill_fifo(struct fuzzer *f, void *arg)
{
	struct tb_fifo *fifo = arg;

	fifo->cpu = dice(f) % 3;
	fifo->version = ONE_IN(f, 20) ? 2 : TB_FIFO_VERSION;
}

static void make_test(struct fuzzer *f, struct tb_test *t)
{
	static const uint16_t ways[] = { TB_TEST_PASS, TB_TEST_REJECT, 0, 1 };

	t->op = 1 + dice(f) % 7;
	t->source = dice(f) % 7;
	if (t->source == TB_TEST_FIELD) {
		t->size = 1 << dice(f) % 4;
		t->offset = dice(f) % 48 & ~(t->size - 1);
	}
	t->flags = ONE_IN(f, 4) ? dice(f) % 8 : 0;
	t->yes = PICK(f, ways);
	t->no = PICK(f, ways);
	t->value = nasty(f);
	if (t->op == TB_TEST_IN || t->op == TB_TEST_GLOB || t->source == TB_TEST_COMM) {
		t->data_bytes = dice(f) % 17;
		t->value = 0;
		if (t->source == TB_TEST_COMM)
			t->op = TB_TEST_GLOB;
	}
}

static void make_rule(struct fuzzer *f, struct tb_rule *r)
{
	static const char text[64] = "*a[b-z]?\\*\377\1\2";
	struct tb_counter counter = { .type = 1, .config = dice(f) % 4, .name = "c" };
	struct tb_test tests[4] = { 0 };
	uint32_t i;

	r->index = ONE_IN(f, 30) ? TB_RULE_ALL : dice(f) % 300;
	r->flags = ONE_IN(f, 3) ? dice(f) % 4 : 0;
	r->sample = dice(f) % 4;
	r->rate = ONE_IN(f, 4) ? dice(f) % 1000 : 0;
	r->nr_tests = dice(f) % 5;
	for (i = 0; i < r->nr_tests; i++)
		make_test(f, &tests[i]);
	/* The last test must not lead to another. */
	if (r->nr_tests) {
		tests[i - 1].yes = TB_TEST_PASS;
		tests[i - 1].no = TB_TEST_REJECT;
		r->tests = place_copy(f, tests, i * sizeof(*tests));
		r->data_bytes = sizeof(text);
		r->data = place_copy(f, text, sizeof(text));
	}
	if (ONE_IN(f, 6)) {
		r->nr_counters = 1;
		r->counters = place_copy(f, &counter, sizeof(counter));
	}
}

static void fill_rule(struct fuzzer *f, void *arg)
{
	make_rule(f, arg);
}

static void fill_arm(struct fuzzer *f, void *arg)
{
	struct tb_rule rule = { 0 };
	struct tb_arm *a = arg;

	a->op = ONE_IN(f, 3) ? TB_ARM_CLEAR : TB_ARM_SET;
	if (a->op == TB_ARM_CLEAR)
		return;
	a->post = dice(f) % 102;
	a->pattern = place_text(f, &a->length);
	if (ONE_IN(f, 3)) {
		make_rule(f, &rule);
		a->nr_rules = 1;
		a->rules = place_copy(f, &rule, sizeof(rule));
	}
}

static void fill_suppressed(struct fuzzer *f, void *arg)
{
	((struct tb_suppressed_info *)arg)->index = ONE_IN(f, 4) ? TB_RULE_ALL : dice(f) % 300;
}

static void fill_pids(struct fuzzer *f, void *arg)
{
	uint32_t pids[8] = { getpid(), 1, 2, getppid(), dice(f) % 200, 0, ~0u, gettid() };
	struct tb_pids *p = arg;

	p->count = ONE_IN(f, 2) ? 0 : 1 + dice(f) % 4;
	p->flags = p->count ? dice(f) % 8 : 0;
	p->pids = p->count ? place_copy(f, pids, sizeof(pids)) : 0;
}

static void fill_categories(struct fuzzer *f, void *arg)
{
	struct tb_categories *c = arg;

	c->op = 1 + dice(f) % 3;
	if (c->op != TB_CATEGORY_CLEAR)
		c->pattern = place_text(f, &c->length);
}

static void fill_quota(struct fuzzer *f, void *arg)
{
	struct tb_quota *q = arg;

	q->producers = ONE_IN(f, 2) ? dice(f) % 20 : 0;
	q->bytes_per_second = ONE_IN(f, 4) ? nasty(f) : 0;
	q->burst_bytes = ONE_IN(f, 4) ? nasty(f) : 0;
	q->ring_bytes_per_second = ONE_IN(f, 4) ? nasty(f) : 0;
	q->ring_burst_bytes = ONE_IN(f, 4) ? nasty(f) : 0;
	q->flags = ONE_IN(f, 4) ? TB_QUOTA_DEFAULT : ONE_IN(f, 8) ? TB_QUOTA_CLOSED : 0;
	if (q->flags && ONE_IN(f, 2))
		q->ring_bytes_per_second = q->ring_burst_bytes = 0;
}

static void fill_producers(struct fuzzer *f, void *arg)
{
	((struct tb_producer_info *)arg)->index = dice(f) % 4;
}

static void fill_setup(struct fuzzer *f, void *arg)
{
	struct tb_producer_setup *s = arg;

	s->flags = ONE_IN(f, 3) ? TB_SETUP_NO_SHARED : 0;
	s->chunk_bytes = 512 << dice(f) % 5;
	s->chunks = s->flags && ONE_IN(f, 2) ? 0 : dice(f) % 12;
}

static void fill_target(struct fuzzer *f, void *arg)
{
	put_name(f, ((struct tb_target_req *)arg)->provider);
}

static void fill_writer(struct fuzzer *f, void *arg)
{
	struct tb_writer_req *r = arg;

	r->writer = dice(f) % 8;
	r->target = dice(f) % 3;
	r->flags = dice(f) % 4;
}

static void fill_category(struct fuzzer *f, void *arg)
{
	snprintf(((struct tb_category_req *)arg)->name, 32, "%s", PICK(f, patterns));
}

static void fill_commit(struct fuzzer *f, void *arg)
{
	struct tb_chunk chunk = { .writer = dice(f) % 8, .id = dice(f) % 3, .first = dice(f) };
	struct tb_chunk_ref refs[3] = { 0 };
	struct tb_patch patches[2] = { 0 };
	struct tb_commit *c = arg;
	uint32_t i;

	chunk.published = TB_PUBLISHED(dice(f) % 20 * RECORD_BYTES, dice(f) % 20);
	for (i = 0; i < ARRAY_SIZE(refs); i++) {
		if (ONE_IN(f, 2))
			refs[i].data = place_copy(f, &chunk, sizeof(chunk));
		else
			refs[i].chunk = dice(f) % 12;
	}
	for (i = 0; i < ARRAY_SIZE(patches); i++)
		patches[i] = (struct tb_patch){ .writer = dice(f) % 8, .chunk = dice(f) % 4,
						.offset = dice(f) % 64 & ~7, .value = nasty(f) };
	c->nr_refs = dice(f) % 4;
	c->refs = place_copy(f, refs, sizeof(refs));
	c->nr_patches = dice(f) % 3;
	c->patches = place_copy(f, patches, sizeof(patches));
	c->flush = ONE_IN(f, 4) ? dice(f) % 10 : 0;
}

struct command {
	const char *name;
	unsigned int cmd;
	enum kind kind;
	void (*fill)(struct fuzzer *f, void *arg);
	bool waits;			/* for all CPUs */
};

static const struct command commands[] = {
	{ "query", TB_IOC_QUERY, DEVICE, fill_none, false },
	{ "configure", TB_IOC_CONFIGURE, DEVICE, fill_configure, true },
	{ "start", TB_IOC_START, DEVICE, fill_start, true },
	{ "start", TB_IOC_START, DEVICE, fill_start, true },
	{ "stop", TB_IOC_STOP, DEVICE, fill_none, true },
	{ "flush", TB_IOC_FLUSH, DEVICE, fill_flush, false },
	{ "select", TB_IOC_SELECT, DEVICE, fill_select, true },
	{ "event", TB_IOC_EVENT, DEVICE, fill_event, false },
	{ "stats", TB_IOC_STATS, DEVICE, fill_stats, false },
	{ "acquire", TB_IOC_ACQUIRE, DEVICE, fill_acquire, false },
	{ "acquire", TB_IOC_ACQUIRE, DEVICE, fill_acquire, false },
	{ "release", TB_IOC_RELEASE, DEVICE, fill_release, false },
	{ "release", TB_IOC_RELEASE, DEVICE, fill_release, false },
	{ "attach", TB_IOC_ATTACH, DEVICE, fill_attach, false },
	{ "provider", TB_IOC_PROVIDER, DEVICE, fill_provider, false },
	{ "providers", TB_IOC_PROVIDERS, DEVICE, fill_providers, false },
	{ "fifo", TB_IOC_FIFO, DEVICE, fill_fifo, false },
	{ "arm", TB_IOC_ARM, DEVICE, fill_arm, true },
	{ "trigger", TB_IOC_TRIGGER, DEVICE, fill_none, false },
	{ "rule", TB_IOC_RULE, DEVICE, fill_rule, false },
	{ "suppressed", TB_IOC_SUPPRESSED, DEVICE, fill_suppressed, false },
	{ "pids", TB_IOC_PIDS, DEVICE, fill_pids, true },
	{ "categories", TB_IOC_CATEGORIES, DEVICE, fill_categories, false },
	{ "quota", TB_IOC_QUOTA, DEVICE, fill_quota, false },
	{ "producers", TB_IOC_PRODUCERS, DEVICE, fill_producers, false },
	{ "intake", TB_IOC_INTAKE, DEVICE, fill_none, false },
	{ "setup", TB_PIOC_SETUP, PRODUCER, fill_setup, false },
	{ "target", TB_PIOC_TARGET, PRODUCER, fill_target, false },
	{ "writer", TB_PIOC_WRITER, PRODUCER, fill_writer, false },
	{ "category", TB_PIOC_CATEGORY, PRODUCER, fill_category, false },
	{ "commit", TB_PIOC_COMMIT, PRODUCER, fill_commit, false },
};

#endif /* FUZZ_IOCTL_H */
