// SPDX-License-Identifier: GPL-2.0-only
/*
 * The files that processes have open when the recording starts; see open_files.h.
 *
 * A thread reads /proc/PID/fd.  It makes few system calls, about one a file, because the recording
 * may contain them.  It ends after TIME_NS, even if files are left, and has the priority of an
 * ordinary program.
 */
#include <ctype.h>
#include <dirent.h>
#include <errno.h>
#include <fcntl.h>
#include <inttypes.h>
#include <limits.h>
#include <pthread.h>
#include <sched.h>
#include <stdatomic.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/resource.h>
#include <unistd.h>
#include "notes.h"
#include "open_files.h"
#include "sockets.h"
#include "lib/array.h"
#include "lib/bisect.h"
#include "tool/command/command.h"
#include "tracebuf.h"

#define FILES_MAX 65536			/* of all processes */
#define PROCESS_FILES_MAX 1024
#define NAME_BYTES_MAX 127
#define TIME_NS 200000000ull
#define STANDARD_FILES 3		/* programs often inherit these at exec */

struct open_file {
	struct tb_open_file record;
	uint64_t socket;		/* inode of the socket; 0: not a socket */
	bool listed;			/* a line of /proc/net is about the socket */
	char *name;
};

struct open_files {
	uint32_t *pids;
	size_t nr_pids;
	struct open_file *list;
	size_t count, room;
	struct open_file **sockets;	/* sorted by inode, only in name_sockets() */
	size_t nr_sockets;
	unsigned int left_out;		/* processes */
	uint64_t until;			/* CLOCK_MONOTONIC in ns */
	atomic_bool stop;
	bool running;
	pthread_t thread;
};

static bool is_over(const void *context)
{
	const struct open_files *files = context;

	return files->count == FILES_MAX || atomic_load(&files->stop) ||
	       monotonic_ns() >= files->until;
}

/* ---- files ---- */

static bool add(struct open_files *files, const struct tb_open_file *record, const char *name)
{
	struct open_file *file;

	if (tb_array_grow(&files->list, &files->room, files->count, sizeof(*files->list)))
		return false;
	file = &files->list[files->count];
	*file = (struct open_file){ .record = *record, .name = strdup(name) };
	if (!file->name)
		return false;
	sscanf(name, "socket:[%" SCNu64 "]", &file->socket);
	files->count++;
	return true;
}

/* Cut a name to NAME_BYTES_MAX; keep its end, which says more than its beginning */
static void shorten(char *name, size_t length)
{
	if (length <= NAME_BYTES_MAX)
		return;
	memmove(name + 3, name + length - (NAME_BYTES_MAX - 3), NAME_BYTES_MAX - 3 + 1);
	memcpy(name, "...", 3);
}

/* Does exec close the file?  Assume so, except for standard files: the answer takes three calls */
static bool closed_by_exec(int process, const char *number)
{
	char name[32], text[256], *flags;
	ssize_t length;
	int file;

	if (strtoul(number, NULL, 10) >= STANDARD_FILES)
		return true;
	snprintf(name, sizeof(name), "fdinfo/%.10s", number);
	file = openat(process, name, O_RDONLY | O_CLOEXEC);
	if (file < 0)
		return true;
	length = read(file, text, sizeof(text) - 1);
	close(file);
	text[length < 0 ? 0 : length] = 0;
	flags = strstr(text, "flags:");
	return !flags || strtoul(flags + 6, NULL, 8) & O_CLOEXEC;
}

/* @process: /proc/PID, @folder: /proc/PID/fd; false: no memory */
static bool read_file(struct open_files *files, uint32_t pid, int process, int folder,
		      const char *number)
{
	struct tb_open_file record = {
		.since = monotonic_ns(), .pid = pid, .number = (uint32_t)strtoul(number, NULL, 10),
	};
	char name[PATH_MAX + 1];
	ssize_t length = readlinkat(folder, number, name, PATH_MAX);
	uint64_t span;

	if (length <= 0)
		return true;	/* the process has closed the file */
	name[length] = 0;
	record.flags = closed_by_exec(process, number) ? TB_OPEN_FILE_EXEC : 0;
	span = monotonic_ns() - record.since;
	if (span > UINT32_MAX)
		return true;
	record.span = (uint32_t)span;
	shorten(name, (size_t)length);
	return add(files, &record, name);
}

/* ---- processes ---- */

/* false: no permission to read the files of the process */
static bool read_process(struct open_files *files, uint32_t pid)
{
	unsigned int count = 0;
	struct dirent *item;
	char name[32];
	int process, fd;
	DIR *folder;

	snprintf(name, sizeof(name), "/proc/%u", pid);
	process = open(name, O_PATH | O_DIRECTORY | O_CLOEXEC);
	if (process < 0)
		return true;	/* the process has ended */
	/* a kernel thread: it has no program, and no files */
	if (readlinkat(process, "exe", name, sizeof(name)) < 0 && errno != EACCES) {
		close(process);
		return true;
	}
	fd = openat(process, "fd", O_RDONLY | O_DIRECTORY | O_CLOEXEC);
	folder = fd < 0 ? NULL : fdopendir(fd);
	if (!folder && fd >= 0)
		close(fd);
	while (folder && count < PROCESS_FILES_MAX && !is_over(files) && (item = readdir(folder))) {
		if (!isdigit((unsigned char)item->d_name[0]))
			continue;
		count++;
		if (!read_file(files, pid, process, fd, item->d_name))
			break;
	}
	if (folder)
		closedir(folder);
	close(process);
	return folder;
}

static void read_processes(struct open_files *files)
{
	DIR *folder = files->nr_pids ? NULL : opendir("/proc");
	struct dirent *item;
	size_t i;

	for (i = 0; i < files->nr_pids; i++)
		if (is_over(files) || !read_process(files, files->pids[i]))
			files->left_out++;
	while (folder && !atomic_load(&files->stop) && (item = readdir(folder)))
		if (isdigit((unsigned char)item->d_name[0]) &&
		    (is_over(files) ||
		     !read_process(files, (uint32_t)strtoul(item->d_name, NULL, 10))))
			files->left_out++;
	if (folder)
		closedir(folder);
}

/* ---- sockets ---- */

static int compare_sockets(const void *a, const void *b)
{
	const struct open_file *first = *(struct open_file *const *)a;
	const struct open_file *second = *(struct open_file *const *)b;

	return first->socket < second->socket ? -1 : first->socket > second->socket;
}

static bool is_late(const void *context)
{
	const struct open_files *files = context;

	return atomic_load(&files->stop) || monotonic_ns() >= files->until;
}

/*
 * Name all files of this socket: several processes may have it open.  If it has two lines, a
 * program has forged one of them, and the socket has no name.
 */
static void name_socket(uint64_t inode, const char *text, void *context)
{
	struct open_files *files = context;
	char name[PATH_MAX], *copy;
	struct open_file *file;
	size_t low = 0;

	BISECT(low, files->nr_sockets, i, files->sockets[i]->socket < inode);
	for (; low < files->nr_sockets && files->sockets[low]->socket == inode; low++) {
		file = files->sockets[low];
		if (file->listed || !*text)
			snprintf(name, sizeof(name), "socket:[%" PRIu64 "]", inode);
		else
			snprintf(name, sizeof(name), "%s", text);
		file->listed = true;
		shorten(name, strlen(name));
		copy = strdup(name);
		if (!copy)
			return;
		free(file->name);
		file->name = copy;
	}
}

static void name_sockets(struct open_files *files)
{
	size_t i;

	files->sockets = calloc(files->count + 1, sizeof(*files->sockets));
	if (!files->sockets)
		return;
	for (i = 0; i < files->count; i++)
		if (files->list[i].socket)
			files->sockets[files->nr_sockets++] = &files->list[i];
	qsort(files->sockets, files->nr_sockets, sizeof(*files->sockets), compare_sockets);
	if (files->nr_sockets)
		sockets_each(name_socket, is_late, files);
	free(files->sockets);
	files->sockets = NULL;
}

/* ---- the thread ---- */

/* The recorder may have raised its own priority to lose no events; this thread can wait */
static void lower_priority(void)
{
	static const struct sched_param none;

	sched_setscheduler(0, SCHED_OTHER, &none);
	errno = 0;
	if (getpriority(PRIO_PROCESS, 0) < 0 && !errno)
		setpriority(PRIO_PROCESS, 0, 0);
}

static void *run(void *context)
{
	struct open_files *files = context;

	lower_priority();
	read_processes(files);
	name_sockets(files);
	return NULL;
}

struct open_files *open_files_start(const uint32_t *pids, size_t count)
{
	struct open_files *files = calloc(1, sizeof(*files));

	if (!files)
		return NULL;
	files->pids = calloc(count + 1, sizeof(*pids));
	if (files->pids && count)
		memcpy(files->pids, pids, count * sizeof(*pids));
	files->nr_pids = count;
	files->until = monotonic_ns() + TIME_NS;
	if (files->pids && !pthread_create(&files->thread, NULL, run, files)) {
		files->running = true;
		return files;
	}
	open_files_free(files);
	return NULL;
}

unsigned int open_files_wait(struct open_files *files)
{
	if (files->running)
		pthread_join(files->thread, NULL);
	files->running = false;
	return files->left_out;
}

unsigned int open_files_stop(struct open_files *files)
{
	atomic_store(&files->stop, true);
	return open_files_wait(files);
}

int open_files_notes(const struct open_files *files, uint64_t first, uint16_t provider,
		     void **data, size_t *bytes)
{
	struct notes notes = { .first = first, .provider = provider };
	struct {
		struct tb_open_file record;
		char name[NAME_BYTES_MAX];
	} payload;
	size_t i, length;
	int result = 0;

	for (i = 0; i < files->count && !result; i++) {
		length = strlen(files->list[i].name);
		payload.record = files->list[i].record;
		memcpy(payload.name, files->list[i].name, length);
		result = notes_add(&notes, TB_EV_OPEN_FILE, &payload,
				   sizeof(payload.record) + length);
	}
	*data = notes.data;
	*bytes = notes_bytes(&notes);
	if (result) {
		free(notes.data);
		*data = NULL;
	}
	return result;
}

void open_files_free(struct open_files *files)
{
	size_t i;

	if (!files)
		return;
	open_files_stop(files);
	for (i = 0; i < files->count; i++)
		free(files->list[i].name);
	free(files->list);
	free(files->pids);
	free(files);
}
