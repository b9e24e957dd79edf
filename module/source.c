// SPDX-License-Identifier: GPL-2.0-only
/*
 * Events that other modules record themselves: which providers want them.
 *
 * To a module such an event is what a tracepoint is to the kernel: a branch that is patched
 * in when somebody wants it, and a list of who does.  The list is replaced when it gets
 * longer; who goes leaves a hole in it, for going must not fail.  Who records looks at it with
 * preemption off.
 */
#include <linux/jump_label.h>
#include <linux/mutex.h>
#include <linux/rcupdate.h>
#include <linux/slab.h>
#include <linux/tracebuf.h>

#include "buffer.h"
#include "capture/capture.h"
#include "source.h"

/**
 * struct tracebuf_sinks - who wants an event
 * @rcu: to free it
 * @count: places
 * @probe: of each provider; NULL: a hole
 */
struct tracebuf_sinks {
	struct rcu_head rcu;
	u32 count;
	struct tb_probe *probe[];
};

static DEFINE_MUTEX(tb_source_lock);

static int tb_source_add(struct tracebuf_source *s, struct tb_probe *p)
{
	struct tracebuf_sinks *old = s->sinks, *new;
	u32 i, count = old ? old->count : 0;

	for (i = 0; i < count; i++) {
		if (old->probe[i])
			continue;
		/* the probe before the place: pairs with the dependent load of who records */
		smp_store_release(&old->probe[i], p);
		return 0;
	}
	new = kzalloc(struct_size(new, probe, count + 1), TB_GFP);
	if (!new)
		return -ENOMEM;
	for (i = 0; i < count; i++)
		new->probe[i] = old->probe[i];
	new->probe[count] = p;
	new->count = count + 1;
	/* likewise */
	smp_store_release(&s->sinks, new);
	if (old)
		kfree_rcu(old, rcu);
	return 0;
}

/**
 * tb_source_attach() - record an event from now on
 * @s: its source
 * @p: the event and the provider
 *
 * Context: process.
 * Return: 0, -ENOMEM.
 */
int tb_source_attach(struct tracebuf_source *s, struct tb_probe *p)
{
	int err;

	mutex_lock(&tb_source_lock);
	err = tb_source_add(s, p);
	mutex_unlock(&tb_source_lock);
	if (!err)
		static_branch_inc(&s->wanted);
	return err;
}

/**
 * tb_source_detach() - do not record an event any more
 * @s: its source
 * @p: as attached
 *
 * It may still be being recorded: see tb_events_synchronize().
 *
 * Context: process.
 */
void tb_source_detach(struct tracebuf_source *s, struct tb_probe *p)
{
	u32 i;

	static_branch_dec(&s->wanted);
	mutex_lock(&tb_source_lock);
	for (i = 0; i < s->sinks->count; i++)
		if (s->sinks->probe[i] == p)
			WRITE_ONCE(s->sinks->probe[i], NULL);
	mutex_unlock(&tb_source_lock);
}
