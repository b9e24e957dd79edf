// SPDX-License-Identifier: GPL-2.0-only
/*
 * The recording that top shows: one of its own, on a new provider, or a running one, or a stream,
 * or a complete file. Reads its events and passes them to the analysis.
 */
#include <errno.h>
#include <fcntl.h>
#include <limits.h>
#include <pthread.h>
#include <sched.h>
#include <signal.h>
#include <string.h>
#include <sys/stat.h>
#include <unistd.h>
#include "top.h"
#include "tool/choose/setup.h"
#include "tool/command/command.h"
#include "tool/device/device.h"

volatile sig_atomic_t top_stop_signal;

#define STEPS 512			/* events between two reads of the clock */
#define TASKS_MOST 16384		/* tasks, also ended ones, before top_source_renew() */

/* ---- opening ---- */

static int create_failed(const char *name, int result)
{
	switch (-result) {
	case ENOSPC:
		return complain("there are %d providers, which is the most there may be, and top needs one of its own: remove one with 'tracebuf provider destroy NAME', or look at one that is recording (-p NAME)",
				TB_PROVIDERS_MAX);
	case ENOMEM:
		return complain("no memory for another provider");
	case EPERM:
	case EACCES:
		return complain("recording kernel events needs root or the capability CAP_PERFMON (or CAP_SYS_ADMIN)");
	}
	return complain("provider '%s' cannot be created: %s", name, strerror(-result));
}

static int set_up(struct top_source *source)
{
	int result = tb_device_attach(source->device, source->name);

	if (result < 0)
		return complain("provider '%s' was removed by another program: %s", source->name,
				strerror(-result));
	if (setup_apply(source->device, &source->setup) ||
	    choice_set(source->device, &source->choice))
		return EXIT_WRONG;
	return EXIT_FINE;
}

static int make_own(struct top_source *source)
{
	int result;

	source->own = true;
	snprintf(source->name, sizeof(source->name), "top-%ld", (long)getpid());
	source->device = open_device(NULL, TB_DEVICE_NONBLOCK);
	if (!source->device)
		return EXIT_WRONG;
	result = tb_device_create(source->device, source->name);
	if (result < 0)
		return create_failed(source->name, result);
	top_guard_provider(&source->guard);
	return set_up(source);
}

/* Open another program's provider: it must be recording, and have no reader */
static int open_other(struct top_source *source)
{
	snprintf(source->name, sizeof(source->name), "%s", source->provider);
	source->device = open_device(source->provider, TB_DEVICE_NONBLOCK);
	if (!source->device)
		return EXIT_WRONG;
	if (tb_device_query(source->device, &source->query) < 0)
		return complain("cannot read the state of '%s'", source->name);
	if (source->query.state != TB_STATE_RUNNING)
		return complain("'%s' is not recording: start it with 'tracebuf start -p %s'",
				source->name, source->name);
	if (source->query.mode != TB_MODE_STREAMING)
		return complain("'%s' records in %s mode, which is read when it has ended: top looks at streaming ones, or makes one of its own (without -p)",
				source->name, tb_mode_name(source->query.mode));
	return EXIT_FINE;
}

static int open_input(struct top_source *source)
{
	struct stat status;

	if (!strcmp(source->input, "-")) {
		source->called = "standard input";
		source->fd = STDIN_FILENO;
	} else {
		source->called = source->input;
		source->fd = open(source->input, O_RDONLY | O_CLOEXEC);
	}
	if (source->fd < 0)
		return complain("%s: cannot be opened: %s", source->input, strerror(errno));
	source->regular = !fstat(source->fd, &status) && S_ISREG(status.st_mode);
	return EXIT_FINE;
}

static int begin(struct top_source *source)
{
	const struct analysis_options options = { .whole = source->whole };
	int result = tb_cursor_open(source->trace, &source->cursor);

	if (result < 0)
		return complain("%s: %s", source->called, strerror(-result));
	source->analysis = analysis_new(source->trace, &options);
	source->since = time(NULL);
	/* a file has an end: keep all of its tasks */
	source->most = source->whole ? UINT_MAX : TASKS_MOST;
	return source->analysis ? EXIT_FINE : complain("out of memory");
}

static int follow(struct top_source *source)
{
	const struct tb_follow_options options = {
		.flags = source->grows && source->regular ? TB_FOLLOW_GROWS : 0,
		.hold_ms = source->hold_ms,
	};
	struct tb_error error;
	int result;

	result = source->device ?
		 tb_trace_follow_device(source->device, &options, &source->trace, &error) :
		 tb_trace_follow_fd(source->fd, &options, &source->trace, &error);
	if (result == -EBUSY)
		return complain("'%s' is read by another program: there is one reader at a time",
				source->name);
	if (result < 0)
		return complain_file(source->called, &error);
	return begin(source);
}

/* True if @trace is a snapshot, or has the totals that a recorder writes when it stops */
static bool is_complete(const struct tb_trace *trace)
{
	uint32_t cpu, count = tb_trace_nr_cpus(trace);

	for (cpu = 0; cpu < count; cpu++)
		if (tb_trace_totals(trace, cpu) || tb_trace_snapshot(trace, cpu))
			return true;
	return false;
}

/* True if the file may grow: it is too short to tell, or it is not packed, and not complete */
static bool may_grow(const struct top_source *source)
{
	uint32_t magic;

	if (pread(source->fd, &magic, sizeof(magic), 0) < (ssize_t)sizeof(magic))
		return true;
	return magic == TB_BLOCK_MAGIC && !(source->trace && is_complete(source->trace));
}

/*
 * Open a complete file as report does: what is known of a CPU or a thread may depend on the end of
 * the file. A file that grows is followed.
 */
static int open_file(struct top_source *source)
{
	off_t begin_at = lseek(source->fd, 0, SEEK_CUR);
	struct tb_error error;
	unsigned int count;
	int result = tb_trace_open(source->input, &source->trace, &error);

	if (result < 0)
		source->trace = NULL;
	if (source->grows && may_grow(source)) {
		tb_trace_close(source->trace);
		source->trace = NULL;
		lseek(source->fd, begin_at, SEEK_SET);
		return follow(source);
	}
	if (result < 0)
		return complain_file(source->called, &error);
	count = tb_trace_recordings(source->trace);
	if (count > 1)
		note("%s holds %u recordings; top shows the first ('tracebuf report -r N' shows another)",
		     source->called, count);
	source->whole = true;
	return begin(source);
}

static void *visit(void *unused)
{
	cpu_set_t allowed, one;
	int cpu;

	if (sched_getaffinity(0, sizeof(allowed), &allowed))
		return unused;
	for (cpu = 0; cpu < CPU_SETSIZE; cpu++) {
		if (!CPU_ISSET(cpu, &allowed))
			continue;
		CPU_ZERO(&one);
		CPU_SET(cpu, &one);
		sched_setaffinity(0, sizeof(one), &one);
	}
	return unused;
}

/*
 * Make each CPU switch once: no event names a thread that has had its CPU since before the first
 * event.  A thread visits the CPUs, because it waits for ever where a real-time task runs.
 */
static void visit_cpus(void)
{
	pthread_attr_t attr;
	pthread_t thread;

	if (pthread_attr_init(&attr))
		return;
	pthread_attr_setdetachstate(&attr, PTHREAD_CREATE_DETACHED);
	pthread_create(&thread, &attr, visit, NULL);
	pthread_attr_destroy(&attr);
}

int top_source_open(struct top_source *source)
{
	int result, status;

	source->called = source->name;
	status = source->input ? open_input(source) :
		 source->provider ? open_other(source) : make_own(source);
	if (status != EXIT_FINE)
		return status;
	if (source->input)
		return source->regular ? open_file(source) : follow(source);
	if (source->own) {
		result = tb_device_start(source->device, 0);
		if (result < 0)
			return start_failed(source->device, result);
	}
	visit_cpus();
	if (tb_device_query(source->device, &source->query) < 0)
		return complain("cannot read the state of '%s'", source->name);
	return follow(source);
}

/* ---- reading ---- */

/* Read an event.  1: done; 0: the end; -EAGAIN: none yet; other -errno */
static int take_one(struct top_source *source)
{
	struct tb_view view;
	/* if the recording breaks off, top shows what is there, as report does */
	int result = next_event(source->cursor, &view);

	if (result <= 0)
		return result;
	source->fresh = true;
	result = analysis_event(source->analysis, source->cursor, &view);
	if (!result && source->next)
		result = analysis_event(source->next, source->cursor, &view);
	return result < 0 ? result : 1;
}

/* True if the file has the totals of each CPU, which a recorder writes when it stops */
static bool recorder_stopped(const struct top_source *source)
{
	uint32_t cpu, count = tb_trace_nr_cpus(source->trace);
	const struct analysis_cpu *events;
	bool some = false;

	for (cpu = 0; cpu < count; cpu++) {
		events = analysis_cpu(source->analysis, cpu);
		if (tb_trace_totals(source->trace, cpu))
			some = true;
		else if (events && events->seen)
			return false;
	}
	return some;
}

static int wait_for_more(struct top_source *source, uint64_t now, uint64_t until)
{
	int result;

	if (source->regular && recorder_stopped(source))
		tb_cursor_finish(source->cursor);
	result = tb_cursor_wait(source->cursor, (int)((until - now) / 1000000) + 1);
	return result == -EINTR || result >= 0 ? 0 : result;
}

/* There is no other event */
static int end(struct top_source *source)
{
	bool cut = tb_cursor_fault(source->cursor) || tb_trace_fault(source->trace);

	source->ended = true;
	source->more = false;
	return source->whole ? analysis_end(source->analysis, source->cursor,
					    cut ? ANALYSIS_CUT : 0) : 0;
}

int top_source_read(struct top_source *source, uint64_t until)
{
	unsigned int steps = 0;
	int result = 1;
	uint64_t now;

	while (!source->ended && !top_stop_signal) {
		if (result == 1 && ++steps % STEPS) {
			result = take_one(source);
			if (result == 1)
				continue;
		}
		if (!result)
			return end(source);
		if (result < 0 && result != -EAGAIN)
			return result;
		source->more = source->regular && result == 1;
		now = monotonic_ns();
		if (now >= until)
			break;
		if (result == -EAGAIN)
			result = wait_for_more(source, now, until);
		if (result < 0)
			return result;
		result = 1;
	}
	return 0;
}

/* True if the next analysis knows the thread on each CPU on which the present one knows it */
static bool knows_enough(const struct top_source *source)
{
	unsigned int cpu;
	uint64_t since;
	uint32_t tid;

	for (cpu = 0; cpu < analysis_nr_cpus(source->analysis); cpu++)
		if (analysis_running(source->analysis, cpu, &tid, &since) &&
		    (cpu >= analysis_nr_cpus(source->next) ||
		     !analysis_running(source->next, cpu, &tid, &since)))
			return false;
	return true;
}

/*
 * An analysis keeps all tasks for ever.  To run for days, top replaces it by a new one, after both
 * have got the same events until the new one knows as much of the present.
 */
int top_source_renew(struct top_source *source)
{
	unsigned int count = 0;

	if (!analysis_task(source->analysis, source->most))
		return 0;
	if (!source->next) {
		source->next = analysis_new(source->trace, NULL);
		return source->next ? 0 : -ENOMEM;
	}
	/* the new one never knows a CPU that does not switch: do not wait for ever */
	if (!knows_enough(source) && !analysis_task(source->next, source->most))
		return 0;
	analysis_free(source->analysis);
	source->analysis = source->next;
	source->next = NULL;
	source->since = time(NULL);
	while (analysis_task(source->analysis, count))
		count++;
	source->most = count > TASKS_MOST / 2 ? 2 * count : TASKS_MOST;
	return 1;
}

int top_source_close(struct top_source *source)
{
	int status;

	analysis_free(source->next);
	analysis_free(source->analysis);
	if (source->cursor)
		tb_cursor_close(source->cursor);
	tb_trace_close(source->trace);
	if (source->input && source->fd > STDIN_FILENO)
		close(source->fd);
	if (source->own && source->device)
		tb_device_stop(source->device);
	tb_device_close(source->device);
	status = top_guard_end(&source->guard);
	if (status != EXIT_FINE)
		complain("provider '%s' could not be removed: remove it with 'tracebuf provider destroy %s'",
			 source->name, source->name);
	return status;
}
