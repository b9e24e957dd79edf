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

static bool has_pid(const struct who *who, uint32_t pid)
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
		if (!has_pid(who, (uint32_t)pid)) {
			if (who->count == TB_PIDS_MAX)
				return misused(command, "more than %d %s numbers",
					       TB_PIDS_MAX, what);
			who->pids[who->count++] = (uint32_t)pid;
		}
		if (!*end)
			return EXIT_FINE;
	}
}

/* Returns EXIT_*, or -1: another option */
static int parse_option(const struct command *command, int option, const char *value,
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
	int status = parse_option(command, option, value, who);

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
		return misused(command, "--follow needs a COMMAND to run");
	if (who->follow && (who->threads || who->flags & TB_PIDS_EXCLUDE))
		return misused(command, "--follow records only the processes of COMMAND: it excludes --tid and --exclude-pid");
	if (who->self && (only || who->follow))
		return misused(command, "--exclude-self is not needed: only the processes that were chosen are recorded");
	if (who->flags & TB_PIDS_CHILDREN && !who->count && !who->follow && !who->cgroup)
		return misused(command, "--children needs --pid, --tid or --exclude-pid");
	return EXIT_FINE;
}

static int complain_threads(const struct who *who, int result, uint32_t bad)
{
	switch (-result) {
	case ENOTTY:
		return complain("the module cannot record only some threads: install module and tools of the same release");
	case ESRCH:
		return complain("there is no %s %u", who->threads ? "thread" :
				"process", bad < who->count ? who->pids[bad] : 0);
	}
	return complain("cannot set which threads to record: %s",
			strerror(-result));
}

/* If the cgroup matches, add its processes; -E2BIG: too many */
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
		/* 0: the process is in another PID namespace */
		if (!pid || has_pid(who, pid))
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
	if (pid && !has_pid(who, pid)) {
		if (who->count == TB_PIDS_MAX)
			return complain("more than %d processes", TB_PIDS_MAX);
		who->pids[who->count++] = pid;
		who->flags |= TB_PIDS_PROCESS;
	}
	for (;;) {
		result = tb_device_pids(device, who->pids, who->count, who->flags, &bad);
		/* the process may have ended since add_cgroup() added it: leave it out */
		if (result != -ESRCH || !who->cgroup || bad >= who->count || who->count == 1)
			break;
		who->pids[bad] = who->pids[--who->count];
	}
	if (result == -ENOTTY && !who->given)
		return EXIT_FINE;	/* such a module records all threads */
	return result < 0 ? complain_threads(who, result, bad) : EXIT_FINE;
}
