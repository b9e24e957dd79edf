/* SPDX-License-Identifier: GPL-2.0-only */
/*
 * For tests of the library and the tool: makes traces block by block and event by event, exactly
 * as linux/tracebuf.h describes them, and prints results as TAP.
 *
 * The struct fx owns all memory; a failed allocation aborts.
 */
#ifndef TEST_LIB_FIXTURE_H
#define TEST_LIB_FIXTURE_H

#include <assert.h>
#include <stdbool.h>
#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include "tracebuf.h"

/* ---- results ---- */

struct test {
	const char *name;
	void (*run)(void);
};

static int test_failures;

/* How many rounds a test makes: @full in `scripts/check --full`, @few by default */
#define FULL(full, few) (getenv("TRACEBUF_FULL") ? (full) : (few))

#define CHECK(condition) \
	do { \
		if (!(condition)) { \
			printf("# %s:%d: %s\n", __FILE__, __LINE__, #condition); \
			test_failures++; \
		} \
	} while (0)

#define CHECK_TEXT(have, want) \
	do { \
		const char *have_ = (have), *want_ = (want); \
		if (strcmp(have_, want_)) { \
			printf("# %s:%d: have \"%s\"\n# want \"%s\"\n", \
			       __FILE__, __LINE__, have_, want_); \
			test_failures++; \
		} \
	} while (0)

#define CHECK_NUMBER(have, want) \
	do { \
		unsigned long long have_ = (have), want_ = (want); \
		if (have_ != want_) { \
			printf("# %s:%d: %s is %llu, not %llu\n", __FILE__, \
			       __LINE__, #have, have_, want_); \
			test_failures++; \
		} \
	} while (0)

static inline int test_main(const struct test *tests, size_t count)
{
	size_t i, failed = 0;

	setvbuf(stdout, NULL, _IOLBF, 0);
	printf("TAP version 14\n1..%zu\n", count);
	for (i = 0; i < count; i++) {
		test_failures = 0;
		tests[i].run();
		printf("%sok %zu %s\n", test_failures ? "not " : "", i + 1,
		       tests[i].name);
		failed += test_failures != 0;
	}
	return failed ? 1 : 0;
}

#define TEST_MAIN(tests) \
	int main(void) \
	{ \
		return test_main(tests, sizeof(tests) / sizeof(tests[0])); \
	}

/* ---- blocks ---- */

#define FX_CPUS 8
#ifndef FX_DURABLE_LOG2
#define FX_DURABLE_LOG2 14
#endif

struct fx_ring {
	uint64_t sequence;
	uint64_t events, overwritten, dropped, oversize;
	bool     open;
	size_t   block;			/* offset in data */
	uint32_t used;			/* bytes of the block */
	uint32_t counted;
	uint64_t last;			/* time of the last event */
};

struct fx {
	unsigned char *data;
	size_t size, room;
	unsigned int log2;		/* of rolling blocks */
	uint64_t generation;
	struct fx_ring rings[FX_CPUS];
	struct fx_ring durable;
	uint64_t start;			/* time of the durable records */
	unsigned int cpus;		/* of the next recording; 0: FX_CPUS */
	uint32_t init_flags;		/* of the next recording: more of TB_INIT_* */
};

static inline size_t fx_extend(struct fx *fx, size_t bytes)
{
	size_t at = fx->size;

	if (fx->size + bytes > fx->room) {
		fx->room = (fx->size + bytes) * 2;
		fx->data = realloc(fx->data, fx->room);
		assert(fx->data);
	}
	memset(fx->data + at, 0, bytes);
	fx->size += bytes;
	return at;
}

static inline struct tb_block *fx_block(struct fx *fx, struct fx_ring *ring)
{
	return (struct tb_block *)(fx->data + ring->block);
}

/* Room for @elements in the open block; NULL: the block is full */
static inline void *fx_room(struct fx *fx, struct fx_ring *ring,
			    unsigned int elements)
{
	struct tb_block *block = fx_block(fx, ring);
	void *at = (unsigned char *)block + ring->used;

	assert(ring->open);
	if (ring->used + elements * 16 > 1u << block->size_log2)
		return NULL;
	ring->used += elements * 16;
	return at;
}

static inline void fx_begin(struct fx *fx, struct fx_ring *ring, int kind,
			    unsigned int log2, unsigned int cpu, uint64_t time,
			    uint32_t tid)
{
	struct tb_block *block;

	assert(!ring->open);
	ring->block = fx_extend(fx, 1u << log2);
	block = fx_block(fx, ring);
	block->magic = TB_BLOCK_MAGIC;
	block->version = TB_BLOCK_VERSION;
	block->kind = (uint8_t)kind;
	block->size_log2 = (uint8_t)log2;
	block->cpu = (uint16_t)cpu;
	block->tid = tid;
	block->sequence = ring->sequence++;
	block->time_start = time;
	ring->open = true;
	ring->used = sizeof(*block);
	ring->counted = 0;
	ring->last = time;
}

static inline void fx_end(struct fx *fx, struct fx_ring *ring)
{
	struct tb_block *block = fx_block(fx, ring);
	uint32_t size = 1u << block->size_log2;
	struct tb_element *pad;
	uint32_t rest;

	assert(ring->open);
	block->time_end = ring->last;
	block->data = ring->used;
	block->events = ring->counted;
	block->flags |= TB_BLOCK_COMPLETE;
	rest = (size - ring->used) / 16;
	if (rest) {
		block->flags |= TB_BLOCK_FLUSHED;
		pad = (void *)((unsigned char *)block + ring->used);
		pad->head = TB_HEAD(TB_STRUCT_PAD, 0, rest > 1023 ? 1023 : rest,
				    block->sequence);
	}
	ring->events += ring->counted;
	ring->open = false;
}

static inline bool fx_put_simple(struct fx *fx, struct fx_ring *ring,
				 unsigned int id, uint64_t time,
				 uint64_t payload)
{
	struct tb_element *element = fx_room(fx, ring, 1);

	if (!element)
		return false;
	element->head = TB_HEAD(TB_STRUCT_SIMPLE, id, 1,
				fx_block(fx, ring)->sequence);
	element->time = (uint32_t)time;
	element->payload = payload;
	ring->last = time;
	ring->counted += id > TB_EV_STRUCTURAL_LAST;
	return true;
}

static inline bool fx_put_composite(struct fx *fx, struct fx_ring *ring,
				    unsigned int id, uint64_t time,
				    uint32_t tid, unsigned int context,
				    const void *payload, size_t length)
{
	unsigned int elements = 1 + (unsigned int)(length + 15) / 16;
	struct tb_composite *composite = fx_room(fx, ring, elements);

	if (!composite)
		return false;
	composite->head = TB_HEAD(TB_STRUCT_COMPOSITE, id, elements,
				  fx_block(fx, ring)->sequence);
	composite->time = (uint32_t)time;
	composite->tid = tid;
	composite->length = (uint16_t)length;
	composite->context = (uint16_t)context;
	memcpy(composite + 1, payload, length);
	if (time > ring->last)
		ring->last = time;
	ring->counted += id > TB_EV_STRUCTURAL_LAST;
	return true;
}

/* ---- rolling blocks ---- */

/* Open a block of @cpu; @gap may be NULL */
static inline void fx_open(struct fx *fx, unsigned int cpu, uint64_t time,
			   uint32_t tid, const struct tb_gap *gap)
{
	struct fx_ring *ring = &fx->rings[cpu];
	struct tb_gap none = { 0 };
	struct tb_block *block;

	if (gap) {
		ring->overwritten += gap->overwritten;
		ring->dropped += gap->dropped;
		ring->oversize += gap->oversize;
	}
	fx_begin(fx, ring, TB_BLOCK_ROLLING, fx->log2, cpu, time, tid);
	block = fx_block(fx, ring);
	block->overwritten = ring->overwritten;
	block->dropped = ring->dropped;
	if (gap && (gap->overwritten || gap->dropped))
		block->flags |= TB_BLOCK_GAP;
	fx_put_composite(fx, ring, TB_EV_GAP, time, tid, 0, gap ? gap : &none,
			 sizeof(none));
}

static inline void fx_close(struct fx *fx, unsigned int cpu)
{
	fx_end(fx, &fx->rings[cpu]);
}

static inline bool fx_simple(struct fx *fx, unsigned int cpu, unsigned int id,
			     uint64_t time, uint64_t payload)
{
	return fx_put_simple(fx, &fx->rings[cpu], id, time, payload);
}

static inline bool fx_composite(struct fx *fx, unsigned int cpu,
				unsigned int id, uint64_t time, uint32_t tid,
				const void *payload, size_t length)
{
	return fx_put_composite(fx, &fx->rings[cpu], id, time, tid, 1, payload,
				length);
}

/* The upper half of the clock has changed */
static inline bool fx_time(struct fx *fx, unsigned int cpu, uint64_t time)
{
	return fx_put_simple(fx, &fx->rings[cpu], TB_EV_TIME, time, time);
}

/* ---- durable records ---- */

static inline void fx_durable_at(struct fx *fx, uint64_t time, unsigned int id,
				 const void *payload, size_t length)
{
	if (!fx->durable.open)
		fx_begin(fx, &fx->durable, TB_BLOCK_DURABLE, FX_DURABLE_LOG2, 0,
			 fx->start, 0);
	if (fx_put_composite(fx, &fx->durable, id, time, 0, 0, payload, length))
		return;
	fx_end(fx, &fx->durable);
	fx_durable_at(fx, time, id, payload, length);
}

static inline void fx_durable(struct fx *fx, unsigned int id, const void *payload, size_t length)
{
	fx_durable_at(fx, fx->start, id, payload, length);
}

/* The events @ids, up to the first 0, are recorded from @time on */
static inline void fx_select(struct fx *fx, uint64_t time, const unsigned int *ids)
{
	struct {
		struct tb_selection head;
		unsigned char bits[16];
	} record = { .head = { .first = TB_EV_FIRST, .count = 128 } };
	unsigned int bit;

	for (; *ids; ids++) {
		bit = *ids - TB_EV_FIRST;
		record.bits[bit / 8] |= (unsigned char)(1 << bit % 8);
	}
	fx_durable_at(fx, time, TB_EV_SELECTION, &record, sizeof(record));
}

static inline void fx_durable_end(struct fx *fx)
{
	if (fx->durable.open)
		fx_end(fx, &fx->durable);
}

struct fx_field {
	const char *name, *type;
	unsigned int offset, size, count, flags, bit, bits;
};

/* Events of several tests; compact forms as module/events/compact.c and calls.c describe them */
static const struct fx_field fx_wake_fields[] = {
	{ "comm", "char[16]", 0, 16, 16, TB_FIELD_STRING, 0, 0 },
	{ "pid", "pid_t", 16, 4, 0, TB_FIELD_SIGNED, 0, 0 },
	{ "prio", "int", 20, 4, 0, TB_FIELD_SIGNED, 0, 0 },
	{ "target_cpu", "int", 24, 4, 0, TB_FIELD_SIGNED, 0, 0 },
};
static const struct fx_field fx_wake_compact[] = {
	{ "pid", "pid_t", 0, 8, 0, TB_FIELD_BITS, 0, 22 },
	{ "prio", "int", 0, 8, 0, TB_FIELD_BITS, 22, 8 },
	{ "target_cpu", "int", 0, 8, 0, TB_FIELD_BITS, 32, 16 },
	{ "context", "u16", 0, 8, 0, TB_FIELD_BITS | TB_FIELD_CONTEXT, 48, 16 },
};
static const struct fx_field fx_exit_fields[] = {
	{ "id", "long", 0, 8, 0, TB_FIELD_SIGNED, 0, 0 },
	{ "ret", "long", 8, 8, 0, TB_FIELD_SIGNED, 0, 0 },
};
static const struct fx_field fx_exit_compact[] = {
	{ "id", "long", 0, 8, 0, TB_FIELD_BITS | TB_FIELD_SIGNED, 0, 16 },
	{ "ret", "long", 0, 8, 0, TB_FIELD_BITS | TB_FIELD_SIGNED, 16, 48 },
};
static const struct fx_field fx_irq_fields[] = {
	{ "irq", "int", 0, 4, 0, TB_FIELD_SIGNED, 0, 0 },
	{ "name", "char[12]", 4, 12, 12, TB_FIELD_STRING, 0, 0 },
};
static const struct fx_field fx_irq_exit_fields[] = {
	{ "irq", "int", 0, 4, 0, TB_FIELD_SIGNED, 0, 0 },
	{ "ret", "int", 4, 4, 0, TB_FIELD_SIGNED, 0, 0 },
};
static const struct fx_field fx_softirq_fields[] = {
	{ "vec", "unsigned int", 0, 4, 0, 0, 0, 0 },
};
static const struct fx_field fx_softirq_compact[] = {
	{ "vec", "unsigned int", 0, 8, 0, TB_FIELD_BITS, 0, 32 },
	{ "context", "u16", 0, 8, 0, TB_FIELD_BITS | TB_FIELD_CONTEXT, 48, 16 },
};
static const struct fx_field fx_enter_compact[] = {
	{ "id", "long", 0, 8, 0, TB_FIELD_BITS, 0, 12 },
	{ "nr_args", "u8", 0, 8, 0, TB_FIELD_BITS | TB_FIELD_COUNT, 12, 4 },
	{ "args[0]", "unsigned long", 0, 8, 0, TB_FIELD_BITS | TB_FIELD_SIGNED, 16, 48 },
	{ "args[1]", "unsigned long", 8, 8, 0, 0, 0, 0 },
	{ "args[2]", "unsigned long", 16, 8, 0, 0, 0, 0 },
	{ "args[3]", "unsigned long", 24, 8, 0, 0, 0, 0 },
	{ "args[4]", "unsigned long", 32, 8, 0, 0, 0, 0 },
	{ "args[5]", "unsigned long", 40, 8, 0, 0, 0, 0 },
};

/* @print: the print format, or NULL */
static inline void fx_describe_print(struct fx *fx, unsigned int id,
				     unsigned int flags, const char *system,
				     const char *name,
				     const struct fx_field *fields,
				     unsigned int count, const char *print)
{
	unsigned char payload[4096] = { 0 };
	struct tb_event_desc *desc = (void *)payload;
	struct tb_field *field = (void *)(desc + 1);
	char *strings = (char *)(field + count);
	unsigned int used = 1, i;

#define FX_ADD(text) \
	(memcpy(strings + used, (text), strlen(text) + 1), \
	 used += (unsigned int)strlen(text) + 1, \
	 (uint16_t)(used - strlen(text) - 1))

	desc->id = (uint16_t)id;
	desc->flags = (uint16_t)flags;
	desc->nr_fields = (uint16_t)count;
	desc->system = FX_ADD(system);
	desc->name = FX_ADD(name);
	for (i = 0; i < count; i++) {
		field[i].offset = (uint16_t)fields[i].offset;
		field[i].size = (uint16_t)fields[i].size;
		field[i].count = (uint16_t)fields[i].count;
		field[i].flags = (uint16_t)fields[i].flags;
		field[i].bit = (uint8_t)fields[i].bit;
		field[i].bits = (uint8_t)fields[i].bits;
		field[i].name = FX_ADD(fields[i].name);
		field[i].type = FX_ADD(fields[i].type);
	}
	if (print)
		desc->print = FX_ADD(print);
	desc->strings = (uint16_t)used;
	fx_durable(fx, TB_EV_EVENT, payload, sizeof(*desc) +
		   count * sizeof(*field) + used);
#undef FX_ADD
}

static inline void fx_describe(struct fx *fx, unsigned int id,
			       unsigned int flags, const char *system,
			       const char *name, const struct fx_field *fields,
			       unsigned int count)
{
	fx_describe_print(fx, id, flags, system, name, fields, count, NULL);
}

static inline void fx_sync(struct fx *fx, uint64_t clock, uint64_t monotonic)
{
	struct tb_clock_sync sync = {
		.clock = clock,
		.monotonic = monotonic,
		.boottime = monotonic + 1000,
		.realtime = monotonic + 1700000000000000000ull,
	};

	fx_durable(fx, TB_EV_CLOCK, &sync, sizeof(sync));
}

static inline void fx_thread(struct fx *fx, uint32_t tid, uint32_t tgid,
			     uint32_t parent, unsigned int flags,
			     const char *comm)
{
	struct tb_thread thread = {
		.tid = tid, .tgid = tgid, .parent = parent,
		.flags = (uint16_t)flags, .prio = 120, .uid = 1000,
	};

	memcpy(thread.comm, comm, strnlen(comm, sizeof(thread.comm)));
	fx_durable(fx, TB_EV_THREAD, &thread, sizeof(thread));
}

/* @first, @last: the span of events dropped after the last block; @time: when counted */
static inline void fx_totals_at(struct fx *fx, unsigned int cpu,
				unsigned int flags, uint64_t time,
				uint64_t first, uint64_t last)
{
	struct fx_ring *ring = &fx->rings[cpu];
	struct tb_totals totals = {
		.cpu = cpu,
		.flags = flags,
		.time = time,
		.first = first,
		.last = last,
		.attempted = ring->events + ring->overwritten + ring->dropped,
		.recorded = ring->events + ring->overwritten,
		.overwritten = ring->overwritten,
		.dropped = ring->dropped,
		.oversize = ring->oversize,
		.blocks = ring->sequence,
	};

	fx_durable(fx, TB_EV_TOTALS, &totals, sizeof(totals));
}

static inline void fx_totals(struct fx *fx, unsigned int cpu)
{
	fx_totals_at(fx, cpu, 0, 0, 0, 0);
}

/* Event ids of the fixture's descriptions; FX_SOFTIRQ is always simple, as events of modules can be */
enum {
	FX_SWITCH = 64, FX_SWITCH_COMPACT = 65, FX_WAKEUP = 66,
	FX_SYS_ENTER = 68, FX_SYS_ENTER_COMPACT = 69, FX_SOFTIRQ = 71,
	FX_NEWTASK = 72, FX_RENAME = 74, FX_ODD = 76,
};

struct fx_switch {
	char prev_comm[16];
	int32_t prev_pid, prev_prio;
	int64_t prev_state;
	char next_comm[16];
	int32_t next_pid, next_prio;
};

struct fx_newtask {
	int32_t pid;
	char comm[16];
	int32_t hole;
	uint64_t clone_flags;
};

struct fx_odd {			/* one field of every kind */
	uint32_t loc;		/* __data_loc char[] */
	uint32_t rel;		/* __rel_loc char[] */
	uint32_t array_loc;	/* __data_loc u32[] */
	int16_t  small[3];
	uint16_t bits;		/* bits 4-9 */
	uint64_t pointer;
	uint8_t  mask[8];
	int8_t   tiny;
	uint8_t  blob[7];
	char     text[24];	/* "loc\0" "rel\0" 1 2 3 */
};

/* As module/events/compact.c and calls.c describe the compact forms */
static inline void fx_describe_all(struct fx *fx)
{
	static const struct fx_field switch_fields[] = {
		{ "prev_comm", "char[16]", 0, 16, 16, TB_FIELD_STRING, 0, 0 },
		{ "prev_pid", "pid_t", 16, 4, 0, TB_FIELD_SIGNED, 0, 0 },
		{ "prev_prio", "int", 20, 4, 0, TB_FIELD_SIGNED, 0, 0 },
		{ "prev_state", "long", 24, 8, 0, TB_FIELD_SIGNED, 0, 0 },
		{ "next_comm", "char[16]", 32, 16, 16, TB_FIELD_STRING, 0, 0 },
		{ "next_pid", "pid_t", 48, 4, 0, TB_FIELD_SIGNED, 0, 0 },
		{ "next_prio", "int", 52, 4, 0, TB_FIELD_SIGNED, 0, 0 },
	};
	static const struct fx_field switch_compact[] = {
		{ "prev_pid", "pid_t", 0, 8, 0, TB_FIELD_BITS, 0, 22 },
		{ "next_pid", "pid_t", 0, 8, 0, TB_FIELD_BITS, 22, 22 },
		{ "prev_state", "long", 0, 8, 0, TB_FIELD_BITS | TB_FIELD_ONE_BIT, 44, 4 },
		{ "prev_prio", "int", 0, 8, 0, TB_FIELD_BITS, 48, 8 },
		{ "next_prio", "int", 0, 8, 0, TB_FIELD_BITS, 56, 8 },
	};
	static const struct fx_field wakeup_fields[] = {
		{ "comm", "char[16]", 0, 16, 16, TB_FIELD_STRING, 0, 0 },
		{ "pid", "pid_t", 16, 4, 0, TB_FIELD_SIGNED, 0, 0 },
	};
	static const struct fx_field enter_fields[] = {
		{ "id", "long", 0, 8, 0, TB_FIELD_SIGNED, 0, 0 },
		{ "args", "unsigned long[6]", 8, 48, 6, TB_FIELD_ARRAY, 0, 0 },
	};
	static const struct fx_field newtask_fields[] = {
		{ "pid", "pid_t", 0, 4, 0, TB_FIELD_SIGNED, 0, 0 },
		{ "comm", "char[16]", 4, 16, 16, TB_FIELD_STRING, 0, 0 },
		{ "clone_flags", "unsigned long", 24, 8, 0, TB_FIELD_HEX, 0, 0 },
	};
	static const struct fx_field rename_fields[] = {
		{ "pid", "pid_t", 0, 4, 0, TB_FIELD_SIGNED, 0, 0 },
		{ "newcomm", "char[16]", 4, 16, 16, TB_FIELD_STRING, 0, 0 },
	};
	static const struct fx_field odd_fields[] = {
		{ "loc", "__data_loc char[]", 0, 4, 0, TB_FIELD_DATA_LOC | TB_FIELD_STRING, 0, 0 },
		{ "rel", "__rel_loc char[]", 4, 4, 0, TB_FIELD_REL_LOC | TB_FIELD_STRING, 0, 0 },
		{ "list", "__data_loc u32[]", 8, 4, 0, TB_FIELD_DATA_LOC, 0, 0 },
		{ "small", "short[3]", 12, 6, 3, TB_FIELD_ARRAY | TB_FIELD_SIGNED, 0, 0 },
		{ "bits", "u16", 18, 2, 0, TB_FIELD_BITS, 4, 6 },
		{ "pointer", "void *", 24, 8, 0, 0, 0, 0 },
		{ "mask", "cpumask_t", 32, 8, 0, TB_FIELD_CPUMASK, 0, 0 },
		{ "tiny", "s8", 40, 1, 0, TB_FIELD_SIGNED, 0, 0 },
		{ "blob", "struct blob", 41, 7, 0, 0, 0, 0 },
	};

#define FX_EVENT(id, flags, system, name, fields) \
	fx_describe(fx, id, flags, system, name, fields, \
		    sizeof(fields) / sizeof(fields[0]))

	FX_EVENT(FX_SWITCH, 0, "sched", "sched_switch", switch_fields);
	FX_EVENT(FX_SWITCH_COMPACT, TB_EVENT_SIMPLE, "sched", "sched_switch", switch_compact);
	FX_EVENT(FX_WAKEUP, 0, "sched", "sched_wakeup", wakeup_fields);
	FX_EVENT(FX_SYS_ENTER, TB_EVENT_SHORT, "raw_syscalls", "sys_enter", enter_fields);
	FX_EVENT(FX_SYS_ENTER_COMPACT, TB_EVENT_SHORT | TB_EVENT_SIMPLE, "raw_syscalls",
		 "sys_enter", fx_enter_compact);
	FX_EVENT(FX_SOFTIRQ, TB_EVENT_SIMPLE, "irq", "softirq_entry", fx_softirq_fields);
	FX_EVENT(FX_NEWTASK, 0, "task", "task_newtask", newtask_fields);
	FX_EVENT(FX_RENAME, 0, "task", "task_rename", rename_fields);
	FX_EVENT(FX_ODD, 0, "test", "odd", odd_fields);
#undef FX_EVENT
}

/* The payload of FX_SWITCH_COMPACT; @state: 0 or one bit */
static inline uint64_t fx_switch_compact(uint64_t prev, uint64_t next, uint64_t state,
					 uint64_t prev_prio, uint64_t next_prio)
{
	uint64_t bit = state ? 1 + (uint64_t)__builtin_ctzll(state) : 0;

	return prev | next << 22 | bit << 44 | prev_prio << 48 | next_prio << 56;
}

/* The beginning of a recording: 1 tick is 1 ns until fx_sync() says otherwise */
static inline void fx_start_recording(struct fx *fx, uint64_t generation)
{
	const unsigned int cpus = fx->cpus ? fx->cpus : FX_CPUS;
	struct tb_init init = {
		.abi = TB_ABI_VERSION, .clock = TB_CLOCK_TSC,
		.frequency = 1000000000, .mode = TB_MODE_STREAMING,
		.policy = TB_POLICY_OVERWRITE, .nr_cpus = cpus,
		.buffers = 32, .elements = 1u << (fx->log2 - 4),
		.page_size = 4096, .pid_max = 4194304,
		.flags = TB_INIT_STATE_DUMP | fx->init_flags, .generation = generation,
		.load_id = { 1, 2, 3 }, .provider = "kernel",
		.release = "6.12.0-test", .version = "#1",
		.machine = "x86_64", .nodename = "fixture",
	};

	memset(fx->rings, 0, sizeof(fx->rings));
	memset(&fx->durable, 0, sizeof(fx->durable));
	fx_durable(fx, TB_EV_INIT, &init, sizeof(init));
	fx_describe_all(fx);
}

static inline void fx_init(struct fx *fx, unsigned int log2, uint64_t start)
{
	memset(fx, 0, sizeof(*fx));
	fx->log2 = log2;
	fx->start = start;
	fx_start_recording(fx, 1);
}

static inline void fx_free(struct fx *fx)
{
	free(fx->data);
	fx->data = NULL;
}

static inline struct fx_switch fx_switch(const char *prev_comm, int prev,
					 int64_t state, const char *next_comm,
					 int next)
{
	struct fx_switch event = {
		.prev_pid = prev, .prev_prio = 120, .prev_state = state,
		.next_pid = next, .next_prio = 120,
	};

	strncpy(event.prev_comm, prev_comm, 15);
	strncpy(event.next_comm, next_comm, 15);
	return event;
}

#endif /* TEST_LIB_FIXTURE_H */
