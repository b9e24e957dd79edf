// SPDX-License-Identifier: GPL-2.0-only
/*
 * The list of providers, and references to them.
 *
 * A provider lives as long as the list, an open file or a module holds a reference.  Removing a
 * provider takes it off the list, so its name is free at once.  A second list keeps removed
 * providers, too: select/, suspend and the panic handler must reach all.
 *
 * Callers: all rooms above events/, in process context.  Functions take tb_providers_lock, except
 * tb_providers_last(), and tb_providers_look(), which runs in any context under RCU.
 */
#include <linux/rculist.h>

#include "provider.h"

static DEFINE_MUTEX(tb_providers_lock);
static LIST_HEAD(tb_providers);		/* the first is never removed */
static LIST_HEAD(tb_providers_all);	/* also removed providers, until they are freed */
static u32 tb_nr_providers;
static u32 tb_next_id;
/* tb_providers_forget() waits here for tb_providers_each() */
static DECLARE_WAIT_QUEUE_HEAD(tb_visits);

static struct tb_provider *tb_providers_find(const char *name)
{
	struct tb_provider *p;

	lockdep_assert_held(&tb_providers_lock);
	list_for_each_entry(p, &tb_providers, node)
		if (!strcmp(p->name, name))
			return p;
	return NULL;
}

/* Return an id that no listed provider has.  Block headers have 16 bits for it. */
static u32 tb_providers_id(void)
{
	struct tb_provider *p;
	u32 id;

	lockdep_assert_held(&tb_providers_lock);
again:
	id = tb_next_id;
	tb_next_id = id == U16_MAX ? 1 : id + 1;
	list_for_each_entry(p, &tb_providers, node)
		if (p->id == id)
			goto again;
	return id;
}

/*
 * Put an initialised provider on the list, which takes over its first reference, and give it an id.
 * Return 0; -EEXIST the name is taken; -ENOSPC too many providers.
 */
int tb_providers_add(struct tb_provider *p)
{
	int err = 0;

	mutex_lock(&tb_providers_lock);
	if (tb_providers_find(p->name)) {
		err = -EEXIST;
	} else if (tb_nr_providers == TB_PROVIDERS_MAX) {
		err = -ENOSPC;
	} else {
		p->id = tb_providers_id();
		list_add_tail(&p->node, &tb_providers);
		list_add_tail_rcu(&p->all, &tb_providers_all);
		tb_nr_providers++;
	}
	mutex_unlock(&tb_providers_lock);
	return err;
}

static void tb_providers_unlink(struct tb_provider *p)
{
	lockdep_assert_held(&tb_providers_lock);
	WRITE_ONCE(p->channels.removed, true);
	list_del_init(&p->node);
	tb_nr_providers--;
}

/* Take a provider off the list.  The caller gets the list's reference. */
void tb_providers_remove(struct tb_provider *p)
{
	mutex_lock(&tb_providers_lock);
	tb_providers_unlink(p);
	mutex_unlock(&tb_providers_lock);
}

/**
 * tb_providers_remove_unused() - take a provider off the list, unless it has other users
 * @name: its name
 * @own: the provider of the caller's file, which does not count as a user
 * @removed: out: the provider; the caller gets the list's reference
 *
 * Context: process.
 * Return: 0; -ENOENT; -EPERM the first provider; -EBUSY another file or a module uses it.
 */
int tb_providers_remove_unused(const char *name, struct tb_provider *own,
			       struct tb_provider **removed)
{
	struct tb_provider *p;
	int err = 0;

	mutex_lock(&tb_providers_lock);
	p = tb_providers_find(name);
	if (!p)
		err = -ENOENT;
	else if (list_is_first(&p->node, &tb_providers))
		err = -EPERM;
	else if (p->holders[TB_HOLDER_FILE] > (p == own) || (p->flags & TB_PROVIDER_MODULE) ||
		 p->holders[TB_HOLDER_MODULE])
		err = -EBUSY;
	else
		tb_providers_unlink(p);
	mutex_unlock(&tb_providers_lock);
	*removed = p;
	return err;
}

/*
 * Hide a removed provider, without references: on return no tb_providers_each() and no
 * tb_providers_look() uses it.
 */
void tb_providers_forget(struct tb_provider *p)
{
	mutex_lock(&tb_providers_lock);
	while (p->visits) {
		mutex_unlock(&tb_providers_lock);
		wait_event(tb_visits, !READ_ONCE(p->visits));
		mutex_lock(&tb_providers_lock);
	}
	list_del_rcu(&p->all);
	mutex_unlock(&tb_providers_lock);
	synchronize_rcu();
}

/* Return the provider that was added last, or NULL.  For module exit: takes no lock. */
struct tb_provider *tb_providers_last(void)
{
	if (list_empty(&tb_providers))
		return NULL;
	return list_last_entry(&tb_providers, struct tb_provider, node);
}

/* TB_IOC_PROVIDERS: fill in @info by its index.  Return -ENOENT past the last provider. */
int tb_providers_info(struct tb_provider_info *info)
{
	struct tb_provider *p;
	u32 index = 0;
	int err = -ENOENT;

	mutex_lock(&tb_providers_lock);
	list_for_each_entry(p, &tb_providers, node) {
		if (index++ < info->index)
			continue;
		info->id = p->id;
		info->state = READ_ONCE(p->state);
		info->reason = READ_ONCE(p->reason);
		info->flags = p->flags;
		info->files = p->holders[TB_HOLDER_FILE];
		strscpy(info->name, p->name, sizeof(info->name));
		err = 0;
		break;
	}
	mutex_unlock(&tb_providers_lock);
	return err;
}

/*
 * Call a function for every provider, removed ones included.  While @what runs no lock is held,
 * because it may wait for a start: meanwhile files can be opened and providers listed.  @what is
 * also called for providers that are added during the call.
 */
void tb_providers_each(void (*what)(struct tb_provider *p, void *data), void *data)
{
	struct tb_provider *p;

	mutex_lock(&tb_providers_lock);
	list_for_each_entry(p, &tb_providers_all, all) {
		/* keeps @p on the list: see tb_providers_forget() */
		WRITE_ONCE(p->visits, p->visits + 1);
		mutex_unlock(&tb_providers_lock);
		what(p, data);
		mutex_lock(&tb_providers_lock);
		WRITE_ONCE(p->visits, p->visits - 1);
		if (!p->visits)
			wake_up_all(&tb_visits);
	}
	mutex_unlock(&tb_providers_lock);
}

/*
 * Call a function for every provider, in any context, NMI included, with preemption off.  @what
 * must not rely on any lock of the provider.
 */
void tb_providers_look(void (*what)(struct tb_provider *p, void *data), void *data)
{
	struct tb_provider *p;

	rcu_read_lock();
	list_for_each_entry_rcu(p, &tb_providers_all, all)
		what(p, data);
	rcu_read_unlock();
}

/* ---- references ------------------------------------------------------- */

/* Return the provider of that name, to release with tb_provider_put(); NULL if there is none. */
struct tb_provider *tb_provider_get(const char *name, enum tb_holder holder)
{
	struct tb_provider *p;

	mutex_lock(&tb_providers_lock);
	p = tb_providers_find(name);
	if (p) {
		kref_get(&p->ref);
		if (holder != TB_HOLDER_NONE)
			p->holders[holder]++;
	}
	mutex_unlock(&tb_providers_lock);
	return p;
}

void tb_provider_put(struct tb_provider *p, enum tb_holder holder)
{
	if (holder != TB_HOLDER_NONE) {
		mutex_lock(&tb_providers_lock);
		p->holders[holder]--;
		mutex_unlock(&tb_providers_lock);
	}
	kref_put(&p->ref, p->release);
}
