// SPDX-License-Identifier: GPL-2.0-only
/*
 * The tool tells the kernel exactly what the options -e, -f, --pid and so on say, in an order in
 * which the kernel records no unwanted event, and refuses senseless ones. If this fails, a user
 * records other events or threads than the chosen ones. The test's device notes each call.
 */
#define TB_NO_SIZED
#include <errno.h>
#include <stdarg.h>
#include "test_lib_fixture.h"

#define tb_device_event fake_event
#define tb_device_format fake_format
#define tb_device_rule fake_rule
#define tb_device_no_rules fake_no_rules
#define tb_device_select fake_select
#define tb_device_suppressed fake_suppressed
#define tb_device_pids fake_pids
#define tb_device_category fake_category
#define tb_device_quota fake_quota
#define tb_device_intake fake_intake
#define cgroups_each fake_cgroups

#include "../../../userspace/tool/choose/choose.h"

static int fake_event(struct tb_device *device, unsigned int index,
		      struct tb_event_info *info);
static int fake_format(struct tb_device *device, unsigned int index,
		       struct tb_format **format);
static int fake_rule(struct tb_device *device, struct tb_rule *rule);
static int fake_no_rules(struct tb_device *device);
static int fake_select(struct tb_device *device, enum tb_select_op op,
		       enum tb_form form, const char *pattern);
static int fake_suppressed(struct tb_device *device, uint32_t index,
			   struct tb_suppressed *suppressed);
static int fake_pids(struct tb_device *device, const uint32_t *pids,
		     unsigned int count, uint32_t flags, uint32_t *bad);
static int fake_category(struct tb_device *device, enum tb_category_op op,
			 const char *pattern);
static int fake_quota(struct tb_device *device, const struct tb_quota *quota);
static int fake_intake(struct tb_device *device, struct tb_intake_info *info);

#include "../../../userspace/tool/command/number.c"
#include "../../../userspace/tool/choose/syscall_sets.c"
#include "../../../userspace/tool/choose/choose.c"
#undef NR_COUNTERS
#include "../../../userspace/tool/choose/events.c"
#include "../../../userspace/tool/command/nearest.c"
#define unknown unknown_pid
#define failed who_failed
#include "../../../userspace/tool/choose/targets.c"
#include "../../../userspace/tool/choose/categories.c"
#include "../../../userspace/tool/choose/rules.c"
#include "../../../userspace/tool/choose/quota.c"
#include "../../../userspace/tool/choose/suppressed.c"
#define take who_take
#include "../../../userspace/tool/choose/target_threads.c"
#undef cgroups_each

/* ---- functions of the tool's other files ---- */

static char said[8192];
static size_t said_used;

static void say(const char *text, va_list arguments)
{
	said_used += (size_t)vsnprintf(said + said_used,
				       sizeof(said) - said_used, text, arguments);
	said_used += (size_t)snprintf(said + said_used,
				      sizeof(said) - said_used, "\n");
}

#define SAYS(result, ...) \
	va_list arguments; \
	va_start(arguments, text); \
	say(text, arguments); \
	va_end(arguments); \
	return result

int complain(const char *text, ...)
{
	SAYS(EXIT_WRONG);
}

void note(const char *text, ...)
{
	SAYS();
}

int misused(const struct command *command, const char *text, ...)
{
	(void)command;
	SAYS(EXIT_USAGE);
}

/* ---- the device ---- */

static struct tb_trace *trace;
static char told[8192];
static size_t told_used;
static struct tb_rule rules[64];
static unsigned char rule_data[64][TB_TEST_DATA_MAX];
static unsigned int nr_rules;
static int rule_result;
static uint32_t rule_bad;

__attribute__((format(printf, 1, 2)))
static void tell(const char *text, ...)
{
	va_list arguments;

	va_start(arguments, text);
	told_used += (size_t)vsnprintf(told + told_used,
				       sizeof(told) - told_used, text, arguments);
	va_end(arguments);
}

static const struct {
	const char *system, *name;
	unsigned int id;	/* of the fixture's description */
	uint32_t flags;
} events[] = {
	{ "sched", "sched_switch", FX_SWITCH, TB_INFO_HAS_COMPACT },
	{ "sched", "sched_wakeup", FX_WAKEUP, 0 },
	{ "raw_syscalls", "sys_enter", FX_SYS_ENTER, TB_INFO_HAS_COMPACT },
	{ "raw_syscalls", "sys_exit", FX_SYS_ENTER, TB_INFO_HAS_COMPACT },
	{ "task", "task_newtask", FX_NEWTASK, 0 },
	{ "task", "task_rename", FX_RENAME, TB_INFO_ABSENT },
};

#define NR_EVENTS (sizeof(events) / sizeof(events[0]))

static int fake_event(struct tb_device *device, unsigned int index,
		      struct tb_event_info *info)
{
	(void)device;
	if (index >= NR_EVENTS)
		return -ENOENT;
	memset(info, 0, sizeof(*info));
	strcpy(info->system, events[index].system);
	strcpy(info->name, events[index].name);
	info->flags = events[index].flags;
	return 0;
}

static int fake_format(struct tb_device *device, unsigned int index,
		       struct tb_format **format)
{
	uint16_t id = (uint16_t)events[index].id;

	(void)device;
	*format = malloc(sizeof(**format));
	assert(*format);
	**format = *tb_trace_format(trace, id);
	return 0;
}

static int fake_rule(struct tb_device *device, struct tb_rule *rule)
{
	(void)device;
	tell("rule %s", events[rule->index].name);
	if (rule->nr_tests)
		tell(" tests=%u", rule->nr_tests);
	if (rule->flags)
		tell(" flags=%u", rule->flags);
	if (rule->sample)
		tell(" 1/%u", rule->sample);
	if (rule->rate)
		tell(" %u/s", (unsigned int)rule->rate);
	if (rule->nr_counters)
		tell(" counters=%u", rule->nr_counters);
	tell("\n");
	if (rule_result) {
		rule->bad = rule_bad;
		return rule_result;
	}
	if (rule->data_bytes)
		memcpy(rule_data[nr_rules], (void *)(uintptr_t)rule->data,
		       rule->data_bytes);
	rules[nr_rules++] = *rule;
	return 0;
}

static int fake_no_rules(struct tb_device *device)
{
	(void)device;
	tell("no rules\n");
	return 0;
}

static int fake_select(struct tb_device *device, enum tb_select_op op,
		       enum tb_form form, const char *pattern)
{
	static const char *const forms[] = { "", " wide", "" };
	int count = 0;
	size_t i;

	(void)device;
	for (i = 0; i < NR_EVENTS; i++)
		count += !(events[i].flags & TB_INFO_ABSENT) &&
			 pattern_match(pattern, events[i].system, events[i].name);
	tell("%s %s%s\n", op == TB_SELECT_ENABLE ? "enable" : "disable",
	     pattern, forms[form]);
	return count ? count : -ENOENT;
}

static int fake_suppressed(struct tb_device *device, uint32_t index,
			   struct tb_suppressed *suppressed)
{
	(void)device;
	memset(suppressed, 0, sizeof(*suppressed));
	if (index == TB_RULE_ALL)
		suppressed->filtered = 7;
	else if (!index)
		suppressed->sampled = 3;
	return 0;
}

static int category_result;

static int fake_category(struct tb_device *device, enum tb_category_op op,
			 const char *pattern)
{
	static const char *const ops[] = { "?", "want", "unwant", "forget" };

	(void)device;
	tell("%s user:%s\n", ops[op], pattern ? pattern : "");
	return category_result;
}

/* This test does not cover quotas. */
static int fake_quota(struct tb_device *device, const struct tb_quota *quota)
{
	(void)device;
	(void)quota;
	return 0;
}

static int fake_intake(struct tb_device *device, struct tb_intake_info *info)
{
	(void)device;
	(void)info;
	return -ENOTTY;
}

static int pids_result;
static unsigned int nr_members, most_members, first_member = 21;	/* of the cgroup */
static uint32_t ends;		/* the process ends, if it is the first one */

static int fake_pids(struct tb_device *device, const uint32_t *pids,
		     unsigned int count, uint32_t flags, uint32_t *bad)
{
	unsigned int i;

	(void)device;
	tell("pids flags=%u", flags);
	for (i = 0; i < count; i++)
		tell(" %u", pids[i]);
	tell("\n");
	*bad = 1;
	if (ends && pids[0] == ends) {
		ends = 0;
		first_member++;
		*bad = 0;
		return -ESRCH;
	}
	/* meanwhile processes of the cgroup make others */
	if (nr_members < most_members)
		nr_members++;
	return pids_result;
}

/* The processes 21, 22, ... are in the cgroup /one */
int fake_cgroups(int (*visit)(uint32_t id, const char *path, const char *folder, void *context),
		 void *context)
{
	char folder[] = "/tmp/test_lib_rules.XXXXXX", name[64];
	unsigned int i;
	FILE *file;
	int result;

	CHECK(mkdtemp(folder) != NULL);
	snprintf(name, sizeof(name), "%s/cgroup.procs", folder);
	file = fopen(name, "w");
	CHECK(file != NULL);
	for (i = 0; file && i < nr_members; i++)
		fprintf(file, "%u\n", first_member + i);
	if (file)
		fclose(file);
	result = visit(1, "/one", folder, context);
	unlink(name);
	rmdir(folder);
	return result;
}

/* ---- helpers ---- */

static const struct command nothing = { .name = "test" };

static void begin(void)
{
	static struct fx fx;

	if (!trace) {
		fx_init(&fx, 14, 0);
		fx_durable_end(&fx);
		assert(!tb_trace_open_memory(fx.data, fx.size, &trace, NULL));
	}
	told[0] = said[0] = 0;
	told_used = said_used = 0;
	nr_rules = 0;
	rule_result = 0;
}

/* Apply options: letters 'e' and 'f' in turn with their values; return the exit status */
static int choose(int (*how)(struct tb_device *, const struct choice *),
		  enum tb_form form, const char *const *options)
{
	struct choice choice = { 0 };
	int status = 0;

	begin();
	for (; *options && status >= 0; options += 2)
		status = choice_option(&nothing, options[0][0], options[1],
				       &choice);
	if (!choice.form)
		choice.form = form;
	status = status < 0 ? EXIT_USAGE : how(NULL, &choice);
	choice_free(&choice);
	return status;
}

#define SET(...) \
	choose(choice_set, TB_FORM_COMPACT, (const char *const []){ __VA_ARGS__, NULL })
#define ENABLE(...) \
	choose(choice_enable, TB_FORM_DEFAULT, (const char *const []){ __VA_ARGS__, NULL })

#define CHECK_SAID(text) \
	do { \
		if (!strstr(said, (text))) { \
			printf("# %s:%d: \"%s\" is not in \"%s\"\n", __FILE__, \
			       __LINE__, (text), said); \
			test_failures++; \
		} \
	} while (0)

#define DISABLE(...) \
	choose(choice_disable, TB_FORM_DEFAULT, (const char *const []){ __VA_ARGS__, NULL })

#define START "disable all\nno rules\nforget user:\n"

/* ---- tests ---- */

static void plain_lists(void)
{
	CHECK_NUMBER(SET("e", "sched,task:task_newtask"), 0);
	CHECK_TEXT(told, START "enable sched\nenable task:task_newtask\n");
	CHECK_NUMBER(SET("e", "sched_*", "W", ""), 0);
	CHECK_TEXT(told, START "enable sched_* wide\n");
	CHECK_NUMBER(SET("e", "sched:sched_switch:wide,sched_wakeup", "e", "task"), 0);
	CHECK_TEXT(told, START "enable sched:sched_switch wide\n"
		   "enable sched_wakeup\nenable task\n");
	CHECK_NUMBER(ENABLE("e", "sched_wakeup"), 0);
	CHECK_TEXT(told, "rule sched_wakeup\nenable sched_wakeup\n");
	CHECK_NUMBER(SET("e", "shced"), 1);
	CHECK_SAID("no event matches 'shced'; did you mean sched?");
	CHECK_TEXT(told, "");
	CHECK_NUMBER(SET("e", "task_rename"), 1);
	CHECK_NUMBER(SET("e", "sched_switch:stak"), 1);
	CHECK_SAID("an event takes stack, ustack,");
	CHECK_SAID("not 'stak'");
}

static void left_out(void)
{
	CHECK_NUMBER(SET("e", "sched:*,!sched_wakeup"), 0);
	CHECK_TEXT(told, START "enable sched:sched_switch\n");
	CHECK_NUMBER(SET("e", "!sched,^raw_syscalls"), 0);
	CHECK_TEXT(told, START "enable task:task_newtask\nwant user:*\n");
	/* a later option overrides an earlier one */
	CHECK_NUMBER(SET("e", "!sched_switch,!raw_syscalls", "e", "sched_switch:wide"), 0);
	CHECK_TEXT(told, START "enable sched:sched_switch wide\n"
		   "enable sched:sched_wakeup\nenable task:task_newtask\nwant user:*\n");
	CHECK_NUMBER(SET("e", "sched,!nothing"), 1);
	CHECK_SAID("no event matches 'nothing'");
	CHECK_NUMBER(SET("e", "!sched:stack"), 2);
	CHECK_SAID("leaves it out");
}

static void modifiers_of_events(void)
{
	CHECK_NUMBER(SET("e", "sched_switch:stack:ustack:1/10:rate=100:counters=cycles+page-faults"), 0);
	CHECK_TEXT(told, START "rule sched_switch flags=3 1/10 100/s counters=2\n"
		   "enable sched_switch\n");
	CHECK_NUMBER(SET("e", "sched:sched_switch:50/s:wide"), 0);
	CHECK_TEXT(told, START "rule sched_switch 50/s\nenable sched:sched_switch wide\n");
	CHECK_NUMBER(SET("e", "sched:stack"), 0);
	CHECK_TEXT(told, START "rule sched_switch flags=1\nrule sched_wakeup flags=1\n"
		   "enable sched\n");
	CHECK_NUMBER(SET("e", "sched_switch:1/s"), 0);
	CHECK_TEXT(told, START "rule sched_switch 1/s\nenable sched_switch\n");
	CHECK_NUMBER(SET("e", "sched:1/1"), 0);
	CHECK_TEXT(told, START "enable sched\n");
	CHECK_NUMBER(SET("e", "sched:counters=r1a8+rzz"), 2);
	CHECK_SAID("there is no counter 'rzz'");
	CHECK_NUMBER(SET("e", "sched:2/10"), 2);
	CHECK_NUMBER(SET("e", "sched:1/0"), 2);
	CHECK_NUMBER(SET("e", "sched:rate=x"), 2);
	CHECK_NUMBER(SET("e", "sched:"), 2);
	CHECK_NUMBER(SET("e", ":sched"), 2);
	CHECK_NUMBER(SET("e", " , "), 2);
	CHECK_NUMBER(SET("e", "sched::stack"), 2);
}

static void filters(void)
{
	/* -f applies to the -e before it */
	CHECK_NUMBER(SET("e", "task", "e", "sched_switch", "f", "prev_pid == 1 || next_pid == 1"), 0);
	CHECK_TEXT(told, START "rule sched_switch tests=2\nenable task\nenable sched_switch\n");
	/* before any -e it applies to all; an event must pass all its filters */
	CHECK_NUMBER(SET("f", "COMM == 'x'", "e", "task", "e", "sched_switch", "f",
			 "prev_pid == 1", "f", "next_pid > 1"), 0);
	CHECK_TEXT(told, START "rule sched_switch tests=3\nrule task_newtask tests=1\n"
		   /* this event's module may be loaded later */
		   "rule task_rename tests=1\nenable task\nenable sched_switch\n");
	/* a filter that does not fit all events: nothing is changed */
	CHECK_NUMBER(SET("e", "sched", "f", "nxt_pid == 1"), 1);
	CHECK_SAID("filter 'nxt_pid == 1' for sched:sched_switch: column 1: sched:sched_switch has no field 'nxt_pid'; did you mean next_pid");
	CHECK_TEXT(told, "");
	CHECK_NUMBER(SET("e", "sched", "f", "prev_pid == 1"), 1);
	CHECK_SAID("for sched:sched_wakeup: column 1: sched:sched_wakeup has no field 'prev_pid'");
	CHECK_TEXT(told, "");
	/* error columns count in the filter itself */
	CHECK_NUMBER(SET("e", "sched_switch", "f", "prev_pid == 1", "f", "next_pid == 'x'"), 1);
	CHECK_SAID("filter 'next_pid == 'x'' for sched:sched_switch: column 13:");
	CHECK_NUMBER(SET("e", "sched_switch", "f", "prev_prio > 0x80000000"), 0);
	CHECK_SAID("can never be true of sched:sched_switch");
	CHECK_NUMBER(SET("e", "sched", "f", "  "), 2);
	CHECK_NUMBER(SET("e", "sched", "e", "!sched_wakeup", "f", "prev_pid == 1"), 2);
	CHECK_SAID("the -e before the filter 'prev_pid == 1' chooses no events");
}

static void system_calls(void)
{
	CHECK_NUMBER(SET("e", "syscalls:openat,read,task"), 0);
	CHECK_TEXT(told, START "rule sys_enter tests=1\nrule sys_exit tests=1\n"
		   "enable task\n"
		   "enable raw_syscalls:sys_enter\nenable raw_syscalls:sys_exit\n");
	CHECK(rules[0].data_bytes > 0);
	CHECK_TEXT(tb_syscall_name(0) ? tb_syscall_name(0) : "", "read");
#ifdef __x86_64__
	CHECK_NUMBER(rule_data[0][0], 1);		/* read is 0 */
	CHECK_NUMBER(rule_data[0][257 / 8], 1 << 257 % 8);	/* openat is 257 */
	CHECK_NUMBER(rules[0].data_bytes, 257 / 8 + 1);
#endif
	CHECK_NUMBER(SET("e", "syscalls:sys_enter_*stat*,read:stack", "f", "id > 3"), 0);
	CHECK_TEXT(told, START "rule sys_enter tests=2 flags=1\nrule sys_exit tests=2 flags=1\n"
		   "enable raw_syscalls:sys_enter\nenable raw_syscalls:sys_exit\n");
	CHECK_NUMBER(SET("e", "syscalls:sys_exit_openat"), 0);
	CHECK_TEXT(told, START "rule sys_exit tests=1\nenable raw_syscalls:sys_exit\n");
	CHECK_NUMBER(SET("e", "syscalls:openat:wide"), 0);
	CHECK_TEXT(told, START "rule sys_enter tests=1\nrule sys_exit tests=1\n"
		   "enable raw_syscalls:sys_enter wide\nenable raw_syscalls:sys_exit wide\n");
	/* sets of system calls are united, and "!" removes a part */
	CHECK_NUMBER(SET("e", "syscalls:read", "e", "syscalls:write"), 0);
#ifdef __x86_64__
	CHECK_NUMBER(rule_data[0][0], 3);
	CHECK_NUMBER(SET("e", "syscalls:all,!syscalls:read"), 0);
	CHECK_NUMBER(rule_data[0][0], 0xfe);
	CHECK_NUMBER(SET("e", "raw_syscalls,!syscalls:read,write"), 0);
	CHECK_NUMBER(rule_data[0][0], 0xfc);
#endif
	/* without calls that are left, there is no event: a rule without tests is for all calls */
	CHECK_NUMBER(SET("e", "syscalls:read,!syscalls:sys_exit_*"), 0);
	CHECK_TEXT(told, START "rule sys_enter tests=1\nenable raw_syscalls:sys_enter\n");
	CHECK_NUMBER(SET("e", "sched_switch,raw_syscalls,!syscalls:all"), 0);
	CHECK_TEXT(told, START "enable sched:sched_switch\n");
	/* an event has one rule, so a filter of one set would be for the other, too */
	CHECK_NUMBER(SET("e", "syscalls:read", "f", "id == 0", "e", "syscalls:write"), 1);
	CHECK_SAID("choose all system calls with one -e");
	CHECK_NUMBER(SET("e", "syscalls:read", "e", "syscalls:write:stack"), 1);
	CHECK_NUMBER(SET("e", "raw_syscalls", "f", "id > 3", "e", "syscalls:write"), 1);
	CHECK_TEXT(told, "");
	CHECK_NUMBER(SET("e", "syscalls:raed"), 2);
	CHECK_SAID("there is no system call 'raed'; did you mean");
	/* a name that is no system call is an event's */
	CHECK_NUMBER(SET("e", "syscalls:read,sched_switch:wide"), 0);
	CHECK_TEXT(told, START "rule sys_enter tests=1\nrule sys_exit tests=1\n"
		   "enable sched_switch wide\n"
		   "enable raw_syscalls:sys_enter\nenable raw_syscalls:sys_exit\n");
}

static void refused(void)
{
	begin();
	/* if the kernel refuses a rule, the tool removes all that it has set */
	rule_result = -EOPNOTSUPP;
	rule_bad = 1;
	{
		struct choice choice = { .form = TB_FORM_WIDE };

		CHECK(!choice_add(&nothing, &choice, "sched_switch:counters=page-faults+cycles", false));
		CHECK_NUMBER(choice_set(NULL, &choice), 1);
		CHECK_TEXT(told, START "rule sched_switch counters=2\n" START);
		CHECK_SAID("this machine has no counter 'cycles'");
		rule_result = -ENOTTY;
		CHECK_NUMBER(choice_enable(NULL, &choice), 1);
		CHECK_SAID("install module and tools of the same release");
		choice_free(&choice);
	}
}

static void triggers(void)
{
	struct choice choice = { 0 };
	struct compiled_rules compiled;
	char text[60];

	begin();
	CHECK(choice_option(&nothing, 'e', "sched", &choice) == 1);
	CHECK(choice_option(&nothing, 'f', "common_pid != 0", &choice) == 1);
	CHECK_NUMBER(choice_trigger(NULL, &nothing, &choice, text, sizeof(text), &compiled), 0);
	CHECK_TEXT(text, "sched");
	CHECK_NUMBER(compiled.count, 2);
	CHECK(compiled.rules[0].nr_tests == 1);
	compiled_rules_free(&compiled);
	CHECK(choice_option(&nothing, 'e', "!sched_switch,syscalls:read", &choice) == 1);
	CHECK_NUMBER(choice_trigger(NULL, &nothing, &choice, text, sizeof(text), &compiled), 1);
	CHECK_SAID("trigger's events have more than 59 characters");
	compiled_rules_free(&compiled);
	choice_free(&choice);
	CHECK(choice_option(&nothing, 'e', "sched:stack", &choice) == 1);
	CHECK_NUMBER(choice_trigger(NULL, &nothing, &choice, text, sizeof(text), &compiled), 2);
	CHECK_SAID("takes nothing but a filter");
	compiled_rules_free(&compiled);
	choice_free(&choice);
	CHECK_TEXT(told, "");
}

static void rates_of_writers(void)
{
	static const char *const wrong[] = { "0x10K", "1e3K", "K", "-1", "1.5.2M", "0", "" };
	struct choice choice = { 0 };
	size_t i;

	CHECK_NUMBER(writers_option(&nothing, "512K", &choice), 0);
	CHECK_NUMBER(choice.quota.ring_bytes_per_second, 512 << 10);
	CHECK_NUMBER(writers_option(&nothing, "1.5M", &choice), 0);
	CHECK_NUMBER(choice.quota.ring_bytes_per_second, 3 << 19);
	for (i = 0; i < sizeof(wrong) / sizeof(wrong[0]); i++)
		CHECK_NUMBER(writers_option(&nothing, wrong[i], &choice), 2);
}

/* Two options of thread selection, as (option, value); @command: whether there is one to run */
static int whose(bool command, uint32_t pid, int first, const char *one,
		 int second, const char *two)
{
	static struct target_threads target;
	int status;

	begin();
	memset(&target, 0, sizeof(target));
	status = first ? target_threads_option(&nothing, first, one, &target) : 1;
	if (status == 1 && second)
		status = target_threads_option(&nothing, second, two, &target);
	if (status < 0 || target_threads_check(&nothing, &target, command))
		return EXIT_USAGE;
	return target_threads_apply(NULL, &target, pid);
}

static void threads(void)
{
	char self[64];

	pids_result = 0;
	CHECK_NUMBER(whose(false, 0, 0, "", 0, ""), 0);
	CHECK_TEXT(told, "pids flags=0\n");
	CHECK_NUMBER(whose(false, 0, OPTION_PID, "5,6,5", 0, ""), 0);
	CHECK_TEXT(told, "pids flags=2 5 6\n");
	CHECK_NUMBER(whose(false, 0, OPTION_TID, "5", OPTION_TID, "7"), 0);
	CHECK_TEXT(told, "pids flags=0 5 7\n");
	CHECK_NUMBER(whose(false, 0, OPTION_PID, "5", OPTION_CHILDREN, ""), 0);
	CHECK_TEXT(told, "pids flags=6 5\n");
	CHECK_NUMBER(whose(false, 0, OPTION_EXCLUDE_PID, "5", 0, ""), 0);
	CHECK_TEXT(told, "pids flags=3 5\n");
	CHECK_NUMBER(whose(true, 99, OPTION_FOLLOW, "", 0, ""), 0);
	CHECK_TEXT(told, "pids flags=6 99\n");
	CHECK_NUMBER(whose(true, 99, OPTION_FOLLOW, "", OPTION_PID, "5"), 0);
	CHECK_TEXT(told, "pids flags=6 5 99\n");
	CHECK_NUMBER(whose(true, 99, OPTION_EXCLUDE_SELF, "", 0, ""), 0);
	snprintf(self, sizeof(self), "pids flags=3 %d\n", (int)getpid());
	CHECK_TEXT(told, self);
	CHECK_NUMBER(whose(false, 0, OPTION_PID, "5,", 0, ""), 2);
	CHECK_NUMBER(whose(false, 0, OPTION_PID, "-5", 0, ""), 2);
	CHECK_NUMBER(whose(false, 0, OPTION_PID, "5", OPTION_TID, "6"), 2);
	CHECK_NUMBER(whose(false, 0, OPTION_TID, "5", OPTION_PID, "6"), 2);
	CHECK_NUMBER(whose(false, 0, OPTION_PID, "5", OPTION_EXCLUDE_PID, "6"), 2);
	CHECK_NUMBER(whose(false, 0, OPTION_PID, "5", OPTION_EXCLUDE_SELF, ""), 2);
	CHECK_NUMBER(whose(false, 0, OPTION_CGROUP, "/a", OPTION_CGROUP, "/b"), 2);
	CHECK_SAID("only one --cgroup");
	CHECK_NUMBER(whose(false, 0, OPTION_CHILDREN, "", 0, ""), 2);
	CHECK_NUMBER(whose(false, 0, OPTION_FOLLOW, "", 0, ""), 2);
	CHECK_NUMBER(whose(true, 9, OPTION_FOLLOW, "", OPTION_TID, "5"), 2);
	pids_result = -ESRCH;
	CHECK_NUMBER(whose(false, 0, OPTION_PID, "5,6", 0, ""), 1);
	CHECK_SAID("there is no process 6");
	pids_result = -ENOTTY;
	CHECK_NUMBER(whose(false, 0, 0, "", 0, ""), 0);
	CHECK_NUMBER(whose(false, 0, OPTION_PID, "5,6", 0, ""), 1);
	CHECK_SAID("same release");
}

/* Processes that a cgroup's processes make before the kernel knows these are chosen, too */
static void cgroup_grows(void)
{
	pids_result = 0;
	nr_members = most_members = 2;
	CHECK_NUMBER(whose(false, 0, OPTION_CGROUP, "/one", 0, ""), 0);
	CHECK_TEXT(told, "pids flags=6 21 22\n");
	nr_members = 1;
	most_members = 3;
	CHECK_NUMBER(whose(false, 0, OPTION_CGROUP, "/one", 0, ""), 0);
	CHECK_TEXT(told, "pids flags=6 21\npids flags=6 21 22\npids flags=6 21 22 23\n");
	/* it makes others all the time */
	nr_members = 1;
	most_members = 100;
	CHECK_NUMBER(whose(false, 0, OPTION_CGROUP, "/one", 0, ""), 0);
	CHECK_NUMBER(nr_members, 1 + CGROUP_TRIES);
	CHECK_SAID("some of them are not recorded");
	/* the only process ends, and has made another one */
	nr_members = most_members = 1;
	ends = 21;
	CHECK_NUMBER(whose(false, 0, OPTION_CGROUP, "/one", 0, ""), 0);
	CHECK_TEXT(told, "pids flags=6 21\npids flags=6 22\n");
	nr_members = most_members = 0;
}

static void kept_out(void)
{
	struct tb_query query = { .nr_events = NR_EVENTS };

	begin();
	note_suppressed(NULL, &query);
	CHECK_TEXT(said, "10 events were not recorded, as asked for: 3 by sampling, 7 of other threads\n");
}

/* The recorder notes calls that are open at the start only if it records every later call */
static void all_calls(void)
{
	static const struct { const char *events, *filter; bool all; } cases[] = {
		{ "raw_syscalls", NULL, true }, { "all", NULL, true }, { "syscalls", NULL, true },
		{ "sched_switch,sys_*", NULL, true }, { "syscalls:stack", NULL, true },
		{ "sched_switch", NULL, false }, { "sys_enter", NULL, false },
		{ "syscalls:read", NULL, false }, { "all,!syscalls:read", NULL, false },
		{ "all,!sys_exit", NULL, false }, { "raw_syscalls:1/10", NULL, false },
		{ "raw_syscalls:rate=5", NULL, false }, { "raw_syscalls", "id == 3", false },
		{ "all,sys_enter:1/2", NULL, false },
	};
	struct choice choice;
	size_t i;

	for (i = 0; i < sizeof(cases) / sizeof(cases[0]); i++) {
		memset(&choice, 0, sizeof(choice));
		assert(!choice_add(NULL, &choice, cases[i].events, false));
		if (cases[i].filter)
			CHECK_NUMBER(choice_option(NULL, 'f', cases[i].filter, &choice), 1);
		if (choice_all_calls(&choice) != cases[i].all)
			printf("# %s\n", cases[i].events);
		CHECK_NUMBER(choice_all_calls(&choice), cases[i].all);
		choice_free(&choice);
	}
	/* a filter for all events */
	memset(&choice, 0, sizeof(choice));
	CHECK_NUMBER(choice_option(NULL, 'f', "common_pid == 3", &choice), 1);
	assert(!choice_add(NULL, &choice, "all", false));
	CHECK(!choice_all_calls(&choice));
	choice_free(&choice);
}

static void categories(void)
{
	struct choice choice = { 0 };
	struct compiled_rules compiled;
	char text[64];

	CHECK_NUMBER(SET("e", "user"), 0);
	CHECK_TEXT(told, START "want user:*\n");
	CHECK_NUMBER(SET("e", "user:net*,sched_wakeup,!user:netlink", "e", "user:db"), 0);
	CHECK_TEXT(told, START "enable sched_wakeup\nwant user:net*\n"
		   "unwant user:netlink\nwant user:db\n");
	/* "!user:x" alone: everything else, all kernel events included */
	CHECK_NUMBER(SET("e", "!user:x"), 0);
	CHECK_TEXT(told, START "enable all\nwant user:*\nunwant user:x\n");
	CHECK_NUMBER(SET("e", "all"), 0);
	CHECK_TEXT(told, START "enable all\nwant user:*\n");
	CHECK_NUMBER(SET("e", "sched_wakeup"), 0);
	CHECK_TEXT(told, START "enable sched_wakeup\n");
	CHECK_NUMBER(ENABLE("e", "user:net"), 0);
	CHECK_TEXT(told, "want user:net\n");
	CHECK_NUMBER(DISABLE("e", "user:net,sched_wakeup"), 0);
	CHECK_TEXT(told, "disable sched_wakeup\nunwant user:net\nrule sched_wakeup\n");
	/* categories take no modifiers and filters */
	CHECK_NUMBER(SET("e", "user:net:stack"), 2);
	CHECK_SAID("take no modifiers");
	CHECK_NUMBER(SET("e", "user:"), 2);
	CHECK_NUMBER(SET("e", "user:net", "f", "a == 1"), 2);
	CHECK_SAID("not for events of programs (user:net)");
	/* a filter for all applies to all kernel events */
	CHECK_NUMBER(SET("f", "pid == 1", "e", "user,sched_wakeup"), 0);
	CHECK_TEXT(told, START "rule sched_wakeup tests=1\n"
		   "enable sched_wakeup\nwant user:*\n");

	/* a module without support for programs */
	category_result = -ENOTTY;
	CHECK_NUMBER(SET("e", "all"), 0);
	CHECK_NUMBER(SET("e", "sched_wakeup"), 0);
	CHECK_NUMBER(SET("e", "sched_wakeup,user:net"), 1);
	CHECK_SAID("this module takes nothing from programs, so 'user:net' cannot be chosen");
	category_result = -ENOSPC;
	CHECK_NUMBER(SET("e", "user:net"), 1);
	CHECK_SAID("too many patterns");
	category_result = 0;

	/* a default choice of categories does without that support */
	CHECK_NUMBER(choice_add(&nothing, &choice, "sched_wakeup,user", true), 0);
	CHECK(!choice_users(&choice));
	category_result = -ENOTTY;
	CHECK_NUMBER(choice_set(NULL, &choice), 0);
	category_result = 0;
	CHECK_NUMBER(choice_add(&nothing, &choice, "user:x", false), 0);
	CHECK(choice_users(&choice));
	CHECK_NUMBER(choice_trigger(NULL, &nothing, &choice, text, sizeof(text),
				    &compiled), 2);
	CHECK_SAID("a trigger is an event of the kernel");
	choice_free(&choice);
}

static const struct test tests[] = {
	{ "rules: lists of events", plain_lists },
	{ "rules: events that '!' leaves out", left_out },
	{ "rules: modifiers of events", modifiers_of_events },
	{ "rules: filters", filters },
	{ "rules: system calls by name", system_calls },
	{ "rules: the kernel refuses", refused },
	{ "rules: triggers", triggers },
	{ "rules: how much programs may write", rates_of_writers },
	{ "rules: threads and processes", threads },
	{ "rules: a cgroup that makes processes", cgroup_grows },
	{ "rules: counts of suppressed events", kept_out },
	{ "rules: whether all system calls are recorded", all_calls },
	{ "rules: categories of programs", categories },
};

int main(void)
{
	int result = test_main(tests, sizeof(tests) / sizeof(tests[0]));

	tb_trace_close(trace);
	return result;
}
