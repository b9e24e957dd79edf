// SPDX-License-Identifier: GPL-2.0-only
/*
 * tracebuf export - which thread is on a CPU, as Perfetto sees it.
 *
 * Switches and wake-ups are written as columns.  Columns take half the bytes, and are the only form
 * that says whether an interrupt woke the thread.  They do not name the thread that is switched
 * out or that wakes: Perfetto takes the thread of the previous switch.  A switch or wake-up by
 * another thread, or with another name or priority than the previous switch had, is written as an
 * event.
 */
#include <errno.h>
#include <stdlib.h>
#include "plan.h"

/*
 * Switches that were not recorded are added as events:
 *
 *   - at the beginning of the recording, a switch to the thread that is known to be on the CPU
 *   - else before the first event of a CPU, and the first after a gap, a switch to the thread that
 *     is on the CPU.  Other events may be recorded earlier than switches: before the first switch
 *     of any CPU no thread is shown
 *   - where events are missing, or switches are no longer selected, and after a switch to a thread
 *     that was not chosen to be recorded, the thread on the CPU is unknown.  Perfetto cannot
 *     express that, and would show the last thread.  So the CPU switches to a thread "not
 *     recorded", and the state of the last thread is an unknown one
 */

/* Beyond PID_MAX_LIMIT of the kernel, which is 1 << 22 */
#define TID_LOST	0x40000000u
#define COMM_LOST	"not recorded"

#define STATE_IDLE	0x80	/* of the thread "not recorded" after a gap */
#define STATE_UNKNOWN	0x8000	/* Perfetto does not know it, and shows it as unknown */

#define IDLE_PRIO	120

/* Flags TRACE_FLAG_* of the kernel that events have */
#define FLAG_HARDIRQ	0x08
#define FLAG_SOFTIRQ	0x10
#define FLAG_NMI	0x40

/* NULL @next_pid and @pid: neither a switch nor a wake-up */
struct part {
	const struct tb_format_field *prev_pid, *prev_state, *prev_prio, *prev_comm;
	const struct tb_format_field *next_pid, *next_prio, *next_comm;
	const struct tb_format_field *pid, *prio, *comm, *target_cpu;
};

struct pf_sched {
	const struct tb_cursor *cursor;
	bool switches, begun;
	uint64_t begun_at;		/* first switch of any CPU since switches are selected */
	struct part parts[];
};

static const struct tb_format_field *text_in(const struct tb_format *format, const char *name)
{
	const struct tb_format_field *field = tb_format_field(format, name);

	return field && tb_field_is_text(field) ? field : NULL;
}

static void fill_part(struct part *part, const struct tb_format *format)
{
	if (!strcmp(format->name, "sched_switch")) {
		part->prev_pid = export_number_field(format, "prev_pid");
		part->prev_state = export_number_field(format, "prev_state");
		part->prev_prio = export_number_field(format, "prev_prio");
		part->prev_comm = text_in(format, "prev_comm");
		part->next_prio = export_number_field(format, "next_prio");
		part->next_comm = text_in(format, "next_comm");
		if (part->prev_pid && part->prev_state && part->prev_prio && part->prev_comm &&
		    part->next_prio && part->next_comm)
			part->next_pid = export_number_field(format, "next_pid");
	} else if (!strcmp(format->name, "sched_waking")) {
		part->prio = export_number_field(format, "prio");
		part->comm = text_in(format, "comm");
		part->target_cpu = export_number_field(format, "target_cpu");
		if (part->prio && part->comm && part->target_cpu)
			part->pid = export_number_field(format, "pid");
	}
}

struct pf_sched *pf_sched_open(const struct tb_trace *trace, const struct tb_cursor *cursor,
			       const struct pf_plans *plans, bool switches)
{
	unsigned int count = tb_trace_formats(trace), i;
	struct pf_sched *sched;

	sched = calloc(1, sizeof(*sched) + count * sizeof(sched->parts[0]));
	if (!sched)
		return NULL;
	sched->cursor = cursor;
	sched->switches = switches;
	for (i = 0; i < count; i++)
		if (pf_plan_is_known(plans, i))
			fill_part(&sched->parts[i], tb_trace_format_at(trace, i));
	return sched;
}

void pf_sched_close(struct pf_sched *sched)
{
	free(sched);
}

static uint64_t number(const struct tb_view *view, const struct tb_format_field *field)
{
	uint64_t value = 0;

	if (field)
		tb_field_u64(view, field, &value);
	return value;
}

/* Copy the name of @tid from @field of @view, or from the cursor; false: a column cannot hold it */
static bool name_of(const struct pf_sched *sched, const struct tb_view *view, uint32_t cpu,
		    const struct tb_format_field *field, uint32_t tid, char *comm)
{
	const struct tb_task *task;
	const char *text = "";
	size_t length = 0;

	if (field && !tb_field_str(view, field, &text, &length)) {
		if (length >= PF_COMM_MAX)
			return false;
		export_clean(comm, text, length);
		return strlen(comm) == length && !memcmp(comm, text, length);
	}
	if (!tid) {
		snprintf(comm, PF_COMM_MAX, "swapper/%u", cpu);
		return true;
	}
	task = tb_cursor_task(sched->cursor, tid);
	if (task)
		text = task->comm;
	length = strlen(text);
	if (length >= PF_COMM_MAX)
		return false;
	memcpy(comm, text, length + 1);
	return true;
}

/* ---- switches that were not recorded ---- */

/* Write a switch to @to as an event, because a column does not name the thread before */
static int add_switch(struct pf_ring *ring, const struct pf_current *to, int64_t prev_state,
		      uint64_t ns)
{
	Perfetto__Protos__SchedSwitchFtraceEvent message =
		PERFETTO__PROTOS__SCHED_SWITCH_FTRACE_EVENT__INIT;
	uint8_t body[16 * PF_VARINT_MAX];
	struct pf_current from = ring->current;
	size_t size;

	/* before the first switch: the idle thread, which Perfetto does not show */
	if (!from.known) {
		snprintf(from.comm, sizeof(from.comm), "swapper/%u", ring->cpu);
		from.prio = IDLE_PRIO;
	}
	message.prev_comm = from.comm;
	message.has_prev_pid = message.has_prev_prio = message.has_prev_state = 1;
	message.prev_pid = (int32_t)from.tid;
	message.prev_prio = from.prio;
	message.prev_state = prev_state;
	message.next_comm = (char *)to->comm;
	message.has_next_pid = message.has_next_prio = 1;
	message.next_pid = (int32_t)to->tid;
	message.next_prio = to->prio;
	size = perfetto__protos__sched_switch_ftrace_event__pack(&message, body);
	ring->current = *to;
	return pf_ring_body(ring, ns, from.tid, PF_EVENT_SWITCH, body, size);
}

int pf_sched_begin(struct pf_sched *sched, struct pf_ring *ring, uint32_t tid, uint64_t ns)
{
	struct pf_current to = { .known = true, .tid = tid, .prio = IDLE_PRIO };
	const struct tb_task *task = tid ? tb_cursor_task(sched->cursor, tid) : NULL;

	/* Perfetto does not show the idle thread */
	if (!sched->switches || !tid)
		return 0;
	if (task && task->flags & TB_TASK_LISTED)
		to.prio = task->prio;
	if (!name_of(sched, NULL, ring->cpu, NULL, tid, to.comm))
		to.comm[0] = 0;
	return add_switch(ring, &to, 0, ns);
}

int pf_sched_seen(struct pf_sched *sched, struct pf_ring *ring, const struct tb_view *view,
		  uint32_t tid, uint64_t ns)
{
	const struct part *part = view->format ? &sched->parts[view->format->index] : NULL;
	bool is_switch = part && part->next_pid, first = !ring->current.known;
	bool stays = !first && !ring->current.lost;
	struct pf_current to = { .known = true, .prio = IDLE_PRIO };
	const struct tb_task *task;

	if (is_switch && !sched->begun) {
		sched->begun = true;
		sched->begun_at = ns;
	}
	/* the first switch names the thread before it; only a gap before has an end to show */
	if (!sched->begun || !sched->switches || (is_switch && first && !ring->from))
		return 0;
	if (is_switch)
		tid = (uint32_t)number(view, part->prev_pid);
	if (stays && (tid == ring->current.tid || !is_switch))
		return 0;
	task = tid ? tb_cursor_task(sched->cursor, tid) : NULL;
	to.tid = tid;
	if (task && task->flags & TB_TASK_LISTED)
		to.prio = task->prio;
	if (is_switch)
		to.prio = (int32_t)number(view, part->prev_prio);
	if (!name_of(sched, view, ring->cpu, is_switch ? part->prev_comm : NULL, tid, to.comm))
		to.comm[0] = 0;
	if (stays)
		return add_switch(ring, &to, ring->current.tid ? STATE_UNKNOWN : 0, ns);
	if (ring->from && ring->from < ns)
		ns = ring->from > sched->begun_at ? ring->from : sched->begun_at;
	return add_switch(ring, &to, first ? 0 : STATE_IDLE, ns);
}

int pf_sched_lost(struct pf_sched *sched, struct pf_ring *ring, uint64_t first, uint64_t last)
{
	struct pf_current to = { .tid = TID_LOST + ring->cpu, .known = true, .lost = true,
				 .prio = IDLE_PRIO, .comm = COMM_LOST };
	int result = 0;

	if (sched->switches && ring->current.known && !ring->current.lost)
		result = add_switch(ring, &to, ring->current.tid ? STATE_UNKNOWN : 0, first);
	ring->from = last;
	return result;
}

int pf_sched_unknown(struct pf_sched *sched, struct pf_ring *ring, uint64_t ns)
{
	struct pf_current *current = &ring->current;
	int result;

	if (!current->known) {
		*current = (struct pf_current){ .known = true, .prio = IDLE_PRIO };
		snprintf(current->comm, sizeof(current->comm), "swapper/%u", ring->cpu);
	}
	result = pf_sched_lost(sched, ring, ns, ns);
	ring->from = 0;
	return result;
}

void pf_sched_selected(struct pf_sched *sched, bool selected)
{
	sched->begun &= selected;
}

/* ---- columns ---- */

static int take_switch(const struct pf_sched *sched, struct pf_ring *ring,
		       const struct part *part, const struct tb_view *view, uint64_t ns)
{
	const struct pf_current *current = &ring->current;
	char prev[PF_COMM_MAX], next[PF_COMM_MAX];
	uint32_t pid = (uint32_t)number(view, part->next_pid);

	if (!current->known || number(view, part->prev_pid) != current->tid ||
	    (int32_t)number(view, part->prev_prio) != current->prio ||
	    !name_of(sched, view, ring->cpu, part->prev_comm, current->tid, prev) ||
	    strcmp(prev, current->comm) ||
	    !name_of(sched, view, ring->cpu, part->next_comm, pid, next))
		return 0;
	return pf_ring_switch(ring, ns, (int64_t)number(view, part->prev_state), pid,
			      (int32_t)number(view, part->next_prio), next) ? : 1;
}

static int take_waking(const struct pf_sched *sched, struct pf_ring *ring,
		       const struct part *part, const struct tb_view *view, uint64_t ns)
{
	uint32_t pid = (uint32_t)number(view, part->pid), flags = 0;
	int32_t prio = (int32_t)number(view, part->prio);
	char comm[PF_COMM_MAX];

	if (!ring->current.known || ring->current.tid != view->tid || prio < 0 ||
	    !name_of(sched, view, ring->cpu, part->comm, pid, comm))
		return 0;
	if (view->context & TB_CONTEXT_HARDIRQ)
		flags |= FLAG_HARDIRQ;
	if (view->context & TB_CONTEXT_SOFTIRQ)
		flags |= FLAG_SOFTIRQ;
	if (view->context & TB_CONTEXT_NMI)
		flags |= FLAG_NMI;
	return pf_ring_waking(ring, ns, pid, (int32_t)number(view, part->target_cpu), prio, comm,
			      flags) ? : 1;
}

int pf_sched_take(struct pf_sched *sched, struct pf_ring *ring, const struct tb_view *view,
		  uint64_t ns)
{
	const struct part *part = &sched->parts[view->format->index];

	/* a column refers to the previous switch */
	if (!sched->switches)
		return 0;
	if (part->next_pid)
		return take_switch(sched, ring, part, view, ns);
	if (part->pid)
		return take_waking(sched, ring, part, view, ns);
	return 0;
}

void pf_sched_switched(struct pf_sched *sched, struct pf_ring *ring, const struct tb_view *view)
{
	const struct part *part = &sched->parts[view->format->index];
	struct pf_current *current = &ring->current;

	if (!part->next_pid)
		return;
	current->known = true;
	current->lost = false;
	current->tid = (uint32_t)number(view, part->next_pid);
	current->prio = (int32_t)number(view, part->next_prio);
	if (!name_of(sched, view, ring->cpu, part->next_comm, current->tid, current->comm))
		current->comm[0] = 0;
}
