// SPDX-License-Identifier: GPL-2.0-only
/*
 * /dev/tracebuf: file operations and ioctls.
 *
 * Callers: system calls, in process context.  Each function checks sizes, flags and reserved fields
 * of the arguments, then calls another folder of module/, which checks the values
 * (recording/configure.c, select/).  Functions here take no lock but tb_provider.batch, which keeps
 * acquired blocks from other callers until user space has the references.  They need no reference
 * to the session's provider: a session changes its provider only once, and only from "kernel",
 * which is never removed.
 */
#include <linux/capability.h>
#include <linux/module.h>
#include <linux/nospec.h>
#include <linux/security.h>
#include <linux/slab.h>
#include <linux/uio.h>

#include "copy_argument.h"
#include "machine/compat.h"
#include "reader/session.h"
#include "recording/recording.h"
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

	/* a trace of the kernel has data of all users */
	if (!perfmon_capable())
		return -EPERM;
	/* a trace shows what tracefs shows, so the same lockdown applies */
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

/* the structure of a command: in kernel memory; in user space, with its size there */
struct tb_argument {
	union {
		struct tb_query query;
		struct tb_config config;
		struct tb_start start;
		struct tb_flush flush;
		struct tb_select select;
		struct tb_event_info event;
		struct tb_stats stats;
		struct tb_batch batch;
		struct tb_attach attach;
		struct tb_provider_req provider;
		struct tb_provider_info provider_info;
		struct tb_arm arm;
		struct tb_trigger_info trigger;
		struct tb_rule rule;
		struct tb_suppressed_info suppressed;
		struct tb_pids pids;
		struct tb_fifo fifo;
		struct tb_categories categories;
		struct tb_quota quota;
		struct tb_producer_info producer;
		struct tb_intake_info intake;
	};
	void __user *user;
	size_t size;
};

/* when tb_ioctl() copies the structure back to user space */
#define TB_PUT_SUCCESS	0x1
#define TB_PUT_ERROR	0x2

/**
 * struct tb_ioctl_entry - a command
 * @cmd: TB_IOC_*: with the size of the structure, and _IOC_WRITE if user space fills it in
 * @put: TB_PUT_*
 * @reserved: offset of the member that must be zero
 * @reserved_bytes: its size; 0: no such member
 * @handler: checks the structure and carries the command out; returns 0 or -errno
 */
struct tb_ioctl_entry {
	u32 cmd;
	u32 put;
	u32 reserved;
	u32 reserved_bytes;
	int (*handler)(struct tb_session *s, struct tb_argument *a);
};

static int tb_ioc_query(struct tb_session *s, struct tb_argument *a)
{
	tracebuf_query(READ_ONCE(s->provider), &a->query);
	return 0;
}

/* Copy user space's mask of CPUs to @cpus; without a mask, set all possible CPUs. */
static int tb_get_cpus(u64 mask, u32 bytes, struct cpumask *cpus)
{
	DECLARE_BITMAP(given, TB_CPUS_BYTES * BITS_PER_BYTE) = { };

	if (!mask != !bytes || bytes > TB_CPUS_BYTES)
		return -EINVAL;
	cpumask_copy(cpus, cpu_possible_mask);
	if (!mask)
		return 0;
	if (copy_from_user(given, u64_to_user_ptr(mask), bytes))
		return -EFAULT;
	/* the bytes are a bitmap already: the ABI and the kernel are little-endian */
	if (find_last_bit(given, TB_CPUS_BYTES * BITS_PER_BYTE) >= nr_cpu_ids)
		return -EINVAL;
	bitmap_copy(cpumask_bits(cpus), given, nr_cpu_ids);
	return cpumask_subset(cpus, cpu_possible_mask) ? 0 : -EINVAL;
}

static int tb_ioc_configure(struct tb_session *s, struct tb_argument *a)
{
	cpumask_var_t cpus;
	int err;

	if (!zalloc_cpumask_var(&cpus, GFP_KERNEL))
		return -ENOMEM;
	err = tb_get_cpus(a->config.cpus, a->config.cpus_bytes, cpus);
	if (!err)
		err = tb_provider_configure(READ_ONCE(s->provider), &a->config, cpus);
	free_cpumask_var(cpus);
	return err;
}

static int tb_ioc_attach(struct tb_session *s, struct tb_argument *a)
{
	const char *name = a->attach.name;

	if (strnlen(name, sizeof(a->attach.name)) == sizeof(a->attach.name))
		return -EINVAL;
	return tb_session_attach_to(s, name);
}

static int tb_ioc_provider(struct tb_session *s, struct tb_argument *a)
{
	struct tb_provider_req *r = &a->provider;
	struct tb_provider *p;
	int err;

	if (strnlen(r->name, sizeof(r->name)) == sizeof(r->name) || r->id)
		return -EINVAL;
	switch (r->op) {
	case TB_PROVIDER_CREATE:
		err = tb_registry_create(r->name, 0, &p);
		if (err)
			return err;
		r->id = p->id;
		tb_provider_put(p, TB_HOLDER_NONE);
		err = tb_argument_put(a->user, a->size, r, sizeof(*r));
		/* the program did not get the id: undo, unless another file uses the provider */
		if (err)
			tb_registry_destroy(r->name, NULL);
		return err;
	case TB_PROVIDER_DESTROY:
		return tb_registry_destroy(r->name, READ_ONCE(s->provider));
	}
	return -EINVAL;
}

static int tb_ioc_providers(struct tb_session *s, struct tb_argument *a)
{
	return tb_providers_info(&a->provider_info);
}

static int tb_ioc_start(struct tb_session *s, struct tb_argument *a)
{
	struct tb_start *start = &a->start;
	u64 generation;
	int err;

	if (start->flags & ~(TB_START_NO_STATE | TB_START_STOP_ON_CLOSE))
		return -EINVAL;
	err = tb_provider_start(tb_session_bind(s), start->flags, &generation);
	if (!err && (start->flags & TB_START_STOP_ON_CLOSE))
		s->stop_generation = generation;
	return err;
}

static int tb_ioc_stop(struct tb_session *s, struct tb_argument *a)
{
	return tb_provider_stop(READ_ONCE(s->provider), 0);
}

/* Copy text of @length bytes at @from.  Return the copy, for kfree(), or an ERR_PTR(). */
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

static int tb_ioc_flush(struct tb_session *s, struct tb_argument *a)
{
	struct tb_provider *p = READ_ONCE(s->provider);
	const struct tb_flush *f = &a->flush;
	int late = 0;

	if (f->reserved || f->flags & ~TB_FLUSH_ASK)
		return -EINVAL;
	if (f->flags & TB_FLUSH_ASK ? f->cpu != -1 : f->timeout_ms)
		return -EINVAL;
	if (f->flags & TB_FLUSH_ASK)
		late = tb_channels_flush(p, f->timeout_ms ?: TB_FLUSH_MS);
	/* flush even if some channels have not answered */
	return tb_provider_flush(p, f->cpu) ?: late;
}

static int tb_ioc_categories(struct tb_session *s, struct tb_argument *a)
{
	const struct tb_categories *c = &a->categories;
	char *pattern;
	int err;

	if (c->op == TB_CATEGORY_CLEAR)
		return c->length || c->pattern ? -EINVAL :
		       tb_channels_set_categories(READ_ONCE(s->provider), c->op, NULL);
	if ((c->op != TB_CATEGORY_ENABLE && c->op != TB_CATEGORY_DISABLE) ||
	    c->length >= TB_NAME_MAX)
		return -EINVAL;
	pattern = tb_get_pattern(c->pattern, c->length);
	if (IS_ERR(pattern))
		return PTR_ERR(pattern);
	err = tb_channels_set_categories(READ_ONCE(s->provider), c->op, pattern);
	kfree(pattern);
	return err;
}

static int tb_ioc_quota(struct tb_session *s, struct tb_argument *a)
{
	return tb_channels_set_quota(READ_ONCE(s->provider), &a->quota);
}

static int tb_ioc_intake(struct tb_session *s, struct tb_argument *a)
{
	tb_channels_query(READ_ONCE(s->provider), &a->intake);
	return 0;
}

static int tb_ioc_producers(struct tb_session *s, struct tb_argument *a)
{
	struct tb_producer_info *info = &a->producer;

	if (info->reserved32)
		return -EINVAL;
	return tb_channels_info(READ_ONCE(s->provider), info);
}

static int tb_ioc_select(struct tb_session *s, struct tb_argument *a)
{
	struct tb_select *sel = &a->select;
	char *pattern;
	int err;

	pattern = tb_get_pattern(sel->pattern, sel->length);
	if (IS_ERR(pattern))
		return PTR_ERR(pattern);
	err = tb_provider_select(READ_ONCE(s->provider), pattern, sel->op, sel->form,
				 &sel->matched);
	kfree(pattern);
	return err;
}

static int tb_ioc_arm(struct tb_session *s, struct tb_argument *a)
{
	struct tb_arm *arm = &a->arm;
	struct tb_rule *rules = NULL;
	char *patterns;
	int err;

	if (arm->bad || arm->reserved || arm->nr_rules > TB_ARM_RULES_MAX ||
	    (!arm->nr_rules && arm->rules))
		return -EINVAL;
	if (arm->op == TB_ARM_CLEAR && !arm->post && !arm->pattern && !arm->length &&
	    !arm->nr_rules && !arm->post_ms)
		return tb_trigger_disarm(tb_session_bind(s), s);
	if (arm->op != TB_ARM_SET)
		return -EINVAL;
	patterns = tb_get_pattern(arm->pattern, arm->length);
	if (IS_ERR(patterns))
		return PTR_ERR(patterns);
	if (arm->nr_rules)
		rules = memdup_user(u64_to_user_ptr(arm->rules), arm->nr_rules * sizeof(*rules));
	if (IS_ERR(rules)) {
		kfree(patterns);
		return PTR_ERR(rules);
	}
	err = tb_trigger_arm(tb_session_bind(s), s, patterns, rules, arm);
	kfree(rules);
	kfree(patterns);
	return err;
}

static int tb_ioc_rule(struct tb_session *s, struct tb_argument *a)
{
	return tb_rule_set(READ_ONCE(s->provider), &a->rule);
}

static int tb_ioc_suppressed(struct tb_session *s, struct tb_argument *a)
{
	struct tb_suppressed_info *info = &a->suppressed;

	if (info->reserved32 || !tb_argument_is_zero(&info->suppressed, sizeof(info->suppressed)))
		return -EINVAL;
	return tb_rule_suppressed(READ_ONCE(s->provider), info->index, &info->suppressed);
}

static int tb_ioc_pids(struct tb_session *s, struct tb_argument *a)
{
	struct tb_pids *pids = &a->pids;

	if (pids->reserved32)
		return -EINVAL;
	return tb_rule_set_pids(READ_ONCE(s->provider), pids);
}

static int tb_ioc_trigger(struct tb_session *s, struct tb_argument *a)
{
	tb_trigger_query(READ_ONCE(s->provider), &a->trigger);
	return 0;
}

static int tb_ioc_event(struct tb_session *s, struct tb_argument *a)
{
	struct tb_event_info *info = &a->event;
	void *desc;
	int err;

	err = tb_select_info(READ_ONCE(s->provider), info, &desc);
	if (err)
		return err;
	if (desc && copy_to_user(u64_to_user_ptr(info->desc), desc, info->desc_size))
		err = -EFAULT;
	kvfree(desc);
	return err;
}

static int tb_ioc_stats(struct tb_session *s, struct tb_argument *a)
{
	struct tb_stats *st = &a->stats;

	if (st->flags || st->reserved32)
		return -EINVAL;
	return tb_provider_stats(READ_ONCE(s->provider), st);
}

/* Check a batch, and allocate memory for its references. */
static int tb_batch_prepare(const struct tb_batch *b, u32 flags, struct tb_ref **refs)
{
	if (!b->count || b->count > TB_BATCH_MAX || (b->flags & ~flags) || b->reserved)
		return -EINVAL;
	*refs = kvcalloc(b->count, sizeof(**refs), TB_GFP);
	return *refs ? 0 : -ENOMEM;
}

static int tb_ioc_acquire(struct tb_session *s, struct tb_argument *a)
{
	struct tb_batch *b = &a->batch;
	struct tb_provider *p;
	struct tb_ref *refs;
	int n;

	n = tb_batch_prepare(b, TB_ACQUIRE_FLUSH | TB_ACQUIRE_SNAPSHOT, &refs);
	if (n)
		return n;
	p = tb_session_bind(s);
	mutex_lock(&p->batch);
	n = tb_session_acquire(s, refs, b->count, b->flags);
	if (n >= 0) {
		b->count = n;
		if (copy_to_user(u64_to_user_ptr(b->refs), refs, n * sizeof(*refs)) ||
		    tb_argument_put(a->user, a->size, b, sizeof(*b))) {
			/* the program did not get the references: put the blocks back */
			tb_session_unacquire(s, refs, n);
			n = -EFAULT;
		}
	}
	mutex_unlock(&p->batch);
	kvfree(refs);
	return n < 0 ? n : 0;
}

static int tb_ioc_release(struct tb_session *s, struct tb_argument *a)
{
	struct tb_provider *p = tb_session_bind(s);
	struct tb_batch *b = &a->batch;
	struct tb_ref *refs;
	int err;

	err = tb_batch_prepare(b, 0, &refs);
	if (err)
		return err;
	if (copy_from_user(refs, u64_to_user_ptr(b->refs), b->count * sizeof(*refs))) {
		err = -EFAULT;
	} else {
		mutex_lock(&p->batch);
		err = tb_session_release(s, refs, b->count, &b->count);
		mutex_unlock(&p->batch);
	}
	kvfree(refs);
	return err;
}

static int tb_ioc_fifo(struct tb_session *s, struct tb_argument *a)
{
	const struct tb_fifo *f = &a->fifo;

	if (f->flags)
		return -EINVAL;
	if (f->version != TB_FIFO_VERSION)
		return -EPROTONOSUPPORT;
	return tb_save_channel_open(s, f->cpu);
}

#define TB_IOCTL(name, handle, puts, ...) \
	[_IOC_NR(TB_IOC_##name)] = { .cmd = TB_IOC_##name, .put = puts, .handler = handle, \
				     __VA_ARGS__ }
#define TB_RESERVED(type) \
	.reserved = offsetof(type, reserved), .reserved_bytes = sizeof_field(type, reserved)

static const struct tb_ioctl_entry tb_ioctls[] = {
	TB_IOCTL(QUERY, tb_ioc_query, TB_PUT_SUCCESS),
	TB_IOCTL(CONFIGURE, tb_ioc_configure, 0),
	TB_IOCTL(START, tb_ioc_start, 0, TB_RESERVED(struct tb_start)),
	TB_IOCTL(STOP, tb_ioc_stop, 0),
	TB_IOCTL(FLUSH, tb_ioc_flush, 0),
	TB_IOCTL(SELECT, tb_ioc_select, TB_PUT_SUCCESS, TB_RESERVED(struct tb_select)),
	TB_IOCTL(EVENT, tb_ioc_event, TB_PUT_SUCCESS, TB_RESERVED(struct tb_event_info)),
	TB_IOCTL(STATS, tb_ioc_stats, TB_PUT_SUCCESS, TB_RESERVED(struct tb_stats)),
	/* these two copy the structure back themselves, and undo the command if that fails */
	TB_IOCTL(ACQUIRE, tb_ioc_acquire, 0),
	TB_IOCTL(PROVIDER, tb_ioc_provider, 0, TB_RESERVED(struct tb_provider_req)),
	/* on error, count is the number of blocks released before it */
	TB_IOCTL(RELEASE, tb_ioc_release, TB_PUT_SUCCESS | TB_PUT_ERROR),
	TB_IOCTL(ATTACH, tb_ioc_attach, 0, TB_RESERVED(struct tb_attach)),
	TB_IOCTL(PROVIDERS, tb_ioc_providers, TB_PUT_SUCCESS, TB_RESERVED(struct tb_provider_info)),
	/* on error, bad is the index of the wrong rule, test or thread */
	TB_IOCTL(ARM, tb_ioc_arm, TB_PUT_SUCCESS | TB_PUT_ERROR),
	TB_IOCTL(RULE, tb_ioc_rule, TB_PUT_ERROR, TB_RESERVED(struct tb_rule)),
	TB_IOCTL(PIDS, tb_ioc_pids, TB_PUT_ERROR, TB_RESERVED(struct tb_pids)),
	TB_IOCTL(TRIGGER, tb_ioc_trigger, TB_PUT_SUCCESS),
	TB_IOCTL(SUPPRESSED, tb_ioc_suppressed, TB_PUT_SUCCESS,
		 TB_RESERVED(struct tb_suppressed_info)),
	TB_IOCTL(FIFO, tb_ioc_fifo, 0, TB_RESERVED(struct tb_fifo)),
	TB_IOCTL(CATEGORIES, tb_ioc_categories, 0, TB_RESERVED(struct tb_categories)),
	TB_IOCTL(QUOTA, tb_ioc_quota, 0),
	TB_IOCTL(PRODUCERS, tb_ioc_producers, TB_PUT_SUCCESS, TB_RESERVED(struct tb_producer_info)),
	TB_IOCTL(INTAKE, tb_ioc_intake, TB_PUT_SUCCESS),
};

/* @cmd contains the size of the structure as the program knows it. */
static long tb_ioctl(struct file *file, unsigned int cmd, unsigned long arg)
{
	struct tb_argument a = { .user = (void __user *)arg, .size = _IOC_SIZE(cmd) };
	const struct tb_ioctl_entry *entry;
	size_t known;
	int err;

	if (_IOC_TYPE(cmd) != TB_IOC_MAGIC || _IOC_NR(cmd) >= ARRAY_SIZE(tb_ioctls))
		return -ENOTTY;
	entry = &tb_ioctls[array_index_nospec(_IOC_NR(cmd), ARRAY_SIZE(tb_ioctls))];
	if (!entry->handler)
		return -ENOTTY;
	known = _IOC_SIZE(entry->cmd);
	if (a.size < known)
		return -EINVAL;
	err = entry->cmd & (_IOC_WRITE << _IOC_DIRSHIFT) ?
	      tb_argument_get(&a.query, known, a.user, a.size) : 0;
	if (err)
		return err;
	if (tb_argument_is_zero((void *)&a.query + entry->reserved, entry->reserved_bytes))
		err = entry->handler(file->private_data, &a);
	else
		err = -EINVAL;
	if (entry->put & (err ? TB_PUT_ERROR : TB_PUT_SUCCESS))
		return tb_argument_put(a.user, a.size, &a.query, known) ?: err;
	return err;
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
};

struct miscdevice tb_misc = {
	.minor = MISC_DYNAMIC_MINOR,
	.name = "tracebuf",
	.fops = &tb_fops,
	.mode = 0600,
};
