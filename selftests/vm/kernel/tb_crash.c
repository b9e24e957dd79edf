// SPDX-License-Identifier: GPL-2.0-only
/*
 * A load for a machine that crashes while it records. On each CPU a thread, and a timer that
 * interrupts it, record numbered events into a provider "crash". A page in the image of the memory
 * has the numbers that each began and finished: selftests/recover/check.py compares them with the
 * events that were recovered.
 *
 *   die=irq     after a delay the timer reads address 0
 *   die=spin    or does not return, with interrupts off
 *   die=panic   or calls panic()
 *   die=task    a thread reads address 0
 *   (none)      the test ends the machine
 *
 * The delay begins at once, or with armed=0 when /sys/module/tb_crash/parameters/armed is set.
 */
#include <linux/delay.h>
#include <linux/hrtimer.h>
#include <linux/kthread.h>
#include <linux/module.h>
#include <linux/panic.h>
#include <linux/random.h>
#include <linux/slab.h>
#include <linux/tracebuf.h>

#include "selftests/torture/kernel/tb_torture.h"

#define TB_CRASH_MAGIC	0x4853415243425421ull	/* "!TBCRASH" */
#define TB_CRASH_CPUS	16
#define TB_CRASH_WORDS	12	/* of the largest payload */

enum { TB_CRASH_TASK, TB_CRASH_TIMER, TB_CRASH_SOURCES };

/**
 * struct tb_crash_accounting - what a source on a CPU has recorded
 * @begun: numbers begun; a begun event may be in the trace or not
 * @done: numbers done: these events are in the trace
 * @other: numbers that the other source had begun at that time
 */
struct tb_crash_accounting {
	u64 begun;
	u64 done;
	u64 other;
};

/**
 * struct tb_crash_page - counts of recorded events, found in a dump by @magic
 * @magic: TB_CRASH_MAGIC
 * @cpus: CPUs that record
 * @source: counts
 */
struct tb_crash_page {
	u64 magic;
	u64 cpus;
	struct tb_crash_accounting source[TB_CRASH_CPUS][TB_CRASH_SOURCES];
};

static char *die = "";
module_param(die, charp, 0);
static uint after_ms = 300;
module_param(after_ms, uint, 0);
static bool armed = true;
module_param(armed, bool, 0600);
static uint buffers = 16;
module_param(buffers, uint, 0);
static uint elements = 256;
module_param(elements, uint, 0);
static uint gap_us = 50;
module_param(gap_us, uint, 0);

static struct tb_crash_page *page;
static struct tb_provider *provider;
static struct task_struct *tasks[TB_CRASH_CPUS];
static struct hrtimer timers[TB_CRASH_CPUS];
static u64 die_at;

/* Records a simple or composite event: length and contents follow from the number. */
static void tb_crash_record(unsigned int cpu, unsigned int source)
{
	u64 number = page->source[cpu][source].begun;
	u64 word[TB_CRASH_WORDS];
	unsigned int i, words = number * 7 % TB_CRASH_WORDS;

	WRITE_ONCE(page->source[cpu][source].begun, number + 1);
	barrier(); /* for a program that reads the page after this CPU has stopped */
	word[0] = (u64)cpu << 56 | (u64)source << 48 | number;
	for (i = 1; i < words; i++)
		word[i] = word[0] * (2 * i + 1);
	if (words)
		tracebuf_write(provider, TB_EV_USER + 1, word, words * sizeof(*word));
	else
		tracebuf_simple(provider, TB_EV_USER, word[0]);
	barrier(); /* for the same program */
	page->source[cpu][source].other = page->source[cpu][!source].begun;
	WRITE_ONCE(page->source[cpu][source].done, number + 1);
}

/* Only the source that dies calls this. */
static bool tb_crash_now(void)
{
	u64 now = ktime_get_ns();

	if (!READ_ONCE(armed))
		return false;
	if (!die_at)
		die_at = now + (u64)after_ms * NSEC_PER_MSEC + get_random_u32() % NSEC_PER_MSEC;
	return now > die_at;
}

static void tb_crash_die(void)
{
	if (!strcmp(die, "irq") || !strcmp(die, "task"))
		READ_ONCE(*(int *)NULL);
	if (!strcmp(die, "panic"))
		panic("tb_crash");
	if (!strcmp(die, "spin"))
		for (;;)
			cpu_relax();
}

static int tb_crash_task(void *data)
{
	unsigned int i, cpu = (unsigned long)data;

	while (!kthread_should_stop()) {
		for (i = 0; i < 1000; i++)
			tb_crash_record(cpu, TB_CRASH_TASK);
		if (!strcmp(die, "task") && !cpu && tb_crash_now())
			tb_crash_die();
		cond_resched();
	}
	return 0;
}

static enum hrtimer_restart tb_crash_timer(struct hrtimer *timer)
{
	unsigned int cpu = smp_processor_id(), i;

	/* a timer moves when its CPU goes offline, but no test does that */
	for (i = 0; i < 3; i++)
		tb_crash_record(cpu, TB_CRASH_TIMER);
	if (strcmp(die, "task") && timer == &timers[0] && tb_crash_now())
		tb_crash_die();
	hrtimer_forward_now(timer, ns_to_ktime(gap_us * (500 + get_random_u32() % 1000)));
	return HRTIMER_RESTART;
}

static void tb_crash_begin(void *unused)
{
	struct hrtimer *timer = &timers[smp_processor_id()];

	tt_timer_init(timer, tb_crash_timer);
	hrtimer_start(timer, ns_to_ktime(NSEC_PER_MSEC), HRTIMER_MODE_REL_PINNED_HARD);
}

static void tb_crash_end(void)
{
	unsigned int cpu;

	for (cpu = 0; cpu < TB_CRASH_CPUS; cpu++) {
		if (timers[cpu].function)
			hrtimer_cancel(&timers[cpu]);
		if (!IS_ERR_OR_NULL(tasks[cpu]))
			kthread_stop(tasks[cpu]);
	}
	tracebuf_destroy(provider);
	kfree(page);
}

static int __init tb_crash_init(void)
{
	struct tb_config config = {
		.buffers = buffers,
		.elements = elements,
		.mode = TB_MODE_CIRCULAR,
	};
	unsigned int cpu;
	int err;

	page = kzalloc(PAGE_SIZE, GFP_KERNEL);
	if (!page)
		return -ENOMEM;
	provider = tracebuf_create("crash", &config);
	err = PTR_ERR_OR_ZERO(provider);
	if (err) {
		kfree(page);
		return err;
	}
	err = tracebuf_start(provider);
	page->cpus = min(num_online_cpus(), TB_CRASH_CPUS);
	for (cpu = 0; cpu < page->cpus && !err; cpu++) {
		tasks[cpu] = kthread_create_on_cpu(tb_crash_task, (void *)(unsigned long)cpu, cpu,
						   "tb_crash/%u");
		err = PTR_ERR_OR_ZERO(tasks[cpu]);
	}
	if (err) {
		tb_crash_end();
		return err;
	}
	page->magic = TB_CRASH_MAGIC;
	for (cpu = 0; cpu < page->cpus; cpu++)
		wake_up_process(tasks[cpu]);
	on_each_cpu(tb_crash_begin, NULL, true);
	return 0;
}

static void __exit tb_crash_exit(void)
{
	tb_crash_end();
}

module_init(tb_crash_init);
module_exit(tb_crash_exit);
MODULE_DESCRIPTION("Load for recovering events from the memory of a machine that has crashed");
MODULE_LICENSE("GPL");
