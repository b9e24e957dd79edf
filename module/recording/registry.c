// SPDX-License-Identifier: GPL-2.0-only
/*
 * Create and remove providers; handle CPU hotplug.
 *
 * The provider "kernel" always exists.  provider/list.c has the list and counts references.
 *
 * Callers: devices/, api.c, main.c, and the hotplug core, in process context.
 * Locks: tb_provider.read_lock in the callbacks of the hotplug core; else those of the called
 * functions.
 */
#include <linux/cpuhotplug.h>
#include <linux/ctype.h>
#include <linux/slab.h>

#include "recording.h"

struct tb_provider tb_kernel_provider;

static int tb_hotplug_state;

static int tb_cpu_coming(unsigned int cpu, struct hlist_node *node)
{
	struct tb_provider *p = hlist_entry(node, struct tb_provider, hotplug);

	/* only queues a work, which makes the counters once the CPU is online */
	tb_counters_online(&p->counters);
	/* without memory the CPU comes nevertheless, and is not recorded; TB_IOC_QUERY says so */
	mutex_lock(&p->read_lock);
	if (tb_recording_add_ring(p, cpu) == -ENOMEM)
		p->nr_missing++;
	mutex_unlock(&p->read_lock);
	return 0;
}

static int tb_cpu_dead(unsigned int cpu, struct hlist_node *node)
{
	struct tb_provider *p = hlist_entry(node, struct tb_provider, hotplug);

	/* the hotplug core holds its lock for writing: no other task flushes this ring */
	mutex_lock(&p->read_lock);
	if (p->allocated && cpumask_test_cpu(cpu, &p->cpus))
		tb_provider_flush_cpus(p, cpumask_of(cpu));
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

static void tb_registry_release(struct kref *ref)
{
	struct tb_provider *p = container_of(ref, struct tb_provider, ref);

	/* forget it only then: select/ must find its attached probes when an event goes away */
	tb_provider_stop(p, 0);
	tb_providers_forget(p);
	cpuhp_state_remove_instance_nocalls(tb_hotplug_state, &p->hotplug);
	tb_provider_destroy(p);
	if (p != &tb_kernel_provider)
		kfree(p);
}

/* Initialise a provider and put it on the list.  The caller gets a reference of its own. */
static int tb_registry_add(struct tb_provider *p, const char *name, u32 flags)
{
	int err = tb_provider_init(p, name);

	if (err)
		return err;
	p->flags = flags;
	p->release = tb_registry_release;
	p->drain = tb_state_drain_queue;
	p->may_reserve = p == &tb_kernel_provider;
	err = cpuhp_state_add_instance_nocalls(tb_hotplug_state, &p->hotplug);
	if (err)
		goto destroy;
	/* for the caller; the list takes over the first reference */
	kref_get(&p->ref);
	err = tb_providers_add(p);
	if (!err)
		return 0;
	cpuhp_state_remove_instance_nocalls(tb_hotplug_state, &p->hotplug);
destroy:
	tb_provider_destroy(p);
	return err;
}

/*
 * Make a provider; the caller gets a reference.  Return 0; -EINVAL illegal name; -EEXIST; -ENOSPC
 * too many; -ENOMEM.
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
	err = tb_registry_add(p, name, flags);
	if (err)
		kfree(p);
	else
		*created = p;
	return err;
}

/* Stop a provider that is off the list. */
static void tb_registry_end(struct tb_provider *p)
{
	tb_provider_stop(p, 0);
	tb_channels_forget_provider(p);
}

/*
 * Remove a provider unless it has other users than @own, the provider of the caller's file.  Return
 * 0; -ENOENT no such provider; -EPERM it is "kernel"; -EBUSY another file or a module uses it.
 */
int tb_registry_destroy(const char *name, struct tb_provider *own)
{
	struct tb_provider *p;
	int err = tb_providers_remove_unused(name, own, &p);

	if (err)
		return err;
	/* the caller gives up the recording of the previous boot: free its reserved memory */
	if (p->flags & TB_PROVIDER_PREVIOUS)
		tb_region_drop();
	tb_registry_end(p);
	tb_provider_put(p, TB_HOLDER_NONE);
	return 0;
}

/**
 * tracebuf_destroy() - stop and remove a provider even if it has users
 * @p: from tracebuf_create() or tb_registry_create()
 *
 * Open files keep its recording until they are closed.
 *
 * Context: process; the caller's module does not record into @p any more.
 */
void tracebuf_destroy(struct tb_provider *p)
{
	tb_providers_remove(p);
	tb_registry_end(p);
	/* the list's reference, and the caller's */
	tb_provider_put(p, TB_HOLDER_NONE);
	tb_provider_put(p, TB_HOLDER_NONE);
}
EXPORT_SYMBOL_GPL(tracebuf_destroy);

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
	else
		tb_provider_put(&tb_kernel_provider, TB_HOLDER_NONE);
	return err;
}

/* Stop and remove all providers.  No file is open, and no module uses a provider. */
void tb_registry_exit(void)
{
	struct tb_provider *p;

	while ((p = tb_providers_last())) {
		tb_providers_remove(p);
		tb_provider_put(p, TB_HOLDER_NONE);
	}
	cpuhp_remove_multi_state(tb_hotplug_state);
}
