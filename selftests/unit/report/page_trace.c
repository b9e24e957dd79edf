// SPDX-License-Identifier: GPL-2.0-only
/*
 * Makes the traces of test_page.py, for the page of "tracebuf report --html".
 *
 *   page_trace busy FILE N      N events on 8 CPUs: 200 tasks that run, sleep, wait, are woken,
 *                               make system calls; interrupts, softirqs, slices and a counter of a
 *                               program, two losses on one CPU
 *   page_trace hostile FILE     names that would be HTML, script, right-to-left text or escape
 *                               sequences
 *   page_trace frozen FILE      a ring that takes no more events long before the end
 *
 * The same arguments give the same file.
 */
#include "test_lib_chunk.h"

enum {
	EV_EXIT = 80, EV_IRQ = 82, EV_IRQ_EXIT = 84, EV_SOFTIRQ = 86, EV_SOFTIRQ_EXIT = 88,
};

enum { ASLEEP, READY, RUNNING };

#define START 1000000000ull
#define CPUS 8u
#define TASKS 200u
#define FIRST	100u		/* the first tid */

struct busy_task {
	int state;
	int64_t call;		/* -1: none */
	char comm[16];
};

struct busy_cpu {
	uint32_t current;	/* tid; 0: idle */
	bool irq, softirq;
};

static struct fx fx;
static struct busy_task tasks[TASKS];
static struct busy_cpu cpus[CPUS];
static uint64_t seed = 88172645463325252ull;
static uint64_t now = START;

static unsigned int chance(unsigned int below)
{
	seed ^= seed << 13;
	seed ^= seed >> 7;
	seed ^= seed << 17;
	return (unsigned int)((seed >> 11) % below);
}

static void describe(void)
{
	fx_describe(&fx, EV_EXIT, 0, "raw_syscalls", "sys_exit", fx_exit_fields, 2);
	fx_describe(&fx, EV_IRQ, 0, "irq", "irq_handler_entry", fx_irq_fields, 2);
	fx_describe(&fx, EV_IRQ_EXIT, 0, "irq", "irq_handler_exit", fx_irq_exit_fields, 2);
	fx_describe(&fx, EV_SOFTIRQ, 0, "irq", "softirq_entry", fx_softirq_fields, 1);
	fx_describe(&fx, EV_SOFTIRQ_EXIT, 0, "irq", "softirq_exit", fx_softirq_fields, 1);
}

static void put(unsigned int cpu, unsigned int id, const void *payload, size_t length)
{
	uint32_t tid = cpus[cpu].current;

	/* the clock's upper half is in the block's header: open a block when it changes */
	if (fx.rings[cpu].last >> 32 != now >> 32 ||
	    !fx_composite(&fx, cpu, id, now, tid, payload, length)) {
		fx_close(&fx, cpu);
		fx_open(&fx, cpu, now, tid, NULL);
		assert(fx_composite(&fx, cpu, id, now, tid, payload, length));
	}
}

static struct busy_task *task_of(uint32_t tid)
{
	return &tasks[tid - FIRST];
}

static void put_switch(unsigned int cpu)
{
	uint32_t prev = cpus[cpu].current, next = 0;
	static const int64_t states[] = { 1, 1, 1, 1, 0, 0, 0, 2 };
	int64_t state = states[chance(8)];
	struct fx_switch event;
	unsigned int tries;

	for (tries = 0; tries < 30 && !next; tries++) {
		uint32_t tid = FIRST + chance(TASKS);

		if (task_of(tid)->state == READY)
			next = tid;
	}
	if (prev == next)
		return;
	event = fx_switch(prev ? task_of(prev)->comm : "swapper", (int)prev, prev ? state : 0,
			  next ? task_of(next)->comm : "swapper", (int)next);
	put(cpu, FX_SWITCH, &event, sizeof(event));
	if (prev)
		task_of(prev)->state = state ? ASLEEP : READY;
	if (next)
		task_of(next)->state = RUNNING;
	cpus[cpu].current = next;
}

static void put_wakeup(unsigned int cpu)
{
	struct { char comm[16]; int32_t pid; } event = { .pid = (int)(FIRST + chance(TASKS)) };
	struct busy_task *task = task_of((uint32_t)event.pid);

	if (task->state != ASLEEP)
		return;
	memcpy(event.comm, task->comm, sizeof(event.comm));
	put(cpu, FX_WAKEUP, &event, sizeof(event));
	task->state = READY;
}

static void put_call(unsigned int cpu)
{
	static const int64_t calls[] = { 0, 1, 3, 7, 9, 202, 232, 257 };
	struct busy_task *task = task_of(cpus[cpu].current);
	struct { int64_t id; uint64_t args[6]; } enter = {
		task->call, { chance(64), 0x7ffd00000000ull + chance(1u << 20) * 16ull, chance(4096) },
	};
	struct { int64_t id, ret; } leave = { task->call, chance(10) ? (int64_t)chance(4096) : -11 };

	if (task->call >= 0) {
		put(cpu, EV_EXIT, &leave, sizeof(leave));
		task->call = -1;
		return;
	}
	enter.id = task->call = calls[chance(8)];
	put(cpu, FX_SYS_ENTER, &enter, sizeof(enter));
}

static void put_irq(unsigned int cpu, bool enter)
{
	struct { int32_t irq; char name[12]; } entry = { 24 + (int)cpu, "nvme0q" };
	struct { int32_t irq, ret; } leave = { 24 + (int)cpu, 1 };

	if (enter)
		put(cpu, EV_IRQ, &entry, sizeof(entry));
	else
		put(cpu, EV_IRQ_EXIT, &leave, sizeof(leave));
	cpus[cpu].irq = enter;
}

static void put_softirq(unsigned int cpu, bool enter)
{
	uint32_t vector = 1 + cpu % 3;

	put(cpu, enter ? EV_SOFTIRQ : EV_SOFTIRQ_EXIT, &vector, sizeof(vector));
	cpus[cpu].softirq = enter;
}

static void put_any(unsigned int cpu)
{
	unsigned int what = chance(100);

	if (cpus[cpu].irq)
		what < 30 ? put_wakeup(cpu) : put_irq(cpu, false);
	else if (cpus[cpu].softirq)
		what < 30 ? put_wakeup(cpu) : put_softirq(cpu, false);
	else if (what < 6)
		put_irq(cpu, true);
	else if (what < 12)
		put_softirq(cpu, true);
	else if (what < 50 && cpus[cpu].current)
		put_call(cpu);
	else if (what < 70)
		put_wakeup(cpu);
	else
		put_switch(cpu);
}

/* Records of the first task since the last call */
static void put_program(uint32_t number, uint64_t *first)
{
	uint64_t began = now - 40000;
	struct fx_chunk chunk;

	fx_chunk(&chunk, 7, 1, number, *first);
	chunk.head.pid = chunk.head.tid = FIRST;
	if (!number) {
		fx_name(&chunk, 1, TB_NAME_CATEGORY, 0, "work");
		fx_name(&chunk, 2, TB_NAME_EVENT, 1, "request");
		fx_name(&chunk, 3, TB_NAME_EVENT, 1, "parse");
		fx_name(&chunk, 4, TB_NAME_EVENT, 1, "waiting");
	}
	fx_record(&chunk, TB_REC_BEGIN, 0, 2, began, FX_NO_WORDS);
	fx_record(&chunk, TB_REC_SLICE, 0, 3, began + 2000, FX_WORDS(9000 + chance(9000)));
	fx_record(&chunk, TB_REC_COUNTER, 0, 4, began + 3000, FX_WORDS(chance(16)));
	fx_record(&chunk, TB_REC_END, 0, 0, began + 30000 + chance(9000), FX_NO_WORDS);
	*first += chunk.head.records;
	fx_close(&fx, 0);
	fx_open(&fx, 0, now, cpus[0].current, NULL);
	assert(fx_take(&fx, 0, now, &chunk));
}

static void put_loss(unsigned int cpu)
{
	struct tb_gap gap = { .overwritten = 4321, .dropped = 17, .first = now, .last = now + 30000000 };

	fx_close(&fx, cpu);
	now += 30000000;
	fx_open(&fx, cpu, now, 0, &gap);
	cpus[cpu] = (struct busy_cpu){ 0 };
}

static void make_busy(uint64_t count)
{
	static const char *const names[] = {
		"nginx", "postgres", "kworker/u16:", "java", "ksoftirqd/", "redis-server", "make", "cc1",
	};
	uint64_t i, first = 0;
	unsigned int cpu;
	uint32_t pieces = 0;

	describe();
	for (i = 0; i < TASKS; i++) {
		snprintf(tasks[i].comm, sizeof(tasks[i].comm), "%s%u", names[i % 8], (unsigned int)i / 8);
		tasks[i].call = -1;
		tasks[i].state = chance(3) ? ASLEEP : READY;
		/* every sixth process has four threads */
		fx_thread(&fx, FIRST + (uint32_t)i, FIRST + (uint32_t)(i / 24 * 24 + (i % 24 < 4 ? 0 : i % 24)), 1,
			  TB_THREAD_DUMP, tasks[i].comm);
	}
	for (cpu = 0; cpu < CPUS; cpu++)
		fx_open(&fx, cpu, now, 0, NULL);
	for (i = 0; i < count; i++) {
		now += 50 + chance(2500) * (chance(200) ? 1 : 40);
		if (i % 2000 == 1999)
			put_program(pieces++, &first);
		if (i == count / 4 || i == count / 2)
			put_loss(3);
		put_any(chance(CPUS));
	}
}

static void make_hostile(void)
{
	static const char script[] = "</script><b>x";
	static const char escape[] = "\x1b[31m\xc2\x9b" "2J";
	static const char image[] = "<img src=x onerror='document.title=1'>";
	const struct tb_thread boxed = {
		.tid = 102, .tgid = 102, .parent = 1, .flags = TB_THREAD_DUMP, .cgroup = 7,
		.comm = "boxed",
	};
	struct { struct tb_string head; char text[24]; } name = {
		{ TB_STRING_CONTAINER, 7 }, "<b>web\x1b[31m</b>",
	};
	struct fx_ring notes = { 0 };
	struct fx_switch event;
	struct fx_chunk chunk;
	int turn;

	describe();
	fx_thread(&fx, 100, 100, 1, TB_THREAD_DUMP, script);
	fx_durable(&fx, TB_EV_THREAD, &boxed, sizeof(boxed));
	fx_thread(&fx, 101, 101, 1, TB_THREAD_DUMP, "\xe2\x80\xae" "<!--");
	fx_open(&fx, 0, now, 0, NULL);
	for (turn = 0; turn < 40; turn++, now += 100000) {
		event = turn & 1 ? fx_switch(script, 100, 1, "\xe2\x80\xae" "<!--", 101) :
				   fx_switch("\xe2\x80\xae" "<!--", 101, 0, script, 100);
		fx_composite(&fx, 0, FX_SWITCH, now, turn & 1 ? 100 : 101, &event, sizeof(event));
	}
	event = fx_switch(script, 100, 1, escape, 102);
	fx_composite(&fx, 0, FX_SWITCH, now, 100, &event, sizeof(event));
	now += 100000;
	event = fx_switch(escape, 102, 1, script, 100);
	fx_composite(&fx, 0, FX_SWITCH, now, 102, &event, sizeof(event));
	fx_chunk(&chunk, 7, 1, 0, 0);
	chunk.head.pid = chunk.head.tid = 100;
	fx_name(&chunk, 1, TB_NAME_CATEGORY, 0, script);
	fx_name(&chunk, 2, TB_NAME_EVENT, 1, image);
	fx_record(&chunk, TB_REC_SLICE, 0, 2, START + 1000, FX_WORDS(500000));
	fx_mark(&chunk, START + 2000, "]]></SCRIPT ><script>document.title=2</script>\x01\xff");
	fx_take(&fx, 0, now, &chunk);
	fx_begin(&fx, &notes, TB_BLOCK_NOTE, 12, 0, 0, 0);
	assert(fx_put_composite(&fx, &notes, TB_EV_STRING, 0, 0, 0, &name, sizeof(name)));
	fx_end(&fx, &notes);
}

static void change(unsigned int cpu, uint64_t time, int prev, int64_t state, int next)
{
	struct fx_switch event = fx_switch("a", prev, state, "b", next);

	assert(fx_composite(&fx, cpu, FX_SWITCH, time, (uint32_t)prev, &event, sizeof(event)));
}

/* CPU 0 drops from 3 ms to the end at 12 ms: 110 waited there, 111 ran, 112 slept elsewhere */
static void make_frozen(void)
{
	const uint64_t ms = 1000000;

	describe();
	fx_sync(&fx, START, START);
	fx_open(&fx, 0, START, 0, NULL);
	change(0, START + ms, 0, 0, 110);
	change(0, START + 2 * ms, 110, 0, 111);
	fx_close(&fx, 0);
	fx.rings[0].dropped += 50;
	fx_totals_at(&fx, 0, 0, START + 12 * ms, START + 3 * ms, START + 4 * ms);
	fx_open(&fx, 1, START, 0, NULL);
	change(1, START + ms, 0, 0, 112);
	change(1, START + 10 * ms, 112, 1, 0);
}

int main(int argc, char **argv)
{
	unsigned int cpu;
	FILE *out;

	if (argc < 3 || (strcmp(argv[1], "busy") && strcmp(argv[1], "hostile") &&
			 strcmp(argv[1], "frozen"))) {
		fprintf(stderr, "usage: see the top of %s\n", __FILE__);
		return 2;
	}
	fx_init(&fx, 16, START);
	if (!strcmp(argv[1], "busy"))
		make_busy(argc > 3 ? strtoull(argv[3], NULL, 0) : 1000000);
	else if (!strcmp(argv[1], "hostile"))
		make_hostile();
	else
		make_frozen();
	for (cpu = 0; cpu < CPUS; cpu++)
		if (fx.rings[cpu].open) {
			fx_close(&fx, cpu);
			fx_totals(&fx, cpu);
		}
	fx_durable_end(&fx);
	out = fopen(argv[2], "wb");
	if (!out || fwrite(fx.data, 1, fx.size, out) != fx.size || fclose(out)) {
		perror(argv[2]);
		return 1;
	}
	fx_free(&fx);
	return 0;
}
