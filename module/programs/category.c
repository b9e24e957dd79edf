// SPDX-License-Identifier: GPL-2.0-only
/*
 * Categories of user-space writers, and the page that shows programs which of them to record.
 *
 * A provider has a list of patterns, which outlives recordings and applies to later channels, too.
 * A channel has a list of names, each with the set of targets that want it (matched).  A change of
 * one of the lists matches again; starts and stops do not.  The page shows the wanting targets that
 * also record; the program reads it at any time, word by word.
 *
 * Callers: channels.c and devices/, in process context, under tb_channels_lock.
 */
#include <linux/ctype.h>
#include <linux/glob.h>
#include <linux/sched.h>

#include "channel.h"
#include "provider/provider.h"

static bool tb_category_wanted(const struct tb_channels *in, const char *name)
{
	u32 i;

	for (i = in->nr_patterns; i--; )
		if (glob_match(in->pattern[i].text, name))
			return in->pattern[i].enable;
	return false;
}

/*
 * Mark the categories of a channel that a target wants.  The caller then updates the page with
 * tb_words_update().
 */
void tb_category_match(struct tb_channel *c, u32 target)
{
	const struct tb_provider *p = c->target[target].provider;
	u32 i, bit = 1u << target;

	for (i = 0; i < c->nr_categories; i++) {
		if (p && tb_category_wanted(&p->channels, c->category[i]))
			c->matched[i] |= bit;
		else
			c->matched[i] &= ~bit;
		/* there may be many patterns, names and channels */
		cond_resched();
	}
}

/* Publish the page: a program that sees the new `changes` sees all words written before it. */
static void tb_words_changed(struct tb_channel *c)
{
	WRITE_ONCE(c->changes, c->changes + 1);
	/* after the words: pairs with an acquire of changes in user space */
	smp_store_release(&c->page->changes, c->changes);
	/* no waiter misses the change: poll() enters the queue before it reads c->changes */
	wake_up_interruptible(&c->wait);
}

/*
 * Return true if programs can read the clock.  They read the processor's counter without the
 * kernel.  They cannot if the kernel reads it with a workaround, or adds to it because the counter
 * restarted while the machine slept.
 */
static bool tb_words_readable(const struct tb_clock *clock)
{
	return !clock->raw || READ_ONCE(clock->raw) == TB_TICKS_PLAIN;
}

/*
 * Update the page of a channel for one of its targets.  The caller also holds the lock of the
 * target's provider, unless the target has lost its provider.
 */
void tb_words_update(struct tb_channel *c, u32 target)
{
	struct tb_producer_target *words = &c->page->targets[target];
	struct tb_target *t = &c->target[target];
	const struct tb_provider *p = t->provider;
	bool readable, closed = p && p->channels.quota.flags & TB_QUOTA_CLOSED;
	u32 i;

	__assign_bit(target, &c->recording, p && p->channels.recording && !closed);
	if (p) {
		readable = tb_words_readable(&p->clock);
		WRITE_ONCE(words->clock, readable ? p->clock.id : TB_CLOCK_MONO);
		WRITE_ONCE(words->frequency, readable ? p->clock.frequency : NSEC_PER_SEC);
		__assign_bit(target, &c->closed, closed);
		WRITE_ONCE(c->page->closed, c->closed);
		__assign_bit(target, &c->overwrites, p->config.policy == TB_POLICY_OVERWRITE);
		WRITE_ONCE(c->page->overwrites, c->overwrites);
		/* after clock and policy of this recording: pairs with an acquire in user space */
		smp_store_release(&words->generation, (u32)p->generation);
	}
	for (i = 0; i < c->nr_categories; i++)
		WRITE_ONCE(c->page->categories[i], c->matched[i] & c->recording);
	WRITE_ONCE(c->page->recording, c->recording);
	tb_words_changed(c);
}

static bool tb_category_legal(const char *name)
{
	const char *s;

	for (s = name; *s; s++)
		if (strchr(":,*?!", *s) || (isascii(*s) && (isspace(*s) || iscntrl(*s))))
			return false;
	return s > name;
}

/**
 * tb_category_add() - add a category to a channel
 * @c: the channel
 * @name: name of the category, shorter than TB_NAME_MAX
 * @index: out: the word of page->categories that shows its targets
 *
 * Context: process, under tb_channels_lock.
 * Return: 0, also if the channel has the category; -EINVAL illegal name; -ENOSPC too many.
 */
int tb_category_add(struct tb_channel *c, const char *name, u32 *index)
{
	u32 i, t;

	if (!tb_category_legal(name))
		return -EINVAL;
	for (i = 0; i < c->nr_categories; i++)
		if (!strcmp(c->category[i], name)) {
			*index = i;
			return 0;
		}
	if (i == TB_CATEGORIES_MAX)
		return -ENOSPC;
	strscpy(c->category[i], name, TB_NAME_MAX);
	c->matched[i] = 0;
	for (t = 0; t < c->nr_targets; t++)
		if (c->target[t].provider &&
		    tb_category_wanted(&c->target[t].provider->channels, name))
			c->matched[i] |= 1u << t;
	c->nr_categories++;
	WRITE_ONCE(c->page->categories[i], c->matched[i] & c->recording);
	tb_words_changed(c);
	*index = i;
	return 0;
}
