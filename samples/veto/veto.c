// SPDX-License-Identifier: GPL-2.0-only
/*
 * A handler that keeps events of kernel threads out of all recordings.
 *
 *	insmod tb_veto.ko events=sched
 *	tracebuf record -e sched -d 1 && tracebuf print
 *
 * What a handler may do is said at tracebuf_handle().  This one looks at a flag of the current
 * thread, and counts.
 */
#include <linux/err.h>
#include <linux/module.h>
#include <linux/moduleparam.h>
#include <linux/percpu.h>
#include <linux/sched.h>
#include <linux/tracebuf.h>

static char *events = "sched";
module_param(events, charp, 0444);
MODULE_PARM_DESC(events, "which events it looks at: system, system:event, event, with * and ? (default sched)");

enum veto_count {
	VETO_SEEN,
	VETO_KEPT_OUT,
	VETO_COUNTS
};

static DEFINE_PER_CPU(unsigned long, veto_counts[VETO_COUNTS]);

static struct tracebuf_handler *veto_handler;

/* In any context: preemption is off, so the counts are those of this CPU. */
static bool veto_want(const struct tracebuf_view *view, void *data)
{
	this_cpu_inc(veto_counts[VETO_SEEN]);
	if (!(current->flags & PF_KTHREAD))
		return true;
	this_cpu_inc(veto_counts[VETO_KEPT_OUT]);
	return false;
}

static int veto_show(char *buffer, const struct kernel_param *kp)
{
	unsigned long which = (unsigned long)kp->arg, sum = 0;
	unsigned int cpu;

	for_each_possible_cpu(cpu)
		sum += READ_ONCE(per_cpu(veto_counts[which], cpu));
	return sysfs_emit(buffer, "%lu\n", sum);
}

static const struct kernel_param_ops veto_count_ops = {
	.get = veto_show,
};
module_param_cb(seen, &veto_count_ops, (void *)VETO_SEEN, 0444);
MODULE_PARM_DESC(seen, "how many events it has looked at, once for each provider");
module_param_cb(kept_out, &veto_count_ops, (void *)VETO_KEPT_OUT, 0444);
MODULE_PARM_DESC(kept_out, "how many of them it has kept out");

static int __init veto_init(void)
{
	veto_handler = tracebuf_handle(events, veto_want, NULL);
	return PTR_ERR_OR_ZERO(veto_handler);
}

static void __exit veto_exit(void)
{
	tracebuf_unhandle(veto_handler);
}

module_init(veto_init);
module_exit(veto_exit);

MODULE_LICENSE("GPL");
MODULE_DESCRIPTION("Sample: keeps events of kernel threads out of recordings");
MODULE_AUTHOR("The tracebuf authors");
