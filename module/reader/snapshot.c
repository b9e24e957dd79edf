// SPDX-License-Identifier: GPL-2.0-only
/*
 * A snapshot: the reader of a circular recording copies what is in the rings while it goes on.
 *
 * The blocks that a snapshot acquires stay in the ring.  It pins the newest ones at its start, so
 * that the writer does not overwrite them, and never holds more than half of a ring.
 *
 * Callers: session.c and acquire.c, in process context, under tb_provider.read_lock.
 */
#include <linux/cpu.h>

#include "recording/recording.h"
#include "snapshot.h"

/* Blocks that a snapshot holds from its beginning on: half of what it may hold. */
static u32 tb_snapshot_pins(const struct tb_cpu_ring *r)
{
	return max(r->nr / 4, 1u);
}

/*
 * Under cpus_read_lock and read_lock.  All rings are flushed at once: what is recorded in a
 * buffer that is opened afterwards is not for this snapshot.
 */
void tb_snapshot_begin(struct tb_provider *p)
{
	unsigned int cpu;

	tb_provider_flush_cpus(p, NULL);
	for_each_cpu(cpu, &p->cpus) {
		struct tb_cpu_ring *r = per_cpu_ptr(p->rings, cpu);

		tb_ring_begin_snapshot(r);
		tb_ring_pin(r, tb_snapshot_pins(r));
		tb_state_write_snapshot(p, cpu);
		cond_resched();
	}
	tb_durable_seal(&p->durable);
	WRITE_ONCE(p->snapshot, true);
}

/* The rings are as if there had been none.  Nothing is held.  Under read_lock. */
void tb_snapshot_end(struct tb_provider *p)
{
	unsigned int cpu;

	for_each_cpu(cpu, &p->cpus)
		tb_ring_end_snapshot(per_cpu_ptr(p->rings, cpu));
	WRITE_ONCE(p->snapshot, false);
}

/* Is there more to come of the snapshot?  Under read_lock. */
bool tb_snapshot_is_incomplete(struct tb_provider *p)
{
	unsigned int cpu;

	for_each_cpu(cpu, &p->cpus)
		if (tb_ring_in_snapshot(per_cpu_ptr(p->rings, cpu)))
			return true;
	return false;
}

/*
 * Would a snapshot hold more blocks of @r than it may, if it took the next one?  Half of them, so
 * that the writer finds buffers to overwrite however slow the reader is: what is being recorded is
 * not dropped for the sake of a copy of what was.  When the recording has stopped there is none.
 */
bool tb_snapshot_exceeds(struct tb_provider *p, struct tb_cpu_ring *r)
{
	return READ_ONCE(p->state) == TB_STATE_RUNNING && r->held >= max(r->nr / 2, 1u) &&
	       !tb_ring_next_pinned(r);
}

/* So the reader has to give something back first; what is only pinned makes room. */
bool tb_snapshot_is_full(struct tb_provider *p, struct tb_cpu_ring *r)
{
	return r->held > tb_ring_pinned(r) && tb_snapshot_exceeds(p, r);
}
