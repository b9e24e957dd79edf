// SPDX-License-Identifier: GPL-2.0-only
/*
 * Find the role of an event by system and name.
 */
#include <stdlib.h>
#include <string.h>
#include "roles.h"
#include "lib/array.h"

static const struct {
	const char *system, *name;
	enum role role;
	const char *text;
	const char *fields[4];
} roles[] = {
	{ "sched", "sched_switch", ROLE_SWITCH, NULL,
	  { "prev_pid", "next_pid", "prev_state", "next_prio" } },
	{ "sched", "sched_waking", ROLE_WAKING, NULL, { "pid", "target_cpu" } },
	{ "sched", "sched_wakeup", ROLE_WAKEUP, NULL, { "pid", "target_cpu" } },
	{ "sched", "sched_wakeup_new", ROLE_WAKEUP, NULL, { "pid", "target_cpu" } },
	{ "sched", "sched_migrate_task", ROLE_MIGRATE, NULL, { "pid", "dest_cpu", "orig_cpu" } },
	{ "irq", "irq_handler_entry", ROLE_IRQ, "name", { "irq" } },
	{ "irq", "irq_handler_exit", ROLE_IRQ_EXIT, NULL, { "irq", "ret" } },
	{ "irq", "softirq_entry", ROLE_SOFTIRQ, NULL, { "vec" } },
	{ "irq", "softirq_exit", ROLE_SOFTIRQ_EXIT, NULL, { "vec" } },
	{ "irq", "softirq_raise", ROLE_SOFTIRQ_RAISE, NULL, { "vec" } },
	{ "raw_syscalls", "sys_enter", ROLE_SYSCALL, NULL, { "id" } },
	{ "raw_syscalls", "sys_exit", ROLE_SYSCALL_EXIT, NULL, { "id", "ret" } },
	{ "timer", "timer_expire_entry", ROLE_FUNCTION, NULL, { "timer", "function" } },
	{ "timer", "timer_expire_exit", ROLE_FUNCTION_EXIT, NULL, { "timer" } },
	{ "timer", "hrtimer_expire_entry", ROLE_FUNCTION, NULL, { "hrtimer", "function" } },
	{ "timer", "hrtimer_expire_exit", ROLE_FUNCTION_EXIT, NULL, { "hrtimer" } },
	{ "irq", "tasklet_entry", ROLE_FUNCTION, NULL, { "tasklet", "func" } },
	{ "irq", "tasklet_exit", ROLE_FUNCTION_EXIT, NULL, { "tasklet" } },
	{ "block", "block_rq_issue", ROLE_ISSUE, "rwbs", { "dev", "sector", "nr_sector", "bytes" } },
	{ "block", "block_rq_complete", ROLE_COMPLETE, "rwbs",
	  { "dev", "sector", "nr_sector", "error" } },
	{ "block", "block_rq_requeue", ROLE_REQUEUE, NULL, { "dev", "sector" } },
};

/* Events of irq_vectors: local_timer_entry and local_timer_exit belong to "local_timer" */
static void make_vector(struct plan *plan, const struct tb_format *format)
{
	const char *end = strrchr(format->name, '_');

	if (strcmp(format->system, "irq_vectors") || !end)
		return;
	plan->fields[IRQ_NUMBER] = tb_format_field(format, "vector");
	if (!plan->fields[IRQ_NUMBER])
		return;
	plan->fixed = format->name;
	plan->fixed_length = (size_t)(end - format->name);
	if (!strcmp(end, "_entry"))
		plan->role = ROLE_IRQ;
	else if (!strcmp(end, "_exit"))
		plan->role = ROLE_IRQ_EXIT;
}

static void make(struct plan *plan, const struct tb_format *format)
{
	size_t i, k;

	make_vector(plan, format);
	for (i = 0; i < sizeof(roles) / sizeof(roles[0]); i++) {
		if (strcmp(format->name, roles[i].name) ||
		    strcmp(format->system, roles[i].system))
			continue;
		for (k = 0; k < 4; k++)
			if (roles[i].fields[k])
				plan->fields[k] = tb_format_field(format,
								  roles[i].fields[k]);
		if (!plan->fields[0] ||
		    (roles[i].role == ROLE_SWITCH && !plan->fields[SWITCH_NEXT]) ||
		    (roles[i].role >= ROLE_ISSUE && !plan->fields[BLOCK_SECTOR]))
			return;
		plan->role = roles[i].role;
		plan->name = roles[i].text ? tb_format_field(format, roles[i].text) : NULL;
	}
}

const struct plan *plan_of(struct plans *plans, const struct tb_format *format)
{
	struct plan **plan;

	/* a multiple of 64, not to grow for each format */
	if (tb_array_reach(&plans->list, &plans->count, format->index | 63, sizeof(*plan)))
		return NULL;
	plan = &plans->list[format->index];
	if (!*plan) {
		*plan = calloc(1, sizeof(**plan));
		if (*plan)
			make(*plan, format);
	}
	return *plan;
}

void plans_free(struct plans *plans)
{
	unsigned int i;

	for (i = 0; i < plans->count; i++)
		free(plans->list[i]);
	free(plans->list);
	*plans = (struct plans){ 0 };
}

/* True if this record says that further counts are not known */
static bool is_cut(const struct tb_suppressed *one)
{
	return !(one->filtered | one->sampled | one->limited | one->vetoed | one->nested);
}

bool is_whole(const struct tb_trace *trace, const struct tb_format *format, bool chosen_threads)
{
	const struct tb_suppressed *list;
	size_t count, i;

	list = tb_trace_suppressed(trace, &count);
	/* the ID of the wide form stands for both forms */
	for (i = 0; i < count; i++)
		if (is_cut(&list[i]) ||
		    (list[i].id ? list[i].id >> 1 == format->id >> 1 : !chosen_threads))
			return false;
	return true;
}

bool is_of_threads(const struct tb_trace *trace)
{
	const struct tb_suppressed *list;
	size_t count, i;

	list = tb_trace_suppressed(trace, &count);
	for (i = 0; i < count; i++)
		if (!list[i].id && list[i].filtered)
			return true;
	return false;
}
