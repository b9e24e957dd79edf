// SPDX-License-Identifier: GPL-2.0-only
/*
 * /dev/tracebuf: file operations and ioctls.  Takes what user space hands
 * in, checks it, and passes it on to the provider or the session.
 */
#include <linux/capability.h>
#include <linux/file.h>
#include <linux/fs.h>
#include <linux/miscdevice.h>
#include <linux/module.h>
#include <linux/security.h>
#include <linux/slab.h>
#include <linux/uio.h>

#include "recording/recording.h"
#include "select/arm.h"
#include "argument.h"
#include "machine/compat.h"
#include "programs/channels.h"
#include "provider/list.h"
#include "provider/provider.h"
#include "reader/save_channel.h"
#include "reader/session.h"
#include "recording/registry.h"
#include "select/rule.h"
#include "select/select.h"
#include "tracebuf.h"

#define TB_PATTERN_MAX	255
#define TB_BATCH_MAX	1024
#define TB_ARM_RULES_MAX 64
#define TB_CPUS_BYTES	1024
#define TB_FLUSH_MS	1000

static int tb_open(struct inode *inode, struct file *file)
{
	struct tb_session *s;
	int err;

	/* a trace of the kernel tells about everyone */
	if (!perfmon_capable())
		return -EPERM;
	/* and is what tracefs gives: where that may not be opened, neither may this */
	err = security_locked_down(LOCKDOWN_TRACEFS);
	if (err)
		return err;
	s = tb_session_create();
	if (!s)
		return -ENOMEM;
	file->private_data = s;
	return nonseekable_open(inode, file);
}

static int tb_release(struct inode *inode, struct file *file)
{
	tb_session_destroy(file->private_data);
	return 0;
}

static ssize_t tb_read_iter(struct kiocb *kiocb, struct iov_iter *to)
{
	struct file *file = kiocb->ki_filp;

	return tb_session_read(file->private_data, to, file->f_flags & O_NONBLOCK ||
			       kiocb->ki_flags & IOCB_NOWAIT);
}

static __poll_t tb_poll(struct file *file, poll_table *table)
{
	return tb_session_poll(file->private_data, file, table);
}

static int tb_mmap(struct file *file, struct vm_area_struct *vma)
{
	struct tb_session *s = file->private_data;

	return tb_provider_mmap(tb_session_bind(s), vma);
}

/* ---- ioctls ----------------------------------------------------------- */

static int tb_ioc_query(struct tb_session *s, void __user *arg, size_t size)
{
	struct tb_query q;

	if (size < sizeof(q))
		return -EINVAL;
	tb_provider_query(READ_ONCE(s->provider), &q);
	return tb_argument_put(arg, size, &q, sizeof(q));
}

/* All, or the bits of user space's mask. */
static int tb_get_cpus(u64 mask, u32 bytes, struct cpumask *cpus)
{
	DECLARE_BITMAP(given, TB_CPUS_BYTES * BITS_PER_BYTE) = { };
	int err;

	if (!mask != !bytes || bytes > TB_CPUS_BYTES)
		return -EINVAL;
	cpumask_copy(cpus, cpu_possible_mask);
	if (!mask)
		return 0;
	err = copy_from_user(given, u64_to_user_ptr(mask), bytes) ? -EFAULT : 0;
	if (err)
		return err;
	/* bytes in memory order are bits in order: little-endian, as the whole ABI */
	if (find_last_bit(given, TB_CPUS_BYTES * BITS_PER_BYTE) >= nr_cpu_ids)
		return -EINVAL;
	bitmap_copy(cpumask_bits(cpus), given, nr_cpu_ids);
	return cpumask_subset(cpus, cpu_possible_mask) ? 0 : -EINVAL;
}

static int tb_ioc_configure(struct tb_session *s, void __user *arg, size_t size)
{
	cpumask_var_t cpus;
	struct tb_config c;
	int err = tb_argument_get(&c, sizeof(c), arg, size);

	if (err)
		return err;
	if (!zalloc_cpumask_var(&cpus, GFP_KERNEL))
		return -ENOMEM;
	err = tb_get_cpus(c.cpus, c.cpus_bytes, cpus);
	if (!err)
		err = tb_provider_configure(READ_ONCE(s->provider), &c, cpus);
	free_cpumask_var(cpus);
	return err;
}

static int tb_ioc_attach(struct tb_session *s, void __user *arg, size_t size)
{
	struct tb_attach a;
	int err = tb_argument_get(&a, sizeof(a), arg, size);

	if (err)
		return err;
	if (strnlen(a.name, sizeof(a.name)) == sizeof(a.name) ||
	    !tb_argument_is_zero(a.reserved, sizeof(a.reserved)))
		return -EINVAL;
	return tb_session_attach_to(s, a.name);
}

static int tb_ioc_provider(struct tb_session *s, void __user *arg, size_t size)
{
	struct tb_provider_req r;
	struct tb_provider *p;
	int err = tb_argument_get(&r, sizeof(r), arg, size);

	if (err)
		return err;
	if (strnlen(r.name, sizeof(r.name)) == sizeof(r.name) || r.id ||
	    !tb_argument_is_zero(r.reserved, sizeof(r.reserved)))
		return -EINVAL;
	switch (r.op) {
	case TB_PROVIDER_CREATE:
		err = tb_registry_create(r.name, 0, &p);
		if (err)
			return err;
		r.id = p->id;
		tb_provider_put(p, TB_HOLDER_NONE);
		err = tb_argument_put(arg, size, &r, sizeof(r));
		/* nobody was told: as if it had never been, unless somebody has found it */
		if (err)
			tb_registry_destroy(r.name, NULL);
		return err;
	case TB_PROVIDER_DESTROY:
		return tb_registry_destroy(r.name, READ_ONCE(s->provider));
	}
	return -EINVAL;
}

static int tb_ioc_providers(void __user *arg, size_t size)
{
	struct tb_provider_info info;
	int err = tb_argument_get(&info, sizeof(info), arg, size);

	if (err)
		return err;
	if (!tb_argument_is_zero(info.reserved, sizeof(info.reserved)))
		return -EINVAL;
	err = tb_providers_info(&info);
	return err ?: tb_argument_put(arg, size, &info, sizeof(info));
}

static int tb_ioc_start(struct tb_session *s, void __user *arg, size_t size)
{
	struct tb_start start;
	u64 generation;
	int err = tb_argument_get(&start, sizeof(start), arg, size);

	if (err)
		return err;
	if ((start.flags & ~(TB_START_NO_STATE | TB_START_STOP_ON_CLOSE)) ||
	    !tb_argument_is_zero(start.reserved, sizeof(start.reserved)))
		return -EINVAL;
	err = tb_provider_start(tb_session_bind(s), start.flags, &generation);
	if (!err && (start.flags & TB_START_STOP_ON_CLOSE))
		s->stop_generation = generation;
	return err;
}

/* Text of @length bytes at @from, to be freed with kfree(), or an error. */
static char *tb_get_pattern(u64 from, u32 length)
{
	char *pattern;

	if (!length || length > TB_PATTERN_MAX)
		return ERR_PTR(-EINVAL);
	pattern = memdup_user_nul(u64_to_user_ptr(from), length);
	if (!IS_ERR(pattern) && strlen(pattern) != length) {
		kfree(pattern);
		return ERR_PTR(-EINVAL);
	}
	return pattern;
}

static int tb_ioc_flush(struct tb_session *s, void __user *arg, size_t size)
{
	struct tb_provider *p = READ_ONCE(s->provider);
	struct tb_flush f;
	int err = tb_argument_get(&f, sizeof(f), arg, size), late = 0;

	if (err)
		return err;
	if (f.reserved || f.flags & ~TB_FLUSH_ASK)
		return -EINVAL;
	if (f.flags & TB_FLUSH_ASK ? f.cpu != -1 : f.timeout_ms)
		return -EINVAL;
	if (f.flags & TB_FLUSH_ASK)
		late = tb_channels_flush(p, f.timeout_ms ?: TB_FLUSH_MS);
	/* what there is of those who have not answered, too */
	return tb_provider_flush(p, f.cpu) ?: late;
}

static int tb_ioc_categories(struct tb_session *s, void __user *arg, size_t size)
{
	struct tb_categories c;
	char *pattern;
	int err = tb_argument_get(&c, sizeof(c), arg, size);

	if (err)
		return err;
	if (!tb_argument_is_zero(c.reserved, sizeof(c.reserved)))
		return -EINVAL;
	if (c.op == TB_CATEGORY_CLEAR)
		return c.length || c.pattern ? -EINVAL :
		       tb_channels_set_categories(READ_ONCE(s->provider), c.op, NULL);
	if ((c.op != TB_CATEGORY_ENABLE && c.op != TB_CATEGORY_DISABLE) || c.length >= TB_NAME_MAX)
		return -EINVAL;
	pattern = tb_get_pattern(c.pattern, c.length);
	if (IS_ERR(pattern))
		return PTR_ERR(pattern);
	err = tb_channels_set_categories(READ_ONCE(s->provider), c.op, pattern);
	kfree(pattern);
	return err;
}

static int tb_ioc_quota(struct tb_session *s, void __user *arg, size_t size)
{
	struct tb_quota q;
	int err = tb_argument_get(&q, sizeof(q), arg, size);

	return err ?: tb_channels_set_quota(READ_ONCE(s->provider), &q);
}

static int tb_ioc_intake(struct tb_session *s, void __user *arg, size_t size)
{
	struct tb_intake_info info;

	if (size < sizeof(info))
		return -EINVAL;
	tb_channels_query(READ_ONCE(s->provider), &info);
	return tb_argument_put(arg, size, &info, sizeof(info));
}

static int tb_ioc_producers(struct tb_session *s, void __user *arg, size_t size)
{
	struct tb_producer_info info;
	int err = tb_argument_get(&info, sizeof(info), arg, size);

	if (err)
		return err;
	if (info.reserved32 || !tb_argument_is_zero(info.reserved, sizeof(info.reserved)))
		return -EINVAL;
	err = tb_channels_info(READ_ONCE(s->provider), &info);
	return err ?: tb_argument_put(arg, size, &info, sizeof(info));
}

static int tb_ioc_select(struct tb_session *s, void __user *arg, size_t size)
{
	struct tb_select sel;
	char *pattern;
	int err = tb_argument_get(&sel, sizeof(sel), arg, size);

	if (err)
		return err;
	if (!tb_argument_is_zero(sel.reserved, sizeof(sel.reserved)))
		return -EINVAL;
	pattern = tb_get_pattern(sel.pattern, sel.length);
	if (IS_ERR(pattern))
		return PTR_ERR(pattern);
	err = tb_provider_select(READ_ONCE(s->provider), pattern, sel.op, sel.form, &sel.matched);
	kfree(pattern);
	return err ?: tb_argument_put(arg, size, &sel, sizeof(sel));
}

static int tb_ioc_arm(struct tb_session *s, void __user *arg, size_t size)
{
	struct tb_rule *rules = NULL;
	struct tb_arm a;
	char *patterns;
	int err = tb_argument_get(&a, sizeof(a), arg, size);

	if (err)
		return err;
	if (a.bad || a.reserved || a.nr_rules > TB_ARM_RULES_MAX || (!a.nr_rules && a.rules))
		return -EINVAL;
	if (a.op == TB_ARM_CLEAR && !a.post && !a.pattern && !a.length && !a.nr_rules &&
	    !a.post_ms)
		return tb_trigger_disarm(tb_session_bind(s), s);
	if (a.op != TB_ARM_SET)
		return -EINVAL;
	patterns = tb_get_pattern(a.pattern, a.length);
	if (IS_ERR(patterns))
		return PTR_ERR(patterns);
	if (a.nr_rules)
		rules = memdup_user(u64_to_user_ptr(a.rules), a.nr_rules * sizeof(*rules));
	if (IS_ERR(rules)) {
		kfree(patterns);
		return PTR_ERR(rules);
	}
	err = tb_trigger_arm(tb_session_bind(s), s, patterns, rules, a.nr_rules, a.post,
			     a.post_ms, &a.matched, &a.bad);
	kfree(rules);
	kfree(patterns);
	/* which rule was wrong is told beside the error */
	return err && err != -EINVAL ? err : tb_argument_put(arg, size, &a, sizeof(a)) ?: err;
}

static int tb_ioc_rule(struct tb_session *s, void __user *arg, size_t size)
{
	struct tb_rule rule;
	int err = tb_argument_get(&rule, sizeof(rule), arg, size);

	if (err)
		return err;
	if (!tb_argument_is_zero(rule.reserved, sizeof(rule.reserved)))
		return -EINVAL;
	err = tb_rule_set(READ_ONCE(s->provider), &rule);
	/* what was wrong is told beside the error; else there is nothing to tell */
	return err ? tb_argument_put(arg, size, &rule, sizeof(rule)) ?: err : 0;
}

static int tb_ioc_suppressed(struct tb_session *s, void __user *arg, size_t size)
{
	struct tb_suppressed nothing = { };
	struct tb_suppressed_info info;
	int err = tb_argument_get(&info, sizeof(info), arg, size);

	if (err)
		return err;
	if (info.reserved32 || !tb_argument_is_zero(info.reserved, sizeof(info.reserved)) ||
	    memcmp(&info.suppressed, &nothing, sizeof(nothing)))
		return -EINVAL;
	err = tb_rule_suppressed(READ_ONCE(s->provider), info.index, &info.suppressed);
	return err ?: tb_argument_put(arg, size, &info, sizeof(info));
}

static int tb_ioc_pids(struct tb_session *s, void __user *arg, size_t size)
{
	struct tb_pids pids;
	int err = tb_argument_get(&pids, sizeof(pids), arg, size);

	if (err)
		return err;
	if (pids.reserved32 || !tb_argument_is_zero(pids.reserved, sizeof(pids.reserved)))
		return -EINVAL;
	err = tb_rule_set_pids(READ_ONCE(s->provider), &pids);
	/* as for rules */
	return err ? tb_argument_put(arg, size, &pids, sizeof(pids)) ?: err : 0;
}

static int tb_ioc_trigger(struct tb_session *s, void __user *arg, size_t size)
{
	struct tb_trigger_info info;

	if (size < sizeof(info))
		return -EINVAL;
	tb_trigger_query(READ_ONCE(s->provider), &info);
	return tb_argument_put(arg, size, &info, sizeof(info));
}

static int tb_ioc_event(struct tb_session *s, void __user *arg, size_t size)
{
	struct tb_event_info info;
	void *desc;
	int err = tb_argument_get(&info, sizeof(info), arg, size);

	if (err)
		return err;
	if (!tb_argument_is_zero(info.reserved, sizeof(info.reserved)))
		return -EINVAL;
	err = tb_select_info(READ_ONCE(s->provider), &info, &desc);
	if (err)
		return err;
	if (desc && copy_to_user(u64_to_user_ptr(info.desc), desc, info.desc_size))
		err = -EFAULT;
	kvfree(desc);
	return err ?: tb_argument_put(arg, size, &info, sizeof(info));
}

static int tb_ioc_stats(struct tb_session *s, void __user *arg, size_t size)
{
	struct tb_stats st;
	int err = tb_argument_get(&st, sizeof(st), arg, size);

	if (err)
		return err;
	if (st.flags || st.reserved32 || !tb_argument_is_zero(st.reserved, sizeof(st.reserved)))
		return -EINVAL;
	err = tb_provider_stats(READ_ONCE(s->provider), &st);
	return err ?: tb_argument_put(arg, size, &st, sizeof(st));
}

static int tb_batch_get(struct tb_batch *b, void __user *arg, size_t size, u32 flags,
			struct tb_ref **refs)
{
	int err = tb_argument_get(b, sizeof(*b), arg, size);

	if (err)
		return err;
	if (!b->count || b->count > TB_BATCH_MAX || (b->flags & ~flags) || b->reserved)
		return -EINVAL;
	*refs = kvcalloc(b->count, sizeof(**refs), TB_GFP);
	return *refs ? 0 : -ENOMEM;
}

static int tb_ioc_acquire(struct tb_session *s, void __user *arg, size_t size)
{
	struct tb_provider *p;
	struct tb_ref *refs;
	struct tb_batch b;
	int n, err;

	err = tb_batch_get(&b, arg, size, TB_ACQUIRE_FLUSH | TB_ACQUIRE_SNAPSHOT,
			   &refs);
	if (err)
		return err;
	p = tb_session_bind(s);
	mutex_lock(&p->batch);
	n = tb_session_acquire(s, refs, b.count, b.flags);
	if (n >= 0) {
		b.count = n;
		if (copy_to_user(u64_to_user_ptr(b.refs), refs, n * sizeof(*refs)) ||
		    tb_argument_put(arg, size, &b, sizeof(b))) {
			/* nobody will know of them: not delivered */
			tb_session_unacquire(s, refs, n);
			n = -EFAULT;
		}
	}
	mutex_unlock(&p->batch);
	kvfree(refs);
	return n < 0 ? n : 0;
}

static int tb_ioc_release(struct tb_session *s, void __user *arg, size_t size)
{
	struct tb_provider *p = tb_session_bind(s);
	struct tb_ref *refs;
	struct tb_batch b;
	int err;

	err = tb_batch_get(&b, arg, size, 0, &refs);
	if (err)
		return err;
	if (copy_from_user(refs, u64_to_user_ptr(b.refs), b.count * sizeof(*refs))) {
		err = -EFAULT;
	} else {
		mutex_lock(&p->batch);
		err = tb_session_release(s, refs, b.count, &b.count);
		mutex_unlock(&p->batch);
		if (tb_argument_put(arg, size, &b, sizeof(b)))
			err = -EFAULT;
	}
	kvfree(refs);
	return err;
}

static int tb_ioc_fifo(struct tb_session *s, void __user *arg, size_t size)
{
	struct tb_fifo f;
	int err = tb_argument_get(&f, sizeof(f), arg, size);

	if (err)
		return err;
	if (f.flags || !tb_argument_is_zero(f.reserved, sizeof(f.reserved)))
		return -EINVAL;
	if (f.version != TB_FIFO_VERSION)
		return -EPROTONOSUPPORT;
	return tb_save_channel_open(s, f.cpu);
}

static const struct file_operations tb_fops;

static int tb_ioc_join(struct tb_session *s, void __user *arg, size_t size)
{
	struct file *other;
	cpumask_var_t cpus;
	struct tb_join j;
	int err = tb_argument_get(&j, sizeof(j), arg, size);

	if (err)
		return err;
	if (j.flags || !j.cpus || !tb_argument_is_zero(j.reserved, sizeof(j.reserved)))
		return -EINVAL;
	if (!zalloc_cpumask_var(&cpus, GFP_KERNEL))
		return -ENOMEM;
	err = tb_get_cpus(j.cpus, j.cpus_bytes, cpus);
	if (!err && cpumask_empty(cpus))
		err = -EINVAL;
	other = err ? NULL : fget(j.fd);
	if (other) {
		err = other->f_op == &tb_fops ?
		      tb_session_join(s, other->private_data, cpus) : -EINVAL;
		fput(other);
	} else if (!err) {
		err = -EBADF;
	}
	free_cpumask_var(cpus);
	return err;
}

/*
 * The size of a command's structure is part of its number, so the number
 * tells what the caller was built with.
 */
static long tb_ioctl(struct file *file, unsigned int cmd, unsigned long arg)
{
	struct tb_session *s = file->private_data;
	void __user *to = (void __user *)arg;
	size_t size = _IOC_SIZE(cmd);

	if (_IOC_TYPE(cmd) != TB_IOC_MAGIC)
		return -ENOTTY;
	switch (_IOC_NR(cmd)) {
	case _IOC_NR(TB_IOC_QUERY):
		return tb_ioc_query(s, to, size);
	case _IOC_NR(TB_IOC_CONFIGURE):
		return tb_ioc_configure(s, to, size);
	case _IOC_NR(TB_IOC_START):
		return tb_ioc_start(s, to, size);
	case _IOC_NR(TB_IOC_STOP):
		return tb_provider_stop(READ_ONCE(s->provider), 0);
	case _IOC_NR(TB_IOC_FLUSH):
		return tb_ioc_flush(s, to, size);
	case _IOC_NR(TB_IOC_SELECT):
		return tb_ioc_select(s, to, size);
	case _IOC_NR(TB_IOC_EVENT):
		return tb_ioc_event(s, to, size);
	case _IOC_NR(TB_IOC_STATS):
		return tb_ioc_stats(s, to, size);
	case _IOC_NR(TB_IOC_ACQUIRE):
		return tb_ioc_acquire(s, to, size);
	case _IOC_NR(TB_IOC_RELEASE):
		return tb_ioc_release(s, to, size);
	case _IOC_NR(TB_IOC_ATTACH):
		return tb_ioc_attach(s, to, size);
	case _IOC_NR(TB_IOC_PROVIDER):
		return tb_ioc_provider(s, to, size);
	case _IOC_NR(TB_IOC_PROVIDERS):
		return tb_ioc_providers(to, size);
	case _IOC_NR(TB_IOC_ARM):
		return tb_ioc_arm(s, to, size);
	case _IOC_NR(TB_IOC_TRIGGER):
		return tb_ioc_trigger(s, to, size);
	case _IOC_NR(TB_IOC_RULE):
		return tb_ioc_rule(s, to, size);
	case _IOC_NR(TB_IOC_SUPPRESSED):
		return tb_ioc_suppressed(s, to, size);
	case _IOC_NR(TB_IOC_PIDS):
		return tb_ioc_pids(s, to, size);
	case _IOC_NR(TB_IOC_FIFO):
		return tb_ioc_fifo(s, to, size);
	case _IOC_NR(TB_IOC_JOIN):
		return tb_ioc_join(s, to, size);
	case _IOC_NR(TB_IOC_CATEGORIES):
		return tb_ioc_categories(s, to, size);
	case _IOC_NR(TB_IOC_QUOTA):
		return tb_ioc_quota(s, to, size);
	case _IOC_NR(TB_IOC_PRODUCERS):
		return tb_ioc_producers(s, to, size);
	case _IOC_NR(TB_IOC_INTAKE):
		return tb_ioc_intake(s, to, size);
	}
	return -ENOTTY;
}

static const struct file_operations tb_fops = {
	.owner = THIS_MODULE,
	.open = tb_open,
	.release = tb_release,
	.read_iter = tb_read_iter,
	.splice_read = TB_SPLICE_READ,
	.poll = tb_poll,
	.mmap = tb_mmap,
	.unlocked_ioctl = tb_ioctl,
	.compat_ioctl = compat_ptr_ioctl,
	.llseek = TB_NO_LLSEEK,
};

static struct miscdevice tb_misc = {
	.minor = MISC_DYNAMIC_MINOR,
	.name = "tracebuf",
	.fops = &tb_fops,
	.mode = 0600,
};

/**
 * tb_device_init() - make /dev/tracebuf
 *
 * Context: module init.
 * Return: 0 or -errno.
 */
int tb_device_init(void)
{
	return misc_register(&tb_misc);
}

/**
 * tb_device_exit() - remove /dev/tracebuf
 *
 * Context: module exit, no open file left.
 */
void tb_device_exit(void)
{
	misc_deregister(&tb_misc);
}
