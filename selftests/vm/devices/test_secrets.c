// SPDX-License-Identifier: GPL-2.0-only
/*
 * Nothing of the kernel's memory but the trace reaches a program. If a test fails, a reader of
 * traces sees secrets or addresses of the kernel.
 *
 * First free memory is filled with a pattern: pages, and messages of all sizes for the slab
 * allocator. Then everything that a program can get from the device is searched for it: the
 * mapping, read(), ioctls; and for addresses of the kernel where no event has one. On a kernel that
 * poisons freed memory (page_poison=1 slub_debug=P) poison counts as well: scripts/check runs this
 * there.
 */
#include <sys/ipc.h>
#include <sys/mman.h>
#include <sys/msg.h>
#include <sys/wait.h>

#include "producer.h"
#include "tbtest.h"

#define PAGE		4096
#define SECRET		0x5ec2e75ec2e75ec2ull

/* of the page allocator, of freed and of new objects; gcc's for unset variables */
static const uint64_t poison[] = {
	0xaaaaaaaaaaaaaaaaull, 0x6b6b6b6b6b6b6b6bull, 0x5a5a5a5a5a5a5a5aull, 0xfefefefefefefefeull,
};

DEVICE_FIXTURE(secrets)

static void fill(void *at, size_t bytes)
{
	uint64_t *word = at;
	size_t i;

	for (i = 0; i < bytes / 8; i++)
		word[i] = SECRET;
}

/* Fills most of the free memory in a process, which then ends. */
static void spray_pages(void)
{
	long pages = sysconf(_SC_AVPHYS_PAGES) / 10 * 7;
	pid_t pid = fork();
	char *at;

	if (!pid) {
		at = mmap(NULL, pages * PAGE, PROT_READ | PROT_WRITE, MAP_PRIVATE | MAP_ANONYMOUS,
			  -1, 0);
		if (at == MAP_FAILED)
			_exit(1);
		fill(at, pages * PAGE);
		_exit(0);
	}
	waitpid(pid, NULL, 0);
}

/* Fills objects of the kernel of all common sizes. */
static void spray_objects(void)
{
	struct { long type; char text[8000]; } m = { .type = 1 };
	size_t size;
	int i, q;

	fill(m.text, sizeof(m.text));
	for (size = 16; size <= sizeof(m.text); size *= 2) {
		q = msgget(IPC_PRIVATE, 0600);
		for (i = 0; q >= 0 && i < 2000; i++)
			if (msgsnd(q, &m, size > 48 ? size - 48 : size, IPC_NOWAIT))
				break;
		msgctl(q, IPC_RMID, NULL);
	}
}

enum { POISON = 1, ADDRESSES = 2 };

/* Returns how many forbidden words there are; shows the first. */
static uint64_t scan(const char *what, const void *at, size_t bytes, int flags)
{
	const uint64_t *word = at;
	uint64_t bad = 0;
	size_t i, k;

	for (i = 0; i < bytes / 8; i++) {
		/* the pattern may begin at any of its bytes */
		bool hit = (uint32_t)word[i] == (uint32_t)SECRET ||
			   (uint32_t)word[i] == (uint32_t)(SECRET >> 8) ||
			   (uint32_t)word[i] == (uint32_t)(SECRET >> 16);

		for (k = 0; flags & POISON && k < ARRAY_SIZE(poison); k++)
			hit |= word[i] == poison[k];
		/* direct map, vmalloc, image, modules; not small negative numbers */
		if (flags & ADDRESSES)
			hit |= word[i] >= 0xffff800000000000ull && word[i] < 0xffffffffffff0000ull;
		if (hit && !bad++)
			printf("# %s: %#llx at %#zx\n", what, (unsigned long long)word[i], i * 8);
	}
	return bad;
}

/* Scans all that can be read of the mapping. */
static uint64_t scan_mapping(int fd, const char *what, int flags)
{
	struct tb_query q;
	uint64_t bad;
	size_t bytes;
	char *at;

	at = tb_map(fd, &bytes);
	if (at == MAP_FAILED || tb_query(fd, &q))
		return 1;
	bad = scan(what, at, q.durable_offset + q.durable_size, flags);
	munmap(at, bytes);
	return bad;
}

/* Scans what ioctls write into a buffer, and the rest of the buffer. */
static uint64_t scan_ioctls(int fd)
{
	static char desc[65536];
	static const unsigned int cmds[] = {
		TB_IOC_QUERY, TB_IOC_EVENT, TB_IOC_STATS, TB_IOC_PROVIDERS, TB_IOC_TRIGGER,
		TB_IOC_SUPPRESSED, TB_IOC_PRODUCERS, TB_IOC_INTAKE,
	};
	uint64_t bad = 0;
	uint32_t i, index;
	char arg[1024];

	for (i = 0; i < ARRAY_SIZE(cmds); i++) {
		for (index = 0; index < 40; index++) {
			memset(arg, 0, sizeof(arg));
			memcpy(arg, &index, sizeof(index));
			if (cmds[i] == TB_IOC_EVENT) {
				((struct tb_event_info *)arg)->desc = (uintptr_t)desc;
				((struct tb_event_info *)arg)->desc_size = sizeof(desc);
				memset(desc, 0, sizeof(desc));
			}
			if (ioctl(fd, cmds[i], arg))
				continue;
			if (cmds[i] == TB_IOC_EVENT) {
				bad += scan("description", desc, sizeof(desc), POISON | ADDRESSES);
				((struct tb_event_info *)arg)->desc = 0;
			}
			bad += scan("ioctl", arg, sizeof(arg), POISON | ADDRESSES);
		}
	}
	return bad;
}

/* Nothing is recorded: all memory is new. */
TEST_DEV(secrets, new_memory)
{
	uint32_t elements;

	for (elements = 64; elements <= 65536; elements *= 32) {
		spray_pages();
		spray_objects();
		ASSERT_EQ(0, tb_configure(self->fd, 0, 0, elements > 2048 ? 4 : 64, elements));
		EXPECT_EQ(0, scan_mapping(self->fd, "new", POISON | ADDRESSES)) {
			TH_LOG("%u elements", elements);
		}
	}
}

/* Events without addresses: headers, tails and the durable buffer must have none either. */
TEST_DEV(secrets, recorded)
{
	static const uint32_t modes[] = { TB_MODE_ONESHOT, TB_MODE_CIRCULAR, TB_MODE_STREAMING };
	size_t i;

	for (i = 0; i < ARRAY_SIZE(modes); i++) {
		spray_pages();
		spray_objects();
		ASSERT_EQ(0, tb_configure(self->fd, modes[i], 0, 8, 256));
		ASSERT_EQ(1, tb_enable(self->fd, FIRE_EVENT));
		ASSERT_EQ(1, tb_enable(self->fd, "sched_switch"));
		ASSERT_EQ(1, tb_enable(self->fd, "sched_waking"));
		ASSERT_EQ(0, tb_start(self->fd, 0));
		fire(0, 5000);
		EXPECT_EQ(0, scan_mapping(self->fd, "running", POISON | ADDRESSES));
		EXPECT_EQ(0, scan_ioctls(self->fd));
		ASSERT_EQ(0, tb_stop(self->fd));
		EXPECT_EQ(0, scan_mapping(self->fd, "stopped", POISON | ADDRESSES));
	}
}

/* Some events have addresses, but none has memory that was never set. */
TEST_DEV(secrets, all_events)
{
	static char buf[1 << 20];
	uint64_t bad = 0, bytes = 0;
	ssize_t n;
	int i;

	spray_pages();
	spray_objects();
	ASSERT_EQ(0, tb_configure(self->fd, TB_MODE_STREAMING, 0, 64, 1024));
	ASSERT_LT(50, tb_enable(self->fd, "all"));
	ASSERT_EQ(0, tb_start(self->fd, 0));
	for (i = 0; i < 200; i++) {
		pid_t pid = fork();

		if (!pid) {
			fire(0, 10);
			_exit(0);
		}
		ASSERT_EQ(pid, waitpid(pid, NULL, 0));
	}
	ASSERT_EQ(0, tb_stop(self->fd));
	while ((n = read(self->fd, buf, sizeof(buf))) > 0) {
		bad += scan("read", buf, n, POISON);
		bytes += n;
	}
	ASSERT_EQ(0, n);
	EXPECT_LT(100000, bytes);
	EXPECT_EQ(0, bad);
	EXPECT_EQ(0, scan_mapping(self->fd, "all events", POISON));
}

/* The shared memory of a writer is new, too. */
TEST_DEV(secrets, memory_of_writers)
{
	struct producer p;

	spray_pages();
	spray_objects();
	ASSERT_EQ(0, producer_open(&p, "kernel", 4096, 64));
	EXPECT_EQ(0, scan("page", (void *)p.page, PAGE, POISON | ADDRESSES));
	EXPECT_EQ(0, scan("chunks", p.chunks, 64 * 4096, POISON | ADDRESSES));
	producer_close(&p);
}

TEST_HARNESS_MAIN
