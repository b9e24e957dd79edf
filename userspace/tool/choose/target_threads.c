// SPDX-License-Identifier: GPL-2.0-only
/*
 * The threads to record: --pid, --tid, --cgroup, --exclude-pid, --children, --exclude-self and
 * --follow.
 */
#include <errno.h>
#include <limits.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>
#include "cgroup.h"
#include "choose.h"
#include "tool/command/command.h"
#include "tool/command/number.h"

#define CGROUP_TRIES 5		/* to choose all processes of a cgroup that makes processes */

static bool has_pid(const struct target_threads *target, uint32_t pid)
{
	uint32_t i;

	for (i = 0; i < target->count; i++)
		if (target->pids[i] == pid)
			return true;
	return false;
}

/* "12,345"; complains, EXIT_* */
static int add_pids(const struct command *command, struct target_threads *target,
		    const char *text, const char *what)
{
	struct number_list numbers = { 0 };
	int status = number_option(command, text, 1, INT32_MAX, what, &numbers);
	size_t i;

	for (i = 0; !status && i < numbers.count; i++) {
		if (has_pid(target, numbers.list[i]))
			continue;
		if (target->count == TB_PIDS_MAX)
			status = misused(command, "more than %d %s numbers", TB_PIDS_MAX, what);
		else
			target->pids[target->count++] = numbers.list[i];
	}
	return status;
}

/* Returns EXIT_*, or -1: another option */
static int parse_option(const struct command *command, int option, const char *value,
			struct target_threads *target)
{
	bool exclude = option == OPTION_EXCLUDE_PID;

	switch (option) {
	case OPTION_PID:
	case OPTION_EXCLUDE_PID:
		if (target->threads || (target->count &&
		    !(target->flags & TB_PIDS_EXCLUDE) == exclude))
			return misused(command, "--pid, --tid and --exclude-pid exclude each other");
		target->flags |= TB_PIDS_PROCESS | (exclude ? TB_PIDS_EXCLUDE : 0);
		return add_pids(command, target, value, "process");
	case OPTION_TID:
		if (target->count && !target->threads)
			return misused(command, "--pid, --tid and --exclude-pid exclude each other");
		target->threads = true;
		return add_pids(command, target, value, "thread");
	case OPTION_CGROUP:
		if (target->cgroup)
			return misused(command, "only one --cgroup: '*' in it chooses several");
		target->cgroup = value;
		target->flags |= TB_PIDS_PROCESS | TB_PIDS_CHILDREN;
		return EXIT_FINE;
	case OPTION_CHILDREN:
		target->flags |= TB_PIDS_CHILDREN;
		return EXIT_FINE;
	case OPTION_EXCLUDE_SELF:
		target->self = true;
		return EXIT_FINE;
	case OPTION_FOLLOW:
		target->follow = true;
		return EXIT_FINE;
	}
	return -1;
}

int target_threads_option(const struct command *command, int option, const char *value,
			  struct target_threads *target)
{
	int status = parse_option(command, option, value, target);

	if (status < 0)
		return 0;
	target->given = true;
	return status == EXIT_FINE ? 1 : -1;
}

int target_threads_check(const struct command *command, const struct target_threads *target,
			 bool has_command)
{
	bool only = target->cgroup || (target->count && !(target->flags & TB_PIDS_EXCLUDE));

	if (target->cgroup && (target->count || target->follow))
		return misused(command, "--cgroup excludes --pid, --tid, --exclude-pid and --follow");
	if (target->follow && !has_command)
		return misused(command, "--follow needs a COMMAND to run");
	if (target->follow && (target->threads || target->flags & TB_PIDS_EXCLUDE))
		return misused(command, "--follow records only the processes of COMMAND: it excludes --tid and --exclude-pid");
	if (target->self && (only || target->follow))
		return misused(command, "--exclude-self is not needed: only the processes that were chosen are recorded");
	if (target->flags & TB_PIDS_CHILDREN && !target->count && !target->follow &&
	    !target->cgroup)
		return misused(command, "--children needs --pid, --tid or --exclude-pid");
	return EXIT_FINE;
}

static int complain_threads(const struct target_threads *target, int result, uint32_t bad)
{
	switch (-result) {
	case ENOTTY:
		return complain("the module cannot record only some threads: install module and tools of the same release");
	case ESRCH:
		return complain("there is no %s %u", target->threads ? "thread" :
				"process", bad < target->count ? target->pids[bad] : 0);
	}
	return complain("cannot set which threads to record: %s",
			strerror(-result));
}

/* If the cgroup matches, add its processes; -E2BIG: too many */
static int add_members(uint32_t id, const char *path, const char *folder, void *context)
{
	struct target_threads *target = context;
	char name[PATH_MAX + 16];
	FILE *file = NULL;
	unsigned int pid;
	int result = 0;

	(void)id;
	if (cgroup_here_matches(path, target->cgroup)) {
		snprintf(name, sizeof(name), "%s/cgroup.procs", folder);
		file = fopen(name, "re");
	}
	while (file && !result && fscanf(file, "%u", &pid) == 1) {
		/* 0: the process is in another PID namespace */
		if (!pid || has_pid(target, pid))
			continue;
		if (target->count < TB_PIDS_MAX)
			target->pids[target->count++] = pid;
		else
			result = -E2BIG;
	}
	if (file)
		fclose(file);
	return result;
}

static int add_cgroup(struct target_threads *target)
{
	int result = cgroups_each(add_members, target);

	if (result == -ENOENT)
		return complain("no cgroups: the unified hierarchy (cgroup2) is not mounted");
	if (result)
		return complain("more than %d processes in '%s'", TB_PIDS_MAX, target->cgroup);
	if (target->count)
		return EXIT_FINE;
	return complain("no process is in a cgroup '%s'; 'systemd-cgls' lists the cgroups",
			target->cgroup);
}

/*
 * Tell the kernel which threads to record, without processes of the cgroup that have ended since
 * add_cgroup() added them.  Return 0; -ESRCH: thread number @bad does not exist, or all processes
 * of the cgroup have ended; another -errno.
 */
static int tell_kernel(struct tb_device *device, struct target_threads *target, uint32_t *bad)
{
	int result;

	do {
		result = tb_device_pids(device, target->pids, target->count, target->flags, bad);
		if (result != -ESRCH || !target->cgroup || *bad >= target->count)
			return result;
		target->pids[*bad] = target->pids[--target->count];
	} while (target->count);
	return -ESRCH;
}

int target_threads_apply(struct tb_device *device, struct target_threads *target, uint32_t pid)
{
	unsigned int chosen, tries = CGROUP_TRIES;
	uint32_t bad = UINT32_MAX;
	int result;

	if (target->cgroup && add_cgroup(target))
		return EXIT_WRONG;

	if (target->self) {
		pid = (uint32_t)getpid();
		target->flags |= TB_PIDS_EXCLUDE;
	} else if (target->follow) {
		target->flags |= TB_PIDS_CHILDREN;
	} else {
		pid = 0;
	}
	if (pid && !has_pid(target, pid)) {
		if (target->count == TB_PIDS_MAX)
			return complain("more than %d processes", TB_PIDS_MAX);
		target->pids[target->count++] = pid;
		target->flags |= TB_PIDS_PROCESS;
	}
	do {
		result = tell_kernel(device, target, &bad);
		chosen = target->count;
		/* until the kernel knew them, processes of the cgroup may have made others */
		if (target->cgroup && (!result || result == -ESRCH) && add_cgroup(target))
			return EXIT_WRONG;
	} while (target->count > chosen && --tries);
	if (!result && target->count > chosen)
		note("'%s' makes processes all the time: some of them are not recorded",
		     target->cgroup);
	if (result == -ENOTTY && !target->given)
		return EXIT_FINE;	/* such a module records all threads */
	return result < 0 ? complain_threads(target, result, bad) : EXIT_FINE;
}
