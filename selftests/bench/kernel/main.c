// SPDX-License-Identifier: GPL-2.0-only
/*
 * main.c - measures each case and prints a line for it:
 *
 *	BENCH who|case|minimum|median		in picoseconds per operation
 *
 * or, with "icount", thousandths of an instruction, for QEMU's -icount shift=3: an instruction then
 * takes 8 ns, a tick of the TSC is 1 ns, and nothing else takes time.
 *
 * Each case runs in chunks of CHUNK operations: "per_rep" chunks in each of "reps" rounds over all
 * cases. The minimum over all chunks is the cost of the operation: interrupts and other work of the
 * host only add time. The median shows how quiet the machine was.
 *
 * "parts" names what to measure; some parts need a tracer in a certain state.
 */
#define pr_fmt(fmt) fmt
#include <linux/irqflags.h>
#include <linux/ktime.h>
#include <linux/math64.h>
#include <linux/module.h>
#include <linux/sched.h>
#include <linux/sort.h>
#include <linux/string.h>
#include <linux/timekeeping.h>
#include <linux/vmalloc.h>

#include "bench.h"

#define CHUNK	10000

static unsigned int per_rep = 100;
module_param(per_rep, uint, 0444);
MODULE_PARM_DESC(per_rep, "chunks of a case in a repetition");

static unsigned int reps = 7;
module_param(reps, uint, 0444);
MODULE_PARM_DESC(reps, "repetitions");

static bool icount;
module_param(icount, bool, 0444);
MODULE_PARM_DESC(icount, "the clock counts instructions; interrupts off in a chunk");

static char *parts = "primitives,tracebuf,ftrace,relay";
module_param(parts, charp, 0444);
MODULE_PARM_DESC(parts, "what to measure");

static char *who = "nobody";
module_param(who, charp, 0444);
MODULE_PARM_DESC(who, "whose the probes are that part \"probes\" finds");

#define MAX_CASES	64

static struct {
	const struct bench_case *c;
	u64 *chunks;
} cases[MAX_CASES];
static unsigned int nr_cases;

static u64 tsc_khz_found;

static void calibrate(void)
{
	u64 t0 = ktime_get_raw_ns(), c0 = bench_time(), t1;

	do {
		t1 = ktime_get_raw_ns();
	} while (t1 - t0 < 500 * NSEC_PER_MSEC);
	tsc_khz_found = div64_u64((bench_time() - c0) * NSEC_PER_MSEC, t1 - t0);
	pr_info("BENCH-TSC %llu kHz\n", tsc_khz_found);
}

static u64 result(u64 cycles, u32 ops)
{
	if (icount)
		return div64_u64(cycles * 1000, 8 * ops);
	return div64_u64(mul_u64_u64_div_u64(cycles, 1000000000ULL, tsc_khz_found), ops);
}

static int compare(const void *a, const void *b)
{
	u64 x = *(const u64 *)a, y = *(const u64 *)b;

	return x < y ? -1 : x > y;
}

static const struct {
	const char *name;
	const struct bench_case *(*cases)(void);
} all_parts[] = {
	{ "primitives", bench_primitives },
	{ "tracebuf", bench_tracebuf },
	{ "ftrace", bench_ftrace },
	{ "relay", bench_relay },
#ifndef CONFIG_UML
	{ "recording", bench_recording },
	{ "full", bench_full },
	{ "stopped", bench_stopped },
	{ "probes", bench_probes },
#endif
};

static int add(const struct bench_case *c)
{
	if (!c)
		return -ENOMEM;
	for (; c->name; c++) {
		if (nr_cases == MAX_CASES)
			return -ENOSPC;
		cases[nr_cases].c = c;
		cases[nr_cases].chunks = vmalloc(array3_size(per_rep, reps, sizeof(u64)));
		if (!cases[nr_cases].chunks)
			return -ENOMEM;
		nr_cases++;
	}
	return 0;
}

static int add_parts(void)
{
	char *part;
	unsigned int i;
	int err;

	while ((part = strsep(&parts, ","))) {
		for (i = 0; i < ARRAY_SIZE(all_parts); i++)
			if (!strcmp(part, all_parts[i].name))
				break;
		if (i == ARRAY_SIZE(all_parts))
			return -EINVAL;
		err = add(all_parts[i].cases());
		if (err)
			return err;
	}
	return 0;
}

static void measure(const struct bench_case *c, u64 *chunks)
{
	unsigned int i;

	for (i = 0; i < per_rep; i++) {
		unsigned long flags = 0;
		u64 start;

		if (c->prepare)
			c->prepare();
		if (icount)
			local_irq_save(flags);
		start = bench_time();
		c->run(c->ops ?: CHUNK);
		chunks[i] = bench_time() - start;
		if (icount)
			local_irq_restore(flags);
	}
	cond_resched();
}

static int __init bench_init(void)
{
	unsigned int i, rep, total = per_rep * reps;
	int err;

	if (!per_rep || !reps)
		return -EINVAL;
	if (!icount)
		calibrate();
	err = add_parts();
	for (rep = 0; !err && rep < reps; rep++)
		for (i = 0; i < nr_cases; i++)
			measure(cases[i].c, cases[i].chunks + rep * per_rep);
	for (i = 0; !err && i < nr_cases; i++) {
		const struct bench_case *c = cases[i].c;
		u64 *chunks = cases[i].chunks;

		sort(chunks, total, sizeof(*chunks), compare, NULL);
		pr_info("BENCH %s|%s|%llu|%llu\n", c->who ?: who, c->name,
			result(chunks[0], c->ops ?: CHUNK),
			result(chunks[total / 2], c->ops ?: CHUNK));
	}
	bench_relay_end();
	bench_ftrace_end();
	bench_tracebuf_end();
#ifndef CONFIG_UML
	bench_exported_end();
#endif
	for (i = 0; i < nr_cases; i++)
		vfree(cases[i].chunks);
	pr_info("BENCH-END %d\n", err);
	return err;
}
module_init(bench_init);

static void __exit bench_exit(void)
{
}
module_exit(bench_exit);

MODULE_DESCRIPTION("cost of tracebuf and its peers");
MODULE_LICENSE("GPL");
