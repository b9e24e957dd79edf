// SPDX-License-Identifier: GPL-2.0-only
/*
 * Records of threads that are on their way for long: who asks for the next one in the queue
 * (tb_track_peek()) is told every other time, at random, that its writer is not through, as
 * when an interrupt or a hypervisor has stopped it there.  Not while a recording is stopped:
 * all writers are through then.
 */
#include <linux/kprobes.h>
#include <linux/module.h>
#include <linux/ptrace.h>

static bool lie;
module_param(lie, bool, 0644);
MODULE_PARM_DESC(lie, "do so (default N)");

static unsigned long told;
module_param(told, ulong, 0444);
MODULE_PARM_DESC(told, "how often somebody was told so of a record that was there");

/* one reader at a time asks */
static u32 dice = 1;

static int __kprobes tb_inflight_return(struct kretprobe_instance *ri, struct pt_regs *regs)
{
	/* Knuth's linear congruential generator for 32 bits */
	dice = dice * 1664525 + 1013904223;
	if (READ_ONCE(lie) && dice >> 31 && regs_return_value(regs)) {
		regs_set_return_value(regs, 0);
		told++;
	}
	return 0;
}

static struct kretprobe tb_inflight_probe = {
	.kp.symbol_name = "tb_track_peek",
	.handler = tb_inflight_return,
};

static int __init tb_inflight_init(void)
{
	return register_kretprobe(&tb_inflight_probe);
}

static void __exit tb_inflight_exit(void)
{
	unregister_kretprobe(&tb_inflight_probe);
}

module_init(tb_inflight_init);
module_exit(tb_inflight_exit);

MODULE_LICENSE("GPL");
MODULE_DESCRIPTION("Test of readers while records of threads are on their way");
MODULE_AUTHOR("The tracebuf authors");
