// SPDX-License-Identifier: GPL-2.0-only
/*
 * Sections of a report - CPU time by container or service.
 */
#include <stdlib.h>
#include <string.h>
#include "sections.h"
#include "lib/array.h"

/* Sums over the tasks whose cgroup has this name */
struct group {
	char     name[CGROUP_NAME_MAX];
	uint64_t tasks, run_ns, share_ns, waits, wait_ns, wait_max;
};

struct groups {
	struct group *list;
	size_t count, room;
};

const char *task_container(const struct report_builder *m, const struct analysis_task *task,
			   char name[CGROUP_NAME_MAX])
{
	const char *container = cgroup_container(m->trace, task->cgroup, name);
	const char *path = container ? NULL : cgroup_path(m->trace, task->cgroup);

	return container ? container : path ? cgroup_name(path, name) : NULL;
}

static bool is_below_root(const struct report_builder *m, const struct analysis_task *task)
{
	const char *path = cgroup_path(m->trace, task->cgroup);

	return path && strcmp(path, "/");
}

bool knows_containers(const struct report_builder *m)
{
	const struct analysis_task *task;
	unsigned int i;

	for (i = 0; (task = analysis_task(m->a, i)); i++)
		if (is_below_root(m, task))
			return true;
	for (i = 0; (task = analysis_rest(m->a, i)); i++)
		if (is_below_root(m, task))
			return true;
	return false;
}

/* A machine has some dozens of them: look from the start */
static struct group *group_of(struct groups *groups, const char *name)
{
	size_t i;

	for (i = 0; i < groups->count; i++)
		if (!strncmp(groups->list[i].name, name, CGROUP_NAME_MAX - 1))
			return &groups->list[i];
	if (tb_array_grow(&groups->list, &groups->room, groups->count, sizeof(*groups->list)))
		return NULL;
	memset(&groups->list[groups->count], 0, sizeof(*groups->list));
	strncpy(groups->list[groups->count].name, name, CGROUP_NAME_MAX - 1);
	return &groups->list[groups->count++];
}

/* Return the time on CPUs if the cgroup of @task is not known */
static uint64_t add_task(struct report_builder *m, struct groups *groups,
			 const struct analysis_task *task)
{
	char buffer[CGROUP_NAME_MAX];
	const char *name = analysis_ran(task) ? task_container(m, task, buffer) : NULL;
	struct group *group = name ? group_of(groups, name) : NULL;

	m->report->failed |= name && !group;
	if (!group)
		return task->run_ns;
	group->tasks += task->tasks;
	group->run_ns += task->run_ns;
	group->share_ns += task->share_ns;
	group->waits += task->wait.count;
	group->wait_ns += task->wait.sum;
	if (task->wait.max > group->wait_max)
		group->wait_max = task->wait.max;
	return 0;
}

static int by_run(const void *one, const void *other)
{
	const struct group *a = one, *b = other;

	if (a->run_ns != b->run_ns)
		return a->run_ns > b->run_ns ? -1 : 1;
	return strcmp(a->name, b->name);
}

static void group_row(struct report_builder *m, const struct group *group)
{
	text(m, group->name);
	number(m, group->tasks);
	number(m, group->run_ns);
	cell_share(m, group->share_ns, analysis_total(m->a)->shares_ns);
	number(m, group->waits);
	if (group->waits) {
		number(m, group->wait_ns / group->waits);
		number(m, group->wait_max);
	} else {
		report_unknown(m->report, m->section);
		report_unknown(m->report, m->section);
	}
}

void section_containers(struct report_builder *m)
{
	static const struct column list[] = {
		COLUMN_TEXT("name", "container"),
		COLUMN_NUMBER("tasks", "tasks", REPORT_COUNT),
		COLUMN_NUMBER("cpu", "CPU", REPORT_NS),
		COLUMN_NUMBER("share", "share", REPORT_PPM),
		COLUMN_NUMBER("wakeups", "wakeups", REPORT_COUNT),
		COLUMN_NUMBER("wait_mean", "mean wait", REPORT_NS),
		COLUMN_NUMBER("wait_max", "max wait", REPORT_NS),
	};
	const struct analysis_task *task;
	struct groups groups = { 0 };
	uint64_t unknown = 0;
	unsigned int i;
	char time[32];
	size_t count;

	section(m, "containers", "CPU use by container or service", REPORT_TABLE);
	COLUMNS(m, list);
	if (!needs(m, "CPU time of containers", ANALYSIS_SWITCH, ANALYSIS_NEEDS))
		return;
	for (i = 0; (task = analysis_task(m->a, i)); i++)
		unknown += add_task(m, &groups, task);
	for (i = 0; (task = analysis_rest(m->a, i)); i++)
		unknown += add_task(m, &groups, task);
	if (unknown)
		remark(m, "The cgroup of tasks with %s of CPU time is not known.",
		       time_text(unknown, time));
	if (groups.count) {
		remark(m, "A task counts in the container, or else the cgroup, that it was in last.");
		qsort(groups.list, groups.count, sizeof(*groups.list), by_run);
	}
	count = rows_of(m, groups.count, "containers");
	for (i = 0; i < count; i++)
		group_row(m, &groups.list[i]);
	free(groups.list);
}
