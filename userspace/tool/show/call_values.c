// SPDX-License-Identifier: GPL-2.0-only
/*
 * Names for arguments of system calls, from the headers of the C library and the kernel.
 */
#include <fcntl.h>
#include <inttypes.h>
#include <linux/futex.h>
#include <sched.h>
#include <signal.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/epoll.h>
#include <sys/file.h>
#include <sys/mman.h>
#include <sys/prctl.h>
#include <sys/resource.h>
#include <sys/socket.h>
#include <sys/wait.h>
#include <time.h>
#include <unistd.h>
#include "call.h"

struct named {
	const char *name;
	uint64_t value;
};

#define N(name) { #name, (uint64_t)(unsigned int)(name) }

/* Flags of several bits come before flags that are a part of them */
static const struct named open_flags[] = {
	N(O_TMPFILE), N(O_SYNC), N(O_CREAT), N(O_EXCL), N(O_NOCTTY), N(O_TRUNC), N(O_APPEND),
	N(O_NONBLOCK), N(O_DSYNC), N(O_ASYNC), N(O_DIRECT), N(O_DIRECTORY), N(O_NOFOLLOW),
	N(O_NOATIME), N(O_CLOEXEC), N(O_PATH), {}
};
static const struct named cloexec_flags[] = { N(O_NONBLOCK), N(O_CLOEXEC), {} };
static const struct named prot_flags[] = {
	N(PROT_READ), N(PROT_WRITE), N(PROT_EXEC), N(PROT_GROWSDOWN), N(PROT_GROWSUP), {}
};
static const struct named map_flags[] = {
	N(MAP_SHARED_VALIDATE), N(MAP_SHARED), N(MAP_PRIVATE), N(MAP_FIXED_NOREPLACE),
	N(MAP_FIXED), N(MAP_ANONYMOUS), N(MAP_GROWSDOWN), { "MAP_DENYWRITE", 0x800 },
	N(MAP_LOCKED), N(MAP_NORESERVE), N(MAP_POPULATE), N(MAP_NONBLOCK), N(MAP_STACK),
	N(MAP_HUGETLB), {}
};
static const struct named wait_flags[] = {
	N(WNOHANG), N(WUNTRACED), N(WEXITED), N(WCONTINUED), N(WNOWAIT), N(__WALL), N(__WCLONE), {}
};
static const struct named clone_flags[] = {
	N(CLONE_VM), N(CLONE_FS), N(CLONE_FILES), N(CLONE_SIGHAND), N(CLONE_PIDFD),
	N(CLONE_PTRACE), N(CLONE_VFORK), N(CLONE_PARENT), N(CLONE_THREAD), N(CLONE_NEWNS),
	N(CLONE_SYSVSEM), N(CLONE_SETTLS), N(CLONE_PARENT_SETTID), N(CLONE_CHILD_CLEARTID),
	N(CLONE_UNTRACED), N(CLONE_CHILD_SETTID), N(CLONE_NEWCGROUP), N(CLONE_NEWUTS),
	N(CLONE_NEWIPC), N(CLONE_NEWUSER), N(CLONE_NEWPID), N(CLONE_NEWNET), N(CLONE_IO), {}
};
static const struct named access_flags[] = { N(R_OK), N(W_OK), N(X_OK), {} };
static const struct named msg_flags[] = {
	N(MSG_OOB), N(MSG_PEEK), N(MSG_DONTROUTE), N(MSG_CTRUNC), N(MSG_TRUNC), N(MSG_DONTWAIT),
	N(MSG_EOR), N(MSG_WAITALL), N(MSG_CONFIRM), N(MSG_ERRQUEUE), N(MSG_NOSIGNAL), N(MSG_MORE),
	N(MSG_WAITFORONE), N(MSG_ZEROCOPY), N(MSG_FASTOPEN), N(MSG_CMSG_CLOEXEC), {}
};
static const struct named at_flags[] = {
	N(AT_SYMLINK_NOFOLLOW), N(AT_REMOVEDIR), N(AT_SYMLINK_FOLLOW), N(AT_NO_AUTOMOUNT),
	N(AT_EMPTY_PATH), {}
};
static const struct named rename_flags[] = {
	N(RENAME_NOREPLACE), N(RENAME_EXCHANGE), N(RENAME_WHITEOUT), {}
};
static const struct named timer_flags[] = { N(TIMER_ABSTIME), {} };
static const struct named flock_flags[] = { N(LOCK_SH), N(LOCK_EX), N(LOCK_NB), N(LOCK_UN), {} };

static const struct named clocks[] = {
	N(CLOCK_REALTIME), N(CLOCK_MONOTONIC), N(CLOCK_PROCESS_CPUTIME_ID),
	N(CLOCK_THREAD_CPUTIME_ID), N(CLOCK_MONOTONIC_RAW), N(CLOCK_REALTIME_COARSE),
	N(CLOCK_MONOTONIC_COARSE), N(CLOCK_BOOTTIME), N(CLOCK_REALTIME_ALARM),
	N(CLOCK_BOOTTIME_ALARM), N(CLOCK_TAI), {}
};
static const struct named whences[] = {
	N(SEEK_SET), N(SEEK_CUR), N(SEEK_END), N(SEEK_DATA), N(SEEK_HOLE), {}
};
static const struct named futexes[] = {
	N(FUTEX_WAIT), N(FUTEX_WAKE), N(FUTEX_FD), N(FUTEX_REQUEUE), N(FUTEX_CMP_REQUEUE),
	N(FUTEX_WAKE_OP), N(FUTEX_LOCK_PI), N(FUTEX_UNLOCK_PI), N(FUTEX_TRYLOCK_PI),
	N(FUTEX_WAIT_BITSET), N(FUTEX_WAKE_BITSET), N(FUTEX_WAIT_REQUEUE_PI),
	N(FUTEX_CMP_REQUEUE_PI), N(FUTEX_LOCK_PI2), {}
};
static const struct named fcntls[] = {
	N(F_DUPFD), N(F_GETFD), N(F_SETFD), N(F_GETFL), N(F_SETFL), N(F_GETLK), N(F_SETLK),
	N(F_SETLKW), N(F_SETOWN), N(F_GETOWN), N(F_SETSIG), N(F_GETSIG), N(F_SETOWN_EX),
	N(F_GETOWN_EX), N(F_OFD_GETLK), N(F_OFD_SETLK), N(F_OFD_SETLKW), N(F_SETLEASE),
	N(F_GETLEASE), N(F_NOTIFY), N(F_DUPFD_CLOEXEC), N(F_SETPIPE_SZ), N(F_GETPIPE_SZ),
	N(F_ADD_SEALS), N(F_GET_SEALS), {}
};
static const struct named epolls[] = { N(EPOLL_CTL_ADD), N(EPOLL_CTL_DEL), N(EPOLL_CTL_MOD), {} };
static const struct named advices[] = {
	N(MADV_NORMAL), N(MADV_RANDOM), N(MADV_SEQUENTIAL), N(MADV_WILLNEED), N(MADV_DONTNEED),
	N(MADV_FREE), N(MADV_REMOVE), N(MADV_DONTFORK), N(MADV_DOFORK), N(MADV_MERGEABLE),
	N(MADV_UNMERGEABLE), N(MADV_HUGEPAGE), N(MADV_NOHUGEPAGE), N(MADV_DONTDUMP),
	N(MADV_DODUMP), N(MADV_WIPEONFORK), N(MADV_KEEPONFORK), N(MADV_COLD), N(MADV_PAGEOUT),
	N(MADV_POPULATE_READ), N(MADV_POPULATE_WRITE), {}
};
static const struct named shuts[] = { N(SHUT_RD), N(SHUT_WR), N(SHUT_RDWR), {} };
static const struct named sigmasks[] = { N(SIG_BLOCK), N(SIG_UNBLOCK), N(SIG_SETMASK), {} };
static const struct named families[] = {
	N(AF_UNSPEC), N(AF_UNIX), N(AF_INET), N(AF_INET6), N(AF_NETLINK), N(AF_PACKET),
	N(AF_ALG), N(AF_VSOCK), N(AF_BLUETOOTH), N(AF_XDP), {}
};
static const struct named socktypes[] = {
	N(SOCK_STREAM), N(SOCK_DGRAM), N(SOCK_RAW), N(SOCK_RDM), N(SOCK_SEQPACKET), {}
};
static const struct named prctls[] = {
	N(PR_SET_PDEATHSIG), N(PR_GET_PDEATHSIG), N(PR_GET_DUMPABLE), N(PR_SET_DUMPABLE),
	N(PR_SET_NAME), N(PR_GET_NAME), N(PR_GET_SECCOMP), N(PR_SET_SECCOMP),
	N(PR_CAPBSET_READ), N(PR_CAPBSET_DROP), N(PR_SET_TIMERSLACK), N(PR_GET_TIMERSLACK),
	N(PR_SET_MM), N(PR_SET_CHILD_SUBREAPER), N(PR_GET_CHILD_SUBREAPER),
	N(PR_SET_NO_NEW_PRIVS), N(PR_GET_NO_NEW_PRIVS), N(PR_CAP_AMBIENT), N(PR_SET_VMA), {}
};
static const struct named policies[] = {
	N(SCHED_OTHER), N(SCHED_FIFO), N(SCHED_RR), N(SCHED_BATCH), N(SCHED_IDLE),
	N(SCHED_DEADLINE), {}
};
static const struct named resources[] = {
	N(RLIMIT_CPU), N(RLIMIT_FSIZE), N(RLIMIT_DATA), N(RLIMIT_STACK), N(RLIMIT_CORE),
	N(RLIMIT_RSS), N(RLIMIT_NPROC), N(RLIMIT_NOFILE), N(RLIMIT_MEMLOCK), N(RLIMIT_AS),
	N(RLIMIT_LOCKS), N(RLIMIT_SIGPENDING), N(RLIMIT_MSGQUEUE), N(RLIMIT_NICE),
	N(RLIMIT_RTPRIO), N(RLIMIT_RTTIME), {}
};

/* ---- text ---- */

static const char *name_of(const struct named *named, uint64_t value)
{
	for (; named->name; named++)
		if (named->value == value)
			return named->name;
	return NULL;
}

static int put_name(const struct named *named, uint64_t value, char *buffer, size_t size)
{
	const char *name = name_of(named, value);

	return name ? snprintf(buffer, size, "%s", name) :
	       snprintf(buffer, size, "%" PRId32, (int32_t)value);
}

/* Write "FIRST|A|B|0x100", or "0" if that would be empty; @first may be NULL */
static int put_flags(const char *first, const struct named *named, uint64_t value, char *buffer,
		     size_t size)
{
	size_t used = (size_t)snprintf(buffer, size, "%s", first ? first : "");

	for (; named->name; named++) {
		if ((value & named->value) != named->value || !named->value)
			continue;
		value &= ~named->value;
		if (used < size)
			used += (size_t)snprintf(buffer + used, size - used, "%s%s",
						 used ? "|" : "", named->name);
	}
	if ((value || !used) && used < size)
		used += (size_t)snprintf(buffer + used, size - used, value ? "%s0x%" PRIx64 :
					 "%s%" PRIx64, used ? "|" : "", value);
	return (int)used;
}

static int put_signal(uint64_t value, char *buffer, size_t size)
{
	char spare[24];
	const char *name = tb_signal_name((int64_t)value, spare);

	return name ? snprintf(buffer, size, "%s", name) :
	       snprintf(buffer, size, "%" PRId32, (int32_t)value);
}

static int put_open(uint64_t value, char *buffer, size_t size)
{
	static const char *const access[] = { "O_RDONLY", "O_WRONLY", "O_RDWR", "O_ACCMODE" };

	/* without O_LARGEFILE (0100000), which means nothing for programs of 64 bits */
	return put_flags(access[value & O_ACCMODE], open_flags,
			 value & UINT32_MAX & ~(uint64_t)(O_ACCMODE | 0100000), buffer, size);
}

static int put_clone(uint64_t value, char *buffer, size_t size)
{
	char signal[16] = "";

	if (value & 0xff)
		put_signal(value & 0xff, signal, sizeof(signal));
	return put_flags(value & 0xff ? signal : NULL, clone_flags, value & ~0xffull, buffer, size);
}

static int put_socktype(uint64_t value, char *buffer, size_t size)
{
	char type[32];

	put_name(socktypes, value & 0xf, type, sizeof(type));
	return put_flags(type, cloexec_flags, value & UINT32_MAX & ~0xfull, buffer, size);
}

static int put_futex(uint64_t value, char *buffer, size_t size)
{
	static const struct named flags[] = {
		N(FUTEX_PRIVATE_FLAG), N(FUTEX_CLOCK_REALTIME), {}
	};
	char command[32];

	put_name(futexes, value & FUTEX_CMD_MASK & UINT32_MAX, command, sizeof(command));
	return put_flags(command, flags, value & ~(uint64_t)FUTEX_CMD_MASK & UINT32_MAX, buffer,
			 size);
}

static const struct { const struct named *named; int flags; } plain[] = {
	[CALL_CLOEXEC] = { cloexec_flags, 1 }, [CALL_PROT] = { prot_flags, 1 },
	[CALL_MAP] = { map_flags, 1 }, [CALL_CLOCK] = { clocks, 0 },
	[CALL_WHENCE] = { whences, 0 }, [CALL_FCNTL] = { fcntls, 0 }, [CALL_EPOLL] = { epolls, 0 },
	[CALL_ADVICE] = { advices, 0 }, [CALL_WAIT] = { wait_flags, 1 },
	[CALL_SHUT] = { shuts, 0 }, [CALL_SIGMASK] = { sigmasks, 0 },
	[CALL_FLOCK] = { flock_flags, 1 }, [CALL_FAMILY] = { families, 0 },
	[CALL_PRCTL] = { prctls, 0 }, [CALL_POLICY] = { policies, 0 },
	[CALL_RESOURCE] = { resources, 0 }, [CALL_TIMER] = { timer_flags, 1 },
	[CALL_RENAME] = { rename_flags, 1 }, [CALL_MSG] = { msg_flags, 1 },
	[CALL_AT] = { at_flags, 1 }, [CALL_ACCESS] = { access_flags, 1 },
};

int call_value(enum call_class class, uint64_t value, char *buffer, size_t size)
{
	switch (class) {
	case CALL_DFD:
		if ((int32_t)value == AT_FDCWD)
			return snprintf(buffer, size, "AT_FDCWD");
		/* fall through */
	case CALL_FD:
		return snprintf(buffer, size, "%" PRId32, (int32_t)value);
	case CALL_SIGNAL:
		return put_signal(value & UINT32_MAX, buffer, size);
	case CALL_OPEN:
		return put_open(value, buffer, size);
	case CALL_CLONE:
		return put_clone(value, buffer, size);
	case CALL_SOCKTYPE:
		return put_socktype(value, buffer, size);
	case CALL_FUTEX:
		return put_futex(value, buffer, size);
	case CALL_ACCESS:
		if (!(value & UINT32_MAX))
			return snprintf(buffer, size, "F_OK");
		break;
	case CALL_PROT:
		if (!(value & UINT32_MAX))
			return snprintf(buffer, size, "PROT_NONE");
		break;
	default:
		break;
	}
	if ((size_t)class >= sizeof(plain) / sizeof(plain[0]) || !plain[class].named)
		return snprintf(buffer, size, "0x%" PRIx64, value);
	return plain[class].flags ?
	       put_flags(NULL, plain[class].named, value & UINT32_MAX, buffer, size) :
	       put_name(plain[class].named, value & UINT32_MAX, buffer, size);
}
