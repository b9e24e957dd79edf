/* SPDX-License-Identifier: GPL-2.0-only */
/*
 * A provider: a source of events with its own rings, durable buffer, mode and policy, independent
 * of all other providers.  Used by all rooms above provider/.
 *
 * A provider has four mutexes; docs/architecture.md has their order among all locks.  The writers'
 * side of the rings takes no lock.
 */
#ifndef TB_PROVIDER_PROVIDER_H
#define TB_PROVIDER_PROVIDER_H

#include <linux/cpumask.h>
#include <linux/kref.h>
#include <linux/wait.h>
#include <linux/xarray.h>

#include "durable.h"
#include "machine/clock.h"
#include "machine/contiguous.h"
#include "machine/counters.h"
#include "probe/trigger.h"
#include "programs/channels.h"
#include "ring/ring.h"
#include "thread_queue.h"

struct tb_thread_set;
struct tb_session;

/*
 * Size of tb_provider.exits: many more threads than can be exiting at the same time.  A new state
 * includes these threads, because events of a thread follow the record of its exit, for example the
 * switch away from it.
 */
#define TB_EXITS	256

/* what holds a reference to a provider, see tb_provider_get() */
enum tb_holder {
	TB_HOLDER_NONE,		/* keeps the memory; the provider may be removed from the list */
	TB_HOLDER_MODULE,	/* no program can remove the provider */
	TB_HOLDER_FILE,		/* other files cannot remove the provider */
	TB_HOLDERS
};

/**
 * struct tb_provider - one provider
 * @rings: one per possible CPU; all zero for a CPU not in @cpus
 * @live: @rings while code other than probes may record (api.c), else NULL; see
 *	tb_recording_attach()
 * @node: in the list of providers
 * @all: in the list of all providers that have not been freed
 * @ref: references of open files, modules, and the list
 * @release: called when the last reference is released
 * @drain: moves the records of @threads into @durable, see tb_durable_drain(); under read_lock
 * @holders: number of references by enum tb_holder; does not count TB_HOLDER_NONE
 * @visits: calls of tb_providers_each() that use it
 * @flags: TB_PROVIDER_*
 * @may_reserve: its buffers may be in reserved memory (machine/reserved.c)
 * @hotplug: for the callbacks when CPUs come online or go offline (recording/registry.c)
 * @lock: protects configuration, start, stop, selection, rules, trigger
 * @name: name, unique in the list
 * @id: id, for block headers; unique in the list
 * @state: enum tb_state
 * @starting: the state is RUNNING, but not all probes are attached; under read_lock
 * @reason: enum tb_reason, why it is not running
 * @wanted: CPUs that it records; those that were never online have no ring
 * @cpus: CPUs that have a ring; it only grows while the memory stays; under read_lock
 * @nr_missing: how often a CPU came online without memory for its ring; under read_lock
 * @config: the configuration, with all defaults filled in
 * @clock: the trace clock
 * @generation: number of the recording
 * @moment: changes of the selection so far (select/select.c)
 * @probes: struct tb_probe of each event that was ever selected, by number of the event
 * @switches: the probe of sched_switch, or NULL
 * @has_all_switches: this recording has all switches of threads so far (select/rule.c)
 * @nr_enabled: number of selected events
 * @pids: threads that are recorded; NULL: all.  Not __rcu: published by a release, read by an
 *	acquire, freed after tb_tracepoint_synchronize()
 * @counters: performance counters that rules ask for
 * @counter_names: names of the counters in the durable buffer; under read_lock
 * @pending_rings: rings without buffers, for events with rules (probe/pending.c)
 * @kept_out: counts of events that @pids kept out, and of kept-out events of probes without counts
 * @tracking: the probes of events/threads.c, which follow threads, are attached
 * @trigger: events that freeze the rings
 * @channels: what the provider accepts from user-space writers
 * @sync_work: records the clocks and checks for damage at intervals
 * @looked: RCU grace period of the last check for damage, for poll_state_synchronize_rcu()
 * @flush_work: flushes the rings at intervals
 * @stop_work: stops the recording, because of @reason
 * @threads: queue of thread records on their way to @durable
 * @kick: queues @durable_work, because @threads fills up
 * @durable_work: empties @threads, makes room in @durable
 * @batch: held from acquiring or releasing blocks until user space has the references
 * @read_lock: protects the reader's side of the rings, @reader, the durable buffer; held around
 *	@map_lock, so nothing may fault under it either
 * @durable: the durable buffer
 * @exits: the threads that exited last, by number modulo TB_EXITS
 * @nr_exits: number of threads that exited
 * @durable_lost: records that found no room in @durable
 * @threads_lost: records of threads that were lost, as written to @durable
 * @forgotten: time for tb_threads_lost.before of the next reader
 * @track_time: time when @threads was emptied last, trace clock
 * @resync: records of threads were lost since all threads were last written
 * @resync_after: do not write all threads again before this time, jiffies
 * @end_time: time when the recording ended, trace clock
 * @reader: session that is the reader, or NULL; under read_lock
 * @next_cpu: CPU where the reader looks for blocks next
 * @snapshot: the reader takes a snapshot; under read_lock
 * @saved: CPUs with a save channel (reader/save_channel.c); under read_lock
 * @map_lock: protects memory and @mappings; taken under the mmap lock, so nothing may fault under
 *	it
 * @allocated: the provider has memory
 * @charged: bytes that count for tb_memory_percent; under read_lock
 * @memory: the memory of the ring of each CPU
 * @mappings: number of mappings; under map_lock
 * @want_wake: waiters need a wake-up, see tb_ring_notify()
 * @wake: wakes the waiters
 * @wake_later: wakes the waiters where @wake cannot
 * @wait: the waiters
 */
struct tb_provider {
	struct tb_cpu_ring __percpu *rings;
	struct tb_cpu_ring __percpu *live;

	struct list_head node;
	struct list_head all;
	struct kref ref;
	void (*release)(struct kref *ref);
	void (*drain)(struct tb_provider *p);
	u32 holders[TB_HOLDERS];
	u32 visits;
	u32 flags;
	bool may_reserve;
	struct hlist_node hotplug;

	struct mutex lock;	/* configuration, selection */
	char name[TB_PROVIDER_NAME_MAX];
	u32 id;
	u32 state;
	bool starting;
	u32 reason;
	struct cpumask wanted;
	struct cpumask cpus;
	u32 nr_missing;
	struct tb_config config;
	struct tb_clock clock;
	u64 generation;
	u64 moment;
	struct xarray probes;
	struct tb_probe *switches;
	bool has_all_switches;
	u32 nr_enabled;
	struct tb_thread_set *pids;
	struct tb_counters_set counters;
	char counter_names[TB_COUNTERS_MAX][32];
	struct tb_cpu_ring __percpu *pending_rings;
	struct tb_suppressed __percpu *kept_out;
	bool tracking;
	struct tb_trigger trigger;
	struct tb_channels channels;
	struct delayed_work sync_work;
	unsigned long looked;
	struct delayed_work flush_work;
	struct work_struct stop_work;

	struct tb_thread_queue threads;
	struct irq_work kick;
	struct work_struct durable_work;

	struct mutex batch;	/* acquire and release, until user space has the references */
	struct mutex read_lock;	/* reader, durable buffer */
	struct tb_durable durable;
	struct tb_thread exits[TB_EXITS];
	u64 nr_exits;
	u64 durable_lost;
	struct tb_threads_lost threads_lost;
	u64 forgotten;
	u64 track_time;
	bool resync;
	unsigned long resync_after;
	u64 end_time;
	struct tb_session *reader;
	u32 next_cpu;
	bool snapshot;
	struct cpumask saved;

	struct mutex map_lock;	/* memory, mappings */
	bool allocated;
	u64 charged;
	struct tb_ring_memory *memory;
	u32 mappings;

	u32 want_wake;
	struct irq_work wake;
	struct work_struct wake_later;
	wait_queue_head_t wait;
};

/**
 * struct tb_ring_memory - the memory of a CPU's ring
 * @mem: the buffers
 * @header: part of the mapping, before the buffers
 * @bufs: descriptors of the buffers; NULL: the CPU has no ring
 */
struct tb_ring_memory {
	struct tb_mem mem;
	struct tb_mem header;
	struct tb_buf *bufs;
};

/**
 * struct tb_memory - the memory of a provider while it is changed
 * @rings: of each CPU
 * @durable: the durable buffer
 */
struct tb_memory {
	struct tb_ring_memory *rings;
	struct tb_durable durable;
};

/* percentage of the machine's memory that the buffers of all providers may take */
extern u32 tb_memory_percent;

unsigned int tb_provider_cpu(struct tb_provider *p, bool spare);
bool tb_provider_call(struct tb_provider *p, bool spare, void (*func)(void *arg), void *arg);
bool tb_provider_reader_holds(struct tb_provider *p);

/* list.c */
struct tb_provider *tb_provider_get(const char *name, enum tb_holder holder);
void tb_provider_put(struct tb_provider *p, enum tb_holder holder);
int tb_providers_add(struct tb_provider *p);
void tb_providers_remove(struct tb_provider *p);
int tb_providers_remove_unused(const char *name, struct tb_provider *own, struct tb_provider **p);
void tb_providers_forget(struct tb_provider *p);
struct tb_provider *tb_providers_last(void);
int tb_providers_info(struct tb_provider_info *info);
void tb_providers_each(void (*what)(struct tb_provider *p, void *data), void *data);
void tb_providers_look(void (*what)(struct tb_provider *p, void *data), void *data);

/* wake.c: wait for blocks, and wake the waiters: readers, poll(), save channels */
void tb_wake_init(struct tb_provider *p);
void tb_wake_waiters_irq(struct tb_provider *p);
void tb_wake_arm(struct tb_provider *p);
int tb_wake_wait(struct tb_provider *p, bool (*ready)(void *arg), void *arg);

/* retention.c: add records to the durable buffer, and make room there */
void tb_durable_drain(struct tb_provider *p);
int tb_durable_add(struct tb_provider *p, u64 time, u32 id, const void *payload, u32 bytes);
int tb_durable_add_counters(struct tb_provider *p, u32 mask);
int tb_retention_add_string(struct tb_provider *p, enum tb_string_kind kind, u32 key,
			    const char *text);
/* for recording/state.c, under read_lock */
void tb_retention_recycle(struct tb_provider *p);
bool tb_retention_make_room(struct tb_provider *p);
void tb_retention_forget(struct tb_provider *p, u64 limit, u64 time);
void tb_retention_count_lost(struct tb_provider *p, u64 count);
u64 tb_retention_released(const struct tb_provider *p);
int tb_retention_add_counter_names(struct tb_provider *p);

/* ring_header.c: the header of each ring in the mapping, struct tb_ring_header */
void tb_header_reset(struct tb_provider *p, unsigned int cpu);
void tb_header_grown(struct tb_provider *p);
void tb_header_end(struct tb_provider *p);

/* memory.c and mmap.c */
int tb_memory_charge(struct tb_provider *p, u64 bytes, bool tell);
void tb_memory_free(struct tb_memory *m);
int tb_memory_alloc(struct tb_memory *m, const char *name, const struct tb_config *c,
		    const struct cpumask *cpus, bool region);
int tb_memory_add(struct tb_provider *p, unsigned int cpu);
int tb_memory_swap(struct tb_provider *p, struct tb_memory *m, const struct tb_config *c,
		   const struct cpumask *cpus);
int tb_provider_grow(struct tb_provider *p, u32 slots);
int tb_provider_mmap(struct tb_provider *p, struct vm_area_struct *vma);

/*
 * Return the rings if code other than probes may record now, else NULL.  The caller keeps
 * preemption off while it records: stopping waits for it (tb_recording_detach()).
 */
static __always_inline struct tb_cpu_ring __percpu *tb_provider_live(struct tb_provider *p)
{
	/* the address before the rings: pairs with the release in tb_recording_attach() */
	return smp_load_acquire(&p->live);
}

/* Return the bytes of a ring's header: it is contiguous, so a power of two of pages. */
static inline u32 tb_header_bytes(u32 buffers)
{
	struct tb_ring_header *h;

	return PAGE_SIZE << get_order(struct_size(h, rolling_data_end, buffers));
}

/* bytes before the first buffer of a ring */
static inline u32 tb_provider_ring_header(const struct tb_provider *p)
{
	return tb_header_bytes(p->config.buffers);
}

/* bytes of a ring's buffers */
static inline u64 tb_memory_ring_bytes(const struct tb_config *c)
{
	return (u64)c->buffers * c->elements * TB_ELEMENT_SIZE;
}

/*
 * Bytes from one ring to the next in a mapping, whole pages.  Under read_lock or map_lock, or while
 * the caller's session holds a block; the next one, too.
 */
static inline u64 tb_provider_ring_stride(const struct tb_provider *p)
{
	return tb_provider_ring_header(p) +
	       round_up(tb_memory_ring_bytes(&p->config), PAGE_SIZE);
}

/* offset of the durable buffer in a mapping */
static inline u64 tb_provider_durable_offset(const struct tb_provider *p)
{
	return nr_cpu_ids * tb_provider_ring_stride(p);
}

static inline u32 tb_provider_buffer_bytes(const struct tb_provider *p)
{
	return p->config.elements * TB_ELEMENT_SIZE;
}

/* bytes of the largest payload; the provider has memory */
static inline u32 tb_provider_max_event(const struct tb_provider *p)
{
	return (min_t(u32, p->config.elements - TB_BLOCK_FIRST_ELEMENT, TB_EVENT_ELEMENTS_MAX) -
		1) * TB_ELEMENT_SIZE;
}

#endif /* TB_PROVIDER_PROVIDER_H */
