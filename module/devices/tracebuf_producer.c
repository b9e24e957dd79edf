// SPDX-License-Identifier: GPL-2.0-only
/*
 * /dev/tracebuf_producer: channels of user-space writers; file operations, ioctls, memory.
 *
 * TB_PIOC_SETUP makes an open file a channel, once, and sets fields that never change: code that
 * has seen `ready` reads them without a lock.  The channel belongs to the process that set it up,
 * until that process calls execve(); other processes that have the file get -EPERM.  A program maps
 * the page, always read-only, and the chunks; its children do not inherit the mappings.
 *
 * Callers: system calls, in process context.  Locks: tb_channels_lock, tb_channel.lock.
 */
#include <linux/cred.h>
#include <linux/fs.h>
#include <linux/log2.h>
#include <linux/module.h>
#include <linux/nospec.h>
#include <linux/poll.h>
#include <linux/sched/mm.h>
#include <linux/sched/signal.h>
#include <linux/slab.h>
#include <linux/user_namespace.h>

#include "copy_argument.h"
#include "machine/compat.h"
#include "programs/channel.h"
#include "tracebuf.h"

#define TB_DEFAULT_CHUNK_BYTES	4096
#define TB_DEFAULT_CHUNKS	64

/* limit of the channels of an unprivileged user; 0: no limit */
static u32 tb_producers_per_user;
static bool tb_producer_allowed;

/* ---- memory ----------------------------------------------------------- */

/* Free the memory of a channel, even if it is set up only in part. */
static void tb_producer_free_memory(struct tb_channel *c)
{
	struct tb_writer *w;
	unsigned long id;

	xa_for_each(&c->writers, id, w)
		kfree(w);
	xa_destroy(&c->writers);
	if (c->mm) {
		account_locked_vm(c->mm, c->pages, false);
		mmdrop(c->mm);
		c->mm = NULL;
	}
	put_pid(c->owner);
	c->owner = NULL;
	kvfree(c->category);
	c->category = NULL;
	kvfree(c->order);
	c->order = NULL;
	kvfree(c->accounting);
	c->accounting = NULL;
	tb_mem_free(&c->chunk_mem);
	tb_mem_free(&c->page_mem);
	tb_channel_delist(c);
}

/*
 * Charge a channel's memory as locked memory of the process, before the allocation: a program
 * beyond its limit must not take memory from other programs.
 */
static int tb_producer_charge(struct tb_channel *c, const struct tb_producer_setup *setup)
{
	unsigned long bytes = PAGE_ALIGN(TB_PRODUCER_PAGE_BYTES), pages;
	int err;

	if (!(setup->flags & TB_SETUP_NO_SHARED))
		bytes += PAGE_ALIGN((unsigned long)setup->chunks * setup->chunk_bytes);
	pages = bytes >> PAGE_SHIFT;
	err = account_locked_vm(current->mm, pages, true);
	if (err)
		return err;
	mmgrab(current->mm);
	c->mm = current->mm;
	c->pages = pages;
	return 0;
}

static int tb_producer_alloc(struct tb_channel *c, const struct tb_producer_setup *setup)
{
	gfp_t gfp = TB_GFP | __GFP_ACCOUNT;
	int err;

	/* no warnings, because a program could fill the log */
	c->page_mem.account = true;
	err = tb_mem_alloc(&c->page_mem, 1, PAGE_ALIGN(TB_PRODUCER_PAGE_BYTES), NUMA_NO_NODE, NULL);
	if (err)
		return err;
	c->page = tb_mem_block(&c->page_mem, 0);
	c->category = kvcalloc(TB_CATEGORIES_MAX, sizeof(*c->category), gfp);
	if (!c->category)
		return -ENOMEM;
	c->chunk_bytes = setup->chunk_bytes;
	if (setup->flags & TB_SETUP_NO_SHARED)
		return 0;
	c->nr_chunks = setup->chunks;
	c->accounting = kvcalloc(c->nr_chunks, sizeof(*c->accounting), gfp);
	c->order = kvcalloc(c->nr_chunks, sizeof(*c->order), gfp);
	if (!c->accounting || !c->order)
		return -ENOMEM;
	c->chunk_mem.account = true;
	return tb_mem_alloc(&c->chunk_mem, c->nr_chunks, c->chunk_bytes, NUMA_NO_NODE, NULL);
}

/* ---- setting up ------------------------------------------------------- */

static int tb_setup_check(struct tb_producer_setup *s)
{
	if (s->flags & ~TB_SETUP_NO_SHARED || s->reserved32 ||
	    !tb_argument_is_zero(s->reserved, sizeof(s->reserved)))
		return -EINVAL;
	s->chunk_bytes = s->chunk_bytes ?: TB_DEFAULT_CHUNK_BYTES;
	s->chunks = s->chunks ?: TB_DEFAULT_CHUNKS;
	if (!is_power_of_2(s->chunk_bytes) || s->chunk_bytes < TB_CHUNK_BYTES_MIN ||
	    s->chunk_bytes > TB_CHUNK_BYTES_MAX)
		return -EINVAL;
	if (s->chunks < TB_CHUNKS_MIN || s->chunks > TB_CHUNKS_MAX ||
	    (u64)s->chunks * s->chunk_bytes > TB_CHUNKS_BYTES_MAX)
		return -EINVAL;
	return 0;
}

/*
 * Return the user to charge a channel to.  In a user namespace, return the owner of the outermost
 * namespace, because one user can have many user ids inside.
 */
static kuid_t tb_producer_user(void)
{
	const struct user_namespace *ns = current_user_ns();
	kuid_t user = current_uid();

	for (; ns != &init_user_ns; ns = ns->parent)
		user = ns->owner;
	return user;
}

/* Set up all but `ready`.  The caller has set `begun`, so no other task does this now. */
static int tb_producer_set_up(struct tb_channel *c, struct tb_producer_setup *s)
{
	int err = tb_producer_charge(c, s);

	if (!err)
		err = tb_producer_alloc(c, s);
	if (err)
		return err;
	c->flags = s->flags;
	c->owner = get_task_pid(current, PIDTYPE_TGID);
	c->pid = current->tgid;
	c->uid = from_kuid_munged(&init_user_ns, current_uid());
	c->user = tb_producer_user();
	get_task_comm(c->comm, current->group_leader);
	WRITE_ONCE(c->page->abi, TB_PRODUCER_ABI);
	err = tb_channel_enlist(c, tb_producers_per_user);
	if (err)
		return err;
	s->features = TB_PRODUCER_DIRECT_PATCH;
	s->chunks = c->nr_chunks;
	s->chunks_offset = tb_mem_bytes(&c->page_mem);
	s->map_bytes = s->chunks_offset + tb_mem_bytes(&c->chunk_mem);
	s->producer = c->id;
	return 0;
}

static int tb_pioc_setup(struct tb_channel *c, void __user *arg, size_t size)
{
	struct tb_producer_setup s;
	int err = tb_argument_get(&s, sizeof(s), arg, size);

	if (!err)
		err = tb_setup_check(&s);
	if (err)
		return err;
	if (xchg(&c->begun, 1))
		return -EBUSY;
	err = tb_producer_set_up(c, &s);
	if (!err)
		err = tb_argument_put(arg, size, &s, sizeof(s));
	if (err) {
		tb_channel_end(c);
		tb_producer_free_memory(c);
		c->nr_chunks = 0;
		/* the reset channel before @begun: pairs with the xchg() of the next attempt */
		smp_store_release(&c->begun, 0);
		return err;
	}
	/* the constant fields before @ready: pairs with the acquires of @ready below */
	smp_store_release(&c->ready, true);
	return 0;
}

/*
 * Return 0 if the caller may use the channel; -ENXIO it is not set up; -EPERM it belongs to another
 * process, or the process has called execve() since: its new memory map is not charged.
 */
static int tb_producer_owned(struct tb_channel *c)
{
	/* pairs with the release in tb_pioc_setup() */
	if (!smp_load_acquire(&c->ready))
		return -ENXIO;
	return c->owner == task_tgid(current) && c->mm == current->mm ? 0 : -EPERM;
}

/* ---- targets, categories, writers ---------------------------------------- */

static int tb_pioc_target(struct tb_channel *c, void __user *arg, size_t size)
{
	struct tb_target_req r;
	int err = tb_argument_get(&r, sizeof(r), arg, size);

	if (err)
		return err;
	if (strnlen(r.provider, sizeof(r.provider)) == sizeof(r.provider) || r.reserved32 ||
	    !tb_argument_is_zero(r.reserved, sizeof(r.reserved)))
		return -EINVAL;
	err = tb_channel_add_target(c, r.provider, &r.target);
	return err ?: tb_argument_put(arg, size, &r, sizeof(r));
}

static int tb_pioc_category(struct tb_channel *c, void __user *arg, size_t size)
{
	struct tb_category_req r;
	int err = tb_argument_get(&r, sizeof(r), arg, size);

	if (err)
		return err;
	if (strnlen(r.name, sizeof(r.name)) == sizeof(r.name) || r.reserved32 ||
	    !tb_argument_is_zero(r.reserved, sizeof(r.reserved)))
		return -EINVAL;
	mutex_lock(&tb_channels_lock);
	err = tb_category_add(c, r.name, &r.index);
	mutex_unlock(&tb_channels_lock);
	return err ?: tb_argument_put(arg, size, &r, sizeof(r));
}

/*
 * Convert @tid, a thread of the caller's process or 0 for the calling thread, to its id in the
 * initial namespace.  Return 0 if the process has no such thread.
 */
static u32 tb_own_thread(u32 tid)
{
	struct task_struct *t;
	u32 nr = 0;

	if (!tid)
		return current->pid;
	rcu_read_lock();
	t = pid_task(find_vpid(tid), PIDTYPE_PID);
	if (t && same_thread_group(t, current))
		nr = t->pid;
	rcu_read_unlock();
	return nr;
}

static int tb_writer_gone(struct tb_channel *c, u32 id)
{
	struct tb_writer *w;

	mutex_lock(&c->lock);
	w = xa_erase(&c->writers, id);
	if (w)
		c->nr_writers--;
	mutex_unlock(&c->lock);
	if (!w)
		return -ENOENT;
	kfree(w);
	return 0;
}

/* Add a writer with memory @w, which the channel owns on success. */
static int tb_writer_insert(struct tb_channel *c, const struct tb_writer_req *r,
			    struct tb_writer *w)
{
	int err;

	lockdep_assert_held(&c->lock);
	if (r->target >= c->nr_targets)
		return -ENOENT;
	if (xa_load(&c->writers, r->writer))
		return -EEXIST;
	w->target = array_index_nospec(r->target, c->nr_targets);
	err = xa_err(xa_store(&c->writers, r->writer, w, GFP_NOWAIT | __GFP_NOWARN));
	if (!err)
		c->nr_writers++;
	return err;
}

/*
 * Add a writer.  Allocate memory, also in the tree of writers, before taking the lock: readers wait
 * for the lock, and in a control group without memory an allocation can take long.
 */
static int tb_writer_add(struct tb_channel *c, const struct tb_writer_req *r, u32 tid)
{
	struct tb_writer *w = kzalloc(sizeof(*w), TB_GFP | __GFP_ACCOUNT);
	int err;

	if (!w)
		return -ENOMEM;
	w->tid = tid;
	err = xa_reserve(&c->writers, r->writer, TB_GFP);
	if (!err) {
		mutex_lock(&c->lock);
		err = tb_writer_insert(c, r, w);
		/* does nothing if a writer has the id already */
		if (err)
			xa_release(&c->writers, r->writer);
		mutex_unlock(&c->lock);
	}
	if (err)
		kfree(w);
	return err;
}

static int tb_pioc_writer(struct tb_channel *c, void __user *arg, size_t size)
{
	struct tb_writer_req r;
	int err = tb_argument_get(&r, sizeof(r), arg, size);
	u32 tid = 0;

	if (err)
		return err;
	if (r.writer == TB_WRITER_NONE || r.reserved32 ||
	    !tb_argument_is_zero(r.reserved, sizeof(r.reserved)))
		return -EINVAL;
	/* the flags exclude each other, and TB_WRITER_NO_THREAD excludes a thread id */
	if (r.flags & ~(TB_WRITER_GONE | TB_WRITER_NO_THREAD) ||
	    (r.flags & TB_WRITER_NO_THREAD && (r.flags & TB_WRITER_GONE || r.tid)))
		return -EINVAL;
	if (!r.flags) {
		tid = tb_own_thread(r.tid);
		if (!tid)
			return -ESRCH;
	}
	return r.flags & TB_WRITER_GONE ? tb_writer_gone(c, r.writer) : tb_writer_add(c, &r, tid);
}

/* ---- committing ------------------------------------------------------- */

/* Take a chunk that is not in shared memory.  Return 0 and set @ref->result; or -EFAULT. */
static int tb_commit_copy(struct tb_channel *c, struct tb_chunk_ref *ref, struct tb_chunk *buffer)
{
	const void __user *from = u64_to_user_ptr(ref->data);
	u32 bytes;

	if (ref->chunk || !ref->data) {
		ref->result = EINVAL;
		return 0;
	}
	if (copy_from_user(buffer, from, sizeof(*buffer)))
		return -EFAULT;
	/* copy only a size that fits into @buffer: tb_chunk_copied() refuses wrong sizes */
	bytes = TB_PUBLISHED_BYTES(buffer->published);
	if (bytes <= c->chunk_bytes - sizeof(*buffer) &&
	    copy_from_user(buffer + 1, from + sizeof(*buffer), bytes))
		return -EFAULT;
	ref->result = -tb_chunk_copied(c, buffer);
	return 0;
}

/* Take the chunks in @refs, and count in *@taken those without an error. */
static int tb_commit_chunks(struct tb_channel *c, struct tb_chunk_ref *refs, u32 nr, u32 *taken)
{
	struct tb_chunk *buffer = NULL;
	int err = 0;
	u32 i;

	if (c->flags & TB_SETUP_NO_SHARED) {
		buffer = kvmalloc(c->chunk_bytes, TB_GFP);
		if (!buffer)
			return -ENOMEM;
	}
	for (i = 0; i < nr && !err; i++) {
		if (buffer)
			err = tb_commit_copy(c, &refs[i], buffer);
		else
			tb_chunk_commit(c, &refs[i]);
		if (!err)
			*taken += !refs[i].result;
		cond_resched();
	}
	kvfree(buffer);
	return err;
}

/* Apply all patches, even if some are wrong.  Return the last error. */
static int tb_commit_patches(struct tb_channel *c, const struct tb_patch *patches, u32 nr)
{
	int err = 0;
	u32 i;

	for (i = 0; i < nr; i++) {
		err = tb_chunk_patch(c, &patches[i]) ?: err;
		cond_resched();
	}
	return err;
}

static int tb_commit_all(struct tb_channel *c, struct tb_commit *commit, struct tb_chunk_ref *refs,
			 const struct tb_patch *patches)
{
	void __user *to = u64_to_user_ptr(commit->refs);
	int err;
	u32 i;

	for (i = 0; i < commit->nr_refs; i++)
		refs[i].result = ECANCELED;
	commit->taken = 0;
	err = tb_commit_chunks(c, refs, commit->nr_refs, &commit->taken);
	if (copy_to_user(to, refs, commit->nr_refs * sizeof(*refs)))
		err = -EFAULT;
	if (!err)
		err = tb_commit_patches(c, patches, commit->nr_patches);
	if (!err && commit->flush)
		tb_channel_answer_flush(c, commit->flush);
	return err;
}

static int tb_pioc_commit(struct tb_channel *c, void __user *arg, size_t size)
{
	struct tb_chunk_ref *refs;
	struct tb_patch *patches;
	struct tb_commit commit;
	int err = tb_argument_get(&commit, sizeof(commit), arg, size);

	if (err)
		return err;
	if (commit.flags || commit.reserved32 ||
	    !tb_argument_is_zero(commit.reserved, sizeof(commit.reserved)))
		return -EINVAL;
	if (commit.nr_refs > TB_COMMIT_MAX || commit.nr_patches > TB_COMMIT_MAX)
		return -E2BIG;
	refs = vmemdup_user(u64_to_user_ptr(commit.refs), commit.nr_refs * sizeof(*refs));
	if (IS_ERR(refs))
		return PTR_ERR(refs);
	patches = vmemdup_user(u64_to_user_ptr(commit.patches),
			       commit.nr_patches * sizeof(*patches));
	if (IS_ERR(patches)) {
		kvfree(refs);
		return PTR_ERR(patches);
	}
	err = tb_commit_all(c, &commit, refs, patches);
	kvfree(patches);
	kvfree(refs);
	return tb_argument_put(arg, size, &commit, sizeof(commit)) ?: err;
}

/* ---- file operations -------------------------------------------------- */

static int tb_producer_open(struct inode *inode, struct file *file)
{
	struct tb_channel *c;

	if (!READ_ONCE(tb_producer_allowed))
		return -ENODEV;
	c = kzalloc(sizeof(*c), GFP_KERNEL_ACCOUNT);
	if (!c)
		return -ENOMEM;
	INIT_LIST_HEAD(&c->node);
	mutex_init(&c->lock);
	init_waitqueue_head(&c->wait);
	xa_init_flags(&c->writers, XA_FLAGS_ACCOUNT);
	file->private_data = c;
	return nonseekable_open(inode, file);
}

static int tb_producer_release(struct inode *inode, struct file *file)
{
	struct tb_channel *c = file->private_data;

	tb_channel_end(c);
	tb_producer_free_memory(c);
	kfree(c);
	return 0;
}

/*
 * The kernel calls this whenever a process closes a descriptor of the file, or ends: so the channel
 * ends with its process even if a child still has the file.
 */
static int tb_producer_flush(struct file *file, fl_owner_t id)
{
	struct tb_channel *c = file->private_data;
	/* pairs with the release in tb_pioc_setup() */
	bool own = smp_load_acquire(&c->ready) && c->owner == task_tgid(current);

	/* only when the last thread exits: a thread with its own file table may exit earlier */
	if (own && !atomic_read(&current->signal->live))
		tb_channel_end(c);
	return 0;
}

static __poll_t tb_producer_poll(struct file *file, poll_table *table)
{
	struct tb_channel *c = file->private_data;
	__poll_t mask = 0;
	u32 changes;

	poll_wait(file, &c->wait, table);
	if (tb_producer_owned(c))
		return EPOLLERR;
	if (READ_ONCE(c->flush) != READ_ONCE(c->answered))
		mask |= EPOLLPRI;
	changes = READ_ONCE(c->changes);
	/* reported once, to a poll() that asks for it */
	if (poll_requested_events(table) & (EPOLLIN | EPOLLRDNORM) &&
	    xchg(&c->seen, changes) != changes)
		mask |= EPOLLIN | EPOLLRDNORM;
	return mask;
}

/* Map the page or the chunks, as a whole. */
static int tb_producer_mmap(struct file *file, struct vm_area_struct *vma)
{
	unsigned long bytes = vma->vm_end - vma->vm_start;
	struct tb_channel *c = file->private_data;
	u64 offset = (u64)vma->vm_pgoff << PAGE_SHIFT;
	vm_flags_t clear = VM_MAYEXEC;
	const struct tb_mem *mem;
	int err = tb_producer_owned(c);

	if (err)
		return err;
	if (!offset) {
		mem = &c->page_mem;
		clear |= VM_MAYWRITE;
	} else {
		mem = &c->chunk_mem;
		if (offset != tb_mem_bytes(&c->page_mem))
			return -EINVAL;
	}
	if (bytes != tb_mem_bytes(mem))
		return -EINVAL;
	/* a program could write to a private mapping, and the kernel would not see that */
	if (!(vma->vm_flags & VM_SHARED) || vma->vm_flags & VM_EXEC ||
	    (vma->vm_flags & VM_WRITE && clear & VM_MAYWRITE))
		return -EPERM;
	tb_vma_flags(vma, VM_DONTCOPY | VM_DONTEXPAND | VM_DONTDUMP, clear);
	return tb_mem_map(mem, vma, vma->vm_start);
}

static long tb_producer_ioctl(struct file *file, unsigned int cmd, unsigned long arg)
{
	struct tb_channel *c = file->private_data;
	void __user *to = (void __user *)arg;
	size_t size = _IOC_SIZE(cmd);
	int err;

	if (_IOC_TYPE(cmd) != TB_IOC_MAGIC)
		return -ENOTTY;
	if (_IOC_NR(cmd) == _IOC_NR(TB_PIOC_SETUP))
		return tb_pioc_setup(c, to, size);
	err = tb_producer_owned(c);
	if (err)
		return err;
	switch (_IOC_NR(cmd)) {
	case _IOC_NR(TB_PIOC_TARGET):
		return tb_pioc_target(c, to, size);
	case _IOC_NR(TB_PIOC_WRITER):
		return tb_pioc_writer(c, to, size);
	case _IOC_NR(TB_PIOC_CATEGORY):
		return tb_pioc_category(c, to, size);
	case _IOC_NR(TB_PIOC_COMMIT):
		return tb_pioc_commit(c, to, size);
	}
	return -ENOTTY;
}

static const struct file_operations tb_producer_fops = {
	.owner = THIS_MODULE,
	.open = tb_producer_open,
	.flush = tb_producer_flush,
	.release = tb_producer_release,
	.poll = tb_producer_poll,
	.mmap = tb_producer_mmap,
	.unlocked_ioctl = tb_producer_ioctl,
	.compat_ioctl = compat_ptr_ioctl,
};

struct miscdevice tb_producer_misc = {
	.minor = MISC_DYNAMIC_MINOR,
	.name = "tracebuf_producer",
	.fops = &tb_producer_fops,
};

/*
 * Create /dev/tracebuf_producer with permissions @mode.  @per_user: limit of the channels of each
 * user; 0: no limit.  Programs cannot open it before tb_producer_allow().
 */
int tb_producer_init(umode_t mode, u32 per_user)
{
	BUILD_BUG_ON(sizeof(struct tb_producer_page) > TB_PRODUCER_PAGE_BYTES);
	BUILD_BUG_ON(sizeof(struct tb_chunk) != 48 || sizeof(struct tb_chunk_event) != 48);
	tb_producer_misc.mode = mode & 0666;
	tb_producers_per_user = per_user;
	return misc_register(&tb_producer_misc);
}

/*
 * Let programs open the device, when module init cannot fail any more: a failed init frees the
 * module even while a file is open.
 */
void tb_producer_allow(void)
{
	WRITE_ONCE(tb_producer_allowed, true);
}
