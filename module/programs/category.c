// SPDX-License-Identifier: GPL-2.0-only
/*
 * Categories of user-space writers, and the words that tell producers what is wanted of them.
 *
 * A provider has a list of patterns, which stays when it stops and holds for whoever comes later.
 * A channel has a list of names, and of each which of its targets want it (matched); in the
 * page it is told which of these record as well.  Patterns are looked at when one of the two
 * lists changes, and not when recordings begin and end.
 *
 * All of this is under the lock of producers (channels.c).  The page is read by the program at any
 * time, word by word.
 */
#include <linux/ctype.h>
#include <linux/errno.h>
#include <linux/glob.h>
#include <linux/sched.h>
#include <linux/string.h>

#include "channel.h"
#include "channels.h"
#include "provider/provider.h"

static bool tb_category_wanted(const struct tb_channels *in, const char *name)
{
	u32 i;

	for (i = in->nr_patterns; i--; )
		if (glob_match(in->pattern[i].text, name))
			return in->pattern[i].enable;
	return false;
}

/**
 * tb_category_match() - find out which of its categories a channel's target wants
 * @c: the channel
 * @target: number of the target
 *
 * The page is for tb_words_update().
 *
 * Context: process, under the lock of producers.
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
		/* many patterns, many names, many channels */
		cond_resched();
	}
}

/* What user space has changed of the page is seen by whoever sees that it has changed. */
static void tb_words_changed(struct tb_channel *c)
{
	WRITE_ONCE(c->changes, c->changes + 1);
	/* the words: pairs with an acquire of changes in user space */
	smp_store_release(&c->page->changes, c->changes);
	/* poll() looks at changes when it is in the queue */
	wake_up_interruptible(&c->wait);
}

/**
 * tb_words_update() - tell a channel what it is to know of one of its targets
 * @c: the channel
 * @target: number of the target
 *
 * Context: process, under the lock of producers, and that of the target's provider unless it has
 * been removed.
 */
void tb_words_update(struct tb_channel *c, u32 target)
{
	struct tb_producer_target *words = &c->page->targets[target];
	struct tb_target *t = &c->target[target];
	const struct tb_provider *p = t->provider;
	u32 i, bit = 1u << target;

	c->recording &= ~bit;
	if (p) {
		WRITE_ONCE(words->clock, p->clock.id);
		WRITE_ONCE(words->frequency, p->clock.frequency);
		c->closed &= ~bit;
		if (p->channels.quota.flags & TB_QUOTA_CLOSED)
			c->closed |= bit;
		WRITE_ONCE(c->page->closed, c->closed);
		c->overwrites &= ~bit;
		if (p->config.policy == TB_POLICY_OVERWRITE)
			c->overwrites |= bit;
		if (p->channels.recording && !(p->channels.quota.flags & TB_QUOTA_CLOSED))
			c->recording |= bit;
		WRITE_ONCE(c->page->overwrites, c->overwrites);
		/* clock and policy of this recording: pairs with an acquire in user space */
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
 * tb_category_add() - a channel has this category
 * @c: the channel
 * @name: of the category, shorter than TB_NAME_MAX
 * @index: out: which word says whether it is wanted
 *
 * Context: process, under the lock of producers.
 * Return: 0, also if it has it already; -EINVAL, -ENOSPC.
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
