// SPDX-License-Identifier: GPL-2.0-only
/*
 * Which providers there are: making and removing them by name, who uses them.
 *
 * "kernel" always exists.  A provider lives as long as the list, an open file or a
 * module has it; removing one takes it off the list and stops it, so that its name is free
 * at once, and its memory goes with the last who has it.
 */
#include <linux/cpuhotplug.h>
#include <linux/ctype.h>
#include <linux/err.h>
#include <linux/list.h>
#include <linux/rculist.h>
#include <linux/slab.h>
#include <linux/string.h>

#include "intake.h"
#include "registry.h"

struct tb_provider tb_kernel_provider;

static DEFINE_MUTEX(tb_registry_lock);
static LIST_HEAD(tb_providers);		/* "kernel" is the first */
static LIST_HEAD(tb_providers_all);	/* also those that were removed, and somebody has */
static u32 tb_nr_providers;
static u32 tb_next_id;
static int tb_hotplug_state;

/* A CPU is on its way: performance counters are to be read there, too. */
static int tb_cpu_coming(unsigned int cpu, struct hlist_node *node)
{
	/* makes them when it is online */
	tb_counters_online(&hlist_entry(node, struct tb_provider, hotplug)->counters);
	return 0;
}

/* A CPU is gone: what its ring holds can be read. */
static int tb_cpu_dead(unsigned int cpu, struct hlist_node *node)
{
	struct tb_provider *p = hlist_entry(node, struct tb_provider, hotplug);

	/* the hotplug lock is held for writing: nobody else flushes this ring */
	mutex_lock(&p->read_lock);
	if (p->allocated && cpumask_test_cpu(cpu, &p->cpus))
		tb_provider_flush_cpu(p, cpu);
	tb_trigger_notify(&p->trigger, cpu);
	mutex_unlock(&p->read_lock);
	return 0;
}

static bool tb_name_legal(const char *name)
{
	const char *c;

	if (!isascii(*name) || !isalpha(*name))
		return false;
	for (c = name; *c; c++)
		if (!isascii(*c) || (!isalnum(*c) && !strchr("_-.", *c)))
			return false;
	return c - name < TB_PROVIDER_NAME_MAX;
}

/* Under tb_registry_lock. */
static struct tb_provider *tb_registry_lookup(const char *name)
{
	struct tb_provider *p;

	list_for_each_entry(p, &tb_providers, node)
		if (!strcmp(p->name, name))
			return p;
	return NULL;
}

/* Ids are in block headers, 16 bits.  Under tb_registry_lock. */
static u32 tb_registry_id(void)
{
	struct tb_provider *p;
	u32 id;

again:
	id = tb_next_id;
	tb_next_id = id == U16_MAX ? 1 : id + 1;
	list_for_each_entry(p, &tb_providers, node)
		if (p->id == id)
			goto again;
	return id;
}

static int tb_registry_add(struct tb_provider *p, const char *name, u32 flags)
{
	int err = tb_provider_init(p, name, tb_registry_id());

	if (err)
		return err;
	p->flags = flags;
	err = cpuhp_state_add_instance_nocalls(tb_hotplug_state, &p->hotplug);
	if (err) {
		tb_provider_destroy(p);
		return err;
	}
	list_add_tail(&p->node, &tb_providers);
	list_add_tail_rcu(&p->all, &tb_providers_all);
	tb_nr_providers++;
	return 0;
}

/* The last who had it is through with it. */
static void tb_registry_release(struct kref *ref)
{
	struct tb_provider *p = container_of(ref, struct tb_provider, ref);

	/* as long as it is attached to anything it must be told when that goes */
	tb_provider_stop(p, 0);
	mutex_lock(&tb_registry_lock);
	list_del_rcu(&p->all);
	mutex_unlock(&tb_registry_lock);
	/* of tb_registry_look() nobody sees it any more */
	synchronize_rcu();
	cpuhp_state_remove_instance_nocalls(tb_hotplug_state, &p->hotplug);
	tb_provider_destroy(p);
	if (p != &tb_kernel_provider)
		kfree(p);
}

/* Off the list; the list's reference is the caller's then.  Under tb_registry_lock. */
static void tb_registry_remove(struct tb_provider *p)
{
	WRITE_ONCE(p->intake.removed, true);
	list_del_init(&p->node);
	tb_nr_providers--;
}

/**
 * tb_registry_create() - make a provider
 * @name: its name
 * @flags: TB_PROVIDER_*
 * @created: out: the provider, with a reference for the caller
 *
 * Context: process.
 * Return: 0; -EINVAL illegal name, -EEXIST, -ENOSPC too many, -ENOMEM.
 */
int tb_registry_create(const char *name, u32 flags, struct tb_provider **created)
{
	struct tb_provider *p;
	int err;

	if (!tb_name_legal(name))
		return -EINVAL;
	p = kzalloc(sizeof(*p), GFP_KERNEL);
	if (!p)
		return -ENOMEM;
	mutex_lock(&tb_registry_lock);
	if (tb_registry_lookup(name))
		err = -EEXIST;
	else if (tb_nr_providers == TB_PROVIDERS_MAX)
		err = -ENOSPC;
	else
		err = tb_registry_add(p, name, flags);
	if (!err) {
		kref_get(&p->ref);
		*created = p;
	}
	mutex_unlock(&tb_registry_lock);
	if (err)
		kfree(p);
	return err;
}

/**
 * tb_registry_destroy() - remove a provider nobody else uses
 * @name: its name
 * @own: the provider the caller's file is for, which does not count
 *
 * Context: process.
 * Return: 0; -ENOENT; -EPERM "kernel"; -EBUSY another file or a module has it.
 */
int tb_registry_destroy(const char *name, struct tb_provider *own)
{
	struct tb_provider *p;
	int err = 0;

	mutex_lock(&tb_registry_lock);
	p = tb_registry_lookup(name);
	if (!p)
		err = -ENOENT;
	else if (p == &tb_kernel_provider)
		err = -EPERM;
	else if (p->files > (p == own) || (p->flags & TB_PROVIDER_MODULE) || p->users)
		err = -EBUSY;
	else
		tb_registry_remove(p);
	mutex_unlock(&tb_registry_lock);
	if (err)
		return err;
	/* asked for: reserved memory can be used again */
	if (p->flags & TB_PROVIDER_PREVIOUS)
		tb_region_drop();
	tb_provider_stop(p, 0);
	tb_intake_forget(p);
	tb_registry_put(p);
	return 0;
}

/**
 * tb_registry_abandon() - its maker does not want it any more
 * @p: from tb_registry_create(); files that are for it keep it
 *
 * Context: process.
 */
void tb_registry_abandon(struct tb_provider *p)
{
	mutex_lock(&tb_registry_lock);
	tb_registry_remove(p);
	mutex_unlock(&tb_registry_lock);
	tb_provider_stop(p, 0);
	tb_intake_forget(p);
	/* the list's, and the maker's */
	tb_registry_put(p);
	tb_registry_put(p);
}

/**
 * tb_registry_info() - TB_IOC_PROVIDERS
 * @info: index in, the rest out
 *
 * Context: process.
 * Return: 0, -ENOENT past the last.
 */
int tb_registry_info(struct tb_provider_info *info)
{
	struct tb_provider *p;
	u32 index = 0;
	int err = -ENOENT;

	mutex_lock(&tb_registry_lock);
	list_for_each_entry(p, &tb_providers, node) {
		if (index++ < info->index)
			continue;
		info->id = p->id;
		info->state = READ_ONCE(p->state);
		info->reason = READ_ONCE(p->reason);
		info->flags = p->flags;
		info->files = p->files;
		strscpy(info->name, p->name, sizeof(info->name));
		err = 0;
		break;
	}
	mutex_unlock(&tb_registry_lock);
	return err;
}

/**
 * tb_registry_each() - do something with every provider, removed ones included
 * @what: what
 *
 * Context: process; none is made or removed meanwhile.
 */
void tb_registry_each(void (*what)(struct tb_provider *p))
{
	struct tb_provider *p;

	mutex_lock(&tb_registry_lock);
	list_for_each_entry(p, &tb_providers_all, all)
		what(p);
	mutex_unlock(&tb_registry_lock);
}

/**
 * tb_registry_look() - look at every provider, removed ones included
 * @what: with it; it must not rely on anything that a lock is for
 * @data: for it
 *
 * Context: any, NMI included; preemption off.
 */
void tb_registry_look(void (*what)(struct tb_provider *p, void *data), void *data)
{
	struct tb_provider *p;

	rcu_read_lock();
	list_for_each_entry_rcu(p, &tb_providers_all, all)
		what(p, data);
	rcu_read_unlock();
}

/**
 * tb_registry_find() - a provider by its name, for a module
 * @name: its name
 *
 * Context: process.
 * Return: the provider, not to be destroyed until tb_registry_unfind(); or NULL.
 */
struct tb_provider *tb_registry_find(const char *name)
{
	struct tb_provider *p;

	mutex_lock(&tb_registry_lock);
	p = tb_registry_lookup(name);
	if (p) {
		kref_get(&p->ref);
		p->users++;
	}
	mutex_unlock(&tb_registry_lock);
	return p;
}

/**
 * tb_registry_get() - a provider by its name, for who does not keep it from being removed
 * @name: its name
 *
 * Context: process.
 * Return: the provider, to be given back with tb_registry_put(); or NULL.
 */
struct tb_provider *tb_registry_get(const char *name)
{
	struct tb_provider *p;

	mutex_lock(&tb_registry_lock);
	p = tb_registry_lookup(name);
	if (p)
		kref_get(&p->ref);
	mutex_unlock(&tb_registry_lock);
	return p;
}

/**
 * tb_registry_put() - give back a reference
 * @p: the provider
 *
 * Context: process.
 */
void tb_registry_put(struct tb_provider *p)
{
	kref_put(&p->ref, tb_registry_release);
}

/**
 * tb_registry_unfind() - undo tb_registry_find()
 * @p: the provider
 *
 * Context: process.
 */
void tb_registry_unfind(struct tb_provider *p)
{
	mutex_lock(&tb_registry_lock);
	p->users--;
	mutex_unlock(&tb_registry_lock);
	tb_registry_put(p);
}

/**
 * tb_registry_open() - a provider by its name, for a file
 * @name: its name
 *
 * Context: process.
 * Return: the provider, to be given back with tb_registry_close(); or NULL.
 */
struct tb_provider *tb_registry_open(const char *name)
{
	struct tb_provider *p;

	mutex_lock(&tb_registry_lock);
	p = tb_registry_lookup(name);
	if (p) {
		kref_get(&p->ref);
		p->files++;
	}
	mutex_unlock(&tb_registry_lock);
	return p;
}

/**
 * tb_registry_close() - undo tb_registry_open()
 * @p: the provider
 *
 * Context: process.
 */
void tb_registry_close(struct tb_provider *p)
{
	mutex_lock(&tb_registry_lock);
	p->files--;
	mutex_unlock(&tb_registry_lock);
	tb_registry_put(p);
}

/**
 * tb_registry_init() - make "kernel"
 *
 * Context: module init.
 * Return: 0 or -errno.
 */
int tb_registry_init(void)
{
	int err = cpuhp_setup_state_multi(CPUHP_BP_PREPARE_DYN, "tracebuf", tb_cpu_coming,
					  tb_cpu_dead);

	if (err < 0)
		return err;
	tb_hotplug_state = err;
	err = tb_registry_add(&tb_kernel_provider, "kernel", 0);
	if (err)
		cpuhp_remove_multi_state(tb_hotplug_state);
	return err;
}

/**
 * tb_registry_exit() - stop and remove all providers
 *
 * Context: module exit: no file is open, no module uses them.
 */
void tb_registry_exit(void)
{
	struct tb_provider *p, *next;

	list_for_each_entry_safe_reverse(p, next, &tb_providers, node) {
		tb_registry_remove(p);
		tb_registry_put(p);
	}
	cpuhp_remove_multi_state(tb_hotplug_state);
}
