// SPDX-License-Identifier: GPL-2.0-only
/*
 * /dev/tb_torture: starts and stops the sources, and returns their counts and those of the ring's
 * paths.
 */
#include <linux/fs.h>
#include <linux/miscdevice.h>
#include <linux/module.h>
#include <linux/mutex.h>
#include <linux/nospec.h>
#include <linux/uaccess.h>

#include "module/ring/paths.h"
#include "tb_torture.h"

static DEFINE_MUTEX(tt_lock);	/* held to start and to stop */

static long tt_ioctl_start(void __user *arg)
{
	struct tt_run run;
	int err;

	if (copy_from_user(&run, arg, sizeof(run)))
		return -EFAULT;
	if (!run.gap_ns || run.max_event < 8)
		return -EINVAL;
	mutex_lock(&tt_lock);
	err = tt_sources_start(&run);
	mutex_unlock(&tt_lock);
	return err;
}

static long tt_ioctl_counts(void __user *arg)
{
	const struct tt_accounting *k;
	struct tt_counts n;

	if (copy_from_user(&n, arg, sizeof(n)))
		return -EFAULT;
	if (n.cpu >= nr_cpu_ids || !cpu_possible(n.cpu) || n.source >= TT_SOURCES)
		return -EINVAL;
	n.cpu = array_index_nospec(n.cpu, nr_cpu_ids);
	n.source = array_index_nospec(n.source, TT_SOURCES);
	k = &per_cpu(tt_cpus, n.cpu).accounting[n.source];
	n.attempted = READ_ONCE(k->attempted);
	n.recorded = READ_ONCE(k->recorded);
	n.oversize = READ_ONCE(k->oversize);
	n.flushes = READ_ONCE(k->flushes);
	return copy_to_user(arg, &n, sizeof(n)) ? -EFAULT : 0;
}

static long tt_ioctl_paths(void __user *arg)
{
	struct tt_paths paths = { };
	int i;

	BUILD_BUG_ON(TB_PATHS > TT_PATHS_MAX);
	for (i = 0; i < TB_PATHS; i++)
		paths.count[i] = tb_ring_path_count(i);
	return copy_to_user(arg, &paths, sizeof(paths)) ? -EFAULT : 0;
}

static long tt_ioctl_flip(void __user *arg)
{
	struct tt_flip flip;
	int err;

	if (copy_from_user(&flip, arg, sizeof(flip)))
		return -EFAULT;
	if (flip.reserved)
		return -EINVAL;
	err = tt_flip(&flip);
	if (err)
		return err;
	return copy_to_user(arg, &flip, sizeof(flip)) ? -EFAULT : 0;
}

static long tt_ioctl(struct file *file, unsigned int cmd, unsigned long arg)
{
	switch (cmd) {
	case TT_IOC_START:
		return tt_ioctl_start((void __user *)arg);
	case TT_IOC_STOP:
		mutex_lock(&tt_lock);
		tt_sources_stop();
		mutex_unlock(&tt_lock);
		return 0;
	case TT_IOC_COUNTS:
		return tt_ioctl_counts((void __user *)arg);
	case TT_IOC_PATHS:
		return tt_ioctl_paths((void __user *)arg);
	case TT_IOC_FLIP:
		return tt_ioctl_flip((void __user *)arg);
	case TT_IOC_AIM:
		/* the reader's side of the ring is some thousand instructions from here */
		tt_aim(4000, 30000, arg);
		return 0;
	}
	return -ENOTTY;
}

static const struct file_operations tt_fops = {
	.owner = THIS_MODULE,
	.unlocked_ioctl = tt_ioctl,
};

static struct miscdevice tt_device = {
	.minor = MISC_DYNAMIC_MINOR,
	.name = "tb_torture",
	.fops = &tt_fops,
	.mode = 0600,
};

static int __init tt_init(void)
{
	int err = tt_sources_init();

	if (err)
		return err;
	err = tt_nmi_init();
	if (err)
		goto err_sources;
	err = misc_register(&tt_device);
	if (!err)
		return 0;
	tt_nmi_exit();
err_sources:
	tt_sources_exit();
	return err;
}

static void __exit tt_exit(void)
{
	misc_deregister(&tt_device);
	tt_sources_stop();
	tt_nmi_exit();
	tt_sources_exit();
}

module_init(tt_init);
module_exit(tt_exit);
MODULE_LICENSE("GPL");
MODULE_DESCRIPTION("Records into tracebuf from all contexts at once, to test it");
