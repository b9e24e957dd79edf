// SPDX-License-Identifier: GPL-2.0-only
/*
 * The interface for other modules (include/linux/tracebuf.h).  recording/configure.c and registry.c
 * have two of its functions, select/handler.c those of handlers.
 *
 * Functions that record run in any context, without a lock: with preemption off, they test
 * tb_provider.live, then record.  A stop clears `live`, then waits until each CPU has had
 * preemption on.  All other functions run in process context; recording/ takes the locks.
 */
#include "probe/probe.h"
#include "recording/recording.h"

/**
 * tracebuf_get() - find a provider by its name
 * @name: "kernel", or the name of a provider that user space or a module has created
 *
 * Context: process.
 * Return: the provider, which users cannot remove until tracebuf_put(); or ERR_PTR(-ENOENT).
 */
struct tb_provider *tracebuf_get(const char *name)
{
	return tb_provider_get(name, TB_HOLDER_MODULE) ?: ERR_PTR(-ENOENT);
}
EXPORT_SYMBOL_GPL(tracebuf_get);

/**
 * tracebuf_put() - release a provider
 * @p: from tracebuf_get()
 *
 * Context: process; the caller's module does not record into @p any more.
 */
void tracebuf_put(struct tb_provider *p)
{
	tb_provider_put(p, TB_HOLDER_MODULE);
}
EXPORT_SYMBOL_GPL(tracebuf_put);

/**
 * tracebuf_create() - create a provider
 * @name: 1 to 31 characters of A-Z a-z 0-9 _ - ., the first a letter
 * @config: the configuration, 0 for defaults, without a mask of CPUs; NULL: all defaults
 *
 * Users can find the provider by its name, but cannot remove it.
 *
 * Context: process.
 * Return: the provider, to remove with tracebuf_destroy(); or ERR_PTR() of -EINVAL; -EEXIST the
 * name is in use; -ENOSPC too many providers; -ENOMEM.
 */
struct tb_provider *tracebuf_create(const char *name, const struct tb_config *config)
{
	struct tb_provider *p;
	int err = tb_registry_create(name, TB_PROVIDER_MODULE, &p);

	if (!err && config) {
		err = config->cpus || config->cpus_bytes ? -EINVAL :
		      tb_provider_configure(p, config, cpu_possible_mask);
		if (err)
			tracebuf_destroy(p);
	}
	return err ? ERR_PTR(err) : p;
}
EXPORT_SYMBOL_GPL(tracebuf_create);

/**
 * tracebuf_start() - begin a new recording
 * @p: the provider
 *
 * Context: process.
 * Return: 0; -EBUSY it is recording, or the reader holds blocks; -ENOMEM; -ENOSPC.
 */
int tracebuf_start(struct tb_provider *p)
{
	return tb_provider_start(p, 0, NULL);
}
EXPORT_SYMBOL_GPL(tracebuf_start);

/**
 * tracebuf_stop() - end the recording, which readers can still read
 * @p: the provider
 *
 * Context: process.
 * Return: 0; -EINVAL it is not recording.
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
 * Context: any in which RCU is watching, NMI included.
 * Return: true if the event was recorded; false if @p is not recording, @id is out of range, or the
 * ring has no room and counts the loss.
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
 * @bytes: size of @data, at most the provider's max_event (TB_IOC_QUERY)
 *
 * Context: any in which RCU is watching, NMI included.
 * Return: true if the event was recorded; false: see tracebuf_begin().
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
 * @slot: out: the reservation, for tracebuf_end()
 * @id: event id, TB_EV_USER to TB_EV_USER_LAST
 * @bytes: size of the payload, at most the provider's max_event (TB_IOC_QUERY)
 *
 * Context: any in which RCU is watching, NMI included.  On success preemption is off until
 * tracebuf_end(), which the caller must call in the same context.
 * Return: where the caller writes the payload, 16-byte aligned; NULL if @p is not recording, @id is
 * out of range, or the ring has no room or finds @bytes too large, and counts the loss.
 */
void *tracebuf_begin(struct tb_provider *p, struct tracebuf_slot *slot, u32 id, u32 bytes)
{
	struct tb_composite *c = NULL;

	BUILD_BUG_ON(sizeof(struct tb_slot) > sizeof(slot->opaque));
	if (id - TB_EV_USER > TB_EV_USER_LAST - TB_EV_USER)
		return NULL;
	/* no ring takes so many bytes; the limit keeps the sums below from overflowing */
	bytes = min_t(u32, bytes, TB_EVENT_ELEMENTS_MAX * TB_ELEMENT_SIZE);
	preempt_disable_notrace();
	if (likely(tb_provider_live(p)))
		c = tb_record_begin(p, (struct tb_slot *)slot->opaque, id, bytes, 2);
	preempt_enable_notrace();
	return c ? c + 1 : NULL;
}
EXPORT_SYMBOL_GPL(tracebuf_begin);

/**
 * tracebuf_end() - commit an event
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
 * tracebuf_flush() - close this CPU's current buffer, so that the reader can acquire it
 * @p: the provider
 *
 * For callers that want a reader to see their events soon, or record much with interrupts off.
 *
 * Context: any in which RCU is watching, NMI included.
 * Return: true if it closed a buffer.
 */
bool tracebuf_flush(struct tb_provider *p)
{
	struct tb_cpu_ring __percpu *rings;
	bool ok = false;

	preempt_disable_notrace();
	rings = tb_provider_live(p);
	/* in oneshot mode the reader acquires nothing before the stop: a flush wastes room */
	if (rings && p->config.mode != TB_MODE_ONESHOT)
		ok = tb_ring_flush(this_cpu_ptr(rings));
	preempt_enable_notrace();
	return ok;
}
EXPORT_SYMBOL_GPL(tracebuf_flush);

/**
 * tracebuf_stats() - get the accounts of one ring, also while it records
 * @p: the provider
 * @cpu: CPU of the ring
 * @st: out: the accounts, in events unless the ABI says otherwise
 *
 * Context: process.
 * Return: 0; -EINVAL @cpu is not a possible CPU.
 */
int tracebuf_stats(struct tb_provider *p, unsigned int cpu, struct tb_stats *st)
{
	memset(st, 0, sizeof(*st));
	st->cpu = cpu;
	return tb_provider_stats(p, st);
}
EXPORT_SYMBOL_GPL(tracebuf_stats);
