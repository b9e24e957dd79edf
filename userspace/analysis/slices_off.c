// SPDX-License-Identifier: GPL-2.0-only
/*
 * Slices of times off the CPU: SLICE_OFF.
 *
 * A switch begins one, and the switch back ends it.  slices_before() finds out others, of which the
 * beginning is not in the trace.  One whose end is not in the trace lasts as long as that is
 * certain.
 */
#include "slices_parts.h"

bool slices_may_have_run(const struct slices *slices, const struct thread *thread, uint64_t ns)
{
	return thread->woken_at < slices->switches_since ||
	       lost_since(slices, thread->woken_losses, thread->woken_at, ns);
}

void slices_note_waker(struct slice *slice, const struct thread *thread)
{
	slice->number = thread->waker;
	slice->context = thread->waker_context;
	slice->waker_cpu = thread->waker_cpu;
	memcpy(slice->waker_comm, thread->waker_comm, sizeof(slice->waker_comm));
}

void slices_end_off(struct slices *slices, struct thread *thread, uint32_t tid,
		    const struct tb_view *view, uint64_t ns, enum slice_doubt doubt)
{
	struct slice off;

	slice_begin(&off, SLICE_OFF, view, thread->out_at);
	off.tid = tid;
	off.result = thread->state;
	off.has_result = thread->has_state;
	if (thread->woken && thread->woken_at <= ns && doubt != SLICE_LOSSY &&
	    !slices_may_have_run(slices, thread, ns)) {
		slices_note_waker(&off, thread);
		off.has_waited = true;
		/* it may have been woken before it had left the CPU */
		off.waited = duration(thread->woken_at > thread->out_at ?
				      thread->woken_at : thread->out_at, ns);
	}
	thread->out = false;
	slice_end(slices, &off, ns, doubt);
}

/* Until when, @ns or before, a thread is off the CPU that was so at @since, with @losses then */
static uint64_t certain_until(const struct slices *slices, uint64_t since, uint64_t losses,
			      uint64_t ns)
{
	const struct spans *missing = slices->missing;
	uint64_t certain = ns;
	unsigned int i;
	size_t at;

	if (missing) {
		at = spans_from(missing, since);
		if (at < missing->count && missing->list[at].first < certain)
			certain = missing->list[at].first;
		for (i = 0; i < missing->nr_cpus; i++)
			if (missing->cpus[i].any && missing->cpus[i].end < certain)
				certain = missing->cpus[i].end;
	} else if (lost_since(slices, losses, since, ns)) {
		certain = since;
	}
	return certain > since ? certain : since;
}

void slices_stop_off(struct slices *slices, struct thread *thread, uint32_t tid, uint64_t ns)
{
	const struct tb_view none = { .cpu = TB_RING_USER };

	slices_end_off(slices, thread, tid, &none,
		       certain_until(slices, thread->out_at, thread->out_losses, ns),
		       SLICE_UNENDED);
}

/* The time since when the trace has the switches of all CPUs, at @ns; UINT64_MAX: it has not */
static uint64_t complete_since(const struct slices *slices, uint64_t ns)
{
	const struct spans *missing = slices->missing;
	size_t at = spans_from(missing, ns);
	uint64_t since = later(slices->begin, later(slices->switches_since,
						    slices->unruled_from[FORM_SWITCH]));

	if (!missing->all_cpus || ns > slices->end ||
	    (at < missing->count && missing->list[at].first <= ns))
		return UINT64_MAX;
	if (at)
		since = later(since, missing->list[at - 1].last);
	return since <= ns ? since : UINT64_MAX;
}

static bool runs_now(const struct slices *slices, uint32_t tid)
{
	unsigned int i;

	for (i = 0; i < slices->nr_cpus; i++)
		if (slices->cpus[i] && slices->cpus[i]->running && slices->cpus[i]->run.tid == tid)
			return true;
	return false;
}

void slices_note_asleep(struct slices *slices, struct thread *thread, uint32_t tid, uint64_t ns)
{
	uint64_t since;

	/* without gaps it is known already */
	if (!slices->before || (thread->out && !slices->missing->count) ||
	    !slices_sees(slices, tid))
		return;
	since = complete_since(slices, ns);
	if (thread->asleep_since != since)
		thread->asleep_since = (thread->out && thread->out_at >= since) ||
				       runs_now(slices, tid) ? UINT64_MAX : since;
}

static uint64_t before_since(const struct thread *thread)
{
	return thread->asleep_since < thread->woken_at ? thread->asleep_since : thread->woken_at;
}

uint64_t slices_off_since(const struct slices *slices, const struct thread *thread, uint32_t tid,
			  uint64_t ns)
{
	uint64_t since;

	if (!slices->before || !tid || !slices_sees(slices, tid))
		return ns;
	if (thread && (thread->woken ? slices_may_have_run(slices, thread, ns) : thread->unseen))
		return ns;
	if (thread && thread->woken) {
		since = before_since(thread);
	} else {
		since = later(complete_since(slices, ns), slices->wakeups_from);
		since = later(since, later(slices->unruled_from[FORM_WAKING],
					   slices->unruled_from[FORM_NEW]));
	}
	return since < ns ? since : ns;
}

void slices_end_waiting(struct slices *slices, uint32_t tid, const struct tb_view *view,
			uint64_t since, uint64_t ns)
{
	struct slice off;

	slice_begin(&off, SLICE_OFF, view, since);
	off.tid = tid;
	off.has_result = off.before = true;
	slice_end(slices, &off, ns, SLICE_WHOLE);
}

void slices_end_before(struct slices *slices, const struct thread *thread, uint32_t tid,
		       const struct tb_view *view, uint64_t ns, enum slice_doubt doubt)
{
	bool asleep = thread->asleep_since < thread->woken_at;
	struct slice off;

	slice_begin(&off, SLICE_OFF, view, before_since(thread));
	off.tid = tid;
	off.has_result = !asleep;
	off.is_new = !asleep && thread->is_new;
	off.has_waited = off.before = true;
	off.waited = duration(thread->woken_at, ns);
	slices_note_waker(&off, thread);
	slice_end(slices, &off, ns, doubt);
}

bool slices_all_run(const struct slices *slices)
{
	const struct tb_init *init = tb_trace_init(slices->trace);
	unsigned int i;

	for (i = 0; init && i < init->nr_cpus; i++)
		if (i >= slices->nr_cpus || !slices->cpus[i] || !slices->cpus[i]->running)
			return false;
	return init && slices->missing;
}

/* A thread that was woken may have been on a CPU, about to sleep: then it went on running there */
static bool runs_at_end(const struct slices *slices, uint32_t tid)
{
	unsigned int i;

	for (i = 0; i < slices->nr_cpus; i++)
		if (slices->cpus[i] && slices->cpus[i]->run.tid == tid)
			return true;
	return false;
}

void slices_finish_off(struct slices *slices, struct thread *thread, uint32_t tid, bool all_run)
{
	const struct tb_view none = { .cpu = TB_RING_USER };

	if (thread->out)
		slices_stop_off(slices, thread, tid, slices->last);
	else if (slices->before && all_run && thread->woken && slices_sees(slices, tid) &&
		 !runs_at_end(slices, tid) &&
		 !slices_may_have_run(slices, thread, thread->woken_at))
		slices_end_before(slices, thread, tid, &none,
				  certain_until(slices, thread->woken_at, thread->woken_losses,
						slices->last), SLICE_UNENDED);
}
