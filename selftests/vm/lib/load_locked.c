// SPDX-License-Identifier: GPL-2.0-only
/*
 * load_locked - loads a module and locks the kernel down meanwhile.
 *
 *	load_locked MODULE PARAMETERS [LEVEL]
 *
 * A locked-down kernel loads no module without a signature, so a test could not see how the module
 * treats its parameters. But the kernel checks the signature first and copies the parameters
 * afterwards. Here they are on a missing page: when the kernel faults on it, this program writes
 * LEVEL to the lockdown file, and then fills the page. Without LEVEL nothing is locked down. Prints
 * "loaded" or the error. Exit status: 0 loaded, 1 refused, 2 could not try.
 */
#include <errno.h>
#include <fcntl.h>
#include <pthread.h>
#include <stdbool.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/ioctl.h>
#include <sys/mman.h>
#include <sys/syscall.h>
#include <unistd.h>
#include <linux/userfaultfd.h>

#include "device.h"

#define LOCKDOWN	"/sys/kernel/security/lockdown"

struct late {
	int uffd;
	size_t page;
	char *text;		/* a page with the parameters */
	const char *level;
	bool asked;		/* the kernel faulted on the page */
	bool locked;
};

static void die(const char *what)
{
	perror(what);
	exit(2);
}

/* Answers one page fault. */
static void *answer(void *arg)
{
	struct late *late = arg;
	struct uffdio_copy copy = { .src = (unsigned long)late->text, .len = late->page };
	struct uffd_msg msg;

	if (read(late->uffd, &msg, sizeof(msg)) != sizeof(msg) || msg.event != UFFD_EVENT_PAGEFAULT)
		die("userfaultfd: read");
	late->asked = true;
	late->locked = late->level && write_file(LOCKDOWN, late->level);
	copy.dst = msg.arg.pagefault.address & ~(late->page - 1);
	if (ioctl(late->uffd, UFFDIO_COPY, &copy))
		die("UFFDIO_COPY");
	return NULL;
}

/* Returns a page that answer() fills at the first access. */
static void *late_page(struct late *late)
{
	struct uffdio_api api = { .api = UFFD_API };
	struct uffdio_register reg = { .mode = UFFDIO_REGISTER_MODE_MISSING };
	void *page;

	late->uffd = syscall(SYS_userfaultfd, O_CLOEXEC);
	if (late->uffd < 0 || ioctl(late->uffd, UFFDIO_API, &api))
		die("userfaultfd");
	page = mmap(NULL, late->page, PROT_READ | PROT_WRITE, MAP_PRIVATE | MAP_ANONYMOUS, -1, 0);
	if (page == MAP_FAILED)
		die("mmap");
	reg.range.start = (unsigned long)page;
	reg.range.len = late->page;
	if (ioctl(late->uffd, UFFDIO_REGISTER, &reg))
		die("UFFDIO_REGISTER");
	return page;
}

int main(int argc, char **argv)
{
	struct late late = { .page = sysconf(_SC_PAGESIZE), .level = argc > 3 ? argv[3] : NULL };
	pthread_t thread;
	void *page;
	int fd, err;

	if (argc < 3 || strlen(argv[2]) >= late.page) {
		fprintf(stderr, "usage: load_locked MODULE PARAMETERS [LEVEL]\n");
		return 2;
	}
	fd = open(argv[1], O_RDONLY | O_CLOEXEC);
	if (fd < 0)
		die(argv[1]);
	late.text = calloc(1, late.page);
	if (!late.text)
		die("calloc");
	strcpy(late.text, argv[2]);
	page = late_page(&late);
	if (pthread_create(&thread, NULL, answer, &late))
		die("pthread_create");
	err = syscall(SYS_finit_module, fd, page, 0) ? errno : 0;
	/* If the kernel refused before it read the parameters, the thread still waits. */
	if (!__atomic_load_n(&late.asked, __ATOMIC_ACQUIRE)) {
		fprintf(stderr, "the kernel did not read the parameters: %s\n", strerror(err));
		return 2;
	}
	pthread_join(thread, NULL);
	if (late.level && !late.locked) {
		fprintf(stderr, "%s did not take '%s'\n", LOCKDOWN, late.level);
		return 2;
	}
	puts(err ? strerror(err) : "loaded");
	return err ? 1 : 0;
}
