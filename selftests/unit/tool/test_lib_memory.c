// SPDX-License-Identifier: GPL-2.0-only
/*
 * Without options a recording takes an amount of memory that suits the machine, or less, with a
 * message, when the kernel does not have it; with options it takes exactly the amount that the user
 * says, or fails. If this fails, recording drives a small machine out of memory, or loses bursts.
 */
#include <errno.h>
#include <stdarg.h>
#include <stdbool.h>
#include <stdio.h>
#include <string.h>
#include "../../../userspace/include/tracebuf.h"

/* The fake kernel has @there bytes for each CPU, in contiguous pieces of at most @piece */
static uint64_t there, piece;
static unsigned int attempts;
static struct tb_config given;

static int fake_configure(struct tb_device *device, const struct tb_config *config)
{
	uint64_t buffers = config->buffers ? config->buffers : 32;
	uint64_t bytes = (config->elements ? config->elements : 1024) * TB_ELEMENT_SIZE;

	(void)device;
	attempts++;
	if (buffers * bytes > there || bytes > piece)
		return -ENOMEM;
	given = *config;
	return 0;
}

static int fake_query(struct tb_device *device, struct tb_query *query)
{
	(void)device;
	memset(query, 0, sizeof(*query));
	query->nr_cpus = query->nr_rings = 2;
	return 0;
}

#undef tb_device_configure
#undef tb_device_query
#define tb_device_configure fake_configure
#define tb_device_query fake_query
#include "../../../userspace/tool/command/number.c"
#include "../../../userspace/tool/choose/sizes.c"
#include "../../../userspace/tool/choose/setup.c"
#include "test_lib_run.h"

/* The last message of the tool */
static char told[4096];

#define TELL(text) do {						\
	va_list arguments;					\
	va_start(arguments, text);				\
	vsnprintf(told, sizeof(told), text, arguments);		\
	va_end(arguments);					\
} while (0)

void note(const char *text, ...)
{
	TELL(text);
}

int complain(const char *text, ...)
{
	TELL(text);
	return EXIT_WRONG;
}

int misused(const struct command *command, const char *text, ...)
{
	(void)command;
	TELL(text);
	return EXIT_USAGE;
}

int show_help(const struct command *command, int option)
{
	(void)command;
	return option;
}

const char *stop_command(struct tb_device *device, char text[64])
{
	(void)device;
	return strcpy(text, "tracebuf stop");
}

#define MIB (1ull << 20)

static struct sizes_for machine(unsigned int cpus, uint64_t mib)
{
	return (struct sizes_for){ .cpus = cpus, .streaming = true, .total = mib * MIB,
				   .available = mib * MIB };
}

static void check_sizes(struct sizes_for purpose, uint64_t cpu_kib, uint64_t buffer_kib)
{
	struct sizes sizes = sizes_choose(&purpose);

	printf("# %u CPUs, %llu MiB\n", purpose.cpus, (unsigned long long)(purpose.total / MIB));
	CHECK_NUMBER(sizes.cpu, cpu_kib * 1024);
	CHECK_NUMBER(sizes.buffer, buffer_kib * 1024);
	/* the limits of the module */
	CHECK(sizes.cpu / sizes.buffer >= TB_BUFFERS_MIN);
	CHECK(sizes.cpu / sizes.buffer <= TB_BUFFERS_MAX);
	CHECK(sizes.buffer / TB_ELEMENT_SIZE <= TB_BUFFER_ELEMENTS_MAX);
}

/* The memory for a backlog, by the machine's free memory */
static void backlog(void)
{
	CHECK_NUMBER(sizes_backlog(0), 16 * MIB);
	CHECK_NUMBER(sizes_backlog(100 * MIB), 16 * MIB);
	CHECK_NUMBER(sizes_backlog(2048 * MIB), 128 * MIB);
	CHECK_NUMBER(sizes_backlog(1024 * 1024 * MIB), 1024 * MIB);
	CHECK_NUMBER(sizes_backlog(20 * MIB), 5 * MIB);
	CHECK(sizes_backlog_here() > 0 && sizes_backlog_here() <= 1024 * MIB);
}

static void by_machine(void)
{
	struct sizes_for purpose;

	check_sizes(machine(1, 2048), 4096, 128);
	check_sizes(machine(2, 512), 4096, 128);
	check_sizes(machine(2, 511), 2048, 64);
	check_sizes(machine(2, 200), 1024, 32);
	check_sizes(machine(16, 65536), 4096, 128);
	check_sizes(machine(17, 65536), 4096, 64);
	check_sizes(machine(256, 1 << 20), 4096, 64);
	/* the module's own default is the least */
	check_sizes(machine(240, 4096), 512, 16);
	check_sizes(machine(1, 16), 512, 16);
	/* unknown memory */
	check_sizes(machine(4, 0), 4096, 128);
	purpose = machine(2, 8192);
	purpose.available = 40 * MIB;
	check_sizes(purpose, 2048, 64);
}

static void by_purpose(void)
{
	struct sizes_for purpose = machine(2, 8192);

	purpose.live = true;
	check_sizes(purpose, 4096, 64);
	purpose.live = false;
	purpose.file_bytes = 64 * 1024;
	check_sizes(purpose, 4096, 16);
	purpose.file_bytes = 300 * 1024;
	check_sizes(purpose, 4096, 32);
	purpose.file_bytes = 100 * MIB;
	check_sizes(purpose, 4096, 128);
	purpose.streaming = false;
	check_sizes(purpose, 4096, 16);
}

/* Options of the command line: buffers, elements, watermark; 0: not given */
static int apply(struct setup *setup, uint32_t buffers, uint32_t elements, uint32_t watermark)
{
	memset(setup, 0, sizeof(*setup));
	memset(&given, 0xff, sizeof(given));
	told[0] = 0;
	attempts = 0;
	setup->config.buffers = buffers;
	setup->config.elements = elements;
	setup->config.watermark = watermark;
	setup->cpu_list = "0-1";
	setup->cpus.bits[0] = 3;
	setup_size(NULL, setup, (struct sizes_for){ .live = false });
	/* as on a machine with plenty of memory */
	if (setup->sized) {
		setup->sizes = setup->wanted = (struct sizes){ 4 * MIB, 128 * 1024 };
		take_sizes(setup);
	}
	return setup_apply(NULL, setup);
}

static void stepping_down(void)
{
	struct setup setup;

	there = 4 * MIB;
	piece = MIB;
	CHECK_NUMBER(apply(&setup, 0, 0, 0), 0);
	CHECK_NUMBER(attempts, 1);
	CHECK_NUMBER(given.buffers, 32);
	CHECK_NUMBER(given.elements, 8192);
	CHECK_NUMBER(given.watermark, 100);
	CHECK_TEXT(told, "");
	/* enough memory, in smaller pieces */
	piece = 64 * 1024;
	CHECK_NUMBER(apply(&setup, 0, 0, 0), 0);
	CHECK_NUMBER(given.buffers, 128);
	CHECK_NUMBER(given.elements, 2048);
	CHECK(strstr(told, "warning: the kernel does not have 4096 KiB for each CPU in contiguous pieces of 128 KiB: each has 4096 KiB in pieces of 32 KiB"));
	/* less memory */
	there = 700 * 1024;
	CHECK_NUMBER(apply(&setup, 0, 0, 0), 0);
	CHECK_NUMBER(given.buffers, 32);
	CHECK_NUMBER(given.elements, 1024);
	CHECK_NUMBER(given.watermark, 100);
	CHECK(strstr(told, "each has 512 KiB in pieces of 16 KiB"));
	there = 128 * 1024;
	CHECK_NUMBER(apply(&setup, 0, 0, 0), 0);
	CHECK_NUMBER(given.buffers, 8);
	/* too little to be useful */
	there = 100 * 1024;
	CHECK_NUMBER(apply(&setup, 0, 0, 0), 1);
	CHECK(strstr(told, "does not have that much memory"));
}

/* Sizes that the user gives are used or refused; the module chooses the others */
static void as_told(void)
{
	struct setup setup;

	there = 64 * MIB;
	piece = MIB;
	CHECK_NUMBER(apply(&setup, 256, 0, 0), 0);
	CHECK(given.buffers == 256 && !given.elements && !given.watermark);
	CHECK_NUMBER(apply(&setup, 0, 64, 0), 0);
	CHECK(!given.buffers && given.elements == 64 && !given.watermark);
	CHECK_NUMBER(apply(&setup, 0, 0, 50), 0);
	CHECK(!given.buffers && !given.elements && given.watermark == 50);
	there = 4 * MIB - 1;
	CHECK_NUMBER(apply(&setup, 256, 0, 0), 1);
	CHECK_NUMBER(attempts, 1);
}

static void shown(void)
{
	struct tb_query query = { .nr_cpus = 2, .buffers = 32, .buffer_bytes = 128 * 1024,
				  .ring_stride = 4 * MIB + 4096, .durable_size = MIB };
	struct setup setup;

	there = 4 * MIB;
	piece = MIB;
	CHECK_NUMBER(apply(&setup, 0, 0, 0), 0);
	setup_show(&setup, &query);
	CHECK_TEXT(told, "memory: 4.0 MiB for each of 2 CPUs (32 buffers of 128 KiB), 1.0 MiB durable, 9.0 MiB in all");
	setup.wanted.cpu = MIB;
	setup.purpose.total = 200 * MIB;
	setup.purpose.available = 100 * MIB;
	setup_show(&setup, &query);
	CHECK_TEXT(told, "memory: 8.0 MiB would be too much for this machine: it has 200 MiB, 100 MiB of it were available");
}

static const struct test tests[] = {
	{ "sizes: by the machine", by_machine },
	{ "sizes: the backlog", backlog },
	{ "sizes: by the purpose", by_purpose },
	{ "sizes: smaller where memory is short, with a message", stepping_down },
	{ "sizes: as the user says", as_told },
	{ "sizes: shown", shown },
};

RUN_MAIN(tests)
