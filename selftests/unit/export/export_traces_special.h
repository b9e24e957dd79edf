/* SPDX-License-Identifier: GPL-2.0-only */
/*
 * Traces for the tests of exporters: requests to a block device, stacks, counters, fields with
 * special names, what has no beginning or no end, and many events.
 */
#ifndef EXPORT_TRACES_SPECIAL_H
#define EXPORT_TRACES_SPECIAL_H

#include "export_traces.h"

struct request {
	uint32_t dev, nr_sector;
	uint64_t sector;
	uint32_t bytes, error;
	char rwbs[8];
};

static void describe_extras(struct fx *fx)
{
	static const struct fx_field issue[] = {
		{ "dev", "dev_t", 0, 4, 0, 0, 0, 0 },
		{ "sector", "sector_t", 8, 8, 0, 0, 0, 0 },
		{ "nr_sector", "unsigned int", 4, 4, 0, 0, 0, 0 },
		{ "bytes", "unsigned int", 16, 4, 0, 0, 0, 0 },
		{ "rwbs", "char", 24, 8, 8, TB_FIELD_STRING | TB_FIELD_ARRAY, 0, 0 },
	};
	static const struct fx_field complete[] = {
		{ "dev", "dev_t", 0, 4, 0, 0, 0, 0 },
		{ "sector", "sector_t", 8, 8, 0, 0, 0, 0 },
		{ "nr_sector", "unsigned int", 4, 4, 0, 0, 0, 0 },
		{ "error", "int", 20, 4, 0, TB_FIELD_SIGNED, 0, 0 },
		{ "rwbs", "char", 24, 8, 8, TB_FIELD_STRING | TB_FIELD_ARRAY, 0, 0 },
	};
	static const struct fx_field timer[] = {
		{ "hrtimer", "void *", 0, 8, 0, TB_FIELD_HEX, 0, 0 },
		{ "function", "void *", 8, 8, 0, TB_FIELD_HEX, 0, 0 },
		{ "was_armed", "u32", 16, 4, 0, 0, 0, 0 },
	};
	static const struct fx_field freed[] = {
		{ "skbaddr", "void *", 0, 8, 0, TB_FIELD_HEX, 0, 0 },
		{ "location", "void *", 8, 8, 0, TB_FIELD_HEX, 0, 0 },
		{ "protocol", "unsigned short", 16, 2, 0, 0, 0, 0 },
		{ "reason", "int", 20, 4, 0, TB_FIELD_SIGNED, 0, 0 },
	};
	struct fx_field wide[18];
	static char names[18][4];
	unsigned int i;

	for (i = 0; i < 18; i++) {
		sprintf(names[i], "f%u", i);
		wide[i] = (struct fx_field){ names[i], "u64", (uint16_t)(8 * i), 8, 0, 0, 0, 0 };
	}
	fx_describe(fx, EV_ISSUE, 0, "block", "block_rq_issue", issue, 5);
	fx_describe(fx, EV_COMPLETE, 0, "block", "block_rq_complete", complete, 5);
	fx_describe(fx, EV_INSERT, 0, "block", "block_rq_insert", issue, 5);
	fx_describe(fx, EV_REQUEUE, 0, "block", "block_rq_requeue", complete, 3);
	fx_describe(fx, EV_WIDE, 0, "test", "wide", wide, 18);
	fx_describe(fx, EV_HRTIMER, 0, "timer", "hrtimer_start", timer, 3);
	fx_describe(fx, EV_FREED, 0, "skb", "kfree_skb", freed, 4);
}

static void request(struct fx *fx, unsigned int id, uint64_t time, uint64_t sector,
		    uint32_t sectors, uint32_t error)
{
	struct request request = {
		.dev = 8u << 20 | 3, .sector = sector, .nr_sector = sectors,
		.bytes = id == EV_ISSUE ? sectors * 512 : 0, .error = error, .rwbs = "WS",
	};

	assert(fx_composite(fx, 0, id, time, 100, &request, sizeof(request)));
}

static void make_extras(struct fx *fx)
{
	static const uint64_t kernel[] = {
		0xffffffff81000010, 0xffffffff81000110, 0xffffffffc0000010,
	}, user[] = { 0x5500001000, 0x5500002000 };
	struct { struct tb_symbol head; char name[16]; } symbol = {
		{ 0xffffffff81000000, 0x100 }, "schedule",
	};
	struct fx_switch wide = fx_switch("server", 100, 1, "worker", 101);
	struct { uint64_t timer, function; uint32_t armed, hole; } timer = {
		0xffff888000001000, 0xffffffff81000000, 1, 0,
	};
	struct { uint64_t skb, location; uint16_t protocol; int32_t reason; } freed = {
		0xffff888000002000, 0xffffffff81000010, 0x800, 7,
	};
	struct fx_ring notes = { 0 };
	uint64_t fields[18];
	unsigned int i;

	start(fx, 14);
	describe_extras(fx);
	string(fx, TB_STRING_COUNTER, 0, "cycles");
	string(fx, TB_STRING_COUNTER, 3, "page-faults");
	fx_durable_end(fx);
	fx_open(fx, 0, START, 100, NULL);
	fx_composite(fx, 0, FX_SWITCH, START + 100, 100, &wide, sizeof(wide));
	add_stack(fx, 0, TB_STACK_KERNEL, kernel, 3);
	add_stack(fx, 0, TB_STACK_USER, user, 2);
	add_counters(fx, 0, 1 << 0 | 1 << 3, 1ull << 40, 222);
	fx_simple(fx, 0, FX_SOFTIRQ, START + 200, 3);
	add_stack(fx, 0, TB_STACK_KERNEL, kernel, 3);
	fx_simple(fx, 0, EV_SOFTIRQ_EXIT, START + 210, 3);
	add_stack(fx, 0, TB_STACK_KERNEL, kernel + 1, 1);
	add_counters(fx, 0, 1 << 3, 223, 0);
	fx_composite(fx, 0, FX_SWITCH, START + 220, 100, &wide, sizeof(wide));
	add_stack(fx, 0, TB_STACK_KERNEL, kernel, 3);
	/* at most three in flight; one completes in two parts, one has no end */
	request(fx, EV_ISSUE, START + 300, 1000, 8, 0);
	request(fx, EV_ISSUE, START + 310, 2000, 16, 0);
	request(fx, EV_COMPLETE, START + 320, 1000, 8, 0);
	request(fx, EV_COMPLETE, START + 330, 2000, 8, 0);
	request(fx, EV_ISSUE, START + 340, 3000, 8, 0);
	request(fx, EV_COMPLETE, START + 350, 2008, 8, (uint32_t)-5);
	request(fx, EV_COMPLETE, START + 355, 9000, 8, 0);
	request(fx, EV_ISSUE, START + 360, 3000, 8, 0);
	for (i = 0; i < 18; i++)
		fields[i] = 1ull << (3 * i);
	fx_composite(fx, 0, EV_WIDE, START + 400, 100, fields, sizeof(fields));
	fx_composite(fx, 0, EV_HRTIMER, START + 410, 100, &timer, sizeof(timer));
	fx_composite(fx, 0, EV_FREED, START + 420, 100, &freed, sizeof(freed));
	fx_close(fx, 0);
	finish(fx, 1);
	fx_begin(fx, &notes, TB_BLOCK_NOTE, 12, 0, 0, 0);
	assert(fx_put_composite(fx, &notes, TB_EV_SYMBOL, 0, 0, 0, &symbol, 16 + 8));
	fx_end(fx, &notes);
}

/* An event with a field that is called like the name of the number in another one */
static void make_named(struct fx *fx)
{
	static const struct fx_field fields[] = {
		{ "function", "void *", 0, 8, 0, TB_FIELD_HEX, 0, 0 },
		{ "Function_name", "u32", 8, 4, 0, 0, 0, 0 },
	};
	struct { uint64_t function; uint32_t name, hole; } event = { 0xffffffff81000000, 7, 0 };

	start(fx, 14);
	fx_describe(fx, EV_NAMED, 0, "test", "named", fields, 2);
	fx_durable_end(fx);
	fx_open(fx, 0, START, 100, NULL);
	fx_composite(fx, 0, EV_NAMED, START + 100, 100, &event, sizeof(event));
	fx_close(fx, 0);
	finish(fx, 1);
}

/*
 * Random requests that overlap requests in flight or their rest, complete in parts, are requeued
 * or never complete. Few places make one part end where another request begins.
 */
static void make_requests(struct fx *fx, uint64_t count, uint64_t places)
{
	static const unsigned int what[] = {
		EV_INSERT, EV_ISSUE, EV_ISSUE, EV_ISSUE, EV_COMPLETE, EV_COMPLETE, EV_COMPLETE,
		EV_REQUEUE,
	};
	struct tb_gap gap = { .overwritten = 3 };
	uint64_t random = 88172645463325252ull, time = START, i;
	struct request request;
	unsigned int id;

	start(fx, 16);
	describe_extras(fx);
	fx_durable_end(fx);
	fx_open(fx, 0, time, 100, NULL);
	for (i = 0; i < count; i++, time += 1000) {
		random ^= random << 13;
		random ^= random >> 7;
		random ^= random << 17;
		id = what[random >> 3 & 7];
		request = (struct request){
			.dev = 8u << 20 | (random >> 6 & 1), .sector = (random >> 16) % places * 8,
			.nr_sector = 8 * (1 + (random >> 7 & 3)), .rwbs = "R",
			.error = id == EV_COMPLETE && !(random >> 9 & 15) ? (uint32_t)-5 : 0,
		};
		request.bytes = id == EV_ISSUE ? request.nr_sector * 512 : 0;
		if (!((i + 1) % 1000) || fx->rings[0].used + 256 > 1u << 16) {
			gap.first = time - 500;
			gap.last = time - 200;
			fx_close(fx, 0);
			fx_open(fx, 0, time, 100, (i + 1) % 1000 ? NULL : &gap);
		}
		assert(fx_composite(fx, 0, id, time, 100, &request, sizeof(request)));
	}
	fx_close(fx, 0);
	finish(fx, 1);
}

/* A flush, issued with sector 0 and completed with sector -1, beside a write of sector 0 */
static void make_flush(struct fx *fx)
{
	start(fx, 14);
	describe_extras(fx);
	fx_durable_end(fx);
	fx_open(fx, 0, START, 100, NULL);
	request(fx, EV_ISSUE, START + 1000, 0, 0, 0);
	request(fx, EV_ISSUE, START + 2000, 0, 8, 0);
	request(fx, EV_COMPLETE, START + 4000, 0, 8, 0);
	request(fx, EV_COMPLETE, START + 9000, UINT64_MAX, 0, 0);
	fx_close(fx, 0);
	finish(fx, 1);
}

/* Slices without an end or a beginning; all states in which a thread leaves a CPU */
static void make_edges(struct fx *fx)
{
	struct { int64_t id; uint64_t args[6]; } enter = { 1, { 3, 4, 5 } };
	struct { int64_t id; int64_t ret; } leave = { 1, -11 };
	static const int states[] = { 1, 2, 4, 8, 0x40, 0x80, 0x100, 0x20, 0x10 };
	const struct tb_gap gap = { .dropped = 3, .first = START + 1000, .last = START + 2000 };
	struct fx_switch left;
	unsigned int i;

	start(fx, 14);
	fx_durable_end(fx);
	fx_open(fx, 0, START, 100, NULL);
	/* thread 300 ends before the dump reaches it; the dump of thread 301 comes late */
	thread(fx, 0, START + 50, 300, 300, TB_THREAD_EXIT, "ended");
	thread(fx, 0, START + 60, 301, 300, TB_THREAD_DUMP, "found");
	/* the exit of the first call is missing */
	fx_composite(fx, 0, EV_EXIT_WIDE, START + 100, 100, &leave, sizeof(leave));
	fx_composite(fx, 0, FX_SYS_ENTER, START + 110, 100, &enter, sizeof(enter));
	fx_composite(fx, 0, FX_SYS_ENTER, START + 120, 100, &enter, sizeof(enter));
	fx_simple(fx, 0, EV_SOFTIRQ_EXIT, START + 130, 5);
	for (i = 0; i < sizeof(states) / sizeof(states[0]); i++) {
		left = fx_switch("server", 100, states[i], "worker", 101);
		fx_composite(fx, 0, FX_SWITCH, START + 200 + 20 * i, 100, &left, sizeof(left));
		left = fx_switch("worker", 101, 1, "server", 100);
		fx_composite(fx, 0, FX_SWITCH, START + 210 + 20 * i, 101, &left, sizeof(left));
	}
	/* an interrupt in a softirq, and only the softirq has its end */
	fx_simple(fx, 0, FX_SOFTIRQ, START + 500, 1);
	put_irq(fx, 0, START + 510, 100, 11);
	fx_simple(fx, 0, EV_SOFTIRQ_EXIT, START + 520, 1);
	fx_simple(fx, 0, FX_SOFTIRQ, START + 600, 1);
	fx_close(fx, 0);
	fx_open(fx, 0, START + 3000, 100, &gap);
	fx_simple(fx, 0, EV_SOFTIRQ_EXIT, START + 3010, 1);
	fx_close(fx, 0);
	finish(fx, 1);
}

static void make_threads(struct fx *fx, uint64_t count)
{
	struct { int64_t id; uint64_t args[6]; } enter = { 1, { 3, 4, 5 } };
	struct { int64_t id; int64_t ret; } leave = { 1, -11 };
	uint64_t i, time = START;

	start(fx, 16);
	fx_open(fx, 0, time, 100, NULL);
	for (i = 0; i < 4 * count; i++, time += 100) {
		uint32_t tid = 1000 + (uint32_t)(i % count);

		if (fx->rings[0].used + 256 > 1u << 16) {
			fx_close(fx, 0);
			fx_open(fx, 0, time, 100, NULL);
		}
		if (i < count)
			thread(fx, 0, time, tid, tid % 7 ? 1000 : tid, TB_THREAD_FORK,
			       "one of many");
		if (i / count % 2)
			fx_composite(fx, 0, EV_EXIT_WIDE, time + 1, tid, &leave, sizeof(leave));
		else
			fx_composite(fx, 0, FX_SYS_ENTER, time + 1, tid, &enter, sizeof(enter));
	}
	fx_close(fx, 0);
	finish(fx, 1);
}

/* Random switches and wake-ups: no sensible history, but each event differs */
static void make_waits(struct fx *fx, uint64_t count)
{
		/* as TASK_REPORT has them */
	static const uint32_t states[] = { 0, 1, 2, 0x40, 0, 1, 4, 0x80 };
	uint64_t i, time = START, random = 1, last[2] = { START, START };
	uint32_t on[2] = { 0, 0 };

	start(fx, 14);
	fx_open(fx, 0, time, 0, NULL);
	fx_open(fx, 1, time, 0, NULL);
	for (i = 0; i < count; i++) {
		uint32_t cpu, tid, bits;

		random = random * 6364136223846793005ull + 1442695040888963407ull;
		bits = (uint32_t)(random >> 33);
		cpu = bits & 1;
		tid = 1000 + (bits >> 1) % 23;
		time += 1 + (random >> 20 & ((1u << (bits >> 10 & 15)) - 1));
		if (fx->rings[cpu].used + 256 > 1u << 14) {
			struct tb_gap gap = { .overwritten = i % 3, .first = last[cpu] + 1,
					      .last = time + 1 };

			time += 2;
			fx_close(fx, cpu);
			fx_open(fx, cpu, time, on[cpu], gap.overwritten ? &gap : NULL);
		}
		last[cpu] = time;
		if (bits >> 8 & 1 || tid == on[!cpu] || tid == on[cpu]) {
			fx_simple(fx, cpu, EV_WAKING, time,
				  tid | 120ull << 22 | (uint64_t)cpu << 32 |
				  (random >> 40 & 7) * TB_CONTEXT_SOFTIRQ << 48);
			continue;
		}
		tid = bits >> 9 & 1 ? tid : 0;
		if (tid == on[cpu])
			continue;
		fx_simple(fx, cpu, FX_SWITCH_COMPACT, time,
			  fx_switch_compact(on[cpu], tid, states[bits >> 14 & 7], 120, 120));
		on[cpu] = tid;
	}
	fx_close(fx, 0);
	fx_close(fx, 1);
	finish(fx, 2);
}

static void make_stacks(struct fx *fx, uint64_t count)
{
	uint64_t addresses[4] = { 0xffffffff81000000, 0, 0xffffffff81000100, 0xffffffff81000200 };
	uint64_t i, time = START;

	start(fx, 16);
	fx_open(fx, 0, time, 100, NULL);
	for (i = 0; i < count; i++, time += 100) {
		addresses[1] = 0xffffffff82000000 + i;
		/* room for the event and its stack in one block */
		if (fx->rings[0].used + 128 > 1u << 16) {
			fx_close(fx, 0);
			fx_open(fx, 0, time, 100, NULL);
		}
		put_irq(fx, 0, time, 100, 11);
		add_stack(fx, 0, TB_STACK_KERNEL, addresses, 4);
	}
	fx_close(fx, 0);
	finish(fx, 1);
}

/* A busy machine: half of the events are wide, half compact */
static void make_big(struct fx *fx, uint64_t count)
{
	struct { int64_t id; uint64_t args[6]; } enter = { 1, { 3, 4, 5 } };
	static const char trigger[] = "trigger: irq:irq_handler_entry";
	struct fx_switch wide;
	uint64_t i, time = START;
	unsigned int cpu;

	start(fx, 16);
	for (cpu = 0; cpu < 4; cpu++) {
		fx_open(fx, cpu, time, 0, NULL);
		/* in an interrupt of the idle thread, which has no thread record */
		fx_composite(fx, cpu, TB_EV_MARK, time, 0, trigger, sizeof(trigger) - 1);
	}
	for (i = 0; i < count; i++, time += 250) {
		cpu = (unsigned int)i & 3;
		for (;;) {
			bool done = false;
			bool back = (i >> 5) & 1;

			switch ((i >> 2) & 7) {
			case 0:
				wide = back ? fx_switch("server", 100, 1, "worker", 101) :
					      fx_switch("worker", 101, 2, "server", 100);
				done = fx_composite(fx, cpu, FX_SWITCH, time,
						    back ? 100 : 101, &wide,
						    sizeof(wide));
				break;
			case 1:
				done = fx_composite(fx, cpu, FX_SYS_ENTER, time,
						    100, &enter, sizeof(enter));
				break;
			case 2:
				done = fx_simple(fx, cpu, EV_EXIT, time,
						 1 | 4096u << 16);
				break;
			case 3:
				done = put_irq(fx, cpu, time, 100, 11);
				break;
			case 4:
				done = fx_simple(fx, cpu, EV_IRQ_EXIT, time,
						 11 | 1ull << 32);
				break;
			case 5:
				done = fx_simple(fx, cpu, EV_WAKING, time,
						 101 | 120ull << 22);
				break;
			case 6:
				done = fx_simple(fx, cpu, FX_SWITCH_COMPACT, time,
						 fx_switch_compact(100, 101, 1, 120, 120));
				break;
			case 7:
				done = fx_simple(fx, cpu, FX_SYS_ENTER_COMPACT, time, 7);
				break;
			}
			if (done)
				break;
			fx_close(fx, cpu);
			fx_open(fx, cpu, time, 100, NULL);
		}
		if (!((i + 1) & 0xffffff))
			sync_at(fx, time, 2000000);
		if (time >> 32 != (time + 1000) >> 32) {
			/* blocks carry the upper half of the clock */
			for (cpu = 0; cpu < 4; cpu++) {
				fx_close(fx, cpu);
				fx_open(fx, cpu, (time | 0xffffffff) + 1, 100, NULL);
			}
			time = (time | 0xffffffff) + 1;
		}
	}
	for (cpu = 0; cpu < 4; cpu++)
		fx_close(fx, cpu);
	finish(fx, 4);
}

#endif /* EXPORT_TRACES_SPECIAL_H */
