// SPDX-License-Identifier: GPL-2.0-only
/*
 * tracebuf export - collect the events of one CPU into a packet, the bundle.
 *
 * Perfetto reads from a bundle first the columns of switches, then those of wake-ups, then events.
 * It keeps this order for entries of the same time.  Where the trace has another order, make_room()
 * writes the bundle and begins a new one.
 */
#include <errno.h>
#include <stdlib.h>
#include "perfetto.h"
#include "tool/command/number.h"

/* A bundle is written when it has this many bytes of events, or spans this time */
#define BUNDLE_BYTES	(64u << 10)
#define BUNDLE_NS	250000000u

#define BUNDLE_EVENT	2	/* FtraceEventBundle.event */
#define EVENT_TIMESTAMP	1	/* FtraceEvent.timestamp */
#define EVENT_PID	2

#define SLOTS		(2 * PF_COMMS_MAX)	/* a power of two */

struct pf_columns {
	Perfetto__Protos__FtraceEventBundle__CompactSched message;
	uint64_t switch_ns[PF_COLUMN_MAX], waking_ns[PF_COLUMN_MAX];
	uint64_t last_switch, last_waking;
	int64_t  prev_state[PF_COLUMN_MAX];
	int32_t  next_pid[PF_COLUMN_MAX], next_prio[PF_COLUMN_MAX];
	int32_t  pid[PF_COLUMN_MAX], target_cpu[PF_COLUMN_MAX], prio[PF_COLUMN_MAX];
	uint32_t next_comm[PF_COLUMN_MAX], comm[PF_COLUMN_MAX], flags[PF_COLUMN_MAX];
	uint32_t nr_switches, nr_wakings, nr_comms;
	char     comms[PF_COMMS_MAX][PF_COMM_MAX];
	char    *comm_list[PF_COMMS_MAX];
	uint16_t slots[SLOTS];		/* number of a name plus 1; 0: free */
};

void pf_ring_free(struct pf_ring *ring)
{
	free(ring->data);
	free(ring->columns);
}

/* ---- columns ---- */

static void columns_fill(struct pf_columns *columns)
{
	Perfetto__Protos__FtraceEventBundle__CompactSched *message = &columns->message;

	perfetto__protos__ftrace_event_bundle__compact_sched__init(message);
	message->n_intern_table = columns->nr_comms;
	message->intern_table = columns->comm_list;
	message->n_switch_timestamp = message->n_switch_prev_state = columns->nr_switches;
	message->n_switch_next_pid = message->n_switch_next_prio = columns->nr_switches;
	message->n_switch_next_comm_index = columns->nr_switches;
	message->switch_timestamp = columns->switch_ns;
	message->switch_prev_state = columns->prev_state;
	message->switch_next_pid = columns->next_pid;
	message->switch_next_prio = columns->next_prio;
	message->switch_next_comm_index = columns->next_comm;
	message->n_waking_timestamp = message->n_waking_pid = columns->nr_wakings;
	message->n_waking_target_cpu = message->n_waking_prio = columns->nr_wakings;
	message->n_waking_comm_index = message->n_waking_common_flags = columns->nr_wakings;
	message->waking_timestamp = columns->waking_ns;
	message->waking_pid = columns->pid;
	message->waking_target_cpu = columns->target_cpu;
	message->waking_prio = columns->prio;
	message->waking_comm_index = columns->comm;
	message->waking_common_flags = columns->flags;
}

static void columns_clear(struct pf_columns *columns)
{
	columns->nr_switches = columns->nr_wakings = columns->nr_comms = 0;
	columns->last_switch = columns->last_waking = 0;
	memset(columns->slots, 0, sizeof(columns->slots));
}

/* The number of a name; PF_COMMS_MAX: the table is full */
static uint32_t comm_number(struct pf_columns *columns, const char *comm)
{
	uint32_t hash = 2166136261u, slot, number;
	const char *at;

	for (at = comm; *at; at++)
		hash = (hash ^ (unsigned char)*at) * 16777619u;
	for (slot = hash % SLOTS; columns->slots[slot]; slot = (slot + 1) % SLOTS) {
		number = columns->slots[slot] - 1u;
		if (!strcmp(columns->comms[number], comm))
			return number;
	}
	if (columns->nr_comms == PF_COMMS_MAX)
		return PF_COMMS_MAX;
	number = columns->nr_comms++;
	columns->slots[slot] = (uint16_t)(number + 1);
	strcpy(columns->comms[number], comm);
	columns->comm_list[number] = columns->comms[number];
	return number;
}

/* ---- the bundle ---- */

static bool is_empty(const struct pf_ring *ring)
{
	return !ring->used && (!ring->columns || (!ring->columns->nr_switches &&
						  !ring->columns->nr_wakings));
}

void pf_ring_flush(struct pf_ring *ring)
{
	Perfetto__Protos__FtraceEventBundle bundle =
		PERFETTO__PROTOS__FTRACE_EVENT_BUNDLE__INIT;
	struct pf_columns *columns = ring->columns;

	if (is_empty(ring) && !ring->lost)
		return;
	PF_SET(&bundle, cpu, ring->cpu);
	bundle.has_lost_events = ring->lost;
	bundle.lost_events = ring->lost;
	if (columns && (columns->nr_switches || columns->nr_wakings)) {
		columns_fill(columns);
		bundle.compact_sched = &columns->message;
	}
	pf_write_bundle(ring->out, &bundle, ring->data, ring->used);
	if (columns)
		columns_clear(columns);
	ring->used = 0;
	ring->lost = false;
	memset(ring->at, 0, sizeof(ring->at));
}

uint64_t pf_ring_time(struct pf_ring *ring, uint64_t ticks, uint64_t ns)
{
	/* rounding must not change the order of events */
	if (ns < ring->last && ticks >= ring->last_ticks)
		ns = ring->last;
	if (ns > ring->last)
		ring->last = ns;
	ring->last_ticks = ticks;
	return ns;
}

/* Make room for an entry of @kind, for events @size bytes; false: no memory */
static bool make_room(struct pf_ring *ring, enum pf_kind kind, uint64_t ns, size_t size)
{
	unsigned int later;

	for (later = kind + 1; later < PF_KINDS; later++)
		if (ring->at[later] && ring->at[later] >= ns)
			break;
	if (later < PF_KINDS || ring->used + size > BUNDLE_BYTES ||
	    (!is_empty(ring) && ns > ring->first && ns - ring->first > BUNDLE_NS))
		pf_ring_flush(ring);
	if (kind == PF_EVENT && !ring->data)
		ring->data = malloc(BUNDLE_BYTES);
	if (kind != PF_EVENT && !ring->columns)
		ring->columns = calloc(1, sizeof(*ring->columns));
	if (kind == PF_EVENT ? !ring->data : !ring->columns)
		return false;
	if (is_empty(ring))
		ring->first = ns;
	if (ns > ring->at[kind])
		ring->at[kind] = ns;
	return true;
}

int pf_ring_body(struct pf_ring *ring, uint64_t ns, uint32_t tid, uint32_t field,
		 const void *body, size_t size)
{
	uint8_t head[8 * PF_VARINT_MAX], *at;
	size_t whole;

	at = pf_put_tag(head, EVENT_TIMESTAMP, PF_VARINT);
	at = pf_put_varint(at, ns);
	at = pf_put_tag(at, EVENT_PID, PF_VARINT);
	at = pf_put_varint(at, tid);
	at = pf_put_tag(at, field, PF_BYTES);
	at = pf_put_varint(at, size);
	whole = (size_t)(at - head) + size;
	if (!make_room(ring, PF_EVENT, ns, whole + 2 * PF_VARINT_MAX))
		return -ENOMEM;
	at = pf_put_data(pf_put_varint(pf_put_tag(ring->data + ring->used,
						  BUNDLE_EVENT, PF_BYTES), whole),
			 head, whole - size);
	at = pf_put_data(at, body, size);
	ring->used = (size_t)(at - ring->data);
	return ring->out->error;
}

int pf_ring_event(struct pf_ring *ring, uint64_t ns, const struct pf_event *event)
{
	return pf_ring_body(ring, ns, event->tid, event->field, event->body, event->size);
}

int pf_ring_switch(struct pf_ring *ring, uint64_t ns, int64_t prev_state, uint32_t pid,
		   int32_t prio, const char *comm)
{
	struct pf_columns *columns = ring->columns;
	uint32_t at;

	if (columns && (columns->nr_switches == PF_COLUMN_MAX ||
			columns->nr_comms == PF_COMMS_MAX || ns < columns->last_switch))
		pf_ring_flush(ring);
	if (!make_room(ring, PF_SWITCH, ns, 0))
		return -ENOMEM;
	columns = ring->columns;
	at = columns->nr_switches++;
	columns->switch_ns[at] = ns - columns->last_switch;
	columns->last_switch = ns;
	columns->prev_state[at] = prev_state;
	columns->next_pid[at] = (int32_t)pid;
	columns->next_prio[at] = prio;
	columns->next_comm[at] = comm_number(columns, comm);
	return ring->out->error;
}

int pf_ring_waking(struct pf_ring *ring, uint64_t ns, uint32_t pid, int32_t cpu, int32_t prio,
		   const char *comm, uint32_t flags)
{
	struct pf_columns *columns = ring->columns;
	uint32_t at;

	if (columns && (columns->nr_wakings == PF_COLUMN_MAX ||
			columns->nr_comms == PF_COMMS_MAX || ns < columns->last_waking))
		pf_ring_flush(ring);
	if (!make_room(ring, PF_WAKING, ns, 0))
		return -ENOMEM;
	columns = ring->columns;
	at = columns->nr_wakings++;
	columns->waking_ns[at] = ns - columns->last_waking;
	columns->last_waking = ns;
	columns->pid[at] = (int32_t)pid;
	columns->target_cpu[at] = cpu;
	columns->prio[at] = prio;
	columns->comm[at] = comm_number(columns, comm);
	columns->flags[at] = flags;
	return ring->out->error;
}
