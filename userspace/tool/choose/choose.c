// SPDX-License-Identifier: GPL-2.0-only
/*
 * Parse lists of events: each part has a name, and perhaps more.  This file does not know which
 * events exist; targets.c and rules.c do.
 *
 *	list:  part { "," part }
 *	part:  [ "!" ] name [ ":" name ] { ":" modifier }
 *	       [ "!" ] "syscalls:" call { "," call } { ":" modifier }
 *	       [ "!" ] "user" [ ":" category ]
 */
#include <linux/perf_event.h>
#include <stdlib.h>
#include <string.h>
#include "choose.h"
#include "tool/command/command.h"
#include "tool/command/nearest.h"
#include "tool/command/number.h"
#include "lib/array.h"

/* ---- counters ---- */

static const struct {
	const char *name;
	uint32_t type;
	uint64_t config;
} counters[] = {
	{ "cycles", PERF_TYPE_HARDWARE, PERF_COUNT_HW_CPU_CYCLES },
	{ "instructions", PERF_TYPE_HARDWARE, PERF_COUNT_HW_INSTRUCTIONS },
	{ "cache-references", PERF_TYPE_HARDWARE, PERF_COUNT_HW_CACHE_REFERENCES },
	{ "cache-misses", PERF_TYPE_HARDWARE, PERF_COUNT_HW_CACHE_MISSES },
	{ "branches", PERF_TYPE_HARDWARE, PERF_COUNT_HW_BRANCH_INSTRUCTIONS },
	{ "branch-misses", PERF_TYPE_HARDWARE, PERF_COUNT_HW_BRANCH_MISSES },
	{ "bus-cycles", PERF_TYPE_HARDWARE, PERF_COUNT_HW_BUS_CYCLES },
	{ "stalled-cycles-frontend", PERF_TYPE_HARDWARE,
	  PERF_COUNT_HW_STALLED_CYCLES_FRONTEND },
	{ "stalled-cycles-backend", PERF_TYPE_HARDWARE,
	  PERF_COUNT_HW_STALLED_CYCLES_BACKEND },
	{ "ref-cycles", PERF_TYPE_HARDWARE, PERF_COUNT_HW_REF_CPU_CYCLES },
	{ "cpu-clock", PERF_TYPE_SOFTWARE, PERF_COUNT_SW_CPU_CLOCK },
	{ "task-clock", PERF_TYPE_SOFTWARE, PERF_COUNT_SW_TASK_CLOCK },
	{ "page-faults", PERF_TYPE_SOFTWARE, PERF_COUNT_SW_PAGE_FAULTS },
	{ "minor-faults", PERF_TYPE_SOFTWARE, PERF_COUNT_SW_PAGE_FAULTS_MIN },
	{ "major-faults", PERF_TYPE_SOFTWARE, PERF_COUNT_SW_PAGE_FAULTS_MAJ },
	{ "context-switches", PERF_TYPE_SOFTWARE, PERF_COUNT_SW_CONTEXT_SWITCHES },
	{ "cpu-migrations", PERF_TYPE_SOFTWARE, PERF_COUNT_SW_CPU_MIGRATIONS },
	{ "alignment-faults", PERF_TYPE_SOFTWARE, PERF_COUNT_SW_ALIGNMENT_FAULTS },
	{ "emulation-faults", PERF_TYPE_SOFTWARE, PERF_COUNT_SW_EMULATION_FAULTS },
};

#define NR_COUNTERS (sizeof(counters) / sizeof(counters[0]))

/* "cycles", or "r1a8" as in perf: a raw event of the processor's manual */
static bool counter_find(const char *name, struct tb_counter *counter)
{
	unsigned long long raw;
	char *end;
	size_t i;

	memset(counter, 0, sizeof(*counter));
	snprintf(counter->name, sizeof(counter->name), "%s", name);
	for (i = 0; i < NR_COUNTERS; i++)
		if (!strcmp(counters[i].name, name)) {
			counter->type = counters[i].type;
			counter->config = counters[i].config;
			return true;
		}
	if (name[0] != 'r' || !name[1] || strspn(name + 1, "0123456789abcdef") !=
	    strlen(name + 1) || strlen(name) > 17)
		return false;
	raw = strtoull(name + 1, &end, 16);
	counter->type = PERF_TYPE_RAW;
	counter->config = raw;
	return true;
}

static int counter_add(const struct command *command, struct item *item,
		       const char *name)
{
	struct tb_counter counter;
	struct nearest nearest;
	char text[512];
	size_t i;

	if (counter_find(name, &counter)) {
		if (item->nr_counters == TB_COUNTERS_MAX)
			return misused(command, "an event takes at most %d counters",
				       TB_COUNTERS_MAX);
		item->counters[item->nr_counters++] = counter;
		return EXIT_FINE;
	}
	nearest_start(&nearest, name);
	for (i = 0; i < NR_COUNTERS; i++)
		nearest_offer(&nearest, NULL, counters[i].name);
	nearest_text(&nearest, text, sizeof(text));
	return misused(command, "there is no counter '%s'%s", name, *text ? text :
		       ": cycles, instructions, cache-misses, page-faults and the like, as in perf, or rNNN");
}

/* "cycles+instructions" */
static int counters_add(const struct command *command, struct item *item,
			char *text)
{
	char *name, *rest = text;
	int status = EXIT_FINE;

	while (!status && (name = strsep(&rest, "+")))
		status = counter_add(command, item, name);
	return status;
}

/* ---- modifiers ---- */

/* Digits alone do not make a modifier: names may begin with one ("9p_client_req") */
static bool is_modifier(const char *text)
{
	size_t digits = strspn(text, "0123456789");

	return !strcmp(text, "wide") || !strcmp(text, "stack") || !strcmp(text, "ustack") ||
	       !strncmp(text, "counters=", 9) || !strncmp(text, "rate=", 5) ||
	       (digits && (!text[digits] || text[digits] == '/'));
}

static int apply_modifier(const struct command *command, struct item *item, char *text)
{
	size_t length = strlen(text);
	uint32_t number;

	if (!strcmp(text, "wide")) {
		item->form = TB_FORM_WIDE;
	} else if (!strcmp(text, "stack")) {
		item->flags |= TB_RULE_STACK;
	} else if (!strcmp(text, "ustack")) {
		item->flags |= TB_RULE_USER_STACK;
	} else if (!strncmp(text, "counters=", 9)) {
		return counters_add(command, item, text + 9);
	} else if (!strncmp(text, "1/", 2) && strcmp(text, "1/s")) {
		if (parse_u32(text + 2, 1, UINT32_MAX, &item->sample))
			return misused(command, "'%s' is not a share of the events: for one event in ten write 1/10",
				       text);
	} else {
		if (length > 2 && !strcmp(text + length - 2, "/s"))
			text[length - 2] = 0;
		else if (strncmp(text, "rate=", 5))
			return misused(command, "'%s' is neither a share (1/10) nor a rate a second (100/s, rate=100)",
				       text);
		if (!strncmp(text, "rate=", 5))
			text += 5;
		if (parse_u32(text, 1, UINT32_MAX, &number))
			return misused(command, "'%s' is not a number of events a second",
				       text);
		item->rate = number;
	}
	return EXIT_FINE;
}

/* ---- parts ---- */

static struct item *item_new(struct choice *choice, bool optional)
{
	struct item *item;

	if (tb_array_grow(&choice->items, &choice->room, choice->count, sizeof(*choice->items)))
		return NULL;
	item = &choice->items[choice->count++];
	memset(item, 0, sizeof(*item));
	item->option = choice->options;
	item->optional = optional;
	return item;
}

static int no_memory(void)
{
	complain("out of memory");
	return EXIT_USAGE;
}

/* Apply all modifiers after the name; complains, EXIT_* */
static int apply_modifiers(const struct command *command, struct item *item,
		     char *rest)
{
	int status = EXIT_FINE;
	char *text;

	while (!status && (text = strsep(&rest, ":"))) {
		if (item->exclude)
			return misused(command, "'!%s' leaves it out: an event that is left out takes no ':%s'",
				       item->pattern, text);
		if (!is_modifier(text))
			return misused(command, "an event does not take '%s': it takes stack, ustack, counters=NAME+NAME, 1/N, rate=N and wide",
				       text);
		status = apply_modifier(command, item, text);
	}
	return status;
}

/* Add "syscalls:@rest"; @rest may be NULL */
static int add_calls(const struct command *command, struct item *item,
		     char *rest)
{
	char *name = strsep(&rest, ":");
	int status;

	item->calls = calloc(1, sizeof(*item->calls));
	if (!item->calls)
		return no_memory();
	strcpy(item->pattern, "syscalls");
	if (name && *name && !is_modifier(name)) {
		status = syscall_set_add(command, item->calls, name);
	} else {
		status = EXIT_FINE;
		syscall_set_all(item->calls);
		if (name && *name)
			status = apply_modifier(command, item, name);
	}
	return status ? status : apply_modifiers(command, item, rest);
}

static int add_event(const struct command *command, struct item *item,
		     char *name, char *rest)
{
	char *event = rest, *end = rest ? strchr(rest, ':') : NULL;
	size_t length;

	if (end)
		*end = 0;
	if (event && !*event)
		return misused(command, "'%s:': a name is missing", name);
	if (!event || is_modifier(event)) {
		length = (size_t)snprintf(item->pattern, sizeof(item->pattern),
					  "%s", name);
		if (end)
			*end = ':';
	} else {
		length = (size_t)snprintf(item->pattern, sizeof(item->pattern),
					  "%s:%s", name, event);
		rest = end ? end + 1 : NULL;
	}
	if (length >= sizeof(item->pattern))
		return misused(command, "'%s': this name is too long for an event",
			       name);
	return rest ? apply_modifiers(command, item, rest) : EXIT_FINE;
}

/* Add "user:@category"; @category may be NULL */
static int add_users(const struct command *command, struct item *item,
		     const char *category)
{
	if (!category)
		category = "*";
	if (strchr(category, ':'))
		return misused(command, "'user:%s': events of programs take no modifiers",
			       category);
	if (strlen(category) >= TB_NAME_MAX)
		return misused(command, "'user:%s': this name is too long for a category",
			       category);
	item->users = true;
	strcpy(item->pattern, category);
	return EXIT_FINE;
}

/* After "syscalls:openat": is "read", or "read:stack", another system call? */
static bool continues_calls(const struct item *last, const char *name,
		      const char *rest)
{
	char next[32];

	if (!last || !last->calls || !syscall_set_knows(name))
		return false;
	if (!rest)
		return true;
	snprintf(next, sizeof(next), "%.*s", (int)strcspn(rest, ":"), rest);
	return is_modifier(next);
}

static int add_part(const struct command *command, struct choice *choice,
		    char *part, bool optional, bool *first)
{
	struct item *item = *first ? NULL : &choice->items[choice->count - 1];
	bool exclude = pattern_excludes(part);
	char *name, *rest;
	int status;

	part += exclude;
	rest = part;
	name = strsep(&rest, ":");
	if (!*name || (rest && !*rest))
		return misused(command, "'%s': a name is missing", part);
	if (strpbrk(name, "=<>!&|~()\"'"))
		return misused(command, "'%s' is no event; if it is a filter, it follows the events: -e EVENTS -f FILTER",
			       name);
	if (!exclude && continues_calls(item, name, rest)) {
		status = syscall_set_add(command, item->calls, name);
		return status || !rest ? status : apply_modifiers(command, item, rest);
	}
	/* a list that begins with '!' means all events but this one */
	if (exclude && !choice->count) {
		item = item_new(choice, optional);
		if (!item)
			return no_memory();
		strcpy(item->pattern, "all");
	}
	item = item_new(choice, optional);
	if (!item)
		return no_memory();
	*first = false;
	item->exclude = exclude;
	if (!strcmp(name, "user"))
		return add_users(command, item, rest);
	return strcmp(name, "syscalls") ? add_event(command, item, name, rest) :
					  add_calls(command, item, rest);
}

int choice_add(const struct command *command, struct choice *choice,
	       const char *text, bool optional)
{
	char *copy = strdup(text), *rest = copy, *part;
	int status = EXIT_FINE;
	bool first = true;

	if (!copy)
		return no_memory();
	choice->options++;
	while (!status && (part = strsep(&rest, ", ")))
		if (*part)
			status = add_part(command, choice, part, optional, &first);
	free(copy);
	if (!status && first)
		return misused(command, "no events in '%s'", text);
	return status;
}

/* ---- options ---- */

static int filter_add(const struct command *command, const char **filters,
		      size_t *count, const char *filter)
{
	if (*count == FILTERS_MAX)
		return misused(command, "more than %d filters for an event: join them by '&&'",
			       FILTERS_MAX);
	filters[(*count)++] = filter;
	return EXIT_FINE;
}

/* Add a filter to the events of the last -e, or to all events if there is none yet */
static int add_filter(const struct command *command, struct choice *choice,
		      const char *filter)
{
	int status = EXIT_FINE;
	bool some = false;
	size_t i;

	if (!filter[strspn(filter, " \t\n")])
		return misused(command, "an empty filter");
	if (!choice->options)
		return filter_add(command, choice->filters,
				  &choice->nr_filters, filter);
	for (i = 0; i < choice->count && !status; i++) {
		if (choice->items[i].option != choice->options)
			continue;
		if (choice->items[i].users)
			return misused(command, "a filter is for events of the kernel, not for events of programs (user:%s)",
				       choice->items[i].pattern);
		if (choice->items[i].exclude)
			continue;
		some = true;
		status = filter_add(command, choice->items[i].filters,
				    &choice->items[i].nr_filters, filter);
	}
	if (!some)
		return misused(command, "the -e before the filter '%s' chooses no events", filter);
	return status;
}

int choice_option(const struct command *command, int option, const char *value,
		  struct choice *choice)
{
	int status = EXIT_FINE;

	switch (option) {
	case 'e':
		status = choice_add(command, choice, value, false);
		break;
	case 'f':
		status = add_filter(command, choice, value);
		break;
	case 'W':
		choice->form = TB_FORM_WIDE;
		break;
	case OPTION_WRITERS:
		status = writers_option(command, value, choice);
		break;
	default:
		return 0;
	}
	return status ? -1 : 1;
}

void choice_free(struct choice *choice)
{
	size_t i;

	for (i = 0; i < choice->count; i++)
		free(choice->items[i].calls);
	free(choice->items);
	memset(choice, 0, sizeof(*choice));
}

static bool has_flag(const struct choice *choice, uint32_t flags)
{
	size_t i;

	for (i = 0; i < choice->count; i++)
		if (choice->items[i].flags & flags)
			return true;
	return false;
}

bool choice_stacks(const struct choice *choice)
{
	return has_flag(choice, TB_RULE_STACK | TB_RULE_USER_STACK);
}

bool choice_user_stacks(const struct choice *choice)
{
	return has_flag(choice, TB_RULE_USER_STACK);
}

/* Does @item record every such event, without filter, sampling or rate, and all system calls? */
static bool wants_all(const struct item *item)
{
	struct syscall_set all;

	syscall_set_all(&all);
	return !item->exclude && !item->sample && !item->rate && !item->nr_filters &&
	       (!item->calls || !memcmp(item->calls, &all, sizeof(all)));
}

bool choice_all_calls(const struct choice *choice)
{
	bool enter = false, leave = false;
	const struct item *item;
	size_t i;

	for (i = 0; i < choice->count; i++) {
		item = &choice->items[i];
		if (item->users)
			continue;
		if (item->calls || pattern_match(item->pattern, "raw_syscalls", "sys_enter"))
			enter = wants_all(item);
		if (item->calls || pattern_match(item->pattern, "raw_syscalls", "sys_exit"))
			leave = wants_all(item);
	}
	return enter && leave && !choice->nr_filters;
}
