// SPDX-License-Identifier: GPL-2.0-only
/*
 * Whose events are recorded: --pid, --tid, --cgroup, --exclude-pid, --children, --exclude-self and
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

static bool listed(const struct who *who, uint32_t pid)
{
	uint32_t i;

	for (i = 0; i < who->count; i++)
		if (who->pids[i] == pid)
			return true;
	return false;
}

/* "12,345"; complains, EXIT_* */
static int add_pids(const struct command *command, struct who *who,
		    const char *text, const char *what)
{
	const char *all = text;
	const char *end;
	uint64_t pid;

	for (;; text = end + 1) {
		end = parse_number(text, 10, INT32_MAX, &pid);
		if (!end || !pid || (*end && *end != ','))
			return misused(command, "'%s' is not a list of %s numbers, as in 12,345",
				       all, what);
		if (!listed(who, (uint32_t)pid)) {
			if (who->count == TB_PIDS_MAX)
				return misused(command, "more than %d numbers of %s",
					       TB_PIDS_MAX, what);
			who->pids[who->count++] = (uint32_t)pid;
		}
		if (!*end)
			return EXIT_FINE;
	}
}

/* EXIT_*, or -1: none of these */
static int take(const struct command *command, int option, const char *value,
		struct who *who)
{
	bool exclude = option == OPTION_EXCLUDE_PID;

	switch (option) {
	case OPTION_PID:
	case OPTION_EXCLUDE_PID:
		if (who->threads || (who->count &&
		    !(who->flags & TB_PIDS_EXCLUDE) == exclude))
			return misused(command, "--pid, --tid and --exclude-pid exclude each other");
		who->flags |= TB_PIDS_PROCESS | (exclude ? TB_PIDS_EXCLUDE : 0);
		return add_pids(command, who, value, "process");
	case OPTION_TID:
		if (who->count && !who->threads)
			return misused(command, "--pid, --tid and --exclude-pid exclude each other");
		who->threads = true;
		return add_pids(command, who, value, "thread");
	case OPTION_CGROUP:
		who->cgroup = value;
		who->flags |= TB_PIDS_PROCESS | TB_PIDS_CHILDREN;
		return EXIT_FINE;
	case OPTION_CHILDREN:
		who->flags |= TB_PIDS_CHILDREN;
		return EXIT_FINE;
	case OPTION_EXCLUDE_SELF:
		who->self = true;
		return EXIT_FINE;
	case OPTION_FOLLOW:
		who->follow = true;
		return EXIT_FINE;
	}
	return -1;
}

int who_option(const struct command *command, int option, const char *value,
	       struct who *who)
{
	int status = take(command, option, value, who);

	if (status < 0)
		return 0;
	who->given = true;
	return status == EXIT_FINE ? 1 : -1;
}

int who_check(const struct command *command, const struct who *who,
	      bool has_command)
{
	bool only = who->cgroup || (who->count && !(who->flags & TB_PIDS_EXCLUDE));

	if (who->cgroup && (who->count || who->follow))
		return misused(command, "--cgroup excludes --pid, --tid, --exclude-pid and --follow");
	if (who->follow && !has_command)
		return misused(command, "--follow goes with a command to run");
	if (who->follow && (who->threads || who->flags & TB_PIDS_EXCLUDE))
		return misused(command, "--follow goes neither with --tid nor with --exclude-pid: it is for the processes of the command alone");
	if (who->self && (only || who->follow))
		return misused(command, "--exclude-self: only what was asked for is recorded anyway");
	if (who->flags & TB_PIDS_CHILDREN && !who->count && !who->follow && !who->cgroup)
		return misused(command, "--children goes with --pid, --tid or --exclude-pid");
	return EXIT_FINE;
}

static int failed(const struct who *who, int result, uint32_t bad)
{
	switch (-result) {
	case ENOTTY:
		return complain("the module cannot choose by threads: install module and tools of the same release");
	case ESRCH:
		return complain("there is no %s %u", who->threads ? "thread" :
				"process", bad < who->count ? who->pids[bad] : 0);
	}
	return complain("whose events to record cannot be set: %s",
			strerror(-result));
}

/* The processes in one cgroup; -E2BIG: there are too many */
static int add_members(uint32_t id, const char *path, const char *folder, void *context)
{
	struct who *who = context;
	char name[PATH_MAX + 16];
	FILE *file = NULL;
	unsigned int pid;
	int result = 0;

	(void)id;
	if (cgroup_here_matches(path, who->cgroup)) {
		snprintf(name, sizeof(name), "%s/cgroup.procs", folder);
		file = fopen(name, "re");
	}
	while (file && !result && fscanf(file, "%u", &pid) == 1) {
		/* 0: it is in another PID namespace */
		if (!pid || listed(who, pid))
			continue;
		if (who->count < TB_PIDS_MAX)
			who->pids[who->count++] = pid;
		else
			result = -E2BIG;
	}
	if (file)
		fclose(file);
	return result;
}

/* Complains, EXIT_* */
static int add_cgroup(struct who *who)
{
	int result = cgroups_each(add_members, who);

	if (result == -ENOENT)
		return complain("no cgroups: the unified hierarchy (cgroup2) is not mounted");
	if (result)
		return complain("more than %d processes in '%s'", TB_PIDS_MAX, who->cgroup);
	if (who->count)
		return EXIT_FINE;
	return complain("no process is in a cgroup '%s'; 'systemd-cgls' lists the cgroups",
			who->cgroup);
}

int who_apply(struct tb_device *device, struct who *who, uint32_t pid)
{
	uint32_t bad = UINT32_MAX;
	int result;

	if (who->cgroup && add_cgroup(who))
		return EXIT_WRONG;

	if (who->self) {
		pid = (uint32_t)getpid();
		who->flags |= TB_PIDS_EXCLUDE;
	} else if (who->follow) {
		who->flags |= TB_PIDS_CHILDREN;
	} else {
		pid = 0;
	}
	if (pid && !listed(who, pid)) {
		if (who->count == TB_PIDS_MAX)
			return complain("more than %d processes", TB_PIDS_MAX);
		who->pids[who->count++] = pid;
		who->flags |= TB_PIDS_PROCESS;
	}
	for (;;) {
		result = tb_device_pids(device, who->pids, who->count, who->flags, &bad);
		/* the process may have ended since add_cgroup() listed it: leave it out */
		if (result != -ESRCH || !who->cgroup || bad >= who->count || who->count == 1)
			break;
		who->pids[bad] = who->pids[--who->count];
	}
	if (result == -ENOTTY && !who->given)
		return EXIT_FINE;	/* a module that cannot: everybody's */
	return result < 0 ? failed(who, result, bad) : EXIT_FINE;
}
