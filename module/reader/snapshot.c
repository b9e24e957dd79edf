// SPDX-License-Identifier: GPL-2.0-only
/*
 * A snapshot: the reader copies the blocks of a circular recording while the recording goes on.
 *
 * Blocks stay in the ring when the reader acquires and releases them.  At its start, a snapshot
 * pins the newest blocks, so that the writer does not overwrite them.  It never holds more than
 * half of a ring.
 *
 * Callers: session.c and acquire.c, in process context, under tb_provider.read_lock.
 */
#include "recording/recording.h"
#include "snapshot.h"

/*
 * Begin a snapshot.  Flush all rings at once: buffers that writers open later are not part of the
 * snapshot.  The caller also holds cpus_read_lock.
 */
void tb_snapshot_begin(struct tb_provider *p)
{
	unsigned int cpu;

	lockdep_assert_held(&p->read_lock);
	tb_provider_flush_cpus(p, NULL);
	/* before the counts, which get the current time: times of records must not decrease */
	tb_state_drain_queue(p);
	for_each_cpu(cpu, &p->cpus) {
		struct tb_cpu_ring *r = per_cpu_ptr(p->rings, cpu);

		tb_ring_begin_snapshot(r);
		/* half of the blocks that a snapshot may hold */
		tb_ring_pin(r, max(r->nr / 4, 1u));
		tb_state_write_snapshot(p, cpu);
		cond_resched();
	}
	tb_durable_seal(&p->durable);
	WRITE_ONCE(p->snapshot, true);
}

/* End the snapshot in all rings.  The caller has put all blocks back. */
void tb_snapshot_end(struct tb_provider *p)
{
	unsigned int cpu;

	lockdep_assert_held(&p->read_lock);
	for_each_cpu(cpu, &p->cpus)
		tb_ring_end_snapshot(per_cpu_ptr(p->rings, cpu));
	WRITE_ONCE(p->snapshot, false);
}

/* Return true if the reader has not acquired all blocks of the snapshot yet. */
bool tb_snapshot_is_incomplete(struct tb_provider *p)
{
	unsigned int cpu;

	lockdep_assert_held(&p->read_lock);
	for_each_cpu(cpu, &p->cpus)
		if (tb_ring_in_snapshot(per_cpu_ptr(p->rings, cpu)))
			return true;
	return false;
}

/*
 * Return true if a snapshot must not acquire the next block of @r.  It may hold half of the blocks,
 * so that the writer finds buffers to overwrite even if the reader is slow: new events matter more
 * than the copy of old ones.  After the recording has stopped, the snapshot has no limit.
 */
bool tb_snapshot_exceeds(struct tb_provider *p, struct tb_cpu_ring *r)
{
	lockdep_assert_held(&p->read_lock);
	return READ_ONCE(p->state) == TB_STATE_RUNNING && r->held >= max(r->nr / 2, 1u) &&
	       !tb_ring_next_pinned(r);
}

/* Return true if the reader must release a block first; if it has none, acquire unpins one. */
bool tb_snapshot_is_full(struct tb_provider *p, struct tb_cpu_ring *r)
{
	lockdep_assert_held(&p->read_lock);
	return r->held > tb_ring_pinned(r) && tb_snapshot_exceeds(p, r);
}
