// SPDX-License-Identifier: GPL-2.0-only
/*
 * Configure, start, stop and query a provider; initialise and destroy it.
 *
 * Callers: devices/, api.c, main.c, reader/, crash/, registry.c, in process context.
 * Locks: tb_provider.lock to configure, start and stop; tb_provider.read_lock to query.
 */
#include <linux/cpu.h>
#include <linux/nospec.h>
#include <linux/slab.h>

#include "events/catalog.h"
#include "probe/pending.h"
#include "recording.h"
#include "select/select.h"

#define TB_DEFAULT_BUFFERS	32
#define TB_DEFAULT_ELEMENTS	1024
#define TB_DEFAULT_WATERMARK	70	/* percent */
#define TB_DEFAULT_DURABLE_KIB	1024
#define TB_DURABLE_GROWTH	16	/* default limit, as a multiple of the initial size */

/* ---- configuration ---------------------------------------------------- */

static int tb_config_check(const struct tb_config *c)
{
	if (c->mode < TB_MODE_ONESHOT || c->mode > TB_MODE_STREAMING)
		return -EINVAL;
	if (c->policy != TB_POLICY_OVERWRITE && c->policy != TB_POLICY_DROP)
		return -EINVAL;
	if (c->mode == TB_MODE_CIRCULAR && c->policy != TB_POLICY_OVERWRITE)
		return -EINVAL;
	if (c->mode == TB_MODE_ONESHOT && c->policy != TB_POLICY_DROP)
		return -EINVAL;
	if (c->buffers < (c->mode == TB_MODE_ONESHOT ? 1 : TB_BUFFERS_MIN) ||
	    c->buffers > TB_BUFFERS_MAX)
		return -EINVAL;
	if (!is_power_of_2(c->elements) || c->elements < TB_BUFFER_ELEMENTS_MIN ||
	    c->elements > TB_BUFFER_ELEMENTS_MAX)
		return -EINVAL;
	if (c->watermark < 1 || c->watermark > 100)
		return -EINVAL;
	if (c->durable_kib < TB_DURABLE_KIB_MIN || c->durable_kib > TB_DURABLE_KIB_MAX)
		return -EINVAL;
	if (c->durable_max_kib < c->durable_kib || c->durable_max_kib > TB_DURABLE_KIB_MAX ||
	    ((c->flags & TB_CONFIG_DURABLE_STOP) && c->durable_max_kib > c->durable_kib))
		return -EINVAL;
	if (c->flush_ms > 3600 * 1000 || (c->flags & ~TB_CONFIG_DURABLE_STOP))
		return -EINVAL;
	return memchr_inv(c->reserved, 0, sizeof(c->reserved)) ? -EINVAL : 0;
}

static u64 tb_config_bytes(const struct tb_config *c, const struct cpumask *cpus)
{
	return tb_memory_ring_bytes(c) * cpumask_weight(cpus) + c->durable_kib * 1024ULL;
}

/*
 * Refuse a size that exceeds the available memory: the attempt to allocate it would take memory
 * from the whole system.
 */
static int tb_config_afford(const struct tb_provider *p, const struct tb_config *c,
			    const struct cpumask *cpus)
{
	u64 wanted = tb_config_bytes(c, cpus);
	u64 there = (u64)max(si_mem_available(), 0L) << PAGE_SHIFT;

	if (wanted < there)
		return 0;
	pr_warn("tracebuf: %s: no memory for %u CPUs with %u buffers of %u bytes: needs %llu MiB, %llu are available\n",
		p->name, cpumask_weight(cpus), c->buffers, c->elements * TB_ELEMENT_SIZE,
		wanted >> 20, there >> 20);
	return -ENOMEM;
}

/*
 * Return true if the rings are in use: the recording runs, the reader holds blocks or has mapped
 * them, or it has a save channel of a ring that would go.
 */
static bool tb_config_busy(struct tb_provider *p, const struct tb_config *c,
			   const struct cpumask *cpus)
{
	lockdep_assert_held(&p->read_lock);
	return p->state == TB_STATE_RUNNING || READ_ONCE(p->mappings) ||
	       tb_provider_reader_holds(p) ||
	       !(cpumask_empty(&p->saved) ||
		 (c->mode == TB_MODE_STREAMING && cpumask_subset(&p->saved, cpus)));
}

/* Replace the memory, and empty it.  @cpus: CPUs with a ring; @wanted: CPUs to record */
static int tb_config_apply(struct tb_provider *p, struct tb_memory *m, const struct tb_config *c,
			   const struct cpumask *cpus, const struct cpumask *wanted,
			   const struct tb_clock *clock)
{
	int err;

	lockdep_assert_held(&p->read_lock);
	/* again: the reader may have acquired blocks meanwhile */
	err = tb_config_busy(p, c, cpus) ? -EBUSY : tb_memory_swap(p, m, c, cpus);
	if (err)
		return err;
	cpumask_copy(&p->wanted, wanted);
	p->nr_missing = 0;
	p->clock = *clock;
	WRITE_ONCE(p->state, TB_STATE_IDLE);
	tb_recording_reset(p);
	return 0;
}

/* Set @cpus to the CPUs that need a ring now.  The others get theirs when they come online. */
static void tb_config_cpus(const struct tb_provider *p, const struct cpumask *wanted, bool region,
			   struct cpumask *cpus)
{
	lockdep_assert_held(&p->read_lock);
	/* reserved memory is one piece, divided once */
	if (region) {
		cpumask_copy(cpus, wanted);
		return;
	}
	cpumask_or(cpus, cpu_online_mask, &p->saved);
	cpumask_and(cpus, cpus, wanted);
}

/*
 * Allocate memory for the checked configuration @c, and apply it.  @cpus: for the CPUs that get a
 * ring.  Return -EAGAIN if another CPU came online meanwhile: it would get none.
 */
static int tb_config_allocate(struct tb_provider *p, const struct tb_config *c,
			      const struct cpumask *wanted, const struct tb_clock *clock,
			      struct cpumask cpus[2])
{
	struct tb_memory memory = { };
	u64 charged, bytes, more = 0;
	bool region;
	int err = 0;

	lockdep_assert_held(&p->lock);
	mutex_lock(&p->read_lock);
	region = p->may_reserve && tb_region_usable();
	tb_config_cpus(p, wanted, region, &cpus[0]);
	charged = p->charged;
	bytes = region ? 0 : tb_config_bytes(c, &cpus[0]);
	if (tb_config_busy(p, c, &cpus[0]))
		err = -EBUSY;
	else if (!region)
		err = tb_config_afford(p, c, &cpus[0]);
	/* the larger charge first: reductions do not fail */
	if (!err)
		err = tb_memory_charge(p, max(charged, bytes), true);
	if (!err)
		more = p->charged - charged;
	mutex_unlock(&p->read_lock);
	if (err)
		return err;

	/* slow, so without the locks of queries and of hotplug */
	err = tb_memory_alloc(&memory, p->name, c, &cpus[0], region);
	cpus_read_lock();
	mutex_lock(&p->read_lock);
	tb_config_cpus(p, wanted, region, &cpus[1]);
	if (!err && !cpumask_subset(&cpus[1], &cpus[0]))
		err = -EAGAIN;
	if (!err)
		err = tb_config_apply(p, &memory, c, &cpus[0], wanted, clock);
	/* meanwhile rings or the durable buffer may have grown */
	tb_memory_charge(p, err ? p->charged - more : bytes, false);
	mutex_unlock(&p->read_lock);
	cpus_read_unlock();
	tb_memory_free(&memory);
	return err;
}

static int tb_configure_locked(struct tb_provider *p, const struct tb_config *config,
			       const struct cpumask *cpus)
{
	struct tb_config c = *config;
	struct cpumask *masks;
	struct tb_clock clock;
	int err;

	lockdep_assert_held(&p->lock);
	c.mode = c.mode ?: TB_MODE_STREAMING;
	c.policy = c.policy ?: c.mode == TB_MODE_ONESHOT ? TB_POLICY_DROP : TB_POLICY_OVERWRITE;
	c.buffers = c.buffers ?: TB_DEFAULT_BUFFERS;
	c.elements = c.elements ?: TB_DEFAULT_ELEMENTS;
	c.watermark = c.watermark ?: TB_DEFAULT_WATERMARK;
	c.durable_kib = c.durable_kib ?: TB_DEFAULT_DURABLE_KIB;
	if (!c.durable_max_kib && (c.flags & TB_CONFIG_DURABLE_STOP))
		c.durable_max_kib = c.durable_kib;
	else if (!c.durable_max_kib)
		c.durable_max_kib = clamp_t(u64, (u64)c.durable_kib * TB_DURABLE_GROWTH,
					    c.durable_kib, TB_DURABLE_KIB_MAX);
	c.cpus = 0;
	c.cpus_bytes = 0;
	err = tb_config_check(&c);
	if (!err)
		err = tb_clock_choose(c.clock, &clock);
	if (err)
		return err;
	masks = kcalloc(2, sizeof(*masks), GFP_KERNEL);
	if (!masks)
		return -ENOMEM;
	do {
		err = tb_config_allocate(p, &c, cpus, &clock, masks);
	} while (err == -EAGAIN);
	kfree(masks);
	return err;
}

/**
 * tb_provider_configure() - apply a configuration and allocate the buffers
 * @p: the provider, not running
 * @config: see the ABI; 0 in a field means its default
 * @cpus: CPUs to record, all of them possible; not empty
 *
 * Context: process.
 * Return: 0, -EBUSY, -EINVAL, -ENOMEM, -EROFS; on error nothing has changed.
 */
int tb_provider_configure(struct tb_provider *p, const struct tb_config *config,
			  const struct cpumask *cpus)
{
	int err;

	mutex_lock(&p->lock);
	err = p->flags & TB_PROVIDER_PREVIOUS ? -EROFS : tb_configure_locked(p, config, cpus);
	if (!err)
		tb_channels_notify(p, false);
	mutex_unlock(&p->lock);
	return err;
}

/* ---- start and stop --------------------------------------------------- */

/* Move the buffers into reserved memory.  On an error, for example -EBUSY, they stay in place. */
static void tb_provider_move(struct tb_provider *p)
{
	int err;

	lockdep_assert_held(&p->lock);
	if (p->state == TB_STATE_RUNNING)
		return;
	err = tb_configure_locked(p, &p->config, &p->wanted);
	if (err)
		pr_warn("tracebuf: %s: not moved into reserved memory (%d): the next boot will not find this recording\n",
			p->name, err);
}

/**
 * tb_provider_start() - begin a new recording
 * @p: the provider
 * @flags: TB_START_NO_STATE; the function ignores other flags
 * @generation: out: number of the recording; may be NULL
 *
 * Discards the last recording, and leaves the provider idle if it fails with another error than
 * -EBUSY.
 *
 * Context: process.
 * Return: 0; -EBUSY running, or blocks held; -ENOMEM; -ENOSPC; -EROFS it is "previous".
 */
int tb_provider_start(struct tb_provider *p, u32 flags, u64 *generation)
{
	struct tb_config defaults = { };
	int err = 0;

	mutex_lock(&p->lock);
	if (p->flags & TB_PROVIDER_PREVIOUS)
		err = -EROFS;
	else if (!p->allocated)
		err = tb_configure_locked(p, &defaults, cpu_possible_mask);
	else if (p->may_reserve && !p->durable.region && tb_region_usable())
		/* reserved memory became usable: the recording of the previous boot was dropped */
		tb_provider_move(p);
	if (!err)
		err = tb_recording_start(p, !(flags & TB_START_NO_STATE));
	if (err == -ENOSPC)
		pr_warn("tracebuf: %s: no room for descriptions of the events and for the threads: the durable buffer has %llu KiB and may grow to %u KiB\n",
			p->name, (u64)p->durable.nr_slots * TB_DURABLE_SLOT / 1024,
			p->config.flags & TB_CONFIG_DURABLE_STOP ?
			p->config.durable_kib : p->config.durable_max_kib);
	if (!err && generation)
		*generation = p->generation;
	mutex_unlock(&p->lock);
	wake_up_all(&p->wait);
	return err;
}

/*
 * End the recording, or only the one with number @generation if that is not 0.  The reader can
 * still acquire its blocks.  Return 0; -EINVAL if that recording is not running.
 */
int tb_provider_stop(struct tb_provider *p, u64 generation)
{
	int err = -EINVAL;

	mutex_lock(&p->lock);
	if (p->state == TB_STATE_RUNNING && (!generation || generation == p->generation)) {
		tb_recording_stop(p);
		err = 0;
	}
	mutex_unlock(&p->lock);
	wake_up_all(&p->wait);
	return err;
}

/* ---- queries ---------------------------------------------------------- */

/*
 * Count the full rings of a oneshot recording.  A ring is full if an event that found no room
 * closed its last buffer; a flush at the end of the recording does not count.
 */
static u32 tb_provider_full(struct tb_provider *p)
{
	struct tb_ring_stats st;
	unsigned int cpu;
	u32 full = 0;

	lockdep_assert_held(&p->read_lock);
	if (p->config.mode != TB_MODE_ONESHOT)
		return 0;
	for_each_cpu(cpu, &p->cpus) {
		struct tb_cpu_ring *r = per_cpu_ptr(p->rings, cpu);
		const struct tb_block *last;

		tb_ring_stats(r, &st);
		last = tb_ring_at(r, READ_ONCE(r->head))->block;
		full += st.blocks == r->nr && st.fill == r->capacity &&
			!(READ_ONCE(last->flags) & TB_BLOCK_FLUSHED);
	}
	return full;
}

/**
 * tracebuf_query() - get a provider's state and configuration (TB_IOC_QUERY)
 * @p: the provider
 * @q: out: state and configuration
 *
 * Takes read_lock alone, so it does not wait for a start, a stop or a selection in progress.
 *
 * Context: process.
 */
void tracebuf_query(struct tb_provider *p, struct tb_query *q)
{
	memset(q, 0, sizeof(*q));
	mutex_lock(&p->read_lock);
	q->abi = TB_ABI_VERSION;
	q->state = p->starting ? TB_STATE_IDLE : p->state;
	q->mode = p->config.mode;
	q->policy = p->config.policy;
	q->nr_cpus = nr_cpu_ids;
	q->buffers = p->config.buffers;
	q->elements = p->config.elements;
	q->watermark = p->config.watermark;
	q->clock = p->clock.id;
	q->nr_events = tb_events_count();
	q->frequency = p->clock.frequency;
	q->generation = p->generation;
	q->nr_enabled = READ_ONCE(p->nr_enabled);
	q->flush_ms = p->config.flush_ms;
	q->reader = !!READ_ONCE(p->reader);
	q->reason = READ_ONCE(p->reason);
	q->provider = p->id;
	strscpy(q->name, p->name, sizeof(q->name));
	if (p->allocated) {
		q->ring_stride = tb_provider_ring_stride(p);
		q->ring_header = tb_provider_ring_header(p);
		q->buffer_bytes = tb_provider_buffer_bytes(p);
		q->durable_offset = tb_provider_durable_offset(p);
		q->durable_bytes = tb_durable_extent(&p->durable);
		q->durable_used = (u64)tb_durable_used_slots(&p->durable) * TB_DURABLE_SLOT;
		q->durable_size = (u64)p->durable.nr_slots * TB_DURABLE_SLOT;
		q->durable_lost = p->durable_lost;
		q->full = tb_provider_full(p);
		q->nr_rings = cpumask_weight(&p->cpus);
		q->nr_missing = p->nr_missing;
		q->map_bytes = q->durable_offset + q->durable_bytes;
		q->max_event = tb_provider_max_event(p);
	}
	mutex_unlock(&p->read_lock);
}
EXPORT_SYMBOL_GPL(tracebuf_query);

/* TB_IOC_STATS: fill in @st for its cpu.  Return 0; -EINVAL not a possible CPU. */
int tb_provider_stats(struct tb_provider *p, struct tb_stats *st)
{
	struct tb_ring_stats s = { };
	struct tb_cpu_ring *r;
	u32 cpu = st->cpu;
	u64 gone;

	if (cpu >= nr_cpu_ids)
		return -EINVAL;
	cpu = array_index_nospec(cpu, nr_cpu_ids);
	if (!cpu_possible(cpu))
		return -EINVAL;
	mutex_lock(&p->read_lock);
	if (p->allocated && cpumask_test_cpu(cpu, &p->cpus)) {
		r = per_cpu_ptr(p->rings, cpu);
		tb_ring_stats(r, &s);
		/* the count does not go back because a block is just being completed */
		r->reported = max(r->reported, s.recorded);
		s.recorded = r->reported;
	}
	mutex_unlock(&p->read_lock);
	memset(st, 0, sizeof(*st));
	gone = s.delivered + s.overwritten;
	st->cpu = cpu;
	st->recorded = s.recorded;
	st->attempted = s.recorded + s.dropped;
	st->delivered = s.delivered;
	st->overwritten = s.overwritten;
	st->dropped = s.dropped;
	st->oversize = s.oversize;
	st->pending = s.recorded - min(gone, s.recorded);
	st->bytes = s.bytes;
	st->blocks = s.blocks;
	st->marks = s.marks;
	st->retries = s.retries;
	st->ready = s.ready;
	st->held = s.held;
	st->fill = s.fill;
	return 0;
}

/* a search of a memory image needs this layout (struct tb_ring_image) */
#define TB_RING_IMAGE_IS(image, field)						\
	static_assert(offsetof(struct tb_ring_image, image) == offsetof(struct tb_cpu_ring, field))

TB_RING_IMAGE_IS(head, head);
TB_RING_IMAGE_IS(elements, capacity);
TB_RING_IMAGE_IS(buffers, nr);
TB_RING_IMAGE_IS(provider, provider);
TB_RING_IMAGE_IS(cpu, cpu);
TB_RING_IMAGE_IS(start, start_time);
TB_RING_IMAGE_IS(magic, magic);
TB_RING_IMAGE_IS(recording, recording);
TB_RING_IMAGE_IS(recorded, recorded);
TB_RING_IMAGE_IS(overwritten, overwritten);
TB_RING_IMAGE_IS(dropped, dropped);
TB_RING_IMAGE_IS(oversize, oversize);
/* a ring lies within one page, so it is contiguous in physical memory */
static_assert(sizeof(struct tb_cpu_ring) <= TB_RING_IMAGE_ALIGN);

/* ---- life ------------------------------------------------------------- */

/* Initialise a provider without buffers. */
int tb_provider_init(struct tb_provider *p, const char *name)
{
	int err;

	memset(p, 0, sizeof(*p));
	p->rings = alloc_percpu(struct tb_cpu_ring);
	if (!p->rings)
		return -ENOMEM;
	strscpy(p->name, name, sizeof(p->name));
	mutex_init(&p->lock);
	mutex_init(&p->batch);
	mutex_init(&p->read_lock);
	mutex_init(&p->map_lock);
	INIT_LIST_HEAD(&p->node);
	kref_init(&p->ref);
	cpumask_copy(&p->wanted, cpu_possible_mask);
	tb_recording_init(p);
	tb_wake_init(p);
	tb_trigger_init(p);
	xa_init(&p->probes);
	tb_counters_init(&p->counters);
	err = tb_thread_queue_alloc(&p->threads);
	if (!err)
		err = tb_pending_init(p);
	/* closed to programs */
	p->channels.quota.flags = TB_QUOTA_CLOSED;
	p->channels.ring_paid = alloc_percpu(u64);
	if (!p->channels.ring_paid)
		err = -ENOMEM;
	if (err) {
		free_percpu(p->channels.ring_paid);
		tb_pending_exit(p);
		tb_thread_queue_free(&p->threads);
		free_percpu(p->rings);
	}
	return err;
}

/* Stop a provider that has no session and no mapping, and free everything. */
void tb_provider_destroy(struct tb_provider *p)
{
	struct tb_memory memory;

	tb_provider_stop(p, 0);
	/* first p->wake, which may queue stop_work */
	irq_work_sync(&p->wake);
	cancel_work_sync(&p->stop_work);
	irq_work_sync(&p->kick);
	cancel_work_sync(&p->durable_work);
	irq_work_sync(&p->trigger.work);
	cancel_delayed_work_sync(&p->trigger.late);
	/* last wake_later, which p->wake and the trigger's works may queue */
	irq_work_sync(&p->wake);
	cancel_work_sync(&p->wake_later);
	memory = (struct tb_memory){ .rings = p->memory, .durable = p->durable };
	tb_memory_free(&memory);
	tb_memory_charge(p, 0, false);
	tb_thread_queue_free(&p->threads);
	tb_select_exit(p);
	tb_rule_remove_thread_set(p->pids);
	tb_counters_exit(&p->counters);
	tb_pending_exit(p);
	free_percpu(p->channels.ring_paid);
	free_percpu(p->rings);
}
