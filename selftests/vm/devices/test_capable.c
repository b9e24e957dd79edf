// SPDX-License-Identifier: GPL-2.0-only
/*
 * Only a process that the node's mode admits, and that has CAP_PERFMON or CAP_SYS_ADMIN in the
 * initial user namespace, can open the devices; capabilities in other namespaces do not count. If a
 * test fails, an unprivileged user or a container can watch the kernel.
 */
#include <linux/capability.h>
#include <sched.h>
#include <sys/mman.h>
#include <sys/mount.h>
#include <sys/prctl.h>
#include <sys/stat.h>
#include <sys/sysmacros.h>
#include <sys/wait.h>

#include "tbtest.h"

#define NODE		"/dev/tracebuf"
#define WRITERS		"/dev/tracebuf_producer"
#define NOBODY		65534

#ifndef CAP_PERFMON
#define CAP_PERFMON	38
#endif
#define BIT(n)		(1ull << (n))

/* The usual capabilities of containers. */
#define CONTAINER	(BIT(CAP_CHOWN) | BIT(CAP_DAC_OVERRIDE) | BIT(CAP_FOWNER) |	\
			 BIT(CAP_FSETID) | BIT(CAP_KILL) | BIT(CAP_SETGID) |		\
			 BIT(CAP_SETUID) | BIT(CAP_SETPCAP) | BIT(CAP_NET_BIND_SERVICE) | \
			 BIT(CAP_NET_RAW) | BIT(CAP_SYS_CHROOT) | BIT(CAP_MKNOD) |	\
			 BIT(CAP_AUDIT_WRITE) | BIT(CAP_SETFCAP))

/* The results of a child, in shared memory. */
struct found {
	int result[4];		/* 0 or an errno; -1: not reached */
	char text[64];
};

FIXTURE(capable) {
	mode_t mode[2];
	struct found *found;
};

FIXTURE_SETUP(capable)
{
	struct stat st;

	ASSERT_EQ(0, stat(NODE, &st));
	self->mode[0] = st.st_mode & 0777;
	ASSERT_EQ(0, stat(WRITERS, &st));
	self->mode[1] = st.st_mode & 0777;
	self->found = mmap(NULL, 4096, PROT_READ | PROT_WRITE, MAP_SHARED | MAP_ANONYMOUS, -1, 0);
	ASSERT_NE(MAP_FAILED, (void *)self->found);
	memset(self->found->result, 0xff, sizeof(self->found->result));
}

FIXTURE_TEARDOWN(capable)
{
	chmod(NODE, self->mode[0]);
	chmod(WRITERS, self->mode[1]);
}

/* Returns 0 or an errno. */
static int try_open(const char *path, int flags)
{
	int fd = open(path, flags | O_CLOEXEC);

	if (fd < 0)
		return errno;
	close(fd);
	return 0;
}

/* Becomes @uid with @caps and no others, for good. */
static bool become(uid_t uid, uint64_t caps)
{
	struct __user_cap_header_struct h = { .version = _LINUX_CAPABILITY_VERSION_3 };
	struct __user_cap_data_struct d[2];
	int i;

	for (i = 0; i < 2; i++)
		d[i].effective = d[i].permitted = d[i].inheritable = caps >> 32 * i;
	return !prctl(PR_SET_KEEPCAPS, 1, 0, 0, 0) && !setresgid(uid, uid, uid) &&
	       !setresuid(uid, uid, uid) && !syscall(SYS_capset, &h, d);
}

/* Runs in a child, because there is no way back. */
#define IN_CHILD(code)							\
	do {								\
		int status_;						\
		pid_t pid_ = fork();					\
									\
		if (!pid_) {						\
			code						\
			_exit(0);					\
		}							\
		ASSERT_LT(0, pid_);					\
		ASSERT_EQ(pid_, waitpid(pid_, &status_, 0));		\
		ASSERT_EQ(0, status_);					\
	} while (0)

/* Expects @error of open() by @uid with @caps. */
#define EXPECT_OPEN(error, uid, caps)					\
	do {								\
		int *result_ = &self->found->result[0];			\
									\
		IN_CHILD({						\
			if (!become(uid, caps))				\
				_exit(1);				\
			*result_ = try_open(NODE, O_RDONLY);		\
		});							\
		EXPECT_EQ(error, *result_);				\
	} while (0)

TEST_DEV(capable, nodes_are_roots)
{
	EXPECT_EQ(0600, self->mode[0]);
	EXPECT_EQ(0600, self->mode[1]);
	EXPECT_OPEN(0, 0, ~0ull >> 23);
}

/* The mode of the node is checked first, unless the user can override it. */
TEST_DEV(capable, mode_of_the_node)
{
	EXPECT_OPEN(EACCES, NOBODY, 0);
	EXPECT_OPEN(EACCES, NOBODY, BIT(CAP_PERFMON));
	EXPECT_OPEN(EACCES, NOBODY, BIT(CAP_SYS_ADMIN));
	EXPECT_OPEN(0, NOBODY, BIT(CAP_PERFMON) | BIT(CAP_DAC_OVERRIDE));
}

/* A mode that lets everybody in does not replace the capability. */
TEST_DEV(capable, capability)
{
	ASSERT_EQ(0, chmod(NODE, 0666));
	EXPECT_OPEN(EPERM, NOBODY, 0);
	EXPECT_OPEN(EPERM, 0, 0);
	EXPECT_OPEN(EPERM, 0, CONTAINER);
	EXPECT_OPEN(EPERM, NOBODY, BIT(CAP_DAC_OVERRIDE) | BIT(CAP_SYS_PTRACE) | BIT(CAP_SYSLOG) |
				   BIT(CAP_SYS_RAWIO) | BIT(CAP_BPF));
	EXPECT_OPEN(0, NOBODY, BIT(CAP_PERFMON));
	EXPECT_OPEN(0, NOBODY, BIT(CAP_SYS_ADMIN));
}

/* Becomes root of a new user namespace. */
static bool enter_user_namespace(int more)
{
	uid_t uid = getuid();
	char map[32];

	if (unshare(CLONE_NEWUSER | more))
		return false;
	snprintf(map, sizeof(map), "0 %u 1", uid);
	return write_file("/proc/self/setgroups", "deny") && write_file("/proc/self/uid_map", map) &&
	       !getuid();
}

TEST_DEV(capable, user_namespace)
{
	struct found *f = self->found;
	int fd;

	ASSERT_EQ(0, chmod(NODE, 0666));
	IN_CHILD({
		/* unshare -Urm, as anybody can */
		if (!become(NOBODY, 0) || prctl(PR_SET_DUMPABLE, 1, 0, 0, 0) ||
		    !enter_user_namespace(CLONE_NEWNS | CLONE_NEWPID)) {
			f->result[0] = -errno;
			_exit(0);
		}
		f->result[0] = 0;
		f->result[1] = try_open(NODE, O_RDONLY);
		/* root of the namespace is not root of the node */
		f->result[2] = try_open(WRITERS, O_RDWR);
	});
	if (f->result[0])
		SKIP(return, "no user namespaces here: %s", strerror(-f->result[0]));
	EXPECT_EQ(EPERM, f->result[1]);
	EXPECT_EQ(EACCES, f->result[2]);
	IN_CHILD({
		if (!enter_user_namespace(0))
			_exit(1);
		f->result[1] = try_open(NODE, O_RDONLY);
	});
	EXPECT_EQ(EPERM, f->result[1]);
	/* an open file can be handed over: having it is the permission */
	fd = tb_open(0);
	ASSERT_LE(0, fd);
	IN_CHILD({
		struct tb_query q;

		if (!enter_user_namespace(0))
			_exit(1);
		f->result[1] = -tb_query(fd, &q);
		f->result[2] = -tb_stop(fd);
	});
	EXPECT_EQ(0, f->result[1]);
	EXPECT_EQ(EINVAL, f->result[2]);	/* not running; not EPERM */
	close(fd);
}

/* A container: root directory, namespaces and capabilities as usual, and nodes of its own. */
TEST_DEV(capable, container)
{
	struct found *f = self->found;
	struct stat st, writers;
	char dir[] = "/tmp/container-XXXXXX";

	ASSERT_EQ(0, stat(NODE, &st));
	ASSERT_EQ(0, stat(WRITERS, &writers));
	ASSERT_NE(NULL, mkdtemp(dir));
	IN_CHILD({
		int i;

		if (unshare(CLONE_NEWNS | CLONE_NEWPID | CLONE_NEWUTS | CLONE_NEWIPC) ||
		    mount(NULL, "/", NULL, MS_REC | MS_PRIVATE, NULL) ||
		    mount("none", dir, "tmpfs", 0, NULL) || chroot(dir) || chdir("/")) {
			f->result[0] = -errno;
			_exit(0);
		}
		/* exec cannot give it other capabilities */
		for (i = 0; i <= 40; i++)
			if (!(CONTAINER & BIT(i)))
				prctl(PR_CAPBSET_DROP, i, 0, 0, 0);
		if (!become(0, CONTAINER))
			_exit(1);
		f->result[0] = 0;
		/* it makes nodes for everybody itself */
		if (mknod("tracebuf", S_IFCHR | 0666, st.st_rdev) ||
		    mknod("producer", S_IFCHR | 0666, writers.st_rdev))
			_exit(2);
		f->result[1] = try_open("tracebuf", O_RDONLY);
		/* writing needs only the node: giving the node gives the permission */
		f->result[2] = try_open("producer", O_RDWR);
	});
	rmdir(dir);
	if (f->result[0])
		SKIP(return, "no namespaces here: %s", strerror(-f->result[0]));
	EXPECT_EQ(EPERM, f->result[1]);
	EXPECT_EQ(0, f->result[2]);
}

/* Permission is checked at open; open files go on, as with perf and tracefs. */
TEST_DEV(capable, dropped_after_opening)
{
	struct found *f = self->found;
	int fd = tb_open(0);

	ASSERT_LE(0, fd);
	ASSERT_EQ(0, tb_fresh(fd));
	IN_CHILD({
		char byte;

		if (!become(NOBODY, 0))
			_exit(1);
		f->result[0] = -tb_start(fd, TB_START_NO_STATE);
		f->result[1] = read(fd, &byte, 1) == 1 ? 0 : errno;
		f->result[2] = -tb_stop(fd);
	});
	EXPECT_EQ(0, f->result[0]);
	EXPECT_EQ(0, f->result[1]);
	EXPECT_EQ(0, f->result[2]);
	close(fd);
	fd = tb_open(0);
	EXPECT_EQ(0, tb_fresh(fd));
	close(fd);
}

/* The writers' device needs only the node, and gives nothing to read. */
TEST_DEV(capable, writers)
{
	struct found *f = self->found;

	ASSERT_EQ(0, chmod(WRITERS, 0666));
	IN_CHILD({
		int fd;
		char byte;

		if (!become(NOBODY, 0))
			_exit(1);
		fd = open(WRITERS, O_RDWR | O_CLOEXEC);
		f->result[0] = fd < 0 ? errno : 0;
		f->result[1] = read(fd, &byte, 1) < 0 ? errno : 0;
		f->result[2] = ioctl(fd, TB_IOC_QUERY, &byte) < 0 ? errno : 0;
	});
	EXPECT_EQ(0, f->result[0]);
	EXPECT_EQ(EINVAL, f->result[1]);
	/* no call of the other device works, before a setup or after */
	EXPECT_TRUE(f->result[2] == ENXIO || f->result[2] == ENOTTY);
}

TEST_HARNESS_MAIN
