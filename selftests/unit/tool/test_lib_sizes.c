// SPDX-License-Identifier: GPL-2.0-only
/*
 * A program and the library may be built with different versions of linux/tracebuf.h: the library
 * fills no more than the caller's structure, and reads no more of it. If this fails, an old program
 * is corrupted by a new library. The test itself is the kernel (--wrap=ioctl).
 */
#include <errno.h>
#include <stdarg.h>
#include <stddef.h>
#include <sys/ioctl.h>
#include "test_lib_fixture.h"

static int fails;
static struct tb_config configured;
static struct tb_rule ruled;

int __wrap_ioctl(int fd, unsigned long command, ...);

int __wrap_ioctl(int fd, unsigned long command, ...)
{
	unsigned char *argument;
	va_list list;
	size_t i;

	(void)fd;
	va_start(list, command);
	argument = va_arg(list, unsigned char *);
	va_end(list);
	if (command == TB_IOC_CONFIGURE)
		memcpy(&configured, argument, sizeof(configured));
	if (command == TB_IOC_RULE)
		memcpy(&ruled, argument, sizeof(ruled));
	if (fails) {
		errno = fails;
		return -1;
	}
	if (command == TB_IOC_CONFIGURE)
		return 0;
	for (i = 0; i < _IOC_SIZE(command); i++)
		argument[i] = 0x5a;
	if (command == TB_IOC_QUERY)
		((struct tb_query *)argument)->abi = TB_ABI_VERSION;
	return 0;
}

static struct tb_device *open_it(void)
{
	struct tb_device *device;

	CHECK_NUMBER(tb_device_open("/dev/null", 0, &device, NULL), 0);
	return device;
}

union room {
	unsigned char bytes[8192];
	struct tb_query query;
	struct tb_provider_info provider;
	struct tb_stats stats;
	struct tb_event_info event;
	struct tb_producer_info producer;
	struct tb_suppressed suppressed;
	struct tb_trigger_info trigger;
	struct tb_rule rule;
};

/* The library knows @known bytes of the structure: its rest must be 0, bytes after it unchanged */
static void check_room(const union room *room, size_t size, size_t known, const char *what)
{
	size_t i, wrong = 0;

	for (i = known < size ? known : size; i < size; i++)
		wrong += room->bytes[i] != 0;
	for (i = size; i < sizeof(room->bytes); i++)
		wrong += room->bytes[i] != 0xee;
	if (wrong)
		printf("# %s of %zu bytes: %zu bytes are wrong\n", what, size, wrong);
	CHECK(!wrong);
}

#define EACH(call, type, known) \
	do { \
		size_t sizes_[] = { 8, (known) - 8, (known), (known) + 8, (known) + 64 }; \
		size_t i_; \
		for (i_ = 0; i_ < 5; i_++) { \
			size_t size = sizes_[i_]; \
			memset(&room, 0xee, sizeof(room)); \
			memset(&room, 0, size); \
			(void)(call); \
			check_room(&room, size, known, #type); \
		} \
	} while (0)

static void outs(void)
{
	struct tb_device *device = open_it();
	union room room;

	for (fails = 0; fails <= EPERM; fails += EPERM) {
		EACH(tb_device_query_sized(device, &room.query, size), query,
		     sizeof(room.query));
		EACH(tb_device_provider_sized(device, 0, &room.provider, size), provider,
		     sizeof(room.provider));
		EACH(tb_device_stats_sized(device, 0, &room.stats, size), stats,
		     sizeof(room.stats));
		EACH(tb_device_event_sized(device, 0, &room.event, size), event,
		     sizeof(room.event));
		EACH(tb_device_producer_sized(device, 0, &room.producer, size), producer,
		     sizeof(room.producer));
		EACH(tb_device_suppressed_sized(device, 0, &room.suppressed, size), suppressed,
		     sizeof(room.suppressed));
		EACH(tb_device_trigger_sized(device, &room.trigger, size), trigger,
		     sizeof(room.trigger));
		EACH(tb_device_rule_sized(device, &room.rule, size), rule,
		     sizeof(room.rule));
	}
	fails = 0;
	/* names without _sized pass the size of the structure */
	CHECK_NUMBER(tb_device_query(device, &room.query), 0);
	CHECK_NUMBER(room.query.abi, TB_ABI_VERSION);
	/* the functions of the first version never write more than they did then */
	memset(&room, 0xee, sizeof(room));
	CHECK_NUMBER((tb_device_query)(device, &room.query), 0);
	CHECK_NUMBER(room.bytes[215], 0x5a);
	CHECK_NUMBER(room.bytes[216], sizeof(room.query) > 216 ? 0xee : room.bytes[216]);
	tb_device_close(device);
}

static void ins(void)
{
	struct tb_device *device = open_it();
	struct {
		struct tb_config config;
		uint64_t more;
	} large = { .config = { .buffers = 7, .cpus_bytes = 9 } };

	CHECK_NUMBER(tb_device_configure_sized(device, &large.config, sizeof(large)), 0);
	CHECK_NUMBER(configured.buffers, 7);
	CHECK_NUMBER(configured.cpus_bytes, 9);
	large.more = 1;
	CHECK_NUMBER(-tb_device_configure_sized(device, &large.config, sizeof(large)), E2BIG);
	/* the library reads nothing after a smaller structure */
	large.config.durable_max_kib = 55;
	CHECK_NUMBER(tb_device_configure_sized(device, &large.config,
					       offsetof(struct tb_config, durable_max_kib)), 0);
	CHECK_NUMBER(configured.durable_max_kib, 0);
	CHECK_NUMBER(configured.buffers, 7);
	tb_device_close(device);
}

static const struct test tests[] = {
	{ "the library fills the caller's structure and no more", outs },
	{ "the library reads the caller's structure and no more", ins },
};

int main(void)
{
	return test_main(tests, sizeof(tests) / sizeof(tests[0]));
}
