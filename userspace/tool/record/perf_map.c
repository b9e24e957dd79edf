// SPDX-License-Identifier: GPL-2.0-only
/*
 * Names of generated code; see perf_map.h.
 *
 * A line of the file is "START SIZE NAME", both numbers in hex: Linux,
 * tools/perf/Documentation/jit-interface.txt.  The program appends lines while it runs, so the last
 * line may be cut off.  Another user may have written the file: all that it can do is bounded.
 */
#include <ctype.h>
#include <errno.h>
#include <fcntl.h>
#include <linux/openat2.h>
#include <stdbool.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>
#include <time.h>
#include <unistd.h>
#include "lib/bisect.h"
#include "perf_map.h"
#include "tool/command/plain_file.h"

#define SLACK_NS  20000000ull		/* times of files are coarse */
#define NS        1000000000ull

/* ---- finding the file ---- */

struct process {
	uid_t user;
	unsigned long pid;		/* in its innermost PID namespace */
	uint64_t started;		/* CLOCK_BOOTTIME, ns */
};

static uint64_t clock_ns(clockid_t clock)
{
	struct timespec now;

	clock_gettime(clock, &now);
	return (uint64_t)now.tv_sec * NS + (uint64_t)now.tv_nsec;
}

static FILE *open_text(int folder, const char *name)
{
	int fd = openat(folder, name, O_RDONLY | O_CLOEXEC);
	FILE *file = fd < 0 ? NULL : fdopen(fd, "r");

	if (fd >= 0 && !file)
		close(fd);
	return file;
}

static bool read_status(FILE *file, struct process *process)
{
	char *line = NULL, *last;
	bool has_user = false;
	unsigned int user;
	size_t room = 0;

	process->pid = 0;
	while (!process->pid && getline(&line, &room, file) > 0) {
		if (sscanf(line, "Uid: %*u %u", &user) == 1) {
			process->user = user;
			has_user = true;
		}
		last = strrchr(line, '\t');
		if (last && !strncmp(line, "NSpid:", 6))
			process->pid = strtoul(last, NULL, 10);
	}
	free(line);
	return has_user && process->pid;
}

static bool read_stat(FILE *file, struct process *process)
{
	char text[1024], *at;
	int field;

	text[fread(text, 1, sizeof(text) - 1, file)] = 0;
	/* field 22; the name, field 2, is in () and may itself contain them */
	at = strrchr(text, ')');
	for (field = 2; at && field < 22; field++)
		at = strchr(at + 1, ' ');
	if (at)
		process->started = strtoull(at, NULL, 10) *
				   (NS / (uint64_t)sysconf(_SC_CLK_TCK));
	return at;
}

/* False: it has ended */
static bool read_process(int folder, struct process *process)
{
	FILE *status = open_text(folder, "status"), *stat = open_text(folder, "stat");
	bool good = status && stat && read_status(status, process) && read_stat(stat, process);

	if (status)
		fclose(status);
	if (stat)
		fclose(stat);
	return good;
}

/* Close @fd and return -1 unless @user or @other owns it, and it was written to since */
static int check(int fd, uid_t user, uid_t other, uint64_t since)
{
	struct stat status;

	if (fd < 0)
		return -1;
	if (!fstat(fd, &status) && (status.st_uid == user || status.st_uid == other) &&
	    status.st_mtim.tv_sec >= 0 &&
	    (uint64_t)status.st_mtim.tv_sec * NS + (uint64_t)status.st_mtim.tv_nsec + SLACK_NS >=
	    since)
		return fd;
	close(fd);
	return -1;
}

/* Convert a time of @clock to CLOCK_REALTIME */
static uint64_t real_time(clockid_t clock, uint64_t ns)
{
	return clock_ns(CLOCK_REALTIME) - (clock_ns(clock) - ns);
}

static int open_map(uint32_t pid, uint64_t since, uint64_t opened)
{
	uint64_t real_since = since ? real_time(CLOCK_MONOTONIC, since) : 0;
	struct process process;
	int folder, root = -1, fd;
	char name[40];

	snprintf(name, sizeof(name), "/proc/%u", pid);
	folder = open(name, O_PATH | O_DIRECTORY | O_CLOEXEC);
	if (folder >= 0 && read_process(folder, &process))
		root = openat(folder, "root", O_PATH | O_DIRECTORY | O_CLOEXEC);
	if (folder >= 0)
		close(folder);
	if (root >= 0) {
		snprintf(name, sizeof(name), "tmp/perf-%lu.map", process.pid);
		process.started = real_time(CLOCK_BOOTTIME, process.started);
		fd = check(plain_file_open(root, name, RESOLVE_IN_ROOT | RESOLVE_NO_SYMLINKS),
			   process.user, process.user, since ? real_since : process.started);
		close(root);
		return fd;
	}
	snprintf(name, sizeof(name), "/tmp/perf-%u.map", pid);
	return check(plain_file_open(AT_FDCWD, name, RESOLVE_NO_SYMLINKS), 0, geteuid(),
		     since ? real_since : real_time(CLOCK_MONOTONIC, opened));
}

/* ---- reading the file ---- */

/* A function that contains an address */
struct kept {
	struct kept *next;
	uint64_t start, size;
	char name[];
};

struct reading {
	uint64_t *addresses;		/* sorted; return addresses also less one */
	struct kept **functions;	/* of each address; NULL: none */
	size_t count;
	struct kept *kept;
	struct perf_map_limits *limits;
};

/* Several functions were at an address */
static struct kept replaced;

/* Read the next line that is whole; longer ones are cut.  False: there is none, or too much */
static bool next_line(struct reading *reading, FILE *file, char *line, size_t room)
{
	size_t used = 0;
	int byte;

	while (reading->limits->bytes && (byte = getc_unlocked(file)) != EOF) {
		reading->limits->bytes--;
		if (byte == '\n') {
			line[used] = 0;
			return true;
		}
		if (used + 1 < room)
			line[used++] = (char)byte;
	}
	return false;
}

/* Parse "START SIZE NAME"; false: it is something else */
static bool parse(char *line, uint64_t *start, uint64_t *size, char **name)
{
	char *end;

	if (!isxdigit((unsigned char)*line))
		return false;
	*start = strtoull(line, &end, 16);
	if (*end != ' ' || !isxdigit((unsigned char)end[1]))
		return false;
	*size = strtoull(end + 1, &end, 16);
	if (*end != ' ' || !end[1] || !*size || *size > UINT64_MAX - *start)
		return false;
	*name = end + 1;
	return true;
}

/* -E2BIG: the file asks for too much */
static int keep(struct reading *reading, uint64_t start, uint64_t size, const char *name)
{
	struct kept *made = NULL, **at;
	size_t low = 0, bytes;

	BISECT(low, reading->count, i, reading->addresses[i] < start);
	for (; low < reading->count && reading->addresses[low] - start < size; low++) {
		if (!reading->limits->steps)
			return -E2BIG;
		reading->limits->steps--;
		if (!made) {
			if (!reading->limits->functions)
				return -E2BIG;
			reading->limits->functions--;
			bytes = strnlen(name, PERF_MAP_NAME_MAX);
			made = malloc(sizeof(*made) + bytes + 1);
			if (!made)
				return -ENOMEM;
			made->next = reading->kept;
			made->start = start;
			made->size = size;
			memcpy(made->name, name, bytes);
			made->name[bytes] = 0;
			reading->kept = made;
		}
		at = &reading->functions[low];
		if (!*at || (*at != &replaced && !strcmp((*at)->name, made->name)))
			*at = made;
		else
			*at = &replaced;
	}
	return 0;
}

static int read_lines(struct reading *reading, FILE *file)
{
	char line[PERF_MAP_NAME_MAX + 64], *name;
	uint64_t start, size;
	int result = 0;

	while (!result && next_line(reading, file, line, sizeof(line)))
		if (parse(line, &start, &size, &name))
			result = keep(reading, start, size, name);
	return result || reading->limits->bytes ? result : -E2BIG;
}

/* Pass each address that is in a function to @found */
static int pass(const struct reading *reading,
		int (*found)(const struct perf_map_function *function, void *to), void *to)
{
	struct perf_map_function function;
	const struct kept *kept;
	int result = 0;
	size_t i;

	for (i = 0; i < reading->count && !result; i++) {
		kept = reading->functions[i];
		if (!kept)
			continue;
		if (!reading->limits->functions)
			return -E2BIG;
		reading->limits->functions--;
		function = (struct perf_map_function){
			.address = reading->addresses[i], .name = "",
		};
		if (kept != &replaced) {
			function.name = kept->name;
			function.offset = function.address - kept->start;
		}
		result = found(&function, to);
	}
	return result;
}

/* Take @addresses, and those before them, which belong to the calls that return there */
static int prepare(struct reading *reading, const uint64_t *addresses, size_t count)
{
	uint64_t *list = calloc(2 * count, sizeof(*list));
	size_t i, used = 0;

	reading->addresses = list;
	reading->functions = calloc(2 * count, sizeof(struct kept *));
	if (!list || !reading->functions)
		return -ENOMEM;
	for (i = 0; i < count; i++) {
		if (addresses[i] && (!used || list[used - 1] < addresses[i] - 1))
			list[used++] = addresses[i] - 1;
		if (!used || list[used - 1] < addresses[i])
			list[used++] = addresses[i];
	}
	reading->count = used;
	return 0;
}

int perf_map_read(uint32_t pid, uint64_t since, uint64_t opened, const uint64_t *addresses,
		  size_t count, struct perf_map_limits *limits,
		  int (*found)(const struct perf_map_function *function, void *to), void *to)
{
	struct reading reading = { .limits = limits };
	struct kept *next;
	FILE *file;
	int fd, result;

	fd = count ? open_map(pid, since, opened) : -1;
	if (fd < 0)
		return 0;
	file = fdopen(fd, "r");
	result = file ? prepare(&reading, addresses, count) : -ENOMEM;
	if (!result)
		result = read_lines(&reading, file);
	if (!result)
		result = pass(&reading, found, to);
	while (reading.kept) {
		next = reading.kept->next;
		free(reading.kept);
		reading.kept = next;
	}
	free(reading.functions);
	free(reading.addresses);
	if (file)
		fclose(file);
	else
		close(fd);
	return result;
}
