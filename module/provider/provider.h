/* SPDX-License-Identifier: GPL-2.0-only */
/*
 * A provider: a source of events with its own rings, durable buffer, mode
 * and policy, independent of every other.
 *
 * Locks, outermost first:
 *	registry lock	which providers there are, who uses them (recording/registry.c)
 *	lock		configuration, start, stop, which events are enabled
 *	lock of producers, and in it that of each channel: user-space writers
 *			(programs/channel.h); not held together with those that follow
 *	batch		acquire and release, until user space knows what it has
 *	cpus_read_lock	where rings of other CPUs are flushed
 *	read_lock	the reader's side of the rings, who the reader is, the durable buffer
 *	map_lock	the memory as against mappings of it; taken under the
 *			mmap lock, so nothing may fault under it - nor under
 *			read_lock, which is held around it
 * The writers' side of the rings takes none.
 */
#ifndef TB_PROVIDER_H
#define TB_PROVIDER_H

#include <linux/cpumask.h>
#include <linux/irq_work.h>
#include <linux/kref.h>
#include <linux/list.h>
#include <linux/mutex.h>
#include <linux/tracebuf.h>
#include <linux/wait.h>
#include <linux/workqueue.h>
#include <linux/xarray.h>

#include "durable.h"
#include "machine/clock.h"
#include "machine/contiguous.h"
#include "machine/counters.h"
#include "probe/trigger.h"
#include "programs/channels.h"
#include "ring/ring.h"
#include "ring_header.h"
#include "thread_queue.h"

struct tb_thread_set;
struct tb_session;

/* threads that ended last; many more than there can be on their way out at once */
#define TB_EXITS	256

/**
 * struct tb_provider - one provider
 * @rings: one per possible CPU; those not in @cpus are all zero
 * @live: @rings while others may record (api.c), else NULL; see tb_recording_attach()
 * @node: in the list of providers
 * @ref: open files, modules, and the list
 * @files: open files that are for it
 * @users: times modules have found it
 * @flags: TB_PROVIDER_*
 * @may_reserve: its buffers may be in reserved memory (machine/reserved.c)
 * @hotplug: to be told of CPUs that go
 * @cpus: whose events it records
 * @mem: memory of the ring of CPU n
 * @headers: header of the ring of CPU n, part of the mapping
 * @allocated: the memory is there
 * @charged: bytes that count for tb_memory_percent; under read_lock
 * @starting: the state is RUNNING, but not all that it needs is attached; under read_lock
 * @reason: enum tb_reason, why it is not running
 * @threads: threads on their way to @durable
 * @exits: the threads that ended last, by number modulo TB_EXITS
 * @nr_exits: how many ended
 * @durable_lost: records that found no room there
 * @threads_lost: what is not known of threads, as told to the reader
 * @forgotten: see tb_threads_lost.before, for the next reader
 * @track_time: when @track was emptied last, trace clock
 * @resync: records of threads were lost since all threads were told of
 * @resync_after: jiffies: not again before
 * @end_time: when the recording ended, trace clock
 * @kick: @track fills
 * @durable_work: empties it, makes room
 * @stop_work: stops the recording, because of @reason
 * @moment: changes of the selection so far (select/select.c)
 * @probes: struct tb_probe, by the number of the event; of those that have ever been chosen
 * @pids: whose events are recorded, or NULL: everybody's
 * @counters: performance counters that rules ask for
 * @counter_names: of those in the durable buffer; under read_lock
 * @pending_rings: rings without buffers, where events go that rules are about (probe/pending.c)
 * @kept_out: events kept out by @pids, and of those of its events that are counted nowhere else
 * @all: in the list of all that have not been freed
 * @tracking: the probes that follow threads are attached
 * @trigger: an event that freezes the rings
 * @channels: what it takes from user-space writers
 * @looked: RCU's state at the last check for damage
 * @snapshot: the reader takes a snapshot; under read_lock
 * @saved: CPUs whose ring has a save channel (reader/save_channel.c); under read_lock
 * @want_wake: somebody waits, see tb_ring_notify()
 * @wake: wakes them
 * @wake_later: the same where interrupts cannot
 */
struct tb_provider {
	struct tb_cpu_ring __percpu *rings;
	struct tb_cpu_ring __percpu *live;

	struct list_head node;
	struct list_head all;
	struct kref ref;
	void (*release)(struct tb_provider *p);
	u32 files;
	u32 users;
	u32 flags;
	bool may_reserve;
	struct hlist_node hotplug;

	struct mutex lock;	/* see above, outermost but the registry's */
	char name[TB_PROVIDER_NAME_MAX];
	u32 id;
	u32 state;
	bool starting;
	u32 reason;
	struct cpumask cpus;
	struct tb_config config;
	struct tb_clock clock;
	u64 generation;
	u64 moment;
	struct xarray probes;
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

	struct mutex batch;	/* acquire and release, until user space knows what it has */
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
	struct tb_mem *mem;
	struct tb_mem *headers;
	u32 mappings;

	u32 want_wake;
	struct irq_work wake;
	struct work_struct wake_later;
	wait_queue_head_t wait;
};

/* of the machine's memory, what the buffers of all providers may take */
extern u32 tb_memory_percent;

unsigned int tb_provider_cpu(struct tb_provider *p, bool spare);
bool tb_provider_reader_holds(struct tb_provider *p);

/* memory.c and mmap.c */
int tb_memory_charge(struct tb_provider *p, u64 bytes, bool tell);
int tb_provider_allocate(struct tb_provider *p, const struct tb_config *c,
			 const struct cpumask *cpus);
int tb_provider_grow(struct tb_provider *p, u32 slots);
void tb_provider_free(struct tb_provider *p);
int tb_provider_mmap(struct tb_provider *p, struct vm_area_struct *vma);
u64 tb_provider_ring_stride(const struct tb_provider *p);
u64 tb_provider_durable_offset(const struct tb_provider *p);

/*
 * The rings, if others than probes may record there now; else NULL.  Who records keeps preemption
 * off: stopping waits for those who have seen the rings (tb_recording_detach()).
 */
static __always_inline struct tb_cpu_ring __percpu *tb_provider_live(struct tb_provider *p)
{
	/* before anything that is in them: pairs with the release in tb_recording_attach() */
	return smp_load_acquire(&p->live);
}

/* bytes before the first buffer of a ring */
static inline u32 tb_provider_ring_header(const struct tb_provider *p)
{
	return tb_header_bytes(p->config.buffers);
}

static inline u32 tb_provider_buffer_bytes(const struct tb_provider *p)
{
	return p->config.elements * TB_ELEMENT_SIZE;
}

/* the largest payload that the buffers, which are there, can hold */
static inline u32 tb_provider_max_event(const struct tb_provider *p)
{
	return (min_t(u32, p->config.elements - TB_BLOCK_FIRST_ELEMENT, TB_EVENT_ELEMENTS_MAX) -
		1) * TB_ELEMENT_SIZE;
}

#endif /* TB_PROVIDER_H */
