// SPDX-License-Identifier: GPL-2.0-only
/*
 * guest-init - process 1 of the guests that scripts/vm boots.
 *
 * scripts/vm links it statically into an initramfs, with the few modules that it needs. It mounts
 * the host's root (9p or, for kernels without 9p, virtiofs; read-only) under a writable overlay,
 * runs one command there and sends its output to the host through one virtio-serial port, in
 * frames:
 *
 *	u8 type, u8[3] length (little endian), length bytes
 *
 * One write() sends one frame of at most 32 KiB: the driver passes on that much as a whole. The
 * types (vm-run.py reads them):
 *
 *	'B'  init has started (no data)
 *	'S'  the command starts (no data)
 *	'1'  the command's standard output
 *	'2'  its standard error
 *	'K'  kernel log, whole lines
 *	'T'  tar stream of /out
 *	'X'  init failed; the text names the failed step
 *	'D'  init has sent all of /out while the command still runs
 *	'E'  end: the command's exit status, one byte
 *
 * A byte from the host asks for /out at once: the deadline is over.
 *
 * The command writes to pipes and not to the port: the guest can have a port open only once, so the
 * command could not open /dev/stdout.
 *
 * init reads the job from the file "job" in the host's folder that the last argument names. The
 * file is a sequence of records, each "key", NUL, "value", NUL.
 *
 *	dir   working directory
 *	env   NAME=VALUE, for the command
 *	arg   a word of the command
 *	add   host path; the next record "at" says where in the guest
 *	root  host folder that becomes the guest's root instead of the host's root
 *	memory (no value) the root is /memory of the initramfs; init copies everything else to
 *	      it, then unmounts the host's files
 *	mod   host folder that makes up /lib/modules/RELEASE; the first is on top
 *	ko    host path of a module built for this kernel, repeatable
 *	out   (no value) send /out at the end
 */
#define _GNU_SOURCE
#include <dirent.h>
#include <errno.h>
#include <fcntl.h>
#include <limits.h>
#include <net/if.h>
#include <poll.h>
#include <signal.h>
#include <stdarg.h>
#include <stdbool.h>
#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/ioctl.h>
#include <sys/mount.h>
#include <sys/reboot.h>
#include <sys/signalfd.h>
#include <sys/stat.h>
#include <sys/syscall.h>
#include <sys/utsname.h>
#include <sys/wait.h>
#include <unistd.h>

#define FRAME_HEAD	4
#define FRAME_MAX	(32768 - FRAME_HEAD)
#define WORDS_MAX	4096

static int port = -1;
static int kmsg = -1;

/* The job; the pointers lead into its text. */
static char *words[WORDS_MAX + 1];
static char *envs[WORDS_MAX + 1];
static char *mods[4];
static char *adds[2 * WORDS_MAX];
static int nwords, nenvs, nmods, nkos, nadds;
static char *workdir = "/", *guest_root = "/", *kos[4];
static bool in_memory, want_out, sending_out;

static void send_frame(char type, const void *data, size_t len)
{
	static uint8_t buf[FRAME_HEAD + FRAME_MAX];

	buf[0] = type;
	buf[1] = len;
	buf[2] = len >> 8;
	buf[3] = 0;
	if (len)
		memcpy(buf + FRAME_HEAD, data, len);
	if (port >= 0)
		while (write(port, buf, FRAME_HEAD + len) < 0 && errno == EINTR)
			;
}

static void __attribute__((noreturn, format(printf, 1, 2))) fail(const char *fmt, ...)
{
	char text[1024];
	int err = errno, n;
	va_list ap;

	va_start(ap, fmt);
	n = vsnprintf(text, sizeof(text) - 100, fmt, ap);
	va_end(ap);
	n += snprintf(text + n, 100, ": %s", strerror(err));
	fprintf(stderr, "guest-init: %s\n", text);
	send_frame('X', text, n);
	/* vm-run.py ends the guest when it has read the frame, if the frame arrives. */
	sleep(port >= 0 ? 5 : 0);
	reboot(RB_AUTOBOOT);	/* QEMU runs with -no-reboot */
	for (;;)
		pause();
}

static void put_file(const char *path, const char *text)
{
	int fd = open(path, O_WRONLY | O_CLOEXEC);

	/* Some kernels lack some of these files. */
	if (fd < 0)
		return;
	if (write(fd, text, strlen(text)) < 0)
		fprintf(stderr, "guest-init: %s: %m\n", path);
	close(fd);
}

/* Make all folders of a path before its last slash. */
static void make_parents(const char *path)
{
	char buf[PATH_MAX], *p;

	snprintf(buf, sizeof(buf), "%s", path);
	for (p = buf + 1; (p = strchr(p, '/')); *p++ = '/') {
		*p = 0;
		mkdir(buf, 0755);
	}
}

static void make_dirs(const char *path)
{
	make_parents(path);
	mkdir(path, 0755);
}

static void mount_at(const char *what, const char *where, const char *type,
		     unsigned long flags, const char *options)
{
	make_dirs(where);
	if (mount(what, where, type, flags, options))
		fail("mounting %s on %s", type ? type : what, where);
}

/* Mount the host's root by virtiofs or by 9p: QEMU offers one of them. */
static void mount_host(void)
{
	make_dirs("/host");
	if (!mount("host", "/host", "virtiofs", MS_RDONLY, NULL))
		return;
	if (mount("host", "/host", "9p", MS_RDONLY,
		  "trans=virtio,version=9p2000.L,cache=loose,msize=512000"))
		fail("mounting the host's root");
}

/* Mount a file system that some kernels lack. */
static void try_mount(const char *type, const char *where)
{
	mkdir(where, 0755);
	(void)!mount(type, where, type, 0, NULL);
}

static int by_name(const struct dirent **a, const struct dirent **b)
{
	return strcmp((*a)->d_name, (*b)->d_name);
}

/* Load the modules in /m; their names sort in the order of their dependencies. */
static void load_modules(void)
{
	struct dirent **list;
	char path[PATH_MAX];
	int i, fd, n = scandir("/m", &list, NULL, by_name);

	for (i = 0; i < n; i++) {
		if (list[i]->d_name[0] == '.')
			continue;
		snprintf(path, sizeof(path), "/m/%s", list[i]->d_name);
		fd = open(path, O_RDONLY | O_CLOEXEC);
		if (fd < 0 || (syscall(SYS_finit_module, fd, "", 0) && errno != EEXIST))
			fail("loading %s", path);
		close(fd);
	}
}

/* The port appears some time after the driver's module is loaded. */
static void open_port(void)
{
	char path[PATH_MAX], name[32];
	struct dirent *e;
	int i, fd, n;
	DIR *d;

	for (i = 0; i < 5000; i++, usleep(2000)) {
		d = opendir("/sys/class/virtio-ports");
		while (d && port < 0 && (e = readdir(d))) {
			snprintf(path, sizeof(path), "/sys/class/virtio-ports/%s/name", e->d_name);
			fd = open(path, O_RDONLY | O_CLOEXEC);
			if (fd < 0)
				continue;
			n = read(fd, name, sizeof(name) - 1);
			close(fd);
			if (n <= 0 || strncmp(name, "tracebuf.vm\n", n))
				continue;
			snprintf(path, sizeof(path), "/dev/%s", e->d_name);
			port = open(path, O_RDWR | O_CLOEXEC);
		}
		if (d)
			closedir(d);
		if (port >= 0)
			return;
	}
	fail("no virtio-serial port named tracebuf.vm");
}

static void read_job(const char *dir)
{
	static char text[2 << 20];
	char path[PATH_MAX], *p = text, *end, *key, *val;
	int fd;
	ssize_t n, len = 0;

	snprintf(path, sizeof(path), "/host%s/job", dir);
	fd = open(path, O_RDONLY | O_CLOEXEC);
	if (fd < 0)
		fail("opening %s", path);
	while ((n = read(fd, text + len, sizeof(text) - 1 - len)) > 0)
		len += n;
	close(fd);
	for (end = text + len; p < end; p = val + strlen(val) + 1) {
		key = p;
		val = key + strlen(key) + 1;
		if (nwords >= WORDS_MAX || nenvs >= WORDS_MAX || nadds >= WORDS_MAX)
			fail("%s: more than %d records", path, WORDS_MAX);
		if (!strcmp(key, "arg"))
			words[nwords++] = val;
		else if (!strcmp(key, "env"))
			envs[nenvs++] = val;
		else if (!strcmp(key, "dir"))
			workdir = val;
		else if (!strcmp(key, "root"))
			guest_root = val;
		else if (!strcmp(key, "add") || !strcmp(key, "at"))
			adds[nadds++] = val;
		else if (!strcmp(key, "mod") && nmods < 4)
			mods[nmods++] = val;
		else if (!strcmp(key, "ko") && nkos < 4)
			kos[nkos++] = val;
		else if (!strcmp(key, "memory"))
			in_memory = true;
		else if (!strcmp(key, "out"))
			want_out = true;
		else
			fail("%s: record '%s' is unknown", path, key);
	}
	if (!nwords)
		fail("%s: no command", path);
}

/*
 * Mount an overlay of host folders on `where`. First bind them to short names: overlayfs gives a
 * meaning to ':' and ',' in paths.
 */
static void mount_overlay(char *const *dirs, int ndirs, const char *where)
{
	static int serial;
	char path[PATH_MAX], opts[512];
	int i, n;

	serial++;
	n = snprintf(opts, sizeof(opts), "xino=off,upperdir=/rw/%d/u,workdir=/rw/%d/w,lowerdir=",
		     serial, serial);
	for (i = 0; i < ndirs; i++) {
		char src[PATH_MAX];

		snprintf(path, sizeof(path), "/src/%d.%d", serial, i);
		snprintf(src, sizeof(src), "/host%s", dirs[i]);
		mount_at(src, path, NULL, MS_BIND, NULL);
		n += snprintf(opts + n, sizeof(opts) - n, "%s%s", i ? ":" : "", path);
	}
	snprintf(path, sizeof(path), "/rw/%d/u/", serial);
	make_parents(path);
	snprintf(path, sizeof(path), "/rw/%d/w/", serial);
	make_parents(path);
	mount_at("overlay", where, "overlay", 0, opts);
}

static void copy_file(const char *from, const char *to)
{
	char buf[65536];
	struct stat st;
	ssize_t n;
	int in, out;

	make_parents(to);
	in = open(from, O_RDONLY | O_CLOEXEC);
	if (in < 0 || fstat(in, &st))
		fail("opening %s", from);
	/* Do not open the host's file for writing: the overlay would copy it up first. */
	unlink(to);
	out = open(to, O_WRONLY | O_CREAT | O_TRUNC | O_CLOEXEC, st.st_mode & 07777);
	if (out < 0)
		fail("creating %s", to);
	while ((n = read(in, buf, sizeof(buf))) > 0)
		if (write(out, buf, n) != n)
			fail("writing %s", to);
	if (n < 0)
		fail("reading %s", from);
	close(in);
	close(out);
}

/* Make /root the guest's root: an overlay over the host's root, with the additions of this run. */
static void make_root(void)
{
	char from[PATH_MAX], to[PATH_MAX];
	struct utsname uts;
	struct stat st;
	int i;

	mount_at("tmpfs", "/rw", "tmpfs", 0, "size=75%");
	if (in_memory)
		mount_at("/memory", "/root", NULL, MS_BIND, NULL);
	else
		mount_overlay(&guest_root, 1, "/root");
	mount_at("/dev", "/root/dev", NULL, MS_MOVE, NULL);
	mount_at("/proc", "/root/proc", NULL, MS_MOVE, NULL);
	mount_at("/sys", "/root/sys", NULL, MS_MOVE, NULL);
	mount_at("tmpfs", "/root/tmp", "tmpfs", MS_NOSUID | MS_NODEV, "mode=1777");
	mount_at("tmpfs", "/root/run", "tmpfs", MS_NOSUID | MS_NODEV, "mode=0755");
	make_dirs("/root/run/lock");
	mount_at("tmpfs", "/root/out", "tmpfs", 0, "mode=1777,size=75%");

	for (i = 0; i + 1 < nadds; i += 2) {
		snprintf(from, sizeof(from), "/host%s", adds[i]);
		snprintf(to, sizeof(to), "/root%s", adds[i + 1]);
		if (stat(from, &st))
			fail("adding %s", adds[i]);
		if (S_ISDIR(st.st_mode))
			mount_overlay(&adds[i], 1, to);
		else
			copy_file(from, to);
	}

	uname(&uts);
	snprintf(to, sizeof(to), "/root/usr/lib/modules/%s", uts.release);
	make_dirs(to);
	if (nmods)
		mount_overlay(mods, nmods, to);
	for (i = 0; i < nkos; i++) {
		const char *name = strrchr(kos[i], '/') + 1;

		snprintf(from, sizeof(from), "/host%s", kos[i]);
		snprintf(to, sizeof(to), "/root/usr/lib/modules/%s/extra/%s", uts.release, name);
		copy_file(from, to);
		/* "insmod tracebuf.ko" looks in the working directory. */
		snprintf(to, sizeof(to), "/root%s/%s", workdir, name);
		copy_file(from, to);
	}
}

/* Unmount the host's files, and unload the drivers of their device. */
static void leave_host(void)
{
	static const char * const drivers[] = { "9p", "9pnet_virtio", "virtiofs" };
	size_t i;

	if (umount("/host"))
		fail("unmounting the host's root");
	for (i = 0; i < sizeof(drivers) / sizeof(drivers[0]); i++)
		if (syscall(SYS_delete_module, drivers[i], O_NONBLOCK) && errno != ENOENT)
			fail("unloading %s", drivers[i]);
}

static void enter_root(void)
{
	if (chdir("/root") || mount(".", "/", NULL, MS_MOVE, NULL) || chroot(".") || chdir("/"))
		fail("entering the root file system");

	mount_at("devpts", "/dev/pts", "devpts", 0, "mode=0620,ptmxmode=0666,gid=5");
	mount_at("tmpfs", "/dev/shm", "tmpfs", MS_NOSUID | MS_NODEV, "mode=1777");
	(void)!symlink("/proc/self/fd", "/dev/fd");
	(void)!symlink("/proc/self/fd/0", "/dev/stdin");
	(void)!symlink("/proc/self/fd/1", "/dev/stdout");
	(void)!symlink("/proc/self/fd/2", "/dev/stderr");
	try_mount("debugfs", "/sys/kernel/debug");
	try_mount("tracefs", "/sys/kernel/tracing");
	try_mount("bpf", "/sys/fs/bpf");
	try_mount("cgroup2", "/sys/fs/cgroup");
	if (sethostname("tracebuf", 8))
		fail("setting the host name");
}

static void set_knobs(void)
{
	struct ifreq ifr = { .ifr_name = "lo", .ifr_flags = IFF_UP | IFF_RUNNING };
	int fd = socket(AF_INET, SOCK_DGRAM | SOCK_CLOEXEC, 0);

	if (fd >= 0) {
		ioctl(fd, SIOCSIFFLAGS, &ifr);
		close(fd);
	}
	/* The console shows warnings too: a guest that hangs cannot send the log. */
	put_file("/proc/sys/kernel/printk", "5 4 1 7");
	put_file("/proc/sys/kernel/sysrq", "1");
	/*
	 * Shorter than a test's deadline, and longer than a task waits in an emulated guest on a
	 * busy host.
	 */
	put_file("/proc/sys/kernel/hung_task_timeout_secs", "150");
	/* The command line turned this on for a faster boot; tests need the usual delays. */
	put_file("/sys/kernel/rcu_expedited", "0");
}

/* Start a program with these output pipes (-1: the console); return its process id. */
static pid_t start(char *const *argv, int out, int err, const char *dir)
{
	pid_t pid = fork();

	if (pid < 0)
		fail("fork");
	if (!pid) {
		sigset_t none;
		int why, nul = open("/dev/null", O_RDWR);

		sigemptyset(&none);
		sigprocmask(SIG_SETMASK, &none, NULL);
		setsid();
		dup2(nul, 0);
		dup2(out >= 0 ? out : nul, 1);
		dup2(err >= 0 ? err : nul, 2);
		if (nul > 2)
			close(nul);
		if (chdir(dir)) {
			fprintf(stderr, "vm: cannot enter %s: %m\n", dir);
			_exit(126);
		}
		execvpe(argv[0], argv, envs);
		why = errno;
		fprintf(stderr, "vm: cannot run %s: %m\n", argv[0]);
		_exit(why == ENOENT ? 127 : 126);
	}
	return pid;
}

/* Send what one read() of a pipe returns as a frame; return 0 at the end of the pipe. */
static ssize_t pump(int fd, char type)
{
	static char buf[FRAME_MAX];
	ssize_t n = read(fd, buf, sizeof(buf));

	if (n <= 0)
		return 0;
	send_frame(type, buf, n);
	return n;
}

/* Send what a pipe holds now, and no more: another process may write on and on. */
static void drain(int fd, char type)
{
	ssize_t n;
	int left = 0;

	ioctl(fd, FIONREAD, &left);
	while (left > 0 && (n = pump(fd, type)))
		left -= n;
	close(fd);
}

/*
 * Send up to one frame of the kernel's log; return false at the end of the log. /dev/kmsg gives
 * "prio,seq,usec,flags;text\n", then lines " KEY=value\n".
 */
static bool pump_kmsg(void)
{
	static char out[FRAME_MAX];
	static const char lost[] = "[vm: kernel log overran, records are lost]\n";
	char rec[8192], *text, *nl;
	unsigned long long usec;
	size_t len = 0;
	ssize_t n = 0;
	int i;

	for (i = 0; i < 1000; i++) {
		n = read(kmsg, rec, sizeof(rec) - 1);
		if (n < 0 && errno == EPIPE) {
			send_frame('K', lost, sizeof(lost) - 1);
			continue;
		}
		if (n <= 0)
			break;
		rec[n] = 0;
		text = strchr(rec, ';');
		if (!text || sscanf(rec, "%*u,%*u,%llu", &usec) != 1)
			continue;
		nl = strchr(++text, '\n');
		if (nl)
			*nl = 0;
		if (len + strlen(text) + 64 > sizeof(out)) {
			send_frame('K', out, len);
			len = 0;
		}
		len += snprintf(out + len, sizeof(out) - len, "[%5llu.%06llu] %s\n",
				usec / 1000000, usec % 1000000, text);
	}
	if (len)
		send_frame('K', out, len);
	return n > 0;
}

static bool send_out(int sigs);

/*
 * Pass on the output of a program, and the kernel's log, until the program ends. Do not wait for
 * other processes that hold its pipes open; read only what the pipes hold.
 */
static int serve(pid_t pid, int sigs, int out, char out_type, int err)
{
	struct pollfd fds[5] = {
		{ .fd = out, .events = POLLIN },
		{ .fd = err, .events = POLLIN },
		{ .fd = kmsg, .events = POLLIN },
		{ .fd = sigs, .events = POLLIN },
		/* not while tar runs: it sends /out already */
		{ .fd = want_out && !sending_out ? port : -1, .events = POLLIN },
	};
	struct signalfd_siginfo si;
	int st, status = -1;
	pid_t got;

	while (status < 0) {
		if (poll(fds, 5, -1) < 0)
			continue;
		if (fds[0].revents && !pump(out, out_type))
			fds[0].fd = -1;
		if (fds[1].revents && !pump(err, '2'))
			fds[1].fd = -1;
		if (fds[2].revents)
			pump_kmsg();
		if (fds[3].revents) {
			(void)!read(sigs, &si, sizeof(si));
			/* As process 1, init reaps orphans too. */
			while ((got = waitpid(-1, &st, WNOHANG)) > 0)
				if (got == pid)
					status = WIFSIGNALED(st) ? 128 + WTERMSIG(st) : WEXITSTATUS(st);
		}
		if (fds[4].revents & POLLIN) {
			/* only once: vm-run.py ends the guest soon */
			fds[4].fd = -1;
			(void)send_out(sigs);
			send_frame('D', NULL, 0);
		}
	}
	drain(out, out_type);
	drain(err, '2');
	return status;
}

static int run(char *const *argv, char out_type, int sigs, const char *dir)
{
	int out[2], err[2];
	pid_t pid;

	if (pipe2(out, O_CLOEXEC) || pipe2(err, O_CLOEXEC))
		fail("pipe");
	pid = start(argv, out[1], err[1], dir);
	close(out[1]);
	close(err[1]);
	return serve(pid, sigs, out[0], out_type, err[0]);
}

/* Send /out; return false if tar failed, as it may while a process writes files there. */
static bool send_out(int sigs)
{
	static char *tar[WORDS_MAX + 8] = { "tar", "-c", "--" };
	struct dirent *e;
	int n = 3;
	DIR *d = opendir("/out");

	sending_out = true;
	/* Name each entry: with "." the archive would contain the mode of /out itself. */
	while (d && n < WORDS_MAX && (e = readdir(d)))
		if (strcmp(e->d_name, ".") && strcmp(e->d_name, ".."))
			tar[n++] = strdup(e->d_name);
	if (d)
		closedir(d);
	return n == 3 || !run(tar, 'T', sigs, "/out");
}

int main(int argc, char **argv)
{
	uint8_t status;
	sigset_t chld;
	int sigs, i;

	mount_at("proc", "/proc", "proc", 0, NULL);
	mount_at("sysfs", "/sys", "sysfs", 0, NULL);
	mount_at("devtmpfs", "/dev", "devtmpfs", 0, NULL);
	load_modules();
	open_port();
	send_frame('B', NULL, 0);
	kmsg = open("/dev/kmsg", O_RDONLY | O_NONBLOCK | O_CLOEXEC);
	if (kmsg < 0)
		fail("opening /dev/kmsg");
	/* The kernel takes a break, and SysRq, only from a serial line that is open. */
	if (open("/dev/ttyS0", O_RDONLY | O_NOCTTY | O_NONBLOCK | O_CLOEXEC) < 0)
		(void)!open("/dev/ttyAMA0", O_RDONLY | O_NOCTTY | O_NONBLOCK | O_CLOEXEC);

	mount_host();
	/* The folder is the last argument; words that the kernel does not know come before. */
	read_job(argv[argc - 1]);
	make_root();
	if (in_memory)
		leave_host();
	enter_root();
	set_knobs();

	sigemptyset(&chld);
	sigaddset(&chld, SIGCHLD);
	sigprocmask(SIG_BLOCK, &chld, NULL);
	sigs = signalfd(-1, &chld, SFD_CLOEXEC);
	if (sigs < 0)
		fail("signalfd");

	setenv("PATH", "/usr/sbin:/usr/bin", 1);
	for (i = 0; i < nenvs; i++)
		if (!strncmp(envs[i], "PATH=", 5))
			setenv("PATH", envs[i] + 5, 1);	/* for execvpe(), which uses init's PATH */

	send_frame('S', NULL, 0);
	status = run(words, '1', sigs, workdir);
	if (want_out && !send_out(sigs))
		fail("tar of /out");
	sync();
	for (i = 0; i < 1000 && pump_kmsg(); i++)
		;
	send_frame('E', &status, 1);
	for (;;)
		pause();	/* until vm-run.py ends QEMU */
}
