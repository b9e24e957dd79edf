// SPDX-License-Identifier: GPL-2.0-only
/*
 * The history of a provider; see history.h.
 *
 * Other commands find the recorder by its pid file, which the recorder locks.  A snapshot asks the
 * recorder to finish its file: the snapshot creates the request file, sends SIGUSR2, and waits
 * until the recorder has deleted the request.  Snapshots of a provider lock the folder, so they run
 * one after the other.
 */
#include <errno.h>
#include <fcntl.h>
#include <inttypes.h>
#include <linux/magic.h>
#include <poll.h>
#include <signal.h>
#include <stdlib.h>
#include <string.h>
#include <sys/file.h>
#include <sys/resource.h>
#include <sys/stat.h>
#include <sys/statfs.h>
#include <time.h>
#include <unistd.h>
#include "history.h"
#include "rotation.h"
#include "output_file.h"
#include "tool/command/command.h"
#include "tool/command/number.h"

#define HISTORY_WAIT_MS 10
#define HISTORY_PATIENCE 6000		/* such waits: a minute */

/* ---- folder ---- */

int history_find(struct history *history, const char *folder, const char *provider)
{
	const char *name = provider ? provider : "kernel";
	int length;

	if (!*name || *name == '.' || strchr(name, '/'))
		return -EINVAL;
	length = snprintf(history->folder, sizeof(history->folder), "%s/%s", folder, name);
	if (length < 0 || length >= PATH_MAX - 32)
		return -EINVAL;
	snprintf(history->output, sizeof(history->output), "%.*s/part.tbuf", length,
		 history->folder);
	snprintf(history->pid_file, sizeof(history->pid_file), "%.*s/pid", length,
		 history->folder);
	snprintf(history->request, sizeof(history->request), "%.*s/request", length,
		 history->folder);
	return 0;
}

/* Create the folder and its parents; other users may read only the parents */
static int make_folder(const struct history *history)
{
	char path[PATH_MAX], *slash;

	strcpy(path, history->folder);
	for (slash = strchr(path + 1, '/'); slash; slash = strchr(slash + 1, '/')) {
		*slash = '\0';
		if (mkdir(path, 0755) < 0 && errno != EEXIST)
			return -errno;
		*slash = '/';
	}
	return mkdir(path, 0700) < 0 && errno != EEXIST ? -errno : 0;
}

int history_prepare(const struct history *history, uint64_t memory)
{
	int result = make_folder(history), pid;
	struct statfs system;
	struct stat status;
	uint64_t room;

	if (result || stat(history->folder, &status) < 0 || statfs(history->folder, &system) < 0)
		return complain("%s: cannot be created: %s", history->folder,
				strerror(result ? -result : errno));
	if (!S_ISDIR(status.st_mode) || status.st_uid != geteuid() || status.st_mode & 022)
		return complain("%s: other users own this folder, or can write to it", history->folder);
	if (system.f_type != TMPFS_MAGIC)
		return complain("%s is not in memory: mount a tmpfs at /run", history->folder);
	pid = history_recorder(history);
	if (pid)
		return pid < 0 ? complain("%s: %s", history->pid_file, strerror(-pid)) :
		       complain("a recorder already keeps a history of this provider: process %d",
				pid);
	history_forget(history);
	/* count the room of the deleted files, too; if this fails, the first result is used */
	(void)!statfs(history->folder, &system);
	room = (uint64_t)system.f_bavail * (uint64_t)system.f_bsize;
	if (room < memory)
		return complain("%s has room for only %.0f MiB: enlarge the tmpfs ('mount -o remount,size=...'), or lower --memory",
				history->folder, (double)room / (1 << 20));
	return EXIT_FINE;
}

/* ---- recorder ---- */

int history_recorder(const struct history *history)
{
	int fd = open(history->pid_file, O_RDONLY | O_CLOEXEC), result = 0;
	char text[16] = "";
	uint32_t pid;

	if (fd < 0)
		return errno == ENOENT ? 0 : -errno;
	if (flock(fd, LOCK_SH | LOCK_NB) < 0) {
		result = -errno;
		if (result == -EWOULDBLOCK && read(fd, text, sizeof(text) - 1) > 0) {
			text[strcspn(text, "\n")] = '\0';
			result = parse_u32(text, 1, INT_MAX, &pid) ? -EPROTO : (int)pid;
		}
	}
	close(fd);
	return result;
}

/* Wait until @path is deleted (if not NULL), or the recorder has ended; -ETIMEDOUT */
static int wait_for_recorder(const struct history *history, const char *path)
{
	unsigned int patience = HISTORY_PATIENCE;

	while (history_recorder(history) && (!path || !access(path, F_OK))) {
		if (!patience--)
			return -ETIMEDOUT;
		poll(NULL, 0, HISTORY_WAIT_MS);
	}
	return 0;
}

static int signal_recorder(const struct history *history, int number)
{
	int pid = history_recorder(history);

	if (!pid)
		return 0;
	return pid < 0 ? pid : kill(pid, number) < 0 && errno != ESRCH ? -errno : 0;
}

int history_flush(const struct history *history)
{
	int lock = open(history->folder, O_RDONLY | O_DIRECTORY | O_CLOEXEC), fd, result;

	if (lock < 0 || flock(lock, LOCK_EX) < 0) {
		result = -errno;
		goto out;
	}
	fd = open(history->request, O_WRONLY | O_CREAT | O_CLOEXEC, 0600);
	if (fd < 0) {
		result = -errno;
		goto out;
	}
	close(fd);
	result = signal_recorder(history, SIGUSR2);
	if (!result)
		result = wait_for_recorder(history, history->request);
	unlink(history->request);
out:
	if (lock >= 0)
		close(lock);
	return result ? complain("the recorder of the history does not answer: %s",
				 strerror(-result)) : EXIT_FINE;
}

int history_stop(const struct history *history)
{
	int result = signal_recorder(history, SIGTERM);

	if (!result)
		result = wait_for_recorder(history, NULL);
	return result ? complain("cannot end the recorder of the history: %s",
				 strerror(-result)) : EXIT_FINE;
}

/* ---- files ---- */

static void name_files(struct rotation *rotation, const struct history *history)
{
	memset(rotation, 0, sizeof(*rotation));
	rotation->output = history->output;
	rotation->number = UINT_MAX;
}

void history_forget(const struct history *history)
{
	unsigned int *numbers;
	char name[PATH_MAX];
	struct rotation rotation;
	size_t count, i;

	name_files(&rotation, history);
	if (history_recorder(history) || rotation_numbers(&rotation, &numbers, &count))
		return;
	for (i = 0; i < count; i++)
		if (!rotation_file_name(&rotation, numbers[i], name))
			unlink(name);
	free(numbers);
}

void forget_history(const char *provider)
{
	struct history history;

	if (!history_find(&history, HISTORY_FOLDER, provider))
		history_forget(&history);
}

void history_close(struct history_parts *parts)
{
	while (parts->count)
		close(parts->fds[--parts->count]);
	free(parts->fds);
	parts->fds = NULL;
}

/* All files are open at once: raise the limit of open files */
static void allow_files(void)
{
	struct rlimit limit;

	if (getrlimit(RLIMIT_NOFILE, &limit) < 0)
		return;
	limit.rlim_cur = limit.rlim_max;
	/* if this fails, open() fails later */
	(void)!setrlimit(RLIMIT_NOFILE, &limit);
}

static int open_parts(const struct rotation *rotation, const unsigned int *numbers, size_t count,
		      struct history_parts *parts)
{
	char name[PATH_MAX];
	size_t i;
	int fd;

	for (i = 0; i < count; i++) {
		if (rotation_file_name(rotation, numbers[i], name))
			return -ENAMETOOLONG;
		fd = open(name, O_RDONLY | O_NOFOLLOW | O_CLOEXEC);
		if (fd < 0 && errno != ENOENT)
			return -errno;
		if (fd >= 0)
			parts->fds[parts->count++] = fd;
		else
			while (parts->count)
				close(parts->fds[--parts->count]);
	}
	return 0;
}

int history_open(const struct history *history, bool finished, struct history_parts *parts)
{
	unsigned int *numbers;
	struct rotation rotation;
	size_t count;
	int result;

	memset(parts, 0, sizeof(*parts));
	name_files(&rotation, history);
	finished = finished && history_recorder(history);
	result = rotation_numbers(&rotation, &numbers, &count);
	if (result)
		return result == -ENOENT ? 0 : result;
	/* the recorder is writing the last file */
	if (finished && count)
		count--;
	allow_files();
	parts->fds = calloc(count + 1, sizeof(*parts->fds));
	result = parts->fds ? open_parts(&rotation, numbers, count, parts) : -ENOMEM;
	free(numbers);
	if (result)
		history_close(parts);
	return result;
}
