// SPDX-License-Identifier: GPL-2.0-only
/*
 * See device.h.
 */
#include <errno.h>
#include <fcntl.h>
#include <pthread.h>
#include <sched.h>
#include <signal.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/ioctl.h>
#include <sys/mman.h>
#include <sys/syscall.h>
#include <time.h>
#include <unistd.h>

#include <linux/tracebuf_producer.h>

#include "device.h"

bool waiting(struct waiting *w)
{
	struct timespec now, ms = { .tv_nsec = 1000000 };

	clock_gettime(CLOCK_MONOTONIC, &now);
	if (!w->until)
		w->until = now.tv_sec + PATIENCE;
	else if ((uint64_t)now.tv_sec >= w->until)
		return false;
	else
		nanosleep(&ms, NULL);
	return true;
}

static char thread_state(pid_t tid)
{
	char path[64], line[256], *at;
	char state = '?';
	FILE *f;

	snprintf(path, sizeof(path), "/proc/self/task/%d/stat", tid);
	f = fopen(path, "r");
	if (!f)
		return state;
	if (fgets(line, sizeof(line), f)) {
		at = strrchr(line, ')');
		if (at)
			state = at[2];
	}
	fclose(f);
	return state;
}

bool wait_asleep(pid_t tid)
{
	char state = 0;

	for (WAIT(state == 'S'))
		state = thread_state(tid);
	return state == 'S';
}

static int result(int ret)
{
	return ret < 0 ? -errno : ret;
}

int tb_open(int flags)
{
	return result(open("/dev/tracebuf", O_RDONLY | O_CLOEXEC | flags));
}

int tb_query(int fd, struct tb_query *q)
{
	return result(ioctl(fd, TB_IOC_QUERY, q));
}

int tb_attach(int fd, const char *name)
{
	struct tb_attach a = { 0 };

	snprintf(a.name, sizeof(a.name), "%s", name);
	return result(ioctl(fd, TB_IOC_ATTACH, &a));
}

int tb_provider(int fd, uint32_t op, const char *name)
{
	struct tb_provider_req r = { .op = op };
	int ret;

	snprintf(r.name, sizeof(r.name), "%s", name);
	ret = result(ioctl(fd, TB_IOC_PROVIDER, &r));
	return ret < 0 ? ret : (int)r.id;
}

int tb_provider_at(int fd, uint32_t index, struct tb_provider_info *info)
{
	memset(info, 0, sizeof(*info));
	info->index = index;
	return result(ioctl(fd, TB_IOC_PROVIDERS, info));
}

int tb_open_as(const char *name, int flags)
{
	int fd = tb_open(flags), ret;

	if (fd < 0)
		return fd;
	ret = tb_attach(fd, name);
	if (ret == -ENOENT) {
		ret = tb_provider(fd, TB_PROVIDER_CREATE, name);
		if (ret >= 0)
			ret = tb_attach(fd, name);
		ret = ret ?: tb_open_to_writers(fd);
	}
	if (!ret)
		return fd;
	close(fd);
	return ret;
}

int tb_destroy_all(int fd)
{
	struct tb_provider_info info;
	int ret;

	while (!tb_provider_at(fd, 1, &info)) {
		ret = tb_provider(fd, TB_PROVIDER_DESTROY, info.name);
		if (ret)
			return ret;
	}
	return 0;
}

uint32_t tb_state(int fd)
{
	struct tb_query q;

	return tb_query(fd, &q) ? ~0u : q.state;
}

int tb_configure(int fd, uint32_t mode, uint32_t policy, uint32_t buffers, uint32_t elements)
{
	struct tb_config c = { .mode = mode, .policy = policy, .buffers = buffers,
			       .elements = elements };

	return result(ioctl(fd, TB_IOC_CONFIGURE, &c));
}

int tb_start(int fd, uint32_t flags)
{
	struct tb_start s = { .flags = flags };

	return result(ioctl(fd, TB_IOC_START, &s));
}

int tb_stop(int fd)
{
	return result(ioctl(fd, TB_IOC_STOP));
}

int tb_flush(int fd, int cpu)
{
	struct tb_flush f = { .cpu = cpu };

	return result(ioctl(fd, TB_IOC_FLUSH, &f));
}

int tb_select(int fd, uint32_t op, const char *pattern, uint32_t form)
{
	struct tb_select s = { .op = op, .form = form, .pattern = (uintptr_t)pattern,
			       .length = strlen(pattern) };
	int ret = result(ioctl(fd, TB_IOC_SELECT, &s));

	return ret < 0 ? ret : (int)s.matched;
}

int tb_enable(int fd, const char *pattern)
{
	return tb_select(fd, TB_SELECT_ENABLE, pattern, TB_FORM_WIDE);
}

int tb_stats(int fd, uint32_t cpu, struct tb_stats *st)
{
	memset(st, 0, sizeof(*st));
	st->cpu = cpu;
	return result(ioctl(fd, TB_IOC_STATS, st));
}

int tb_acquire(int fd, struct tb_ref *refs, uint32_t room, uint32_t flags)
{
	struct tb_batch b = { .refs = (uintptr_t)refs, .count = room, .flags = flags };
	int ret = result(ioctl(fd, TB_IOC_ACQUIRE, &b));

	return ret < 0 ? ret : (int)b.count;
}

int tb_release(int fd, const struct tb_ref *refs, uint32_t count)
{
	struct tb_batch b = { .refs = (uintptr_t)refs, .count = count };
	int ret = result(ioctl(fd, TB_IOC_RELEASE, &b));

	return ret < 0 ? ret : (int)b.count;
}

int tb_open_to_writers(int fd)
{
	struct tb_quota any = { 0 };

	return ioctl(fd, TB_IOC_QUOTA, &any) ? -errno : 0;
}

int tb_fresh(int fd)
{
	struct tb_rule no_rules = { .index = TB_RULE_ALL };
	struct tb_pids all_threads = { 0 };
	int ret = tb_stop(fd);

	if (ret < 0 && ret != -EINVAL)
		return ret;
	ret = tb_select(fd, TB_SELECT_DISABLE, "all", 0);
	if (ret < 0)
		return ret;
	/* a failed test may have left rules and thread sets */
	if (ioctl(fd, TB_IOC_RULE, &no_rules) || ioctl(fd, TB_IOC_PIDS, &all_threads))
		return -errno;
	ret = tb_open_to_writers(fd);
	return ret ?: tb_configure(fd, 0, 0, 0, 0);
}

int tb_poll(int fd)
{
	struct pollfd p = { .fd = fd, .events = POLLIN };

	return poll(&p, 1, 0) < 0 ? -errno : p.revents;
}

bool tb_drain(int fd, struct stream *s)
{
	size_t room = 4 << 20;
	char *buf = malloc(room);
	ssize_t n;

	while ((n = read(fd, buf, room)) > 0)
		if (!stream_blocks(s, buf, n))
			break;
	if (n < 0)
		snprintf(s->error, sizeof(s->error), "read: %s", strerror(errno));
	free(buf);
	return n == 0;
}

void *tb_map(int fd, size_t *bytes)
{
	struct tb_query q = { 0 };

	if (tb_query(fd, &q))
		return MAP_FAILED;
	*bytes = q.map_bytes;
	return mmap(NULL, q.map_bytes, PROT_READ, MAP_SHARED, fd, 0);
}

int tb_skip_durable(int fd)
{
	struct tb_ref ref;
	int n = 0;

	while (tb_acquire(fd, &ref, 1, 0) == 1) {
		if (ref.ring != TB_RING_DURABLE)
			return -EBADMSG;
		if (tb_release(fd, &ref, 1) != 1)
			return -EBADMSG;
		n++;
	}
	return n;
}

int pin(int cpu)
{
	cpu_set_t set;

	CPU_ZERO(&set);
	CPU_SET(cpu, &set);
	return result(sched_setaffinity(0, sizeof(set), &set));
}

bool write_file(const char *path, const char *text)
{
	int fd = open(path, O_WRONLY | O_CLOEXEC);
	bool ok = fd >= 0 && write(fd, text, strlen(text)) == (ssize_t)strlen(text);

	if (fd >= 0)
		close(fd);
	return ok;
}

bool set_online(int cpu, bool on)
{
	char path[64];

	snprintf(path, sizeof(path), "/sys/devices/system/cpu/cpu%d/online", cpu);
	return write_file(path, on ? "1" : "0");
}

long available_kib(void)
{
	FILE *f = fopen("/proc/meminfo", "r");
	char line[128];
	long kib = -1;

	while (f && fgets(line, sizeof(line), f))
		if (sscanf(line, "MemAvailable: %ld kB", &kib) == 1)
			break;
	if (f)
		fclose(f);
	return kib;
}

static void *asleep(void *arg)
{
	for (;;)
		pause();
	return NULL;
}

pid_t crowd(int threads)
{
	pthread_attr_t attr;
	pthread_t thread;
	int pipes[2], i;
	char byte;
	pid_t pid;

	if (pipe(pipes))
		return -1;
	pid = fork();
	if (!pid) {
		pthread_attr_init(&attr);
		pthread_attr_setstacksize(&attr, 65536);
		for (i = 1; i < threads; i++)
			if (pthread_create(&thread, &attr, asleep, NULL))
				_exit(1);
		if (write(pipes[1], "x", 1) != 1)
			_exit(1);
		asleep(NULL);
	}
	close(pipes[1]);
	if (pid > 0 && read(pipes[0], &byte, 1) != 1)
		pid = -1;
	close(pipes[0]);
	return pid;
}

void fire(uint32_t first, uint32_t count)
{
	siginfo_t info;

	signal(SIGRTMIN, SIG_IGN);
	while (count--) {
		memset(&info, 0, sizeof(info));
		info.si_signo = SIGRTMIN;
		info.si_code = SI_QUEUE;
		info.si_errno = first++;
		if (syscall(SYS_rt_sigqueueinfo, getpid(), SIGRTMIN, &info)) {
			perror("# rt_sigqueueinfo");
			abort();
		}
	}
}

bool is_fired(const struct stream *s, const struct stream_event *e, uint32_t *number)
{
	if (!stream_is(s, e, "signal_generate") || stream_value(s, e, "sig") != SIGRTMIN)
		return false;
	*number = stream_value(s, e, "errno");
	return true;
}
