// SPDX-License-Identifier: GPL-2.0-only
/*
 * Which CPUs each of several readers reads: by node, so many, as they are listed, and what is
 * wrong.
 */
#include <errno.h>
#include <sys/stat.h>
#include <unistd.h>

static char devices[] = "/tmp/test_lib_readers.XXXXXX";

#define DEVICES "devices"	/* below the directory it runs in */
#include "../../userspace/tool/command/number.c"
#include "../../userspace/tool/command/message.c"
#include "../../userspace/tool/choose/setup.c"
#include "../../userspace/tool/choose/sizes.c"
#include "../../userspace/tool/record/reader_sets.c"
#include "test_lib_fixture.h"

/* live.c has it, and needs a device */
const char *stop_command(struct tb_device *device, char text[64])
{
	(void)device;
	return text;
}

static void put_file(const char *path, const char *text)
{
	FILE *file = fopen(path, "w");

	assert(file && fputs(text, file) >= 0);
	fclose(file);
}

/* Five CPUs are there, and 6 and 7 can be; node 1 has memory only, 2 is missing */
static void make_devices(void)
{
	assert(mkdtemp(devices) && !chdir(devices) && !mkdir("devices", 0755));
	assert(!mkdir("devices/cpu", 0755) && !mkdir("devices/node", 0755));
	assert(!mkdir("devices/node/node0", 0755) && !mkdir("devices/node/node1", 0755));
	assert(!mkdir("devices/node/node3", 0755));
	put_file("devices/cpu/online", "0-3,5\n");
	put_file("devices/node/node0/cpulist", "0-1,4\n");
	put_file("devices/node/node1/cpulist", "\n");
	put_file("devices/node/node3/cpulist", "2-3,5\n");
}

/* "0,1 2,3": the sets for 8 CPUs; "" it is refused, and why on standard error */
static const char *sets_of(const char *value)
{
	static const struct command none = { .name = "record" };
	struct reader_sets sets = { 0 };
	static char text[1024];
	unsigned int i, cpu;
	size_t used = 0;

	text[0] = 0;
	if (readers_option(&none, OPTION_READERS, value, &sets) != 1)
		return "usage";
	if (!reader_sets_make(&sets, 8)) {
		for (i = 0; i < sets.count; i++) {
			used += (size_t)sprintf(text + used, "%s", i ? " " : "");
			for (cpu = 0; cpu < CPUS_MAX; cpu++)
				if (has_cpu(&sets.list[i], cpu))
					used += (size_t)sprintf(text + used, "%u", cpu);
		}
	}
	free(sets.list);
	return text;
}

static void numbers(void)
{
	make_devices();
	/* those that are not there are the first's */
	CHECK_TEXT(sets_of("1"), "01234567");
	CHECK_TEXT(sets_of("2"), "012467 35");
	CHECK_TEXT(sets_of("5"), "0467 1 2 3 5");
	CHECK_TEXT(sets_of("6"), "");
	CHECK_TEXT(sets_of("0"), "usage");
}

static void nodes(void)
{
	CHECK_TEXT(sets_of("node"), "01467 235");
}

static void lists(void)
{
	CHECK_TEXT(sets_of("0-3:4-7"), "0123 4567");
	CHECK_TEXT(sets_of("1:0,7"), "123456 07");
	CHECK_TEXT(sets_of("0:0"), "");
	CHECK_TEXT(sets_of("0:8"), "");
	CHECK_TEXT(sets_of("0-1"), "usage");
	CHECK_TEXT(sets_of("0:"), "usage");
	CHECK_TEXT(sets_of(":1"), "usage");
	CHECK_TEXT(sets_of("0:1;"), "usage");
	CHECK_TEXT(sets_of("nodes"), "usage");
}

/* Where nothing is told of nodes there is one; of CPUs, all are there */
static void unknown(void)
{
	char command[64];

	assert(!rename("devices", "hidden"));
	CHECK_TEXT(sets_of("node"), "01234567");
	CHECK_TEXT(sets_of("2"), "0123 4567");
	snprintf(command, sizeof(command), "rm -rf %s", devices);
	assert(!system(command));
}

static const struct test tests[] = {
	{ "readers: so many", numbers },
	{ "readers: by node", nodes },
	{ "readers: sets of CPUs", lists },
	{ "readers: where the kernel tells nothing", unknown },
};

TEST_MAIN(tests)
