// SPDX-License-Identifier: GPL-2.0-only
/*
 * Names for arguments of system calls, from the headers of the C library and the kernel.
 */
#include <fcntl.h>
#include <inttypes.h>
#include <linux/bpf.h>
#include <linux/close_range.h>
#include <linux/futex.h>
#include <linux/io_uring.h>
#include <linux/membarrier.h>
#include <linux/seccomp.h>
#include <netinet/in.h>
#include <netinet/tcp.h>
#include <sched.h>
#include <signal.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/epoll.h>
#include <sys/eventfd.h>
#include <sys/file.h>
#include <sys/inotify.h>
#include <sys/ioctl.h>
#include <sys/mman.h>
#include <sys/mount.h>
#include <sys/prctl.h>
#include <sys/ptrace.h>
#include <sys/random.h>
#include <sys/resource.h>
#include <sys/socket.h>
#include <sys/time.h>
#include <sys/uio.h>
#include <sys/wait.h>
#include <time.h>
#include <unistd.h>
#include "call.h"
#if __has_include(<asm/prctl.h>)
#include <asm/prctl.h>		/* arch_prctl() is a system call of x86 */
#endif

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
static const struct named sock_flags[] = { N(SOCK_NONBLOCK), N(SOCK_CLOEXEC), {} };
static const struct named eventfd_flags[] = {
	N(EFD_SEMAPHORE), N(EFD_NONBLOCK), N(EFD_CLOEXEC), {}
};
static const struct named close_range_flags[] = {
	N(CLOSE_RANGE_UNSHARE), N(CLOSE_RANGE_CLOEXEC), {}
};
static const struct named random_flags[] = {
	N(GRND_NONBLOCK), N(GRND_RANDOM), { "GRND_INSECURE", 4 }, {}
};
static const struct named memfd_flags[] = {
	N(MFD_CLOEXEC), N(MFD_ALLOW_SEALING), N(MFD_HUGETLB), { "MFD_NOEXEC_SEAL", 8 },
	{ "MFD_EXEC", 0x10 }, {}
};
static const struct named remap_flags[] = {
	N(MREMAP_MAYMOVE), N(MREMAP_FIXED), N(MREMAP_DONTUNMAP), {}
};
static const struct named msync_flags[] = { N(MS_ASYNC), N(MS_INVALIDATE), N(MS_SYNC), {} };
static const struct named lock_flags[] = {
	N(MCL_CURRENT), N(MCL_FUTURE), N(MCL_ONFAULT), {}
};
static const struct named mount_flags[] = {
	N(MS_RDONLY), N(MS_NOSUID), N(MS_NODEV), N(MS_NOEXEC), N(MS_SYNCHRONOUS), N(MS_REMOUNT),
	N(MS_MANDLOCK), N(MS_DIRSYNC), N(MS_NOATIME), N(MS_NODIRATIME), N(MS_BIND), N(MS_MOVE),
	N(MS_REC), N(MS_SILENT), N(MS_POSIXACL), N(MS_UNBINDABLE), N(MS_PRIVATE), N(MS_SLAVE),
	N(MS_SHARED), N(MS_RELATIME), N(MS_STRICTATIME), N(MS_LAZYTIME), {}
};
static const struct named umount_flags[] = {
	N(MNT_FORCE), N(MNT_DETACH), N(MNT_EXPIRE), N(UMOUNT_NOFOLLOW), {}
};
static const struct named fallocate_flags[] = {
	N(FALLOC_FL_KEEP_SIZE), N(FALLOC_FL_PUNCH_HOLE), N(FALLOC_FL_COLLAPSE_RANGE),
	N(FALLOC_FL_ZERO_RANGE), N(FALLOC_FL_INSERT_RANGE), N(FALLOC_FL_UNSHARE_RANGE), {}
};
static const struct named splice_flags[] = {
	N(SPLICE_F_MOVE), N(SPLICE_F_NONBLOCK), N(SPLICE_F_MORE), N(SPLICE_F_GIFT), {}
};
static const struct named rwf_flags[] = {
	N(RWF_HIPRI), N(RWF_DSYNC), N(RWF_SYNC), N(RWF_NOWAIT), N(RWF_APPEND), {}
};
static const struct named watch_flags[] = {
	N(IN_CLOSE), N(IN_MOVE), N(IN_ACCESS), N(IN_MODIFY), N(IN_ATTRIB), N(IN_CLOSE_WRITE),
	N(IN_CLOSE_NOWRITE), N(IN_OPEN), N(IN_MOVED_FROM), N(IN_MOVED_TO), N(IN_CREATE),
	N(IN_DELETE), N(IN_DELETE_SELF), N(IN_MOVE_SELF), N(IN_ONLYDIR), N(IN_DONT_FOLLOW),
	N(IN_EXCL_UNLINK), N(IN_MASK_CREATE), N(IN_MASK_ADD), N(IN_ONESHOT), {}
};
static const struct named uring_flags[] = {
	N(IORING_ENTER_GETEVENTS), N(IORING_ENTER_SQ_WAKEUP), N(IORING_ENTER_SQ_WAIT),
	N(IORING_ENTER_EXT_ARG), {}
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

static const struct named archs[] = {
#ifdef ARCH_SET_FS
	N(ARCH_SET_GS), N(ARCH_SET_FS), N(ARCH_GET_FS), N(ARCH_GET_GS), N(ARCH_GET_CPUID),
	N(ARCH_SET_CPUID), { "ARCH_SHSTK_ENABLE", 0x5001 }, { "ARCH_SHSTK_DISABLE", 0x5002 },
	{ "ARCH_SHSTK_LOCK", 0x5003 }, { "ARCH_SHSTK_UNLOCK", 0x5004 },
	{ "ARCH_SHSTK_STATUS", 0x5005 },
#endif
	{}
};
static const struct named barriers[] = {
	N(MEMBARRIER_CMD_QUERY), N(MEMBARRIER_CMD_GLOBAL), N(MEMBARRIER_CMD_GLOBAL_EXPEDITED),
	N(MEMBARRIER_CMD_REGISTER_GLOBAL_EXPEDITED), N(MEMBARRIER_CMD_PRIVATE_EXPEDITED),
	N(MEMBARRIER_CMD_REGISTER_PRIVATE_EXPEDITED), {}
};
static const struct named itimers[] = {
	N(ITIMER_REAL), N(ITIMER_VIRTUAL), N(ITIMER_PROF), {}
};
static const struct named idtypes[] = { N(P_ALL), N(P_PID), N(P_PGID), { "P_PIDFD", 3 }, {} };
static const struct named fadvices[] = {
	N(POSIX_FADV_NORMAL), N(POSIX_FADV_RANDOM), N(POSIX_FADV_SEQUENTIAL),
	N(POSIX_FADV_WILLNEED), N(POSIX_FADV_DONTNEED), N(POSIX_FADV_NOREUSE), {}
};
static const struct named usages[] = {
	N(RUSAGE_SELF), N(RUSAGE_CHILDREN), { "RUSAGE_THREAD", 1 }, {}
};
static const struct named priorities[] = { N(PRIO_PROCESS), N(PRIO_PGRP), N(PRIO_USER), {} };
static const struct named bpfs[] = {
	N(BPF_MAP_CREATE), N(BPF_MAP_LOOKUP_ELEM), N(BPF_MAP_UPDATE_ELEM), N(BPF_MAP_DELETE_ELEM),
	N(BPF_MAP_GET_NEXT_KEY), N(BPF_PROG_LOAD), N(BPF_OBJ_PIN), N(BPF_OBJ_GET),
	N(BPF_PROG_ATTACH), N(BPF_PROG_DETACH), N(BPF_PROG_TEST_RUN), N(BPF_PROG_GET_NEXT_ID),
	N(BPF_MAP_GET_NEXT_ID), N(BPF_PROG_GET_FD_BY_ID), N(BPF_MAP_GET_FD_BY_ID),
	N(BPF_OBJ_GET_INFO_BY_FD), N(BPF_PROG_QUERY), N(BPF_RAW_TRACEPOINT_OPEN), N(BPF_BTF_LOAD),
	N(BPF_BTF_GET_FD_BY_ID), N(BPF_TASK_FD_QUERY), N(BPF_MAP_LOOKUP_AND_DELETE_ELEM),
	N(BPF_MAP_FREEZE), N(BPF_BTF_GET_NEXT_ID), N(BPF_MAP_LOOKUP_BATCH),
	N(BPF_MAP_LOOKUP_AND_DELETE_BATCH), N(BPF_MAP_UPDATE_BATCH), N(BPF_MAP_DELETE_BATCH),
	N(BPF_LINK_CREATE), N(BPF_LINK_UPDATE), N(BPF_LINK_GET_FD_BY_ID), N(BPF_LINK_GET_NEXT_ID),
	N(BPF_ENABLE_STATS), N(BPF_ITER_CREATE), N(BPF_LINK_DETACH), N(BPF_PROG_BIND_MAP), {}
};
static const struct named seccomps[] = {
	N(SECCOMP_SET_MODE_STRICT), N(SECCOMP_SET_MODE_FILTER), N(SECCOMP_GET_ACTION_AVAIL),
	N(SECCOMP_GET_NOTIF_SIZES), {}
};
static const struct named ptraces[] = {
	N(PTRACE_TRACEME), N(PTRACE_PEEKTEXT), N(PTRACE_PEEKDATA), N(PTRACE_PEEKUSER),
	N(PTRACE_POKETEXT), N(PTRACE_POKEDATA), N(PTRACE_POKEUSER), N(PTRACE_CONT), N(PTRACE_KILL),
	N(PTRACE_SINGLESTEP), N(PTRACE_ATTACH), N(PTRACE_DETACH), N(PTRACE_SYSCALL),
	N(PTRACE_SETOPTIONS), N(PTRACE_GETEVENTMSG), N(PTRACE_GETSIGINFO), N(PTRACE_SETSIGINFO),
	N(PTRACE_GETREGSET), N(PTRACE_SETREGSET), N(PTRACE_SEIZE), N(PTRACE_INTERRUPT),
	N(PTRACE_LISTEN), {}
};
/* ioctl()s of terminals and files. Most of their numbers are older than _IO() */
static const struct named ioctls[] = {
	N(TCGETS), N(TCSETS), N(TCSETSW), N(TCSETSF), N(TCSBRK), N(TCXONC), N(TCFLSH),
	N(TIOCSCTTY), N(TIOCNOTTY), N(TIOCGPGRP), N(TIOCSPGRP), N(TIOCGSID), N(TIOCOUTQ),
	N(TIOCSTI), N(TIOCGWINSZ), N(TIOCSWINSZ), N(TIOCGPTN), N(TIOCSPTLCK), N(TIOCGPTPEER),
	N(FIONREAD), N(FIONBIO), N(FIOASYNC), N(FIOCLEX), N(FIONCLEX), {}
};
static const struct named levels[] = {
	N(SOL_SOCKET), N(IPPROTO_IP), N(IPPROTO_TCP), N(IPPROTO_UDP), N(IPPROTO_IPV6),
	N(IPPROTO_ICMP), N(IPPROTO_ICMPV6), { "SOL_NETLINK", 270 }, {}
};
static const struct named socket_options[] = {
	N(SO_DEBUG), N(SO_REUSEADDR), N(SO_TYPE), N(SO_ERROR), N(SO_DONTROUTE), N(SO_BROADCAST),
	N(SO_SNDBUF), N(SO_RCVBUF), N(SO_KEEPALIVE), N(SO_OOBINLINE), N(SO_PRIORITY), N(SO_LINGER),
	N(SO_REUSEPORT), N(SO_PASSCRED), N(SO_PEERCRED), N(SO_RCVLOWAT), N(SO_SNDLOWAT),
	N(SO_RCVTIMEO), N(SO_SNDTIMEO), N(SO_BINDTODEVICE), N(SO_ATTACH_FILTER), N(SO_TIMESTAMP),
	N(SO_ACCEPTCONN), N(SO_PEERSEC), N(SO_SNDBUFFORCE), N(SO_RCVBUFFORCE), N(SO_PASSSEC),
	N(SO_MARK), N(SO_TIMESTAMPING), N(SO_PROTOCOL), N(SO_DOMAIN), N(SO_BUSY_POLL),
	N(SO_INCOMING_CPU), N(SO_COOKIE), N(SO_PEERGROUPS), N(SO_ZEROCOPY), N(SO_TXTIME), {}
};
static const struct named tcp_options[] = {
	N(TCP_NODELAY), N(TCP_MAXSEG), N(TCP_CORK), N(TCP_KEEPIDLE), N(TCP_KEEPINTVL),
	N(TCP_KEEPCNT), N(TCP_SYNCNT), N(TCP_LINGER2), N(TCP_DEFER_ACCEPT), N(TCP_WINDOW_CLAMP),
	N(TCP_INFO), N(TCP_QUICKACK), N(TCP_CONGESTION), N(TCP_MD5SIG), N(TCP_USER_TIMEOUT),
	N(TCP_REPAIR), N(TCP_FASTOPEN), N(TCP_TIMESTAMP), N(TCP_NOTSENT_LOWAT), N(TCP_ULP), {}
};
static const struct named ip_options[] = {
	N(IP_TOS), N(IP_TTL), N(IP_HDRINCL), N(IP_OPTIONS), N(IP_PKTINFO), N(IP_MTU_DISCOVER),
	N(IP_RECVERR), N(IP_RECVTTL), N(IP_RECVTOS), N(IP_MTU), N(IP_FREEBIND), N(IP_TRANSPARENT),
	N(IP_BIND_ADDRESS_NO_PORT), N(IP_MULTICAST_IF), N(IP_MULTICAST_TTL), N(IP_MULTICAST_LOOP),
	N(IP_ADD_MEMBERSHIP), N(IP_DROP_MEMBERSHIP), {}
};
static const struct named ip6_options[] = {
	N(IPV6_UNICAST_HOPS), N(IPV6_MULTICAST_IF), N(IPV6_MULTICAST_HOPS), N(IPV6_MULTICAST_LOOP),
	N(IPV6_MTU_DISCOVER), N(IPV6_MTU), N(IPV6_RECVERR), N(IPV6_V6ONLY), N(IPV6_RECVPKTINFO),
	N(IPV6_PKTINFO), N(IPV6_RECVHOPLIMIT), N(IPV6_TCLASS), N(IPV6_RECVTCLASS), {}
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
	return put_flags(type, sock_flags, value & UINT32_MAX & ~0xfull, buffer, size);
}

/* An option of a socket, by the level of the option */
static int put_socket_option(uint64_t level, uint64_t value, char *buffer, size_t size)
{
	static const struct named none[] = { {} };

	return put_name(level == SOL_SOCKET ? socket_options :
			level == IPPROTO_TCP ? tcp_options :
			level == IPPROTO_IP ? ip_options :
			level == IPPROTO_IPV6 ? ip6_options : none, value, buffer, size);
}

/* "TCGETS", "_IOR('V', 0x5, 8)", "_IO(0xae, 0x80)", "0x12" if it was not made by one of these */
static int put_ioctl(uint64_t value, char *buffer, size_t size)
{
	const char *name = name_of(ioctls, value);
	unsigned int number = (unsigned int)value, type = _IOC_TYPE(number);
	char spare[8];

	if (name)
		return snprintf(buffer, size, "%s", name);
	if (_IOC_DIR(number) == _IOC_NONE && (_IOC_SIZE(number) || type < 0x20))
		return snprintf(buffer, size, "0x%x", number);
	if (type > 0x20 && type < 0x7f && type != '\'' && type != '\\')
		snprintf(spare, sizeof(spare), "'%c'", (int)type);
	else
		snprintf(spare, sizeof(spare), "0x%x", type);
	if (_IOC_DIR(number) == _IOC_NONE)
		return snprintf(buffer, size, "_IO(%s, 0x%x)", spare, _IOC_NR(number));
	return snprintf(buffer, size, "_IO%s%s(%s, 0x%x, %u)",
			_IOC_DIR(number) & _IOC_WRITE && _IOC_DIR(number) & _IOC_READ ? "W" : "",
			_IOC_DIR(number) & _IOC_READ ? "R" : "W", spare, _IOC_NR(number),
			_IOC_SIZE(number));
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

/* How a value without a name is shown; @FLAGS is a sum of names */
enum plain { NUMBER, FLAGS, HEX };

static const struct { const struct named *named; enum plain how; } plain[] = {
	[CALL_CLOEXEC] = { cloexec_flags, FLAGS }, [CALL_PROT] = { prot_flags, FLAGS },
	[CALL_MAP] = { map_flags, FLAGS }, [CALL_CLOCK] = { clocks, NUMBER },
	[CALL_WHENCE] = { whences, NUMBER }, [CALL_FCNTL] = { fcntls, NUMBER },
	[CALL_EPOLL] = { epolls, NUMBER }, [CALL_ADVICE] = { advices, NUMBER },
	[CALL_WAIT] = { wait_flags, FLAGS }, [CALL_SHUT] = { shuts, NUMBER },
	[CALL_SIGMASK] = { sigmasks, NUMBER }, [CALL_FLOCK] = { flock_flags, FLAGS },
	[CALL_FAMILY] = { families, NUMBER }, [CALL_PRCTL] = { prctls, NUMBER },
	[CALL_POLICY] = { policies, NUMBER }, [CALL_RESOURCE] = { resources, NUMBER },
	[CALL_TIMER] = { timer_flags, FLAGS }, [CALL_RENAME] = { rename_flags, FLAGS },
	[CALL_MSG] = { msg_flags, FLAGS }, [CALL_AT] = { at_flags, FLAGS },
	[CALL_ACCESS] = { access_flags, FLAGS }, [CALL_SOCK] = { sock_flags, FLAGS },
	[CALL_EVENTFD] = { eventfd_flags, FLAGS },
	[CALL_CLOSERANGE] = { close_range_flags, FLAGS },
	[CALL_RANDOM] = { random_flags, FLAGS }, [CALL_MEMFD] = { memfd_flags, FLAGS },
	[CALL_REMAP] = { remap_flags, FLAGS }, [CALL_MSYNC] = { msync_flags, FLAGS },
	[CALL_MLOCKALL] = { lock_flags, FLAGS }, [CALL_MOUNT] = { mount_flags, FLAGS },
	[CALL_UMOUNT] = { umount_flags, FLAGS }, [CALL_FALLOCATE] = { fallocate_flags, FLAGS },
	[CALL_SPLICE] = { splice_flags, FLAGS }, [CALL_RWF] = { rwf_flags, FLAGS },
	[CALL_WATCH] = { watch_flags, FLAGS }, [CALL_URING] = { uring_flags, FLAGS },
	[CALL_ARCH] = { archs, HEX }, [CALL_BARRIER] = { barriers, HEX },
	[CALL_ITIMER] = { itimers, NUMBER }, [CALL_IDTYPE] = { idtypes, NUMBER },
	[CALL_FADVICE] = { fadvices, NUMBER }, [CALL_USAGE] = { usages, NUMBER },
	[CALL_PRIORITY] = { priorities, NUMBER }, [CALL_BPF] = { bpfs, NUMBER },
	[CALL_SECCOMP] = { seccomps, NUMBER }, [CALL_PTRACE] = { ptraces, NUMBER },
	[CALL_LEVEL] = { levels, NUMBER },
};

int call_value(enum call_class class, uint64_t before, uint64_t value, char *buffer, size_t size)
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
	case CALL_SOCKOPT:
		return put_socket_option(before & UINT32_MAX, value & UINT32_MAX, buffer, size);
	case CALL_MOUNT:
		/* mount(8) sets this, and the kernel ignores it */
		if ((value & 0xffff0000) == MS_MGC_VAL)
			return put_flags("MS_MGC_VAL", mount_flags, value & 0xffff, buffer, size);
		break;
	case CALL_IOCTL:
		return put_ioctl(value & UINT32_MAX, buffer, size);
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
	value &= UINT32_MAX;
	if (plain[class].how == FLAGS)
		return put_flags(NULL, plain[class].named, value, buffer, size);
	if (plain[class].how == HEX && !name_of(plain[class].named, value))
		return snprintf(buffer, size, "0x%" PRIx64, value);
	return put_name(plain[class].named, value, buffer, size);
}
