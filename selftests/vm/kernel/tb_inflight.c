// SPDX-License-Identifier: GPL-2.0-only
/*
 * Records of threads that come when it matters, and are on their way for long, as when an
 * interrupt or a hypervisor has stopped their writers.  Every other time, at random,
 *  - tb_thread_queue_peek() returns that the writer of the next record is not through;
 *  - tb_state_drain_queue() returns that the queue is empty, as if the record had come only then.
 * So many times: it must be over when the recording stops, for all writers are through then.
 */
#include <linux/kprobes.h>
#include <linux/module.h>
#include <linux/ptrace.h>

static uint lies;
module_param(lies, uint, 0644);
MODULE_PARM_DESC(lies, "how often somebody is still to be told so");

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
