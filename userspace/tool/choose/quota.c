// SPDX-License-Identifier: GPL-2.0-only
/*
 * Quotas of programs: whether programs may write into a provider, and how much (--writers).
 *
 * A provider is closed to programs until a user opens it, with --writers or by choosing categories
 * of programs.  The module's default quota is so low that programs cannot overwrite a circular
 * recording within seconds.  A recorder that reads all the time allows more: it loses no events.
 */
#include <errno.h>
#include <inttypes.h>
#include <stdlib.h>
#include <string.h>
#include "tool/choose/choose.h"
#include "tool/command/command.h"

/* Bytes a second, into the buffers of each CPU, while a recorder reads them */
#define READ_RATE (64ull << 20)

/* Parse "512K", "10M" into bytes; 0: invalid */
static uint64_t parse_rate(const char *text)
{
	static const char units[] = "KMG";
	size_t digits = strspn(text, "0123456789.");
	const char *unit;
	double size;
	char *end;

	size = strtod(text, &end);
	/* not "0x10", "1e3" */
	if (!digits || end != text + digits)
		return 0;
	if (*end) {
		unit = strchr(units, *end);
		if (!unit || end[1])
			return 0;
		size *= (double)(1ull << 10 * (unit - units + 1));
	}
	return size >= 1 && size < 1e15 ? (uint64_t)size : 0;
}

int writers_option(const struct command *command, const char *value, struct choice *choice)
{
	struct tb_quota quota = { 0 };

	choice->open = !strcmp(value, "default");
	choice->quota_given = !choice->open;
	if (choice->open)
		return EXIT_FINE;
	if (!strcmp(value, "no")) {
		quota.flags = TB_QUOTA_CLOSED;
	} else if (strcmp(value, "any")) {
		quota.ring_bytes_per_second = parse_rate(value);
		if (!quota.ring_bytes_per_second)
			return misused(command, "--writers: '%s' is not no, default, any, or bytes a second (512K, 10M)",
				       value);
	}
	choice->quota = quota;
	return EXIT_FINE;
}

static bool wants_programs(const struct choice *choice)
{
	const struct item *item;
	size_t i;

	for (i = 0; i < choice->count; i++) {
		item = &choice->items[i];
		if (!item->exclude && (item->users || (!item->calls && !strcmp(item->pattern, "all"))))
			return true;
	}
	return choice->open;
}

static int quota_failed(int result)
{
	if (result == -ENOTTY)
		return complain("this module takes nothing from programs: install module and tools of the same release");
	return complain("cannot set what programs may write: %s", strerror(-result));
}

int choice_quota(struct tb_device *device, const struct choice *choice, bool others)
{
	struct tb_quota quota = { 0 };
	struct tb_intake_info info;
	bool named = choice->quota_given || choice_users(choice);
	int result;

	if (choice->quota_given) {
		quota = choice->quota;
	} else if (!wants_programs(choice)) {
		if (!others)
			return EXIT_FINE;
		quota.flags = TB_QUOTA_CLOSED;
	} else if (!others && !choice->open && !tb_device_intake(device, &info) &&
		   !(info.quota.flags & TB_QUOTA_CLOSED)) {
		/* the provider is open already: keep its quota */
		return EXIT_FINE;
	} else if (choice->reads) {
		quota.ring_bytes_per_second = READ_RATE;
	} else {
		quota.flags = TB_QUOTA_DEFAULT;
	}
	result = tb_device_quota(device, &quota);
	/* a module without quotas is an error only if programs were named */
	return result < 0 && (result != -ENOTTY || named) ? quota_failed(result) : EXIT_FINE;
}

int quota_close(struct tb_device *device)
{
	const struct tb_quota closed = { .flags = TB_QUOTA_CLOSED };
	int result = tb_device_quota(device, &closed);

	return result < 0 && result != -ENOTTY ? quota_failed(result) : EXIT_FINE;
}

void choice_quota_read(struct tb_device *device, const struct choice *choice)
{
	const struct tb_quota usual = { .flags = TB_QUOTA_DEFAULT };

	if (choice->reads && !choice->quota_given && wants_programs(choice))
		tb_device_quota(device, &usual);
}

/* "1.2 MB" */
static const char *bytes_text(uint64_t bytes, char text[32])
{
	if (bytes < 1000000)
		snprintf(text, 32, "%.1f kB", (double)bytes / 1e3);
	else
		snprintf(text, 32, "%.1f MB", (double)bytes / 1e6);
	return text;
}

void quota_show(struct tb_device *device)
{
	char rate[32], burst[32], each[32];
	struct tb_intake_info info;
	const struct tb_quota *quota = &info.quota;

	if (tb_device_intake(device, &info) < 0)
		return;			/* a module without quotas */
	if (quota->flags & TB_QUOTA_CLOSED)
		printf("programs   closed: programs may not write");
	else if (quota->ring_bytes_per_second)
		printf("programs   may write %s a second into the buffers of each CPU, %s at once",
		       bytes_text(quota->ring_bytes_per_second, rate),
		       bytes_text(quota->ring_burst_bytes ? quota->ring_burst_bytes :
				  quota->ring_bytes_per_second, burst));
	else
		printf("programs   may write");
	if (quota->bytes_per_second && !(quota->flags & TB_QUOTA_CLOSED))
		printf(", each of them %s a second", bytes_text(quota->bytes_per_second, each));
	if (info.kept_pieces)
		printf("; kept out: %" PRIu64 " records", (uint64_t)info.kept_records);
	putchar('\n');
}

void quota_note(struct tb_device *device)
{
	struct tb_intake_info info;

	if (tb_device_intake(device, &info) < 0 || !info.kept_records)
		return;
	note("warning: %" PRIu64 " records of programs were over quota and are missing (--writers sets it)",
	     (uint64_t)info.kept_records);
}
