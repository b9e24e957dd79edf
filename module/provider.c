// SPDX-License-Identifier: GPL-2.0-only
/*
 * Life of a provider: configuration, start and stop, flush, books.  Its memory
 * is in memory.c, which events it records in select.c, who reads it in
 * session.c.
 */
#include <linux/cpu.h>
#include <linux/log2.h>
#include <linux/module.h>
#include <linux/nospec.h>
#include <linux/once.h>
#include <linux/pid_namespace.h>
#include <linux/random.h>
#include <linux/slab.h>
#include <linux/smp.h>
#include <linux/utsname.h>

#include "capture/capture.h"
#include "capture/events.h"
#include "provider.h"
#include "record.h"
#include "select.h"
#include "session.h"

#define TB_DEFAULT_BUFFERS	32
#define TB_DEFAULT_ELEMENTS	1024
#define TB_DEFAULT_WATERMARK	70	/* percent */
#define TB_DEFAULT_DURABLE_KIB	1024
#define TB_DURABLE_KIB_MIN	64
#define TB_DURABLE_KIB_MAX	65536
#define TB_SYNC_INTERVAL	(10 * HZ)

struct tb_provider tb_kernel_provider;

/* ---- configuration ---------------------------------------------------- */

static int tb_config_check(const struct tb_config *c)
{
	unsigned int i;

	if (c->mode != TB_MODE_CIRCULAR && c->mode != TB_MODE_STREAMING)
		return -EINVAL;
	if (c->policy != TB_POLICY_OVERWRITE && c->policy != TB_POLICY_DROP)
		return -EINVAL;
	if (c->mode == TB_MODE_CIRCULAR && c->policy != TB_POLICY_OVERWRITE)
		return -EINVAL;
	if (c->buffers < TB_BUFFERS_MIN || c->buffers > TB_BUFFERS_MAX)
		return -EINVAL;
	if (!is_power_of_2(c->elements) || c->elements < TB_BUFFER_ELEMENTS_MIN ||
	    c->elements > TB_BUFFER_ELEMENTS_MAX)
		return -EINVAL;
	if (c->watermark < 1 || c->watermark > 100)
		return -EINVAL;
	if (c->durable_kib < TB_DURABLE_KIB_MIN || c->durable_kib > TB_DURABLE_KIB_MAX)
		return -EINVAL;
	if (c->flush_ms > 3600 * 1000 || c->flags)
		return -EINVAL;
	for (i = 0; i < ARRAY_SIZE(c->reserved); i++)
		if (c->reserved[i])
			return -EINVAL;
	return 0;
}

/* Does the reader hold anything?  Under read_lock. */
static bool tb_provider_held(struct tb_provider *p)
{
	struct tb_ring_stats st;
	unsigned int cpu;

	if (!p->allocated)
		return false;
	if (p->durable.taken != p->durable.released)
		return true;
	for_each_possible_cpu(cpu) {
		tb_ring_stats(per_cpu_ptr(p->rings, cpu), &st);
		if (st.held)
			return true;
	}
	return false;
}

/* As new: empty rings and durable buffer.  Under read_lock, nobody records. */
static void tb_provider_reset(struct tb_provider *p)
{
	u64 now = tb_clock_read(p->clock.raw);
	unsigned int cpu;

	for_each_possible_cpu(cpu) {
		struct tb_ring *r = per_cpu_ptr(p->rings, cpu);

		r->mark = max_t(u32, p->config.elements * p->config.watermark / 100,
				TB_BLOCK_FIRST_ELEMENT + 1);
		r->raw_clock = p->clock.raw;
		r->overwrite = p->config.policy == TB_POLICY_OVERWRITE;
		tb_ring_reset(r, now);
	}
	tb_durable_reset(&p->durable, &p->clock, p->id);
}

/* Under lock; what tb_provider_configure() does. */
static int tb_configure_locked(struct tb_provider *p, const struct tb_config *config)
{
	struct tb_config c = *config;
	struct tb_clock clock;
	int err;

	c.mode = c.mode ?: TB_MODE_STREAMING;
	c.policy = c.policy ?: TB_POLICY_OVERWRITE;
	c.buffers = c.buffers ?: TB_DEFAULT_BUFFERS;
	c.elements = c.elements ?: TB_DEFAULT_ELEMENTS;
	c.watermark = c.watermark ?: TB_DEFAULT_WATERMARK;
	c.durable_kib = c.durable_kib ?: TB_DEFAULT_DURABLE_KIB;
	err = tb_config_check(&c);
	if (!err)
		err = tb_clock_choose(c.clock, &clock);
	if (err)
		return err;

	mutex_lock(&p->read_lock);
	if (p->state == TB_STATE_RUNNING || tb_provider_held(p))
		err = -EBUSY;
	else
		err = tb_provider_allocate(p, &c);
	if (!err) {
		p->clock = clock;
		p->state = TB_STATE_IDLE;
		tb_provider_reset(p);
	}
	mutex_unlock(&p->read_lock);
	return err;
}

/**
 * tb_provider_configure() - set sizes and ways
 * @p: the provider, not running
 * @config: as the ABI says; zero means default
 *
 * Context: process.
 * Return: 0, -EBUSY, -EINVAL, -ENOMEM; on error nothing has changed.
 */
int tb_provider_configure(struct tb_provider *p, const struct tb_config *config)
{
	int err;

	mutex_lock(&p->lock);
	err = tb_configure_locked(p, config);
	mutex_unlock(&p->lock);
	return err;
}

/* ---- stop ------------------------------------------------------------- */

static int tb_append_clock(struct tb_provider *p, bool last)
{
	struct tb_clock_sync sync;

	tb_clock_sync(&p->clock, &sync);
	return tb_durable_append(&p->durable, TB_EV_CLOCK, &sync, sizeof(sync), last);
}

static void tb_append_totals(struct tb_provider *p)
{
	unsigned int cpu;

	for_each_possible_cpu(cpu) {
		struct tb_totals t = { .cpu = cpu };
		struct tb_ring_stats st;

		tb_ring_stats(per_cpu_ptr(p->rings, cpu), &st);
		t.attempted = st.recorded + st.dropped;
		t.recorded = st.recorded;
		t.overwritten = st.overwritten;
		t.dropped = st.dropped;
		t.oversize = st.oversize;
		t.blocks = st.blocks;
		WARN_ON_ONCE(tb_durable_append(&p->durable, TB_EV_TOTALS, &t, sizeof(t), true));
	}
}

/* Ends a recording that is running.  Under lock. */
static int tb_stop_locked(struct tb_provider *p)
{
	unsigned int cpu;

	if (p->state != TB_STATE_RUNNING)
		return -EINVAL;
	WRITE_ONCE(p->live, NULL);
	tb_select_detach(p);
	if (p->tracking)
		tb_track_detach(p);
	p->tracking = false;
	/* the works record and flush; neither takes lock */
	cancel_delayed_work_sync(&p->sync_work);
	cancel_delayed_work_sync(&p->flush_work);
	/* no probe runs from here on, and nobody who saw live set */
	tb_events_synchronize();

	cpus_read_lock();
	mutex_lock(&p->read_lock);
	for_each_possible_cpu(cpu)
		tb_ring_flush(per_cpu_ptr(p->rings, cpu));
	tb_append_clock(p, true);
	tb_append_totals(p);
	tb_durable_seal(&p->durable);
	WRITE_ONCE(p->state, TB_STATE_STOPPED);
	mutex_unlock(&p->read_lock);
	cpus_read_unlock();
	return 0;
}

/**
 * tb_provider_stop() - end the recording; what is in the rings can be read
 * @p: the provider
 * @generation: only if it is this one, or 0
 *
 * Context: process.
 * Return: 0, -EINVAL if it was not running.
 */
int tb_provider_stop(struct tb_provider *p, u64 generation)
{
	int err = -EINVAL;

	mutex_lock(&p->lock);
	if (!generation || generation == p->generation)
		err = tb_stop_locked(p);
	mutex_unlock(&p->lock);
	tb_session_wake(p);
	return err;
}

/* ---- start ------------------------------------------------------------ */

static int tb_append_init(struct tb_provider *p, bool dump)
{
	static u8 load_id[sizeof_field(struct tb_init, load_id)];
	struct new_utsname *uts = init_utsname();
	struct tb_init init = {
		.abi = TB_ABI_VERSION,
		.clock = p->clock.id,
		.frequency = p->clock.frequency,
		.mode = p->config.mode,
		.policy = p->config.policy,
		.nr_cpus = nr_cpu_ids,
		.buffers = p->config.buffers,
		.elements = p->config.elements,
		.page_size = PAGE_SIZE,
		.pid_max = PID_MAX_LIMIT,
		.flags = (dump ? TB_INIT_STATE_DUMP : 0) |
			 (p->clock.fallback ? TB_INIT_CLOCK_FALLBACK : 0),
		.generation = p->generation,
	};

	get_random_once(load_id, sizeof(load_id));
	memcpy(init.load_id, load_id, sizeof(load_id));
	strscpy(init.provider, p->name, sizeof(init.provider));
	strscpy(init.release, uts->release, sizeof(init.release));
	strscpy(init.version, uts->version, sizeof(init.version));
	strscpy(init.machine, uts->machine, sizeof(init.machine));
	strscpy(init.nodename, uts->nodename, sizeof(init.nodename));
	return tb_durable_append(&p->durable, TB_EV_INIT, &init, sizeof(init), false);
}

static int tb_append_string(void *ctx, enum tb_string_kind kind, u32 key, const char *text)
{
	struct {
		struct tb_string head;
		char text[64];
	} s = { .head = { .kind = kind, .key = key } };
	u32 len = strscpy(s.text, text, sizeof(s.text)) < 0 ? sizeof(s.text) - 1 : strlen(s.text);

	return tb_durable_append(ctx, TB_EV_STRING, &s, sizeof(s.head) + len, false);
}

static int tb_append_thread(void *ctx, const struct tb_thread *t)
{
	return tb_durable_append(ctx, TB_EV_THREAD, t, sizeof(*t), false);
}

/* Everything that comes before the first event but the threads.  Under read_lock. */
static int tb_write_prologue(struct tb_provider *p, bool dump)
{
	int err;

	tb_provider_reset(p);
	err = tb_append_init(p, dump);
	if (!err)
		err = tb_append_clock(p, false);
	if (!err)
		err = tb_select_describe(p);
	if (!err)
		err = tb_dump_strings(tb_append_string, &p->durable);
	return err;
}

/* The first half of a start: from here on the state is RUNNING.  Under lock. */
static int tb_start_prepare(struct tb_provider *p, bool dump)
{
	int err = -EBUSY;

	mutex_lock(&p->read_lock);
	if (p->state != TB_STATE_RUNNING && !tb_provider_held(p)) {
		p->generation++;
		err = tb_write_prologue(p, dump);
		if (err)
			tb_provider_reset(p);
		WRITE_ONCE(p->state, err ? TB_STATE_IDLE : TB_STATE_RUNNING);
	}
	mutex_unlock(&p->read_lock);
	return err;
}

/*
 * The second half.  Threads are followed before they are dumped, so that none
 * is missed; probes are attached when all that describes them is there.  Under
 * lock, but not read_lock: attaching takes the hotplug lock.
 */
static int tb_start_attach(struct tb_provider *p, bool dump)
{
	int err = tb_track_attach(p);

	if (err)
		return err;
	p->tracking = true;
	mutex_lock(&p->read_lock);
	if (dump)
		err = tb_dump_threads(tb_append_thread, &p->durable);
	tb_durable_seal(&p->durable);
	mutex_unlock(&p->read_lock);
	if (!err)
		err = tb_select_attach(p);
	if (!err)
		WRITE_ONCE(p->live, p->rings);
	return err;
}

/*
 * The second half has failed: idle, as if the first had.  A reader that was
 * quick may hold a part of what was written already: to him it is a recording
 * that was stopped at once.  Under lock.
 */
static void tb_start_undo(struct tb_provider *p)
{
	tb_stop_locked(p);
	mutex_lock(&p->read_lock);
	if (!tb_provider_held(p)) {
		tb_provider_reset(p);
		WRITE_ONCE(p->state, TB_STATE_IDLE);
	}
	mutex_unlock(&p->read_lock);
}

/**
 * tb_provider_start() - begin a new recording
 * @p: the provider
 * @flags: TB_START_NO_STATE; others are not for here
 * @generation: out: its number; may be NULL
 *
 * What was left of an earlier recording is gone.  On errors other than -EBUSY,
 * too: the provider is idle then.
 *
 * Context: process.
 * Return: 0, -EBUSY running or blocks held, -ENOMEM, -ENOSPC.
 */
int tb_provider_start(struct tb_provider *p, u32 flags, u64 *generation)
{
	bool dump = !(flags & TB_START_NO_STATE);
	struct tb_config defaults = { };
	int err = 0;

	mutex_lock(&p->lock);
	if (!p->allocated)
		err = tb_configure_locked(p, &defaults);
	if (!err)
		err = tb_start_prepare(p, dump);
	if (!err) {
		err = tb_start_attach(p, dump);
		if (err)
			tb_start_undo(p);
	}
	if (err == -ENOSPC)
		pr_warn("tracebuf: %s: durable buffer of %u KiB is too small for the events and threads there are\n",
			p->name, p->config.durable_kib);
	if (!err) {
		schedule_delayed_work(&p->sync_work, TB_SYNC_INTERVAL);
		if (p->config.flush_ms)
			schedule_delayed_work(&p->flush_work,
					      msecs_to_jiffies(p->config.flush_ms));
		if (generation)
			*generation = p->generation;
	}
	mutex_unlock(&p->lock);
	tb_session_wake(p);
	return err;
}

/* ---- flush ------------------------------------------------------------ */

static void tb_flush_local(void *ring)
{
	tb_ring_flush(ring);
}

/**
 * tb_provider_flush_cpu() - close the current buffer of one CPU's ring
 * @p: the provider, with memory
 * @cpu: a possible CPU
 *
 * Context: process, under cpus_read_lock and read_lock: so that only one
 * flushes the ring of a CPU that is offline.
 */
void tb_provider_flush_cpu(struct tb_provider *p, unsigned int cpu)
{
	struct tb_ring *r = per_cpu_ptr(p->rings, cpu);

	if (cpu_online(cpu))
		smp_call_function_single(cpu, tb_flush_local, r, 1);
	else
		tb_ring_flush(r);
}

/**
 * tb_provider_flush() - make what is in the buffers available to the reader
 * @p: the provider
 * @cpu: which ring, or -1 for all
 *
 * Context: process.
 * Return: 0, -EINVAL for a CPU that cannot be.
 */
int tb_provider_flush(struct tb_provider *p, int cpu)
{
	unsigned int i;

	if (cpu < -1 || (cpu >= 0 && (cpu >= nr_cpu_ids || !cpu_possible(cpu))))
		return -EINVAL;
	cpus_read_lock();
	mutex_lock(&p->read_lock);
	if (p->allocated) {
		for_each_possible_cpu(i)
			if (cpu < 0 || cpu == i)
				tb_provider_flush_cpu(p, i);
	}
	mutex_unlock(&p->read_lock);
	cpus_read_unlock();
	return 0;
}

static void tb_flush_work(struct work_struct *work)
{
	struct tb_provider *p = container_of(work, struct tb_provider, flush_work.work);

	if (READ_ONCE(p->reader))
		tb_provider_flush(p, -1);
	schedule_delayed_work(&p->flush_work, msecs_to_jiffies(p->config.flush_ms));
}

/* Ties the clocks together now and then: they drift. */
static void tb_sync_work(struct work_struct *work)
{
	struct tb_provider *p = container_of(work, struct tb_provider, sync_work.work);
	struct tb_clock_sync sync;

	tb_clock_sync(&p->clock, &sync);
	tb_record_control(p, TB_EV_CLOCK, &sync, sizeof(sync), 1);
	schedule_delayed_work(&p->sync_work, TB_SYNC_INTERVAL);
}

/* ---- what there is ---------------------------------------------------- */

/**
 * tb_provider_query() - TB_IOC_QUERY
 * @p: the provider
 * @q: filled in
 *
 * Context: process.
 */
void tb_provider_query(struct tb_provider *p, struct tb_query *q)
{
	memset(q, 0, sizeof(*q));
	mutex_lock(&p->lock);
	q->abi = TB_ABI_VERSION;
	q->state = p->state;
	q->mode = p->config.mode;
	q->policy = p->config.policy;
	q->nr_cpus = nr_cpu_ids;
	q->buffers = p->config.buffers;
	q->elements = p->config.elements;
	q->watermark = p->config.watermark;
	q->clock = p->clock.id;
	q->nr_events = p->nr_probes;
	q->frequency = p->clock.frequency;
	q->generation = p->generation;
	q->nr_enabled = p->nr_enabled;
	q->flush_ms = p->config.flush_ms;
	q->reader = !!READ_ONCE(p->reader);
	if (p->allocated) {
		q->ring_stride = tb_provider_ring_stride(p);
		q->ring_header = PAGE_SIZE;
		q->buffer_bytes = tb_provider_buffer_bytes(p);
		q->durable_offset = tb_provider_durable_offset(p);
		q->durable_bytes = tb_mem_bytes(&p->durable.mem);
		q->map_bytes = q->durable_offset + q->durable_bytes;
		q->max_event = (min_t(u32, p->config.elements - TB_BLOCK_FIRST_ELEMENT,
				      TB_EVENT_ELEMENTS_MAX) - 1) * TB_ELEMENT_SIZE;
	}
	mutex_unlock(&p->lock);
}

/**
 * tb_provider_stats() - TB_IOC_STATS
 * @p: the provider
 * @st: cpu in, the rest out
 *
 * Context: process.
 * Return: 0, -EINVAL for a CPU that cannot be.
 */
int tb_provider_stats(struct tb_provider *p, struct tb_stats *st)
{
	struct tb_ring_stats s = { };
	u32 cpu = st->cpu;
	u64 gone;

	if (cpu >= nr_cpu_ids || !cpu_possible(cpu))
		return -EINVAL;
	cpu = array_index_nospec(cpu, nr_cpu_ids);
	mutex_lock(&p->read_lock);
	if (p->allocated)
		tb_ring_stats(per_cpu_ptr(p->rings, cpu), &s);
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

/* ---- life ------------------------------------------------------------- */

/**
 * tb_provider_init() - make a provider, without memory
 * @p: where
 * @name: its name
 * @id: for the block headers
 *
 * Context: process.
 * Return: 0 or -ENOMEM.
 */
int tb_provider_init(struct tb_provider *p, const char *name, u32 id)
{
	int err;

	memset(p, 0, sizeof(*p));
	p->rings = alloc_percpu(struct tb_ring);
	if (!p->rings)
		return -ENOMEM;
	strscpy(p->name, name, sizeof(p->name));
	p->id = id;
	mutex_init(&p->lock);
	mutex_init(&p->read_lock);
	mutex_init(&p->map_lock);
	init_waitqueue_head(&p->wait);
	INIT_DELAYED_WORK(&p->sync_work, tb_sync_work);
	INIT_DELAYED_WORK(&p->flush_work, tb_flush_work);
	tb_session_init_wake(p);
	err = tb_select_init(p);
	if (err)
		free_percpu(p->rings);
	return err;
}

/**
 * tb_provider_destroy() - stop a provider and free everything
 * @p: the provider, with no session and no mapping
 *
 * Context: process.
 */
void tb_provider_destroy(struct tb_provider *p)
{
	tb_provider_stop(p, 0);
	irq_work_sync(&p->wake);
	tb_provider_free(p);
	tb_select_exit(p);
	free_percpu(p->rings);
}
