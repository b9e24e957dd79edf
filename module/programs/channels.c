// SPDX-License-Identifier: GPL-2.0-only
/*
 * The channels of user-space writers: their list, their targets, quotas, flushes, scraping.
 *
 * A channel is in the list from its setup until its process ends or its file is closed.  It has a
 * reference to each provider that is its target, but only until the provider is removed: so a
 * program can neither keep memory that an administrator wants to free, nor block the removal.
 *
 * Callers: devices/, recording/, reader/, in process context.
 * Locks: tb_channels_lock, under tb_provider.lock; tb_channel.lock under it (channel.h).
 */
#include <linux/capability.h>
#include <linux/jiffies.h>
#include <linux/math64.h>
#include <linux/sched/signal.h>

#include "channel.h"
#include "channels.h"
#include "provider/provider.h"

/* default quota of each ring */
#define TB_QUOTA_SECONDS	10	/* seconds in which programs may fill the ring */
#define TB_QUOTA_SHARE		4	/* the burst is the size of the ring divided by this */

/*
 * A scrape holds it while it copies what all channels have published: at most their memory, and at
 * most what the quotas of the rings let pass.
 */
DEFINE_MUTEX(tb_channels_lock);
static LIST_HEAD(tb_channels_open);
/* ended channels, which count for the limits as long as they have memory */
static LIST_HEAD(tb_channels_ended);
static u32 tb_nr_producers;
static u32 tb_last_channel;
static u64 tb_last_flush;

/* tb_channels_flush() waits here for the answers of programs */
static DECLARE_WAIT_QUEUE_HEAD(tb_answers);

/* Return the number of @p as a target of @c, or -1. */
static int tb_target_of(const struct tb_channel *c, const struct tb_provider *p)
{
	u32 t;

	lockdep_assert_held(&tb_channels_lock);
	for (t = 0; t < c->nr_targets; t++)
		if (c->target[t].provider == p)
			return t;
	return -1;
}

/* ---- recordings --------------------------------------------------------- */

/* Convert @burst bytes at @rate bytes per second to nanoseconds; a @burst of 0 is one second. */
static u64 tb_quota_burst(u64 rate, u64 burst)
{
	burst = min_t(u64, burst, U64_MAX / NSEC_PER_SEC);
	if (!burst || !rate)
		return NSEC_PER_SEC;
	return max_t(u64, 1, div64_u64(burst * NSEC_PER_SEC, rate));
}

/*
 * Return the quota of each ring, of @bytes.  With the default quota, programs cannot overwrite the
 * kernel's events of the last seconds, however fast they write.
 */
static void tb_quota_default(const struct tb_quota *q, u64 bytes, u64 *rate, u64 *burst)
{
	*rate = q->ring_bytes_per_second;
	*burst = q->ring_burst_bytes;
	if (!(q->flags & TB_QUOTA_DEFAULT))
		return;
	/* a placeholder until the rings are allocated */
	*rate = max_t(u64, bytes / TB_QUOTA_SECONDS, 1);
	*burst = max_t(u64, bytes / TB_QUOTA_SHARE, 1);
}

/* Apply a change of the quota or of the rings.  All rings start with their full quota. */
static void tb_channels_apply_quota(struct tb_provider *p)
{
	u64 rate, burst;
	unsigned int cpu;

	lockdep_assert_held(&p->lock);
	lockdep_assert_held(&tb_channels_lock);
	tb_quota_default(&p->channels.quota, tb_memory_ring_bytes(&p->config), &rate, &burst);
	WRITE_ONCE(p->channels.ring_burst, tb_quota_burst(rate, burst));
	WRITE_ONCE(p->channels.ring_rate, rate);
	for_each_possible_cpu(cpu)
		WRITE_ONCE(*per_cpu_ptr(p->channels.ring_paid, cpu), 0);
}

/* Update the pages of all channels that have the provider as a target.  @match: categories, too. */
static void tb_channels_words(struct tb_provider *p, bool match)
{
	struct tb_channel *c;
	int t;

	lockdep_assert_held(&tb_channels_lock);
	list_for_each_entry(c, &tb_channels_open, node) {
		t = tb_target_of(c, p);
		if (t < 0)
			continue;
		if (match)
			tb_category_match(c, t);
		tb_words_update(c, t);
	}
}

/* Update the pages, because a provider reads its clock in another way. */
void tb_channels_clock(struct tb_provider *p)
{
	lockdep_assert_held(&p->lock);
	mutex_lock(&tb_channels_lock);
	tb_channels_words(p, false);
	mutex_unlock(&tb_channels_lock);
}

/* Update the pages, because a provider has started (@recording), stopped or changed. */
void tb_channels_notify(struct tb_provider *p, bool recording)
{
	lockdep_assert_held(&p->lock);
	mutex_lock(&tb_channels_lock);
	tb_channels_apply_quota(p);
	if (recording) {
		atomic64_set(&p->channels.kept_pieces, 0);
		atomic64_set(&p->channels.kept_records, 0);
		atomic64_set(&p->channels.kept_bytes, 0);
	}
	p->channels.recording = recording;
	tb_channels_words(p, false);
	mutex_unlock(&tb_channels_lock);
}

/*
 * Take the records that programs have published for a provider.  @end: the recording ends.  The
 * caller holds neither read_lock nor cpus_read_lock.
 */
void tb_channels_scrape(struct tb_provider *p, bool end)
{
	struct tb_channel *c;

	if (!tb_provider_live(p))
		return;
	mutex_lock(&tb_channels_lock);
	list_for_each_entry(c, &tb_channels_open, node) {
		if (tb_target_of(c, p) < 0)
			continue;
		mutex_lock(&c->lock);
		tb_chunk_scrape(c, p, end);
		mutex_unlock(&c->lock);
	}
	mutex_unlock(&tb_channels_lock);
}

/* Return true if all channels that were asked for flush @number have answered. */
static bool tb_channels_have_answered(struct tb_provider *p, u64 number)
{
	struct tb_channel *c;
	bool all = true;

	mutex_lock(&tb_channels_lock);
	list_for_each_entry(c, &tb_channels_open, node)
		if (tb_target_of(c, p) >= 0 && c->flush >= number && c->answered < number)
			all = false;
	mutex_unlock(&tb_channels_lock);
	return all;
}

/*
 * Ask programs without shared memory to commit, and wait until they have.  Does not wait for
 * channels opened after the request, nor for closed ones.  The caller holds no lock.  Return 0,
 * -ETIMEDOUT, -ERESTARTSYS.
 */
int tb_channels_flush(struct tb_provider *p, u32 timeout_ms)
{
	long left = msecs_to_jiffies(timeout_ms);
	DEFINE_WAIT_FUNC(wait, woken_wake_function);
	struct tb_channel *c;
	int err = 0;
	u64 number;

	mutex_lock(&tb_channels_lock);
	tb_last_flush++;
	/* in the page, 0 means that no flush was requested yet */
	if (!(u32)tb_last_flush)
		tb_last_flush++;
	number = tb_last_flush;
	list_for_each_entry(c, &tb_channels_open, node) {
		if (!(c->flags & TB_SETUP_NO_SHARED) || tb_target_of(c, p) < 0)
			continue;
		WRITE_ONCE(c->flush, number);
		WRITE_ONCE(c->page->flush, (u32)number);
		wake_up_interruptible(&c->wait);
	}
	mutex_unlock(&tb_channels_lock);

	add_wait_queue(&tb_answers, &wait);
	while (!tb_channels_have_answered(p, number)) {
		if (!left)
			err = -ETIMEDOUT;
		else if (signal_pending(current))
			err = -ERESTARTSYS;
		if (err)
			break;
		left = wait_woken(&wait, TASK_INTERRUPTIBLE, left);
	}
	remove_wait_queue(&tb_answers, &wait);
	return err;
}

/* Remove the provider of target @t.  The caller gets the channel's reference. */
static struct tb_provider *tb_target_drop(struct tb_channel *c, u32 t)
{
	struct tb_provider *p = c->target[t].provider;

	lockdep_assert_held(&tb_channels_lock);
	mutex_lock(&c->lock);
	c->target[t].provider = NULL;
	mutex_unlock(&c->lock);
	p->channels.producers--;
	return p;
}

/*
 * Remove a provider, stopped and off the list, from the targets of all channels.  The caller has a
 * reference.
 */
void tb_channels_forget_provider(struct tb_provider *p)
{
	struct tb_channel *c;
	u32 dropped = 0;
	int t;

	mutex_lock(&tb_channels_lock);
	list_for_each_entry(c, &tb_channels_open, node) {
		t = tb_target_of(c, p);
		if (t < 0)
			continue;
		tb_target_drop(c, t);
		tb_category_match(c, t);
		tb_words_update(c, t);
		dropped++;
	}
	mutex_unlock(&tb_channels_lock);
	wake_up_all(&tb_answers);
	while (dropped--)
		tb_provider_put(p, TB_HOLDER_NONE);
}

/* ---- quotas and categories ------------------------------------------------ */

/* Copy a provider's quota to target @t, which starts with its full quota. */
static void tb_target_quota(struct tb_channel *c, u32 t, const struct tb_quota *q)
{
	struct tb_target *target = &c->target[t];

	lockdep_assert_held(&c->lock);
	target->closed = q->flags & TB_QUOTA_CLOSED;
	target->rate = q->bytes_per_second;
	target->burst = tb_quota_burst(q->bytes_per_second, q->burst_bytes);
	target->paid = 0;
}

/* TB_IOC_QUOTA.  Channels that have the provider as a target keep it.  Return 0, -EINVAL. */
int tb_channels_set_quota(struct tb_provider *p, const struct tb_quota *quota)
{
	struct tb_channel *c;
	int t;

	if (quota->flags & ~(TB_QUOTA_CLOSED | TB_QUOTA_DEFAULT) ||
	    quota->producers > TB_PRODUCERS_MAX ||
	    (quota->burst_bytes && !quota->bytes_per_second) ||
	    (quota->ring_burst_bytes && !quota->ring_bytes_per_second))
		return -EINVAL;
	if (quota->flags & TB_QUOTA_DEFAULT &&
	    (quota->flags & TB_QUOTA_CLOSED || quota->ring_bytes_per_second))
		return -EINVAL;
	mutex_lock(&p->lock);
	mutex_lock(&tb_channels_lock);
	p->channels.quota = *quota;
	tb_channels_apply_quota(p);
	list_for_each_entry(c, &tb_channels_open, node) {
		t = tb_target_of(c, p);
		if (t < 0)
			continue;
		mutex_lock(&c->lock);
		tb_target_quota(c, t, quota);
		mutex_unlock(&c->lock);
		tb_words_update(c, t);
	}
	mutex_unlock(&tb_channels_lock);
	mutex_unlock(&p->lock);
	return 0;
}

static int tb_channels_add_pattern(struct tb_channels *in, u32 op, const char *text)
{
	struct tb_category_pattern *to = &in->pattern[in->nr_patterns];
	u32 i;

	lockdep_assert_held(&tb_channels_lock);
	/* move a known pattern to the end, because the last one that matches decides */
	for (i = 0; i < in->nr_patterns; i++)
		if (!strcmp(in->pattern[i].text, text)) {
			in->nr_patterns--;
			memmove(&in->pattern[i], &in->pattern[i + 1],
				(in->nr_patterns - i) * sizeof(*in->pattern));
			to--;
			break;
		}
	if (in->nr_patterns == TB_PATTERNS_MAX)
		return -ENOSPC;
	to->enable = op == TB_CATEGORY_ENABLE;
	strscpy(to->text, text, sizeof(to->text));
	in->nr_patterns++;
	return 0;
}

/*
 * TB_IOC_CATEGORIES.  @pattern is shorter than TB_NAME_MAX; NULL with TB_CATEGORY_CLEAR.  Return 0;
 * -ENOSPC too many patterns.
 */
int tb_channels_set_categories(struct tb_provider *p, u32 op, const char *pattern)
{
	int err = 0;

	mutex_lock(&p->lock);
	mutex_lock(&tb_channels_lock);
	if (op == TB_CATEGORY_CLEAR)
		p->channels.nr_patterns = 0;
	else
		err = tb_channels_add_pattern(&p->channels, op, pattern);
	if (!err)
		tb_channels_words(p, true);
	mutex_unlock(&tb_channels_lock);
	mutex_unlock(&p->lock);
	return err;
}

/*
 * TB_IOC_PRODUCERS: fill in @info by its index among the channels with this target.  Return 0;
 * -ENOENT past the last channel.
 */
int tb_channels_info(struct tb_provider *p, struct tb_producer_info *info)
{
	struct tb_channel *c;
	int err = -ENOENT;
	u32 index = 0;

	mutex_lock(&tb_channels_lock);
	list_for_each_entry(c, &tb_channels_open, node) {
		if (tb_target_of(c, p) < 0 || index++ < info->index)
			continue;
		mutex_lock(&c->lock);
		*info = (struct tb_producer_info){
			.index = info->index,
			.producer = c->id,
			.pid = c->pid,
			.uid = c->uid,
			.chunks = c->nr_chunks,
			.chunk_bytes = c->chunk_bytes,
			.busy = tb_chunk_busy(c),
			.writers = c->nr_writers,
			.categories = c->nr_categories,
			.taken = c->taken,
			.bytes = c->bytes,
			.records = c->records,
			.refused = c->refused,
			.lost = c->lost,
		};
		mutex_unlock(&c->lock);
		memcpy(info->comm, c->comm, sizeof(info->comm));
		err = 0;
		break;
	}
	mutex_unlock(&tb_channels_lock);
	return err;
}

/* TB_IOC_INTAKE.  Like tracebuf_query(), does not take p->lock. */
void tb_channels_query(struct tb_provider *p, struct tb_intake_info *info)
{
	struct tb_channels *in = &p->channels;
	u64 bytes;

	mutex_lock(&p->read_lock);
	bytes = tb_memory_ring_bytes(&p->config);
	mutex_unlock(&p->read_lock);
	mutex_lock(&tb_channels_lock);
	*info = (struct tb_intake_info){
		.quota = in->quota,
		.producers = in->producers,
		.kept_pieces = atomic64_read(&in->kept_pieces),
		.kept_records = atomic64_read(&in->kept_records),
		.kept_bytes = atomic64_read(&in->kept_bytes),
	};
	tb_quota_default(&in->quota, bytes, &info->quota.ring_bytes_per_second,
			 &info->quota.ring_burst_bytes);
	mutex_unlock(&tb_channels_lock);
}

/* ---- channels ------------------------------------------------------------- */

/* Return true if @user may have another channel. */
static bool tb_channel_is_allowed(kuid_t user, u32 per_user)
{
	struct tb_channel *c;
	u32 count = 0;

	lockdep_assert_held(&tb_channels_lock);
	if (!per_user)
		return true;
	list_for_each_entry(c, &tb_channels_open, node)
		count += uid_eq(c->user, user);
	list_for_each_entry(c, &tb_channels_ended, node)
		count += uid_eq(c->user, user);
	return count < per_user || capable(CAP_SYS_ADMIN);
}

/* Return a number that no channel in the list has. */
static u32 tb_channel_number(void)
{
	const struct tb_channel *c;
	u32 id;

	lockdep_assert_held(&tb_channels_lock);
again:
	id = ++tb_last_channel;
	if (!id)
		goto again;
	list_for_each_entry(c, &tb_channels_open, node)
		if (c->id == id)
			goto again;
	return id;
}

/*
 * Number a channel and put it into the list.  @per_user: limit of channels of an unprivileged user;
 * 0: unlimited.  Return 0; -EMFILE the user has too many channels; -ENFILE all users together have
 * too many.
 */
int tb_channel_enlist(struct tb_channel *c, u32 per_user)
{
	int err = 0;

	mutex_lock(&tb_channels_lock);
	if (tb_nr_producers >= TB_PRODUCERS_MAX)
		err = -ENFILE;
	else if (!tb_channel_is_allowed(c->user, per_user))
		err = -EMFILE;
	if (!err) {
		c->id = tb_channel_number();
		WRITE_ONCE(c->page->producer, c->id);
		list_add_tail(&c->node, &tb_channels_open);
		tb_nr_producers++;
	}
	mutex_unlock(&tb_channels_lock);
	return err;
}

/*
 * Take the records that a channel has published, and end the channel, which need not be set up and
 * may have ended.  The caller is its only user.
 */
void tb_channel_end(struct tb_channel *c)
{
	struct tb_provider *drop[TB_TARGETS_MAX];
	u32 t, dropped = 0;

	mutex_lock(&tb_channels_lock);
	if (!list_empty(&c->node) && !c->ended) {
		mutex_lock(&c->lock);
		tb_chunk_scrape(c, NULL, true);
		mutex_unlock(&c->lock);
		for (t = 0; t < c->nr_targets; t++)
			if (c->target[t].provider)
				drop[dropped++] = tb_target_drop(c, t);
		list_move_tail(&c->node, &tb_channels_ended);
		c->ended = true;
	}
	mutex_unlock(&tb_channels_lock);
	wake_up_all(&tb_answers);
	while (dropped)
		tb_provider_put(drop[--dropped], TB_HOLDER_NONE);
}

/*
 * Remove a channel, which need not be set up, from its list before its memory is freed.  Follows
 * tb_channel_end(); the caller is its only user.
 */
void tb_channel_delist(struct tb_channel *c)
{
	mutex_lock(&tb_channels_lock);
	if (!list_empty(&c->node)) {
		list_del_init(&c->node);
		tb_nr_producers--;
		c->ended = false;
	}
	mutex_unlock(&tb_channels_lock);
}

static int tb_target_add(struct tb_channel *c, struct tb_provider *p, u32 *target)
{
	struct tb_channels *in = &p->channels;
	u32 t = c->nr_targets;

	lockdep_assert_held(&tb_channels_lock);
	if (list_empty(&c->node) || c->ended)
		return -EPERM;
	/* tb_channels_forget_provider() may have run, and will not see this target */
	if (READ_ONCE(in->removed))
		return -ENOENT;
	/* a chunk must fit into one event; buffers allocated later have the default size */
	if (p->allocated && c->chunk_bytes > tb_provider_max_event(p))
		return -EMSGSIZE;
	if (t == TB_TARGETS_MAX || in->producers >= (in->quota.producers ?: TB_PRODUCERS_MAX))
		return -ENOSPC;
	mutex_lock(&c->lock);
	/* together with its quota: commits take only this lock */
	tb_target_quota(c, t, &in->quota);
	c->target[t].provider = p;
	c->nr_targets++;
	mutex_unlock(&c->lock);
	in->producers++;
	tb_category_match(c, t);
	tb_words_update(c, t);
	*target = t;
	return 0;
}

/**
 * tb_channel_add_target() - add a provider to the targets of a channel
 * @c: the channel
 * @name: name of the provider
 * @target: out: number of the target
 *
 * Context: process.
 * Return: 0, also if the channel has the target; -ENOENT no such provider; -ENOSPC too many targets
 * or channels; -EMSGSIZE a chunk does not fit into an event; -EPERM the channel has ended.
 */
int tb_channel_add_target(struct tb_channel *c, const char *name, u32 *target)
{
	struct tb_provider *p = tb_provider_get(name, TB_HOLDER_NONE);
	bool keep = false;
	int t, err = 0;

	if (!p)
		return -ENOENT;
	mutex_lock(&p->lock);
	mutex_lock(&tb_channels_lock);
	t = tb_target_of(c, p);
	if (t >= 0) {
		*target = t;
	} else {
		err = tb_target_add(c, p, target);
		keep = !err;
	}
	mutex_unlock(&tb_channels_lock);
	mutex_unlock(&p->lock);
	if (!keep)
		tb_provider_put(p, TB_HOLDER_NONE);
	return err;
}

/*
 * Note that a program has committed all that it had.  @flush: low half of the number of the last
 * flush that the program saw before.
 */
void tb_channel_answer_flush(struct tb_channel *c, u32 flush)
{
	u32 behind;

	mutex_lock(&tb_channels_lock);
	/* ignore a flush that the kernel did not ask for, or that the program has answered */
	behind = (u32)c->flush - flush;
	if (behind < c->flush - c->answered)
		WRITE_ONCE(c->answered, c->flush - behind);
	mutex_unlock(&tb_channels_lock);
	wake_up_all(&tb_answers);
}
