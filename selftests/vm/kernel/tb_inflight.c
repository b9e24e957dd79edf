// SPDX-License-Identifier: GPL-2.0-only
/*
 * Delays records of threads, as when an interrupt or a hypervisor has stopped their writers. Every
 * other time, at random, tb_thread_queue_peek() returns that the next record is not written yet.
 * The lies end after a number of times: a recording can only stop when all writers have finished.
 *
 * The second probe uses up lies, so that none are left when the recording stops.
 */
#include <linux/kprobes.h>
#include <linux/module.h>
#include <linux/ptrace.h>

static uint lies;
module_param(lies, uint, 0644);
MODULE_PARM_DESC(lies, "number of false results that are left");

/* one reader at a time calls */
static u32 dice = 1;

static bool __kprobes tb_inflight_lie(void)
{
	/* Knuth's linear congruential generator for 32 bits */
	dice = dice * 1664525 + 1013904223;
	if (!lies || dice >> 31)
		return false;
	lies--;
	return true;
}

static int __kprobes tb_inflight_peeked(struct kretprobe_instance *ri, struct pt_regs *regs)
{
	if (regs_return_value(regs) && tb_inflight_lie())
		regs_set_return_value(regs, 0);
	return 0;
}

static int __kprobes tb_inflight_kept(struct kretprobe_instance *ri, struct pt_regs *regs)
{
	/* a bool: the other bits of the register are undefined */
	if (!(u8)regs_return_value(regs) && tb_inflight_lie())
		regs_set_return_value(regs, 1);
	return 0;
}

static struct kretprobe tb_inflight_peek = {
	.kp.symbol_name = "tb_thread_queue_peek",
	.handler = tb_inflight_peeked,
};

static struct kretprobe tb_inflight_keep = {
	.kp.symbol_name = "tb_state_drain_queue",
	.handler = tb_inflight_kept,
};

static struct kretprobe *tb_inflight_probes[] = { &tb_inflight_peek, &tb_inflight_keep };

static int __init tb_inflight_init(void)
{
	return register_kretprobes(tb_inflight_probes, ARRAY_SIZE(tb_inflight_probes));
}

static void __exit tb_inflight_exit(void)
{
	unregister_kretprobes(tb_inflight_probes, ARRAY_SIZE(tb_inflight_probes));
}

module_init(tb_inflight_init);
module_exit(tb_inflight_exit);

MODULE_LICENSE("GPL");
MODULE_DESCRIPTION("Test of readers while records of threads are on their way");
MODULE_AUTHOR("The tracebuf authors");
