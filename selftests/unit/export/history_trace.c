// SPDX-License-Identifier: GPL-2.0-only
/*
 * For history_check.py: makes a trace of the script on standard input, which has an order a line.
 *
 *   history_trace FILE <SCRIPT
 *
 * Times are in ns. CPUs are rings of the trace; TID 0 is the idle thread.
 *
 *   cpus N                       CPUs of the machine; before all others (8)
 *   arguments                    system calls have arguments; before all others but this one
 *   chosen                       other threads than the chosen ones were not recorded
 *   compact                      record frequent events in their compact forms
 *   thread TID [CGROUP]          a thread named t<TID> existed before the recording
 *   quota CGROUP TEXT            its CPU quota: TB_STRING_QUOTA
 *   file TID NUMBER NAME         the thread had this file open
 *   fork TIME PARENT TID [CGROUP]    the process TID begins; another one may have had its TID
 *   ends TIME TID [CGROUP]       the process TID begins to end: TB_THREAD_EXIT.  It still runs
 *                                until a switch with the state 16 or 32 (X, Z)
 *   symbol NUMBER NAME           the name of a function of timers
 *   disk MINOR NAME              the name of the disk 8:MINOR
 *   first CPU NUMBER             sequence number of the first block of the CPU in the file
 *   gap CPU TIME TID LOST FIRST LAST     begin a block; before it LOST events from FIRST to LAST
 *                                were overwritten
 *   switch CPU TIME PREV STATE NEXT
 *   waking CPU TIME WAKER TID TARGET CONTEXT, wakeup ..., wakeupnew ...  CONTEXT: TB_CONTEXT_*
 *   migrate CPU TIME TASK TID FROM TO     from one CPU's queue to another's
 *   irq CPU TIME TID NUMBER, irqend ..., softirq ..., softirqend ...
 *   raise CPU TIME TID NUMBER CONTEXT    a softirq; CONTEXT: TB_CONTEXT_*
 *   enter CPU TIME TID NUMBER [ARGUMENT], exit CPU TIME TID NUMBER RESULT   a system call
 *   timer CPU TIME TID TIMER FUNCTION CONTEXT, timerend ..., hrtimer ..., tasklet ...
 *                                a function of a timer; FUNCTION: NUMBER of symbol
 *   insert CPU TIME TID MINOR KIND SECTOR, merge ..., issue ..., requeue ..., half ..., done ...
 *                                a request to the disk 8:MINOR; KIND 0: R, 1: WS; half: its first
 *                                4 of 8 sectors are complete
 *   select TIME NAMES            from TIME on record these of switch wake irq softirq call request
 *                                timer, joined by commas
 *   dropped CPU LOST FIRST LAST  after the last block
 *   totals CPU FLAGS TIME        FLAGS: of struct tb_totals
 *   part CPU FLAGS               FLAGS: of struct tb_part, with the counts of the CPU until then
 */
#include <inttypes.h>
#include "test_lib_fixture.h"

enum { EV_WAKEUP_NEW = 78, EV_WAKEUP = 80, EV_WAKING = 82, EV_EXIT = 84, EV_IRQ = 86,
       EV_IRQ_EXIT = 88, EV_SOFTIRQ = 90, EV_SOFTIRQ_EXIT = 92, EV_DONE = 94, EV_INSERT = 96,
       EV_ISSUE = 98, EV_REQUEUE = 100,
       EV_MERGE = 102, EV_ENTER = 104, EV_LEAVE = 106, EV_TIMER = 108, EV_TIMER_EXIT = 110,
       EV_HRTIMER = 112, EV_HRTIMER_EXIT = 114, EV_TASKLET = 116, EV_TASKLET_EXIT = 118,
       EV_RAISE = 120, EV_MIGRATE = 122 };

#define NAME 13			/* bytes of a name: 32 bits with a letter */
#define TEXT 256
#define BLOCK_LOG2 12
#define WITH_STACK (1 + (sizeof(struct fx_switch) + 15) / 16 + 2)	/* elements of a switch */
#define FUNCTIONS 0xffffffff82000000	/* functions of timers, each of FUNCTION_SIZE bytes */
#define FUNCTION_SIZE 0x100
#define FRAME 0xffffffff81000010	/* the one frame of the stack of each switch */

struct irq {
	int32_t irq;
	char name[12];
};

struct wake {
	char comm[16];
	int32_t pid, prio, cpu;
};

struct migration {
	int32_t pid, from, to;
};

struct enter {
	int64_t id;
	uint64_t args[6];
};

struct timer {
	uint64_t timer, function;
};

struct stack {
	uint32_t kind, count;
	uint64_t ip;
};

struct leave {
	int64_t id, ret;
};

struct block {
	uint32_t dev, nr_sector;
	uint64_t sector;
	char rwbs[8];
};

/* For each CPU: the span in which events were dropped after its last block */
static struct {
	uint64_t first, last;
} dropped[FX_CPUS];

static struct fx fx;
static struct fx_ring notes;
static bool compact, arguments;

static void describe_timers(void)
{
	static const struct fx_field timer[] = {
		{ "timer", "void *", 0, 8, 0, TB_FIELD_HEX, 0, 0 },
		{ "function", "void *", 8, 8, 0, TB_FIELD_HEX, 0, 0 },
	}, hrtimer[] = {
		{ "hrtimer", "void *", 0, 8, 0, TB_FIELD_HEX, 0, 0 },
		{ "function", "void *", 8, 8, 0, TB_FIELD_HEX, 0, 0 },
	}, tasklet[] = {
		{ "tasklet", "void *", 0, 8, 0, TB_FIELD_HEX, 0, 0 },
		{ "func", "void *", 8, 8, 0, TB_FIELD_HEX, 0, 0 },
	};

	fx_describe(&fx, EV_TIMER, 0, "timer", "timer_expire_entry", timer, 2);
	fx_describe(&fx, EV_TIMER_EXIT, 0, "timer", "timer_expire_exit", timer, 1);
	fx_describe(&fx, EV_HRTIMER, 0, "timer", "hrtimer_expire_entry", hrtimer, 2);
	fx_describe(&fx, EV_HRTIMER_EXIT, 0, "timer", "hrtimer_expire_exit", hrtimer, 1);
	fx_describe(&fx, EV_TASKLET, 0, "irq", "tasklet_entry", tasklet, 2);
	fx_describe(&fx, EV_TASKLET_EXIT, 0, "irq", "tasklet_exit", tasklet, 2);
}

/* System calls whose arguments name files and futexes */
static void describe_calls(void)
{
	static const struct fx_field enter[] = {
		{ "id", "long", 0, 8, 0, TB_FIELD_SIGNED, 0, 0 },
		{ "args", "unsigned long[6]", 8, 48, 6, TB_FIELD_ARRAY, 0, 0 },
	};

	fx_describe(&fx, EV_LEAVE + 1, TB_EVENT_SYSCALL | TB_EVENT_SIMPLE, "raw_syscalls",
		    "sys_exit", fx_exit_compact, 2);
	fx_describe(&fx, EV_LEAVE, TB_EVENT_SYSCALL, "raw_syscalls", "sys_exit", fx_exit_fields, 2);
	fx_describe(&fx, EV_ENTER, TB_EVENT_SYSCALL | TB_EVENT_SHORT, "raw_syscalls", "sys_enter",
		    enter, 2);
}

static void describe(void)
{
	static const struct fx_field block[] = {
		{ "dev", "dev_t", 0, 4, 0, 0, 0, 0 },
		{ "nr_sector", "unsigned int", 4, 4, 0, 0, 0, 0 },
		{ "sector", "sector_t", 8, 8, 0, 0, 0, 0 },
		{ "rwbs", "char[8]", 16, 8, 8, TB_FIELD_STRING, 0, 0 },
	};

	static const struct fx_field migrate[] = {
		{ "pid", "pid_t", 0, 4, 0, TB_FIELD_SIGNED, 0, 0 },
		{ "orig_cpu", "int", 4, 4, 0, TB_FIELD_SIGNED, 0, 0 },
		{ "dest_cpu", "int", 8, 4, 0, TB_FIELD_SIGNED, 0, 0 },
	};

	fx_describe(&fx, EV_MIGRATE, 0, "sched", "sched_migrate_task", migrate, 3);
	if (arguments) {
		describe_calls();
		describe_timers();
	} else {
		fx_describe(&fx, EV_EXIT + 1, TB_EVENT_SIMPLE, "raw_syscalls", "sys_exit",
			    fx_exit_compact, 2);
		fx_describe(&fx, EV_EXIT, 0, "raw_syscalls", "sys_exit", fx_exit_fields, 2);
	}
	fx_describe(&fx, EV_WAKEUP_NEW + 1, TB_EVENT_SIMPLE, "sched", "sched_wakeup_new",
		    fx_wake_compact, 4);
	fx_describe(&fx, EV_WAKEUP + 1, TB_EVENT_SIMPLE, "sched", "sched_wakeup",
		    fx_wake_compact, 4);
	fx_describe(&fx, EV_WAKING + 1, TB_EVENT_SIMPLE, "sched", "sched_waking",
		    fx_wake_compact, 4);
	fx_describe(&fx, EV_SOFTIRQ + 1, TB_EVENT_SIMPLE, "irq", "softirq_entry",
		    fx_softirq_compact, 2);
	fx_describe(&fx, EV_SOFTIRQ_EXIT + 1, TB_EVENT_SIMPLE, "irq", "softirq_exit",
		    fx_softirq_compact, 2);
	fx_describe(&fx, EV_RAISE + 1, TB_EVENT_SIMPLE, "irq", "softirq_raise",
		    fx_softirq_compact, 2);
	fx_describe(&fx, EV_RAISE, 0, "irq", "softirq_raise", fx_softirq_fields, 1);
	fx_describe(&fx, EV_WAKEUP_NEW, 0, "sched", "sched_wakeup_new", fx_wake_fields, 4);
	fx_describe(&fx, EV_WAKEUP, 0, "sched", "sched_wakeup", fx_wake_fields, 4);
	fx_describe(&fx, EV_WAKING, 0, "sched", "sched_waking", fx_wake_fields, 4);
	fx_describe(&fx, EV_IRQ, 0, "irq", "irq_handler_entry", fx_irq_fields, 2);
	fx_describe(&fx, EV_IRQ_EXIT, 0, "irq", "irq_handler_exit", fx_irq_fields, 1);
	fx_describe(&fx, EV_SOFTIRQ, 0, "irq", "softirq_entry", fx_softirq_fields, 1);
	fx_describe(&fx, EV_SOFTIRQ_EXIT, 0, "irq", "softirq_exit", fx_softirq_fields, 1);
	fx_describe(&fx, EV_DONE, 0, "block", "block_rq_complete", block, 4);
	fx_describe(&fx, EV_INSERT, 0, "block", "block_rq_insert", block, 4);
	fx_describe(&fx, EV_ISSUE, 0, "block", "block_rq_issue", block, 4);
	fx_describe(&fx, EV_REQUEUE, 0, "block", "block_rq_requeue", block, 4);
	fx_describe(&fx, EV_MERGE, 0, "block", "block_rq_merge", block, 4);
}

static const char *name_of(uint32_t tid, char *name)
{
	snprintf(name, NAME, tid ? "t%" PRIu32 : "swapper", tid);
	return name;
}

static void put_in(unsigned int cpu, uint64_t time, uint32_t tid, unsigned int context,
		   unsigned int event, const void *payload, size_t length)
{
	if (!fx.rings[cpu].open)
		fx_open(&fx, cpu, time, tid, NULL);
	if (fx_put_composite(&fx, &fx.rings[cpu], event, time, tid, context, payload, length))
		return;
	fx_close(&fx, cpu);
	fx_open(&fx, cpu, time, tid, NULL);
	assert(fx_put_composite(&fx, &fx.rings[cpu], event, time, tid, context, payload,
				length));
}

/* The compact form of an event */
static void put_compact(unsigned int cpu, uint64_t time, uint32_t tid, unsigned int event,
			uint64_t payload)
{
	if (!fx.rings[cpu].open)
		fx_open(&fx, cpu, time, tid, NULL);
	if (fx_simple(&fx, cpu, event + 1, time, payload))
		return;
	fx_close(&fx, cpu);
	fx_open(&fx, cpu, time, tid, NULL);
	assert(fx_simple(&fx, cpu, event + 1, time, payload));
}

static void put(unsigned int cpu, uint64_t time, uint32_t tid, unsigned int event,
		const void *payload, size_t length)
{
	put_in(cpu, time, tid, 1, event, payload, length);
}

static void gap(unsigned int cpu, uint64_t time, uint32_t tid, const uint64_t *more)
{
	const struct tb_gap lost = { .overwritten = more[0], .first = more[1], .last = more[2] };

	if (fx.rings[cpu].open)
		fx_close(&fx, cpu);
	fx_open(&fx, cpu, time, tid, &lost);
}

static void change(unsigned int cpu, uint64_t time, uint32_t tid, const uint64_t *more)
{
	char from[NAME], to[NAME];
	struct fx_switch event = fx_switch(name_of(tid, from), (int)tid, (int64_t)more[0],
					   name_of((uint32_t)more[1], to), (int)more[1]);
	const struct stack stack = { .kind = TB_STACK_KERNEL, .count = 1, .ip = FRAME };

	/* a stack must be in the block of its event */
	if (fx.rings[cpu].open &&
	    fx.rings[cpu].used + WITH_STACK * TB_ELEMENT_SIZE > 1 << BLOCK_LOG2)
		fx_close(&fx, cpu);
	put(cpu, time, tid, FX_SWITCH, &event, sizeof(event));
	assert(fx_composite(&fx, cpu, TB_EV_STACK, time, 0, &stack, sizeof(stack)));
}

static void wake(unsigned int cpu, uint64_t time, uint32_t tid, unsigned int event,
		 const uint64_t *more)
{
	struct wake wake = { .pid = (int32_t)more[0], .prio = 120, .cpu = (int32_t)more[1] };

	if (compact) {
		put_compact(cpu, time, tid, event,
			    more[0] | 120 << 22 | more[1] << 32 | more[2] << 48);
		return;
	}
	name_of((uint32_t)more[0], wake.comm);
	put_in(cpu, time, tid, (unsigned int)more[2], event, &wake, sizeof(wake));
}

static void migrate(unsigned int cpu, uint64_t time, uint32_t tid, const uint64_t *more)
{
	const struct migration migration = {
		.pid = (int32_t)more[0], .from = (int32_t)more[1], .to = (int32_t)more[2],
	};

	put(cpu, time, tid, EV_MIGRATE, &migration, sizeof(migration));
}

static void interrupt(unsigned int cpu, uint64_t time, uint32_t tid, unsigned int event,
		      const uint64_t *more)
{
	const struct irq irq = { .irq = (int32_t)more[0], .name = "disk" };

	if (compact && (event == EV_SOFTIRQ || event == EV_SOFTIRQ_EXIT)) {
		put_compact(cpu, time, tid, event, more[0] | 1ull << 48);
		return;
	}
	put(cpu, time, tid, event, &irq, event == EV_IRQ ? sizeof(irq) : sizeof(irq.irq));
}

static void raise_softirq(unsigned int cpu, uint64_t time, uint32_t tid, const uint64_t *more)
{
	const uint32_t vector = (uint32_t)more[0];

	if (compact)
		put_compact(cpu, time, tid, EV_RAISE, more[0] | more[1] << 48);
	else
		put_in(cpu, time, tid, (unsigned int)more[1], EV_RAISE, &vector, sizeof(vector));
}

static void call(unsigned int cpu, uint64_t time, uint32_t tid, const uint64_t *more)
{
	const struct enter enter = { .id = (int64_t)more[0], .args = { more[1] } };

	put(cpu, time, tid, arguments ? EV_ENTER : FX_SYS_ENTER, &enter, sizeof(enter));
}

static void leave(unsigned int cpu, uint64_t time, uint32_t tid, const uint64_t *more)
{
	const struct leave leave = { .id = (int64_t)more[0], .ret = (int64_t)more[1] };
	unsigned int event = arguments ? EV_LEAVE : EV_EXIT;

	if (compact)
		put_compact(cpu, time, tid, event, more[0] | more[1] << 16);
	else
		put(cpu, time, tid, event, &leave, sizeof(leave));
}

/* The address of the function of a timer */
static uint64_t function(uint64_t number)
{
	return FUNCTIONS + number * FUNCTION_SIZE;
}

static void timer(unsigned int cpu, uint64_t time, uint32_t tid, unsigned int event,
		  const uint64_t *more)
{
	const struct timer timer = { more[0], function(more[1]) };

	put_in(cpu, time, tid, (unsigned int)more[2], event, &timer,
	       event == EV_TIMER_EXIT || event == EV_HRTIMER_EXIT ? sizeof(timer.timer) :
	       sizeof(timer));
}

static void request(unsigned int cpu, uint64_t time, uint32_t tid, unsigned int event,
		    const uint64_t *more, uint32_t sectors)
{
	struct block block = {
		.dev = 8 << 20 | (uint32_t)more[0], .nr_sector = sectors, .sector = more[2],
	};

	strcpy(block.rwbs, more[1] ? "WS" : "R");
	put(cpu, time, tid, event, &block, sizeof(block));
}

static void add_string(uint32_t kind, uint32_t key, const char *text)
{
	struct {
		struct tb_string head;
		char text[TEXT];
	} string = { .head = { kind, key } };

	strcpy(string.text, text);
	fx_durable(&fx, TB_EV_STRING, &string, sizeof(string.head) + strlen(text));
}

static void add_thread(uint32_t tid, uint32_t cgroup)
{
	struct tb_thread thread = {
		.tid = tid, .tgid = tid, .parent = 1, .flags = TB_THREAD_DUMP, .prio = 120,
		.uid = 1000, .cgroup = cgroup,
	};

	name_of(tid, thread.comm);
	fx_durable(&fx, TB_EV_THREAD, &thread, sizeof(thread));
}

/* A process begins or ends */
static void change_process(uint64_t time, uint32_t parent, uint32_t tid, uint32_t cgroup,
			   uint16_t flags)
{
	struct tb_thread thread = {
		.tid = tid, .tgid = tid, .parent = parent, .flags = flags, .cgroup = cgroup,
	};

	name_of(tid, thread.comm);
	fx_durable_at(&fx, time, TB_EV_THREAD, &thread, sizeof(thread));
}

static void note(unsigned int event, const void *payload, size_t length)
{
	fx_begin(&fx, &notes, TB_BLOCK_NOTE, BLOCK_LOG2, 0, 0, 0);
	assert(fx_put_composite(&fx, &notes, event, 0, 0, 0, payload, length));
	fx_end(&fx, &notes);
}

static void add_file(uint32_t tid, uint32_t number, const char *name)
{
	struct {
		struct tb_open_file head;
		char name[TEXT];
	} file = { .head = { .since = fx.start, .span = 10, .pid = tid, .number = number } };

	strcpy(file.name, name);
	note(TB_EV_OPEN_FILE, &file, sizeof(file.head) + strlen(name));
}

static void add_symbol(uint32_t number, const char *name)
{
	struct {
		struct tb_symbol head;
		char name[TEXT];
	} symbol = { .head = { function(number), FUNCTION_SIZE } };

	strcpy(symbol.name, name);
	note(TB_EV_SYMBOL, &symbol, sizeof(symbol.head) + strlen(name));
}

static void select_names(uint64_t time, const char *names)
{
	unsigned int ids[64], count = 0, i;

	if (strstr(names, "switch")) {
		ids[count++] = FX_SWITCH;
		ids[count++] = EV_MIGRATE;
	}
	if (strstr(names, "wake")) {
		ids[count++] = EV_WAKING;
		ids[count++] = EV_WAKEUP;
		ids[count++] = EV_WAKEUP_NEW;
	}
	/* "softirq" contains "irq" */
	if (!strncmp(names, "irq", 3) || strstr(names, ",irq")) {
		ids[count++] = EV_IRQ;
		ids[count++] = EV_IRQ_EXIT;
	}
	if (strstr(names, "softirq")) {
		ids[count++] = EV_SOFTIRQ;
		ids[count++] = EV_SOFTIRQ_EXIT;
		ids[count++] = EV_RAISE;
	}
	if (strstr(names, "request")) {
		ids[count++] = EV_DONE;
		ids[count++] = EV_INSERT;
		ids[count++] = EV_ISSUE;
		ids[count++] = EV_REQUEUE;
		ids[count++] = EV_MERGE;
	}
	if (strstr(names, "call")) {
		ids[count++] = arguments ? EV_ENTER : FX_SYS_ENTER;
		ids[count++] = arguments ? EV_LEAVE : EV_EXIT;
	}
	for (i = EV_TIMER; i <= EV_TASKLET_EXIT && strstr(names, "timer"); i += 2)
		ids[count++] = i;
	/* an event selected in its compact form may also occur in the wide one */
	for (i = count; compact && i; i--)
		ids[count++] = ids[i - 1] + 1;
	ids[count] = 0;
	fx_select(&fx, time, ids);
}

static bool take(const char *order, unsigned int cpu, uint64_t time, uint32_t tid,
		 const uint64_t *more)
{
	if (!strcmp(order, "first"))
		fx.rings[cpu].sequence = time;
	else if (!strcmp(order, "gap"))
		gap(cpu, time, tid, more);
	else if (!strcmp(order, "switch"))
		change(cpu, time, tid, more);
	else if (!strcmp(order, "waking"))
		wake(cpu, time, tid, EV_WAKING, more);
	else if (!strcmp(order, "wakeup"))
		wake(cpu, time, tid, EV_WAKEUP, more);
	else if (!strcmp(order, "wakeupnew"))
		wake(cpu, time, tid, EV_WAKEUP_NEW, more);
	else if (!strcmp(order, "migrate"))
		migrate(cpu, time, tid, more);
	else if (!strcmp(order, "irq"))
		interrupt(cpu, time, tid, EV_IRQ, more);
	else if (!strcmp(order, "irqend"))
		interrupt(cpu, time, tid, EV_IRQ_EXIT, more);
	else if (!strcmp(order, "softirq"))
		interrupt(cpu, time, tid, EV_SOFTIRQ, more);
	else if (!strcmp(order, "softirqend"))
		interrupt(cpu, time, tid, EV_SOFTIRQ_EXIT, more);
	else if (!strcmp(order, "raise"))
		raise_softirq(cpu, time, tid, more);
	else if (!strcmp(order, "enter"))
		call(cpu, time, tid, more);
	else if (!strcmp(order, "exit"))
		leave(cpu, time, tid, more);
	else if (!strcmp(order, "insert"))
		request(cpu, time, tid, EV_INSERT, more, 8);
	else if (!strcmp(order, "merge"))
		request(cpu, time, tid, EV_MERGE, more, 8);
	else if (!strcmp(order, "issue"))
		request(cpu, time, tid, EV_ISSUE, more, 8);
	else if (!strcmp(order, "requeue"))
		request(cpu, time, tid, EV_REQUEUE, more, 8);
	else if (!strcmp(order, "half"))
		request(cpu, time, tid, EV_DONE, more, 4);
	else if (!strcmp(order, "done"))
		request(cpu, time, tid, EV_DONE, more, 8);
	else if (!strcmp(order, "timer"))
		timer(cpu, time, tid, EV_TIMER, more);
	else if (!strcmp(order, "timerend"))
		timer(cpu, time, tid, EV_TIMER_EXIT, more);
	else if (!strcmp(order, "hrtimer"))
		timer(cpu, time, tid, EV_HRTIMER, more);
	else if (!strcmp(order, "hrtimerend"))
		timer(cpu, time, tid, EV_HRTIMER_EXIT, more);
	else if (!strcmp(order, "tasklet"))
		timer(cpu, time, tid, EV_TASKLET, more);
	else if (!strcmp(order, "taskletend"))
		timer(cpu, time, tid, EV_TASKLET_EXIT, more);
	else
		return false;
	return true;
}

/* A file of a recording with --rotate has the counts of each ring at its beginning and end. */
static void part(unsigned int cpu, unsigned int flags)
{
	struct fx_ring *ring = &fx.rings[cpu];
	struct tb_part part = { .cpu = cpu, .flags = flags };

	if (ring->open)
		fx_close(&fx, cpu);
	part.blocks = ring->sequence;
	part.events = ring->events;
	part.overwritten = ring->overwritten;
	part.dropped = ring->dropped;
	note(TB_EV_PART, &part, sizeof(part));
}

/* Orders before the first or after the last event of all CPUs */
static bool take_end(const char *line)
{
	uint64_t time, first, last;
	unsigned int cpu, flags;

	if (sscanf(line, "part %u %u", &cpu, &flags) == 2) {
		part(cpu, flags);
	} else if (sscanf(line, "totals %u %u %" SCNu64, &cpu, &flags, &time) == 3) {
		if (fx.rings[cpu].open)
			fx_close(&fx, cpu);
		fx_totals_at(&fx, cpu, flags, time, dropped[cpu].first, dropped[cpu].last);
	} else if (sscanf(line, "dropped %u %" SCNu64 " %" SCNu64 " %" SCNu64, &cpu, &time,
			  &first, &last) == 4) {
		fx.rings[cpu].dropped += time;
		dropped[cpu].first = first;
		dropped[cpu].last = last;
	} else {
		return false;
	}
	return true;
}

/* Orders that describe the machine */
static bool take_machine(const char *line)
{
	char text[TEXT];
	uint32_t key, number = 0, cgroup = 0;
	uint64_t time;

	if (sscanf(line, "thread %" SCNu32 " %" SCNu32, &key, &number) >= 1)
		add_thread(key, number);
	else if (sscanf(line, "fork %" SCNu64 " %" SCNu32 " %" SCNu32 " %" SCNu32, &time, &number,
			&key, &cgroup) >= 3)
		change_process(time, number, key, cgroup, TB_THREAD_FORK);
	else if (sscanf(line, "ends %" SCNu64 " %" SCNu32 " %" SCNu32, &time, &key, &cgroup) >= 2)
		change_process(time, 1, key, cgroup, TB_THREAD_EXIT);
	else if (sscanf(line, "disk %" SCNu32 " %255s", &key, text) == 2)
		add_string(TB_STRING_DISK, 8 << 20 | key, text);
	else if (sscanf(line, "quota %" SCNu32 " %255[^\n]", &key, text) == 2)
		add_string(TB_STRING_QUOTA, key, text);
	else if (sscanf(line, "file %" SCNu32 " %" SCNu32 " %255s", &key, &number, text) == 3)
		add_file(key, number, text);
	else if (sscanf(line, "symbol %" SCNu32 " %255s", &key, text) == 2)
		add_symbol(key, text);
	else
		return false;
	return true;
}

/* Begin the recording, once */
static void begin(void)
{
	if (fx.data)
		return;
	fx.init_flags = fx.cpus ? TB_INIT_ALL_CPUS : 0;
	fx_start_recording(&fx, 1);
	describe();
}

int main(int argc, char **argv)
{
	const struct tb_suppressed others = { .filtered = 3 };
	char line[TEXT], order[TEXT];
	uint64_t time, more[3];
	uint32_t tid;
	unsigned int cpu;
	FILE *file;

	if (argc != 2) {
		fprintf(stderr, "usage: history_trace FILE <SCRIPT\n");
		return 2;
	}
	fx.log2 = BLOCK_LOG2;
	fx.start = 1000;
	while (fgets(line, sizeof(line), stdin)) {
		if (sscanf(line, "cpus %u", &fx.cpus) == 1)
			continue;
		if (!strcmp(line, "arguments\n")) {
			arguments = true;
			continue;
		}
		begin();
		tid = 0;
		memset(more, 0, sizeof(more));
		if (!strcmp(line, "chosen\n"))
			fx_durable(&fx, TB_EV_SUPPRESSED, &others, sizeof(others));
		else if (!strcmp(line, "compact\n"))
			compact = true;
		else if (sscanf(line, "select %" SCNu64 " %255s", &time, order) == 2)
			select_names(time, order);
		else if (!take_machine(line) && !take_end(line) &&
			 (sscanf(line, "%255s %u %" SCNu64 " %" SCNu32 " %" SCNu64 " %" SCNu64
				 " %" SCNu64, order, &cpu, &time, &tid, &more[0], &more[1],
				 &more[2]) < 3 ||
			  cpu >= FX_CPUS || !take(order, cpu, time, tid, more))) {
			fprintf(stderr, "history_trace: not an order: %s", line);
			return 1;
		}
	}
	begin();
	for (cpu = 0; cpu < FX_CPUS; cpu++)
		if (fx.rings[cpu].open)
			fx_close(&fx, cpu);
	fx_durable_end(&fx);
	file = fopen(argv[1], "wb");
	if (!file || fwrite(fx.data, 1, fx.size, file) != fx.size || fclose(file)) {
		perror(argv[1]);
		return 1;
	}
	fx_free(&fx);
	return 0;
}
