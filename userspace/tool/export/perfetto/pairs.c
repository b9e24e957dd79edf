// SPDX-License-Identifier: GPL-2.0-only
/*
 * tracebuf export - slices that Perfetto draws from one event to another, and their missing ends.
 *
 * Perfetto pairs some events: of system calls, interrupts, timers.  The first event opens a slice
 * on a track, the second closes the innermost slice.  Without its end a slice stays open, and later
 * slices are drawn below it; an end without a beginning closes another slice.  So this part
 * follows the open slices of each track, and writes the ends that are missing.
 */
#include <errno.h>
#include <stdlib.h>
#include "plan.h"
#include "analysis/map.h"

/*
 * When slices end, and ends are not written as such:
 *
 *   - a gap of a CPU ends the open slices of the CPU, and of the thread on it
 *   - another thread may have run in the gap.  Its slices stay open, in doubt: if a later event
 *     contradicts them, they end where the gap began
 *   - the exit of a thread ends its slices
 *   - an end without a beginning that would close another slice is written as an event that
 *     Perfetto does not know
 *
 * A missing end is written as an event of the kind that ends the slice, with only its key.  An
 * interrupt is ended by local_timer_exit, because irq_handler_exit without a result would be shown
 * as "unhandled".
 */
#define DEPTH_MAX	8	/* nested slices; deeper ones are written as plain events */
#define REQUESTS_MAX	128	/* open requests of a device */
#define DEAD		0x30	/* EXIT_DEAD, EXIT_ZOMBIE in prev_state */

enum scope { SCOPE_IRQ, SCOPE_SOFTIRQ, SCOPE_HRTIMER, SCOPE_NAPI, CPU_SCOPES,
	     SCOPE_THREAD = CPU_SCOPES, SCOPE_DEVICE };

static const struct pair {
	const char *begin, *end;
	const char *closer;		/* the event to write for a missing end; NULL: @end */
	const char *key;		/* a field that both have, NULL: none */
	enum scope scope;
	bool alone;			/* slices of this kind are not nested */
} pairs[] = {
	{ "sys_enter", "sys_exit", NULL, "id", SCOPE_THREAD, true },
	{ "irq_handler_entry", "irq_handler_exit", "local_timer_exit", "irq", SCOPE_IRQ, false },
	{ "local_timer_entry", "local_timer_exit", NULL, "vector", SCOPE_IRQ, true },
	{ "softirq_entry", "softirq_exit", NULL, "vec", SCOPE_SOFTIRQ, true },
	{ "hrtimer_expire_entry", "hrtimer_expire_exit", NULL, "hrtimer", SCOPE_HRTIMER, false },
	{ "napi_gro_receive_entry", "napi_gro_receive_exit", NULL, NULL, SCOPE_NAPI, true },
	{ "workqueue_execute_start", "workqueue_execute_end", NULL, "work", SCOPE_THREAD, true },
	{ "mm_vmscan_direct_reclaim_begin", "mm_vmscan_direct_reclaim_end", NULL, NULL,
	  SCOPE_THREAD, true },
	{ "mm_vmscan_memcg_reclaim_begin", "mm_vmscan_memcg_reclaim_end", NULL, NULL,
	  SCOPE_THREAD, true },
	{ "mm_shrink_slab_start", "mm_shrink_slab_end", NULL, NULL, SCOPE_THREAD, true },
	{ "dma_fence_wait_start", "dma_fence_wait_end", NULL, NULL, SCOPE_THREAD, true },
	{ "block_io_start", "block_io_done", NULL, "sector", SCOPE_DEVICE, false },
};

#define NR_PAIRS (sizeof(pairs) / sizeof(pairs[0]))

/*
 * @cpu: where the slice began.  A missing end is written there, too: Perfetto keeps the order of
 *	events with the same time only within a CPU
 * @doubt: the first gap since the slice began; 0: there was none
 */
struct open {
	unsigned int pair;
	uint32_t cpu;
	uint64_t key, begin, doubt;
};

/* Open slices of a track, the innermost last; @sure: the track is in the list pf_pairs.sure */
struct stack {
	uint32_t number;		/* thread, device */
	uint32_t depth, room;
	bool sure;
	struct stack *next;
	struct open open[];
};

/* Numbers of fields for a missing end */
struct closer {
	uint32_t field, key, dev;
};

/* The meaning of a format for pairs */
struct part {
	bool is_begin, is_end, is_switch, is_exit;
	unsigned int pair;
	const struct tb_format_field *key, *dev;
	const struct tb_format_field *tid, *state;
};

struct pf_pairs {
	struct pf_ring *rings;
	struct closer closers[NR_PAIRS];
	struct map threads, devices;
	struct stack *sure;		/* tracks with slices that are not in doubt */
	struct stack **cpus;		/* CPU_SCOPES for each CPU */
	unsigned int nr_cpus;
	bool switches;
	struct part parts[];
};

static uint32_t field_in(const ProtobufCMessageDescriptor *message, const char *name)
{
	const ProtobufCFieldDescriptor *field = name && message ?
		protobuf_c_message_descriptor_get_field_by_name(message, name) : NULL;

	return field ? field->id : 0;
}

static void fill_closer(struct closer *closer, const struct pair *pair)
{
	const char *name = pair->closer ? pair->closer : pair->end;
	const ProtobufCFieldDescriptor *field =
		protobuf_c_message_descriptor_get_field_by_name(PF_EVENT_MESSAGE, name);

	closer->field = field->id;
	closer->key = field_in(field->descriptor, pair->key);
	closer->dev = pair->scope == SCOPE_DEVICE ? field_in(field->descriptor, "dev") : 0;
}

static void fill_part(struct part *part, const struct tb_format *format)
{
	unsigned int i;

	if (!strcmp(format->name, "sched_switch")) {
		part->tid = tb_format_field(format, "prev_pid");
		part->state = tb_format_field(format, "prev_state");
		part->is_switch = part->tid;
	}
	part->is_exit = !strcmp(format->name, "sched_process_exit");
	for (i = 0; i < NR_PAIRS; i++) {
		part->is_begin = !strcmp(format->name, pairs[i].begin);
		part->is_end = !strcmp(format->name, pairs[i].end);
		if (part->is_begin || part->is_end)
			break;
	}
	if (i == NR_PAIRS)
		return;
	part->pair = i;
	if (pairs[i].key)
		part->key = tb_format_field(format, pairs[i].key);
	if (pairs[i].scope == SCOPE_DEVICE)
		part->dev = tb_format_field(format, "dev");
	if ((pairs[i].key && !export_is_number(part->key)) ||
	    (pairs[i].scope == SCOPE_DEVICE && !export_is_number(part->dev)))
		part->is_begin = part->is_end = false;
}

struct pf_pairs *pf_pairs_open(const struct tb_trace *trace, const struct pf_plans *plans,
			       struct pf_ring *rings, unsigned int nr_cpus, bool switches)
{
	unsigned int count = tb_trace_formats(trace), i;
	struct pf_pairs *found;

	found = calloc(1, sizeof(*found) + count * sizeof(found->parts[0]));
	if (!found)
		return NULL;
	found->cpus = calloc((size_t)nr_cpus * CPU_SCOPES, sizeof(found->cpus[0]));
	if (!found->cpus) {
		free(found);
		return NULL;
	}
	found->rings = rings;
	found->nr_cpus = nr_cpus;
	found->switches = switches;
	for (i = 0; i < NR_PAIRS; i++)
		fill_closer(&found->closers[i], &pairs[i]);
	for (i = 0; i < count; i++)
		if (pf_plan_is_known(plans, i))
			fill_part(&found->parts[i], tb_trace_format_at(trace, i));
	return found;
}

void pf_pairs_close(struct pf_pairs *found)
{
	size_t i;

	if (!found)
		return;
	for (i = 0; i < (size_t)found->nr_cpus * CPU_SCOPES; i++)
		free(found->cpus[i]);
	free(found->cpus);
	map_free(&found->threads, free);
	map_free(&found->devices, free);
	free(found);
}

/* ---- tracks ---- */

/* NULL: ENOMEM */
static struct stack *stack_at(void **slot, uint32_t number, uint32_t room)
{
	struct stack *stack = slot ? *slot : NULL;

	if (stack || !slot)
		return stack;
	stack = *slot = calloc(1, sizeof(*stack) + room * sizeof(stack->open[0]));
	if (stack) {
		stack->number = number;
		stack->room = room;
	}
	return stack;
}

static struct stack *stack_of(struct pf_pairs *found, const struct part *part,
			      const struct tb_view *view, uint32_t tid)
{
	enum scope scope = pairs[part->pair].scope;
	uint64_t dev = 0;

	if (scope == SCOPE_THREAD)
		return stack_at(map_at(&found->threads, tid), tid, DEPTH_MAX);
	if (scope == SCOPE_DEVICE) {
		tb_field_u64(view, part->dev, &dev);
		return stack_at(map_at(&found->devices, dev), (uint32_t)dev, REQUESTS_MAX);
	}
	return stack_at((void **)&found->cpus[view->cpu * CPU_SCOPES + scope], 0, DEPTH_MAX);
}

/* Position from 1 of the innermost slice of @pair with @key, or with @any key; 0: none is open */
static uint32_t find(const struct stack *stack, unsigned int pair, uint64_t key, bool any)
{
	uint32_t at = stack->depth;

	while (at && (stack->open[at - 1].pair != pair ||
		      (!any && stack->open[at - 1].key != key)))
		at--;
	return at;
}

/* ---- ends that were not recorded ---- */

static int write_end(struct pf_pairs *found, const struct stack *stack, const struct open *open,
		     uint64_t ns)
{
	const struct closer *closer = &found->closers[open->pair];
	bool thread = pairs[open->pair].scope == SCOPE_THREAD;
	uint8_t body[4 * PF_VARINT_MAX], *at = body;

	if (closer->key)
		at = pf_put_varint(pf_put_tag(at, closer->key, PF_VARINT), open->key);
	if (closer->dev)
		at = pf_put_varint(pf_put_tag(at, closer->dev, PF_VARINT), stack->number);
	return pf_ring_body(&found->rings[open->cpu], ns > open->begin ? ns : open->begin,
			    thread ? stack->number : 0, closer->field, body, (size_t)(at - body));
}

/* End all slices but the outermost @keep at @ns; @ns 0: at their doubt, else their beginning */
static int end_above(struct pf_pairs *found, struct stack *stack, uint32_t keep, uint64_t ns)
{
	const struct open *open;
	int result = 0;

	while (!result && stack->depth > keep) {
		open = &stack->open[--stack->depth];
		result = write_end(found, stack, open, ns ? ns : open->doubt);
	}
	return result;
}

/* ---- events ---- */

static int begin(struct pf_pairs *found, const struct part *part, struct stack *stack,
		 uint64_t key, uint32_t cpu, uint64_t ns)
{
	const struct pair *pair = &pairs[part->pair];
	uint32_t at = find(stack, part->pair, key, pair->alone);
	int result = 0;

	if (at && pair->scope == SCOPE_DEVICE) {
		result = write_end(found, stack, &stack->open[at - 1],
				   stack->open[at - 1].doubt);
		stack->open[at - 1] = stack->open[--stack->depth];
	} else if (at) {
		result = end_above(found, stack, at - 1, 0);
	}
	if (result)
		return result;
	if (stack->depth == stack->room)
		return PF_PAIR_PLAIN;
	stack->open[stack->depth++] = (struct open){ part->pair, cpu, key, ns, 0 };
	if (!stack->sure && pair->scope >= CPU_SCOPES) {
		stack->sure = true;
		stack->next = found->sure;
		found->sure = stack;
	}
	return PF_PAIR_KNOWN;
}

static int end(struct pf_pairs *found, const struct part *part, struct stack *stack, uint64_t key)
{
	const struct pair *pair = &pairs[part->pair];
	uint32_t at = find(stack, part->pair, key, !pair->key);
	int result;

	if (!at && pair->scope == SCOPE_THREAD && pair->key) {
		/* the thread returned from another call, so it is in none of the open ones */
		at = find(stack, part->pair, key, true);
		result = at ? end_above(found, stack, at - 1, 0) : 0;
		return result ? result : PF_PAIR_KNOWN;
	}
	/* an end on an empty track is harmless, but a thread's track may have a program's slices */
	if (!at)
		return stack->depth || pair->scope == SCOPE_THREAD ? PF_PAIR_PLAIN :
								    PF_PAIR_KNOWN;
	if (pair->scope == SCOPE_DEVICE) {
		stack->open[at - 1] = stack->open[--stack->depth];
		return PF_PAIR_KNOWN;
	}
	result = end_above(found, stack, at, 0);
	stack->depth = at - 1;
	return result ? result : PF_PAIR_KNOWN;
}

static int end_thread(struct pf_pairs *found, uint32_t tid, uint64_t ns)
{
	struct stack *stack = map_get(&found->threads, tid);

	return stack ? end_above(found, stack, 0, ns) : 0;
}

static int take_switch(struct pf_pairs *found, const struct part *part,
		       const struct tb_view *view, uint64_t ns)
{
	struct stack *irqs = found->cpus[view->cpu * CPU_SCOPES + SCOPE_IRQ];
	uint64_t tid, state = 0;
	int result = 0;

	/* a CPU does not switch in an interrupt, so the end of the interrupt is missing */
	if (irqs)
		result = end_above(found, irqs, 0, 0);
	if (!result && part->state && !tb_field_u64(view, part->state, &state) && state & DEAD &&
	    !tb_field_u64(view, part->tid, &tid))
		result = end_thread(found, (uint32_t)tid, ns);
	return result;
}

int pf_pairs_take(struct pf_pairs *found, const struct tb_view *view, uint32_t tid, uint64_t ns)
{
	const struct part *part = &found->parts[view->format->index];
	struct stack *stack;
	uint64_t key = 0;
	int result = 0;

	if (part->is_switch)
		result = take_switch(found, part, view, ns);
	else if (part->is_exit && !found->switches)
		result = end_thread(found, tid, ns);
	if (result || !(part->is_begin || part->is_end))
		return result ? result : PF_PAIR_KNOWN;
	if (part->key && tb_field_u64(view, part->key, &key))
		return PF_PAIR_PLAIN;
	stack = stack_of(found, part, view, tid);
	if (!stack)
		return -ENOMEM;
	return part->is_begin ? begin(found, part, stack, key, view->cpu, ns) :
				end(found, part, stack, key);
}

/* Put slices that began before @last in doubt from @ns on; true: others are still certain */
static bool put_in_doubt(struct stack *stack, uint64_t ns, uint64_t last)
{
	bool sure = false;
	uint32_t i;

	for (i = 0; i < stack->depth; i++) {
		if (stack->open[i].doubt)
			continue;
		if (stack->open[i].begin >= last)
			sure = true;
		else
			stack->open[i].doubt = ns > stack->open[i].begin ? ns :
					       stack->open[i].begin;
	}
	return sure;
}

int pf_pairs_lost(struct pf_pairs *found, uint32_t cpu, uint32_t tid, uint64_t ns, uint64_t last)
{
	struct stack *stack = tid ? map_get(&found->threads, tid) : NULL, **list = &found->sure;
	unsigned int scope;
	int result = 0;

	for (scope = 0; !result && scope < CPU_SCOPES; scope++)
		if (found->cpus[cpu * CPU_SCOPES + scope])
			result = end_above(found, found->cpus[cpu * CPU_SCOPES + scope], 0, ns);
	/* a call that began after the loss began on another CPU */
	if (!result && stack && stack->depth && stack->open[stack->depth - 1].begin < last)
		result = end_above(found, stack, 0, ns);
	while ((stack = *list)) {
		if (put_in_doubt(stack, ns, last)) {
			list = &stack->next;
			continue;
		}
		*list = stack->next;
		stack->sure = false;
	}
	return result;
}

/* The thread runs in user space, so it has left calls that are in doubt */
int pf_pairs_writes(struct pf_pairs *found, uint32_t tid)
{
	struct stack *stack = map_get(&found->threads, tid);
	uint32_t at;

	for (at = 0; stack && at < stack->depth; at++)
		if (stack->open[at].doubt)
			return end_above(found, stack, at, 0);
	return 0;
}

static int finish(struct pf_pairs *found, const struct map *map)
{
	struct stack *stack;
	int result = 0;
	size_t i;
	uint32_t at;

	for (i = 0; !result && i < map->count; i++) {
		stack = map->entries[i].value;
		for (at = 0; stack && at < stack->depth; at++)
			if (stack->open[at].doubt)
				break;
		if (stack)
			result = end_above(found, stack, at, 0);
	}
	return result;
}

int pf_pairs_finish(struct pf_pairs *found)
{
	int result = finish(found, &found->threads);

	return result ? result : finish(found, &found->devices);
}
