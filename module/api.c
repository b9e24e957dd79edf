// SPDX-License-Identifier: GPL-2.0-only
/*
 * What other modules call (include/linux/tracebuf.h).
 *
 * A provider can be recorded into while its `live` is set.  Stopping clears it
 * and then waits until whoever saw it set is done: everything here that records
 * does so with preemption off.
 */
#include <linux/err.h>
#include <linux/export.h>
#include <linux/string.h>
#include <linux/tracebuf.h>

#include "probe/record.h"
#include "provider/list.h"
#include "recording/recording.h"
#include "recording/registry.h"

/**
 * tracebuf_get() - find a provider by its name
 * @name: "kernel", or what was created by user space or a module
 *
 * Context: process.
 * Return: the provider, which cannot be removed until it is given back with
 * tracebuf_put(); or ERR_PTR(-ENOENT).
 */
struct tb_provider *tracebuf_get(const char *name)
{
	return tb_provider_get(name, TB_HOLDER_MODULE) ?: ERR_PTR(-ENOENT);
}
EXPORT_SYMBOL_GPL(tracebuf_get);

/**
 * tracebuf_put() - give back what tracebuf_get() returned
 * @p: the provider
 *
 * Context: process; nobody may be recording into @p on the caller's behalf any more.
 */
void tracebuf_put(struct tb_provider *p)
{
	tb_provider_put(p, TB_HOLDER_MODULE);
}
EXPORT_SYMBOL_GPL(tracebuf_put);

/**
 * tracebuf_create() - make a provider of one's own
 * @name: 1 to 31 of A-Z a-z 0-9 _ - ., the first a letter
 * @config: sizes and ways, zero for the defaults; or NULL for nothing but these
 *
 * Users find it by its name; they cannot remove it.
 *
 * Context: process.
 * Return: the provider, to be removed with tracebuf_destroy(); or ERR_PTR() of
 * -EINVAL, -EEXIST, -ENOSPC too many, -ENOMEM.
 */
struct tb_provider *tracebuf_create(const char *name, const struct tb_config *config)
{
	struct tb_provider *p;
	int err = tb_registry_create(name, TB_PROVIDER_MODULE, &p);

	if (!err && config) {
		err = config->cpus || config->cpus_bytes ? -EINVAL :
		      tb_provider_configure(p, config, cpu_possible_mask);
		if (err)
			tb_registry_abandon(p);
	}
	return err ? ERR_PTR(err) : p;
}
EXPORT_SYMBOL_GPL(tracebuf_create);

/**
 * tracebuf_destroy() - stop and remove a provider
 * @p: from tracebuf_create()
 *
 * Open files keep what it has recorded until they are closed.
 *
 * Context: process; nobody may be recording into @p on the caller's behalf any more.
 */
void tracebuf_destroy(struct tb_provider *p)
{
	tb_registry_abandon(p);
}
EXPORT_SYMBOL_GPL(tracebuf_destroy);

/**
 * tracebuf_start() - begin a new recording
 * @p: the provider
 *
 * Context: process.
 * Return: 0, -EBUSY running or blocks held, -ENOMEM, -ENOSPC.
 */
int tracebuf_start(struct tb_provider *p)
{
	return tb_provider_start(p, 0, NULL);
}
EXPORT_SYMBOL_GPL(tracebuf_start);

/**
 * tracebuf_stop() - end the recording; what it has can be read
 * @p: the provider
 *
 * Context: process.
 * Return: 0, -EINVAL if it was not running.
 */
int tracebuf_stop(struct tb_provider *p)
{
	return tb_provider_stop(p, 0);
}
EXPORT_SYMBOL_GPL(tracebuf_stop);

/**
 * tracebuf_simple() - record an event of 8 bytes
 * @p: the provider
 * @id: event id, TB_EV_USER to TB_EV_USER_LAST
 * @payload: the 8 bytes
 *
 * Context: any where RCU is watching, NMI included.
 * Return: false if it was not recorded: @p is not recording, @id is no event, or
 * there was no room, which is counted.
 */
bool tracebuf_simple(struct tb_provider *p, u32 id, u64 payload)
{
	struct tb_cpu_ring __percpu *rings;
	bool ok = false;

	preempt_disable_notrace();
	rings = tb_provider_live(p);
	if (likely(rings && id - TB_EV_USER <= TB_EV_USER_LAST - TB_EV_USER))
		ok = tb_ring_simple(this_cpu_ptr(rings), id, payload);
	preempt_enable_notrace();
	return ok;
}
EXPORT_SYMBOL_GPL(tracebuf_simple);

/**
 * tracebuf_write() - record a composite event from memory
 * @p: the provider
 * @id: event id, TB_EV_USER to TB_EV_USER_LAST
 * @data: the payload
 * @bytes: of it, at most the provider's max_event (TB_IOC_QUERY)
 *
 * Context: any where RCU is watching, NMI included.
 * Return: false if it was not recorded, see tracebuf_begin().
 */
bool tracebuf_write(struct tb_provider *p, u32 id, const void *data, u32 bytes)
{
	struct tracebuf_slot slot;
	void *payload = tracebuf_begin(p, &slot, id, bytes);

	if (!payload)
		return false;
	memcpy(payload, data, bytes);
	tracebuf_end(&slot);
	return true;
}
EXPORT_SYMBOL_GPL(tracebuf_write);

/**
 * tracebuf_begin() - reserve a composite event
 * @p: the provider
 * @slot: to be passed to tracebuf_end()
 * @id: event id, TB_EV_USER to TB_EV_USER_LAST
 * @bytes: of payload, at most the provider's max_event (TB_IOC_QUERY)
 *
 * Context: any where RCU is watching, NMI included.  If there is room preemption is off until
 * tracebuf_end(), which must be called in the same context.
 * Return: where the payload goes, 16-byte aligned; NULL if there is nothing to be
 * filled in: @p is not recording, @id is no event, or there was no room or @bytes is
 * too large, which is counted.
 */
void *tracebuf_begin(struct tb_provider *p, struct tracebuf_slot *slot, u32 id, u32 bytes)
{
	struct tb_composite *c = NULL;

	BUILD_BUG_ON(sizeof(struct tb_slot) > sizeof(slot->opaque));
	if (id - TB_EV_USER > TB_EV_USER_LAST - TB_EV_USER)
		return NULL;
	/* more than any ring takes is counted as too large, whatever more */
	bytes = min_t(u32, bytes, TB_EVENT_ELEMENTS_MAX * TB_ELEMENT_SIZE);
	preempt_disable_notrace();
	if (likely(tb_provider_live(p)))
		c = tb_record_begin(p, (struct tb_slot *)slot->opaque, id, bytes, 2);
	preempt_enable_notrace();
	return c ? c + 1 : NULL;
}
EXPORT_SYMBOL_GPL(tracebuf_begin);

/**
 * tracebuf_end() - make an event part of the trace
 * @slot: from tracebuf_begin()
 *
 * Context: that of tracebuf_begin().
 */
void tracebuf_end(struct tracebuf_slot *slot)
{
	tb_record_end((struct tb_slot *)slot->opaque);
}
EXPORT_SYMBOL_GPL(tracebuf_end);

/**
 * tracebuf_flush() - hand over this CPU's current buffer as it is
 * @p: the provider
 *
 * For routines that record much with interrupts off, or want what they have
 * recorded to be read soon.
 *
 * Context: any where RCU is watching, NMI included.
 * Return: true if there was anything in it.
 */
bool tracebuf_flush(struct tb_provider *p)
{
	struct tb_cpu_ring __percpu *rings;
	bool ok = false;

	preempt_disable_notrace();
	rings = tb_provider_live(p);
	/* see tb_provider_flush_cpu() */
	if (rings && p->config.mode != TB_MODE_ONESHOT)
		ok = tb_ring_flush(this_cpu_ptr(rings));
	preempt_enable_notrace();
	return ok;
}
EXPORT_SYMBOL_GPL(tracebuf_flush);

/**
 * tracebuf_query() - a provider's state and configuration
 * @p: the provider
 * @q: filled in
 *
 * Context: process.
 */
void tracebuf_query(struct tb_provider *p, struct tb_query *q)
{
	tb_provider_query(p, q);
}
EXPORT_SYMBOL_GPL(tracebuf_query);

/**
 * tracebuf_stats() - the books of one of a provider's rings, live
 * @p: the provider
 * @cpu: whose ring
 * @st: filled in, in events unless the ABI says otherwise
 *
 * Context: process.
 * Return: 0, -EINVAL for a CPU that cannot be.
 */
int tracebuf_stats(struct tb_provider *p, unsigned int cpu, struct tb_stats *st)
{
	memset(st, 0, sizeof(*st));
	st->cpu = cpu;
	return tb_provider_stats(p, st);
}
EXPORT_SYMBOL_GPL(tracebuf_stats);
