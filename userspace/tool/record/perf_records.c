// SPDX-License-Identifier: GPL-2.0-only
/*
 * Records of perf other than samples; see perf_records.h and perf_event_open(2).
 *
 * This code opens an event that counts nothing (PERF_COUNT_SW_DUMMY) on each CPU.  The kernel
 * writes records into a buffer of that CPU.
 */
#include <errno.h>
#include <linux/perf_event.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/epoll.h>
#include <sys/mman.h>
#include <sys/syscall.h>
#include <time.h>
#include <unistd.h>
#include "perf_records.h"

#define RING_MAPPINGS (256u << 10)	/* bytes of a CPU's buffer: some thousand records */
#define RING_CGROUPS  (16u << 10)

struct cpu {
	int fd;
	struct perf_event_mmap_page *page;
	uint64_t last;			/* time of the last record */
};

struct perf_records {
	void (*take)(const struct perf_event_header *header, uint64_t time, uint64_t before,
		     void *context);
	void  *context;
	int    epoll;
	size_t ring;			/* bytes of a buffer */
	size_t nr_cpus;
	struct cpu cpus[];
};

static size_t page_bytes(void)
{
	return (size_t)sysconf(_SC_PAGESIZE);
}

static size_t map_bytes(const struct perf_records *records)
{
	return records->ring + page_bytes();
}

static bool list_has_cpu(const char *path, int number)
{
	FILE *file = fopen(path, "re");
	int first, last;
	bool found = false;

	while (file && !found && fscanf(file, "%d", &first) == 1) {
		if (fscanf(file, "-%d", &last) != 1)
			last = first;
		found = number >= first && number <= last;
		if (fgetc(file) != ',')
			break;
	}
	if (file)
		fclose(file);
	return found;
}

/* Leave out isolated CPUs: opening an event interrupts its CPU */
static bool is_isolated(int number)
{
	return list_has_cpu("/sys/devices/system/cpu/isolated", number) ||
	       list_has_cpu("/sys/devices/system/cpu/nohz_full", number);
}

static int cpu_open(struct perf_records *records, int number, bool mappings)
{
	struct perf_event_attr attr = {
		.size = sizeof(attr),
		.type = PERF_TYPE_SOFTWARE,
		.config = PERF_COUNT_SW_DUMMY,
		.sample_type = PERF_SAMPLE_TIME,
		.mmap = mappings, .mmap2 = mappings, .build_id = mappings,
		.comm = mappings, .comm_exec = mappings,
		.task = mappings,
		.cgroup = 1,
		.sample_id_all = 1,
		.exclude_kernel = 1,
		.use_clockid = 1, .clockid = CLOCK_MONOTONIC,
		.watermark = 1, .wakeup_watermark = (uint32_t)records->ring / 4,
	};
	struct epoll_event wanted = { .events = EPOLLIN };
	struct cpu *cpu = &records->cpus[records->nr_cpus];
	int failure;

	cpu->fd = (int)syscall(SYS_perf_event_open, &attr, -1, number, -1, PERF_FLAG_FD_CLOEXEC);
	if (cpu->fd < 0)
		return -errno;
	cpu->page = mmap(NULL, map_bytes(records), PROT_READ | PROT_WRITE, MAP_SHARED, cpu->fd, 0);
	if (cpu->page != MAP_FAILED &&
	    !epoll_ctl(records->epoll, EPOLL_CTL_ADD, cpu->fd, &wanted)) {
		records->nr_cpus++;
		return 0;
	}
	failure = errno;
	if (cpu->page != MAP_FAILED)
		munmap(cpu->page, map_bytes(records));
	close(cpu->fd);
	return -failure;
}

void perf_records_close(struct perf_records *records)
{
	size_t i;

	if (!records)
		return;
	for (i = 0; i < records->nr_cpus; i++) {
		munmap(records->cpus[i].page, map_bytes(records));
		close(records->cpus[i].fd);
	}
	if (records->epoll >= 0)
		close(records->epoll);
	free(records);
}

int perf_records_open(struct perf_records **made, bool mappings,
		      void (*take)(const struct perf_event_header *header, uint64_t time,
				   uint64_t before, void *context), void *context)
{
	long count = sysconf(_SC_NPROCESSORS_CONF);
	struct perf_records *records;
	int number, result = 0;

	*made = NULL;
	count = count < 1 ? 1 : count;
	records = calloc(1, sizeof(*records) + (size_t)count * sizeof(records->cpus[0]));
	if (!records)
		return -ENOMEM;
	records->ring = mappings ? RING_MAPPINGS : RING_CGROUPS;
	if (records->ring < page_bytes())
		records->ring = page_bytes();
	records->take = take;
	records->context = context;
	records->epoll = epoll_create1(EPOLL_CLOEXEC);
	if (records->epoll < 0)
		result = -errno;
	/* mappings need the records of all CPUs: if one is missing, an old mapping seems valid */
	for (number = 0; number < count && !result; number++) {
		if (!mappings && is_isolated(number))
			continue;
		result = cpu_open(records, number, mappings);
		if (result == -ENODEV)		/* offline */
			result = 0;
	}
	if (result)
		perf_records_close(records);
	else
		*made = records;
	return result;
}

int perf_records_fd(const struct perf_records *records)
{
	return records ? records->epoll : -1;
}

/* Return the record at @at; @copy: memory for a record that wraps around the buffer's end */
static const struct perf_event_header *record_at(const unsigned char *ring, size_t bytes,
						 uint64_t at, unsigned char *copy)
{
	uint64_t from = at & (bytes - 1);
	const struct perf_event_header *header = (const void *)(ring + from);

	/* records are multiples of 8 bytes, and so is the size of a header */
	if (from + header->size <= bytes)
		return header;
	memcpy(copy, ring + from, bytes - from);
	memcpy(copy + (bytes - from), ring, header->size - (bytes - from));
	return (const void *)copy;
}

static void step_cpu(struct perf_records *records, struct cpu *cpu)
{
	static unsigned char copy[1 << 16] __attribute__((aligned(8)));
	const unsigned char *ring = (const unsigned char *)cpu->page + cpu->page->data_offset;
	/* pairs with the kernel's store of data_head after the records */
	uint64_t head = __atomic_load_n(&cpu->page->data_head, __ATOMIC_ACQUIRE);
	uint64_t tail = cpu->page->data_tail, time;
	const struct perf_event_header *header;

	while (tail < head) {
		header = record_at(ring, records->ring, tail, copy);
		if (header->size < sizeof(*header) + sizeof(time))
			break;		/* never happens: the kernel writes no such record */
		tail += header->size;
		/* the last word of each record (sample_id_all) */
		memcpy(&time, (const char *)header + header->size - sizeof(time), sizeof(time));
		records->take(header, time, cpu->last, records->context);
		cpu->last = time;
	}
	/* the kernel may overwrite the records once it sees this */
	__atomic_store_n(&cpu->page->data_tail, tail, __ATOMIC_RELEASE);
}

void perf_records_step(struct perf_records *records)
{
	size_t i;

	for (i = 0; records && i < records->nr_cpus; i++)
		step_cpu(records, &records->cpus[i]);
}
