// SPDX-License-Identifier: GPL-2.0-only
/*
 * Build IDs of mapped files; see build_ids.h.
 *
 * The recorder kills a child that does not answer in time, but does not wait for its end: the child
 * may hang in a file system.  The child has only the socket open, so no program waits for it to
 * close a pipe.
 */
#include <errno.h>
#include <fcntl.h>
#include <libelf.h>
#include <elfutils/libdwelf.h>
#include <linux/capability.h>
#include <linux/openat2.h>
#include <poll.h>
#include <signal.h>
#include <stdbool.h>
#include <stdio.h>
#include <string.h>
#include <sys/prctl.h>
#include <sys/socket.h>
#include <sys/syscall.h>
#include <sys/wait.h>
#include <unistd.h>
#include "build_ids.h"
#include "tool/command/command.h"
#include "tool/command/plain_file.h"

#define WAIT_MS 1000
#define LATE_MAX 3		/* after so many late children no more files are read */

struct question {
	unsigned int pid;
	char range[40], path[MAPPED_PATH_MAX];
};

struct answer {
	unsigned char bytes, build_id[BUILD_ID_MAX];
};

/* ---- the child ---- */

/*
 * Open the mapped file itself through map_files, because another file may have its name by now.  If
 * that is not permitted, open the file with that name.
 */
static int open_mapped(const struct question *question)
{
	char name[96];
	int fd, root;

	snprintf(name, sizeof(name), "/proc/%u/map_files/%s", question->pid, question->range);
	fd = plain_file_open(AT_FDCWD, name, 0);
	if (fd >= 0)
		return fd;
	snprintf(name, sizeof(name), "/proc/%u/root", question->pid);
	root = open(name, O_PATH | O_DIRECTORY | O_CLOEXEC);
	if (root < 0)
		return -1;
	fd = plain_file_open(root, question->path, RESOLVE_IN_ROOT | RESOLVE_NO_MAGICLINKS);
	close(root);
	return fd;
}

static void read_build_id(const struct question *question, struct answer *answer)
{
	int fd = open_mapped(question);
	const void *bits;
	ssize_t bytes;
	Elf *elf;

	if (fd < 0)
		return;
	elf = elf_begin(fd, ELF_C_READ, NULL);
	if (elf) {
		bytes = dwelf_elf_gnu_build_id(elf, &bits);
		if (bytes > 0 && bytes <= BUILD_ID_MAX) {
			answer->bytes = (unsigned char)bytes;
			memcpy(answer->build_id, bits, (size_t)bytes);
		}
		elf_end(elf);
	}
	close(fd);
}

/* Reading files of other users needs no right to record; root keeps its rights, to open all */
static void drop_capabilities(void)
{
	struct __user_cap_header_struct head = { .version = _LINUX_CAPABILITY_VERSION_3 };
	struct __user_cap_data_struct none[2] = { { 0 } };

	if (geteuid())
		syscall(SYS_capset, &head, none);
}

static _Noreturn void answer_all(int socket)
{
	struct question question;

	/* keep only the socket: a reader of the recorder's output must not wait for this process */
	if (dup2(socket, 0) < 0 || close_range(1, ~0u, 0) || prctl(PR_SET_PDEATHSIG, SIGKILL))
		_exit(1);
	/* Ctrl-C in the terminal is for the recorder only */
	setsid();
	drop_capabilities();
	elf_version(EV_CURRENT);
	while (recv(0, &question, sizeof(question), 0) == sizeof(question)) {
		struct answer answer = { 0 };

		read_build_id(&question, &answer);
		if (send(0, &answer, sizeof(answer), MSG_NOSIGNAL) != sizeof(answer))
			break;
	}
	_exit(0);
}

/* ---- the recorder ---- */

static bool start(struct build_ids *ids)
{
	int ends[2];

	if (socketpair(AF_UNIX, SOCK_SEQPACKET | SOCK_CLOEXEC, 0, ends))
		return false;
	ids->pid = fork();
	if (!ids->pid)
		answer_all(ends[1]);
	close(ends[1]);
	if (ids->pid > 0) {
		ids->socket = ends[0];
		return true;
	}
	ids->pid = 0;
	close(ends[0]);
	return false;
}

static void give_up(struct build_ids *ids, unsigned int pid)
{
	kill(ids->pid, SIGKILL);
	/* a child that hangs is left to init */
	waitpid(ids->pid, NULL, WNOHANG);
	close(ids->socket);
	ids->pid = 0;
	if (++ids->late > LATE_MAX)
		return;
	note("warning: process %u has a file mapped that cannot be read within a second: %s%s",
	     pid, "its functions may have no names",
	     ids->late == LATE_MAX ? "; no more build IDs are read" : "");
}

size_t build_ids_read(struct build_ids *ids, unsigned int pid, const char *range, const char *path,
		      unsigned char *build_id)
{
	struct pollfd ready = { .events = POLLIN };
	struct question question = { .pid = pid };
	struct answer answer;
	int result;

	if (ids->late >= LATE_MAX || (!ids->pid && !start(ids)))
		return 0;
	snprintf(question.range, sizeof(question.range), "%s", range);
	if (snprintf(question.path, sizeof(question.path), "%s", path) >=
	    (int)sizeof(question.path))
		return 0;
	ready.fd = ids->socket;
	if (send(ids->socket, &question, sizeof(question), MSG_NOSIGNAL) == sizeof(question)) {
		do
			result = poll(&ready, 1, WAIT_MS);
		while (result < 0 && errno == EINTR);
		if (result == 1 && recv(ids->socket, &answer, sizeof(answer), MSG_DONTWAIT) ==
		    sizeof(answer) && answer.bytes <= BUILD_ID_MAX) {
			memcpy(build_id, answer.build_id, answer.bytes);
			return answer.bytes;
		}
	}
	give_up(ids, pid);
	return 0;
}

void build_ids_close(struct build_ids *ids)
{
	if (!ids->pid)
		return;
	close(ids->socket);
	while (waitpid(ids->pid, NULL, 0) < 0 && errno == EINTR)
		;
	ids->pid = 0;
}
