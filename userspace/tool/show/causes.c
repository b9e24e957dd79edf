// SPDX-License-Identifier: GPL-2.0-only
/*
 * The causes of 'tracebuf why' as text and as JSON; see causes.h.
 */
#include <inttypes.h>
#include "analysis/files.h"
#include "causes.h"
#include "lib/utf8.h"

/* ---- text ---- */

const char *cause_thread(const struct why *why, int64_t thread, char *text, size_t size)
{
	const char *comm = why_comm(why, (uint32_t)thread);

	snprintf(text, size, "%s-%" PRIu32, comm[0] ? comm : "<...>",
		 why_tid(why, (uint32_t)thread));
	utf8_plain_string(text, size);
	return text;
}

const char *cause_call(int64_t call, char *text, size_t size)
{
	const char *name = call < 0 ? NULL : tb_syscall_name((uint64_t)call);

	if (call < 0)
		snprintf(text, size, "in no known system call");
	else if (name)
		snprintf(text, size, "in %s", name);
	else
		snprintf(text, size, "in system call %" PRId64, call);
	return text;
}

/* The function that a softirq calls, NULL if that is not known */
static const char *function_of(const struct why *why, int64_t vector)
{
	int64_t number;

	return why_irq(why, (vector >> 8) - 1, &number);
}

const char *cause_irq(const struct why *why, int64_t who, char *text, size_t size)
{
	const char *name, *function;
	int64_t number;

	if (who <= WHY_SOFTIRQ_WHO(0)) {
		number = WHY_SOFTIRQ_WHO(who);
		name = tb_softirq_name((uint64_t)number & 0xff);
		function = function_of(why, number);
		snprintf(text, size, "softirq %s%s%s", name ? name : "?", function ? ": " : "",
			 function ? function : "");
		utf8_plain_string(text, size);
		return text;
	}
	name = why_irq(why, who, &number);
	if (!name)
		snprintf(text, size, "an interrupt");
	else
		snprintf(text, size, "interrupt %" PRId64 "%s%s", number, name[0] ? " " : "", name);
	utf8_plain_string(text, size);
	return text;
}

const char *cause_request(const struct why *why, int64_t who, char *text, size_t size)
{
	char disk[DISK_TEXT_MAX];

	snprintf(text, size, "a request (%s) to disk %s", why_request(why, who)->kind,
		 why_disk(why, who, disk));
	utf8_plain_string(text, size);
	return text;
}

#define US_MAX (INT64_MAX / 1000)

/* The path of the cgroup that has the quota, and how much of a period, us; NULL: not known */
static const char *quota_of(const struct why *why, int64_t who, uint64_t *quota, uint64_t *period)
{
	const char *text = why_quota(why, who);
	int path = 0;

	return text && sscanf(text, "%" SCNu64 " %" SCNu64 " %n", quota, period, &path) == 2 &&
	       text[path] == '/' && *quota <= US_MAX && *period <= US_MAX ? text + path : NULL;
}

static const char *quota_text(const struct why *why, int64_t who, char *text, size_t size)
{
	uint64_t quota, period;
	const char *path = quota_of(why, who, &quota, &period);
	size_t length, used;

	if (!path)
		return "the CPU is idle: its cgroup seems to have used up its CPU quota";
	used = (size_t)snprintf(text, size, "the CPU is idle: a quota seems to be used up, "
				"%g ms in %g ms of ", (double)quota / 1000, (double)period / 1000);
	/* keep the end of a long path */
	length = strlen(path);
	if (used + length < size)
		memcpy(text + used, path, length + 1);
	else if (used + 4 < size)
		snprintf(text + used, size - used, "...%s", path + length - (size - used - 4));
	utf8_plain_string(text, size);
	return text;
}

const char *cause_text(const struct why *why, const struct why_node *node, char *text,
			      size_t size)
{
	char part[128];

	switch (node->cause) {
	case WHY_ALL:
		return "all";
	case WHY_RUNS:
		snprintf(text, size, "%s runs", cause_thread(why, node->who, part, sizeof(part)));
		return text;
	case WHY_IRQ:
		return cause_irq(why, node->who, text, size);
	case WHY_SOFTIRQ:
		return cause_irq(why, WHY_SOFTIRQ_WHO(node->who), text, size);
	case WHY_WAITS:
		return "waits for a CPU";
	case WHY_IDLE:
		return "the CPU is idle, or on its way to run it";
	case WHY_QUOTA:
		return quota_text(why, node->who, text, size);
	case WHY_BLOCKED:
		snprintf(text, size, "blocked %s", cause_call(node->who, part, sizeof(part)));
		return text;
	case WHY_NO_WORK:
		return "has no work";
	case WHY_OBJECT:
		snprintf(text, size, "%s", why_object(why, node->who));
		utf8_plain_string(text, size);
		return text;
	case WHY_WOKEN:
		snprintf(text, size, "until %s woke it",
			 cause_thread(why, node->who, part, sizeof(part)));
		return text;
	case WHY_UNTIL:
		snprintf(text, size, "until %s woke it",
			 cause_irq(why, node->who, part, sizeof(part)));
		return text;
	case WHY_REQUEST:
		snprintf(text, size, "until %s was done",
			 cause_request(why, node->who, part, sizeof(part)));
		return text;
	case WHY_TIMEOUT:
		return "until its time was over";
	case WHY_SLEEPS:
		snprintf(text, size, "sleeps by its own wish %s",
			 cause_call(node->who, part, sizeof(part)));
		return text;
	case WHY_OFF:
		snprintf(text, size, "off the CPU %s: no wake-up is known",
			 cause_call(node->who, part, sizeof(part)));
		return text;
	case WHY_DEEP:
		return "not divided further: a chain of more than 32 threads, or too many causes";
	case WHY_UNKNOWN:
		break;
	}
	return "not known";
}

/* ---- JSON ---- */

static const char *const cause_names[] = {
	[WHY_ALL] = "all", [WHY_RUNS] = "runs", [WHY_IRQ] = "irq", [WHY_SOFTIRQ] = "softirq",
	[WHY_WAITS] = "waits", [WHY_IDLE] = "idle", [WHY_QUOTA] = "quota", [WHY_BLOCKED] = "blocked",
	[WHY_NO_WORK] = "no_work", [WHY_OBJECT] = "object", [WHY_WOKEN] = "woken",
	[WHY_UNTIL] = "interrupt", [WHY_REQUEST] = "request", [WHY_TIMEOUT] = "timeout",
	[WHY_SLEEPS] = "sleeps", [WHY_OFF] = "off", [WHY_DEEP] = "deep", [WHY_UNKNOWN] = "unknown",
};

const char *cause_name(enum why_cause cause)
{
	return cause_names[cause];
}

static void json_number(struct out *out, const char *key, int64_t value)
{
	out_text(out, key);
	out_json_signed(out, value);
}

static void json_irq(const struct why *why, int64_t who, struct out *out)
{
	bool softirq = who <= WHY_SOFTIRQ_WHO(0);
	int64_t number = softirq ? WHY_SOFTIRQ_WHO(who) : 0;
	const char *name = softirq ? function_of(why, number) : why_irq(why, who, &number);

	if (softirq)
		json_number(out, ",\"softirq\":", number & 0xff);
	else if (name)
		json_number(out, ",\"irq\":", number);
	if (name) {
		out_text(out, ",\"name\":");
		out_json_string(out, name);
	}
}

static void json_request(const struct completion *request, struct out *out)
{
	char device[32];

	snprintf(device, sizeof(device), "%" PRIu32 ":%" PRIu32, request->device >> 20,
		 request->device & 0xfffff);
	out_text(out, ",\"device\":");
	out_json_string(out, device);
	out_text(out, ",\"kind\":");
	out_json_string(out, request->kind);
}

static void json_quota(const struct why *why, int64_t who, struct out *out)
{
	uint64_t quota, period;
	const char *path = quota_of(why, who, &quota, &period);

	if (!path)
		return;
	out_text(out, ",\"cgroup\":");
	out_json_string(out, path);
	json_number(out, ",\"quota_ns\":", (int64_t)(quota * 1000));
	json_number(out, ",\"period_ns\":", (int64_t)(period * 1000));
}

/* Write the members "cause" to "text" of @node */
static void json_cause(const struct why *why, const struct why_node *node, struct out *out)
{
	const char *name;
	char text[256];

	out_text(out, "\"cause\":");
	out_json_string(out, cause_name(node->cause));
	if (node->cause == WHY_RUNS || node->cause == WHY_WOKEN) {
		json_number(out, ",\"tid\":", why_tid(why, (uint32_t)node->who));
		out_text(out, ",\"comm\":");
		out_json_string(out, why_comm(why, (uint32_t)node->who));
	} else if ((node->cause == WHY_BLOCKED || node->cause == WHY_SLEEPS ||
		    node->cause == WHY_OFF) && node->who >= 0) {
		json_number(out, ",\"call\":", node->who);
		name = tb_syscall_name((uint64_t)node->who);
		if (name) {
			out_text(out, ",\"name\":");
			out_json_string(out, name);
		}
	} else if (node->cause == WHY_OBJECT) {
		name = files_plain(why_object(why, node->who));
		out_text(out, ",\"object\":");
		out_json_string(out, name ? name : "");
	} else if (node->cause == WHY_QUOTA) {
		json_quota(why, node->who, out);
	} else if (node->cause == WHY_IRQ || node->cause == WHY_UNTIL) {
		json_irq(why, node->who, out);
	} else if (node->cause == WHY_REQUEST) {
		json_request(why_request(why, node->who), out);
	} else if (node->cause == WHY_SOFTIRQ) {
		json_irq(why, WHY_SOFTIRQ_WHO(node->who), out);
	}
	out_text(out, ",\"text\":");
	/* a path may be longer than a line of text */
	out_json_string(out, node->cause == WHY_OBJECT ? why_object(why, node->who) :
			     cause_text(why, node, text, sizeof(text)));
}

void cause_json(const struct why *why, const struct why_node *nodes, uint32_t index,
		      struct out *out)
{
	const struct why_node *node = &nodes[index];
	uint32_t i;

	out_text(out, "{");
	json_cause(why, node, out);
	json_number(out, ",\"ns\":", (int64_t)node->ns);
	json_number(out, ",\"count\":", (int64_t)node->count);
	json_number(out, ",\"longest_ns\":", (int64_t)node->longest);
	json_number(out, ",\"longest_at_ns\":", (int64_t)node->longest_at);
	out_text(out, ",\"children\":[");
	for (i = node->child; i; i = nodes[i].next) {
		cause_json(why, nodes, i, out);
		if (nodes[i].next)
			out_text(out, ",");
	}
	out_text(out, "]}");
}
