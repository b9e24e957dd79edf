/* SPDX-License-Identifier: GPL-2.0-only */
/*
 * What is to be recorded, as the command line says it: events (-e), what goes
 * with them and when they are wanted (-f, modifiers), and whose (--pid ...).
 * docs/filters.md has the grammar.
 */
#ifndef TRACEBUF_CHOOSE_H
#define TRACEBUF_CHOOSE_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>
#include "tracebuf.h"
#include "tool/command/command.h"

/* ---- events by name (events.c) ---- */

struct patterns {
	char   **list;
	size_t   count;
};

/* Add the comma-separated patterns of @text; -ENOMEM, -EINVAL if empty */
int patterns_add(struct patterns *patterns, const char *text);
void patterns_free(struct patterns *patterns);

/* Does "system:event" match one, as the kernel would say it? */
bool patterns_match(const struct patterns *patterns, const char *system,
		    const char *name);

/* Does "system:event" match this one? */
bool pattern_match(const char *pattern, const char *system, const char *name);

/* Enable or disable what matches; @optional: nothing need.  Complains, EXIT_* */
int pattern_select(struct tb_device *device, const char *pattern,
		   enum tb_select_op op, enum tb_form form, bool optional);

/* Nothing does: complain, with what was probably meant; EXIT_WRONG */
int unknown_event(struct tb_device *device, const char *pattern);

/* ---- sets of system calls (calls.c) ---- */

#define CALLS_BYTES 256		/* numbers up to 2047 */

/* struct calls - bits for numbers: calls that begin, and that return */
struct calls {
	unsigned char enter[CALLS_BYTES];
	unsigned char leave[CALLS_BYTES];
};

/* Is this the name of a system call? */
bool calls_name(const char *name);
/* Add "openat", "*stat*", "sys_enter_openat" or "all"; complains, EXIT_* */
int calls_add(const struct command *command, struct calls *calls,
	      const char *name);
void calls_join(struct calls *calls, const struct calls *more);
void calls_leave_out(struct calls *calls, const struct calls *out);
void calls_all(struct calls *calls);
/* How many bytes to the last bit */
size_t calls_used(const unsigned char *bits);

/* ---- events (choose.c) ---- */

#define FILTERS_MAX 8		/* of one event */

/**
 * struct item - one part of a list of events
 * @pattern: "system:event", "event", "system", "all"; of system calls "syscalls"
 * @calls: system calls, NULL: of other events
 * @users: @pattern is one of categories of programs
 * @exclude: these not
 * @optional: there need not be any
 * @option: which -e it is from
 * @form: TB_FORM_DEFAULT: nothing was said
 * @flags: TB_RULE_*
 * @sample: one in so many, 0: all
 * @rate: so many a second, 0: all
 * @counters: to be read with it
 * @filters: what must hold, all of it
 */
struct item {
	char     pattern[2 * TB_NAME_MAX + 2];
	struct calls *calls;
	bool     users;
	bool     exclude;
	bool     optional;
	unsigned int option;
	enum tb_form form;
	uint32_t flags;
	uint32_t sample;
	uint64_t rate;
	uint32_t nr_counters;
	struct tb_counter counters[TB_COUNTERS_MAX];
	size_t   nr_filters;
	const char *filters[FILTERS_MAX];
};

/**
 * struct choice - events as chosen
 * @options: how many -e there were
 * @filters: for all events
 * @form: for all events of which nothing else is said
 * @open: programs may write, as much as is usual
 * @reads: somebody reads all the time, so that is more
 * @quota_given: @quota says what programs may do
 */
struct choice {
	struct item *items;
	size_t   count, room;
	unsigned int options;
	size_t   nr_filters;
	const char *filters[FILTERS_MAX];
	enum tb_form form;
	bool     open;
	bool     reads;
	bool     quota_given;
	struct tb_quota quota;
};

/* Options for struct choice that commands share; their help */
#define CHOICE_SHORT "e:f:W"
#define CHOICE_LONG \
	{ "events", required_argument, NULL, 'e' }, \
	{ "filter", required_argument, NULL, 'f' }, \
	{ "wide",   no_argument,       NULL, 'W' }, \
	WRITERS_LONG
/* The help of those that a beginner does not need */
#define WIDE_HELP \
	"  -W, --wide            record all fields of each event. Without this option, frequent\n" \
	"                        events leave out what other records tell; reading adds it\n"
#define WRITERS_LONG \
	{ "writers", required_argument, NULL, OPTION_WRITERS }
#define WRITERS_HELP \
	"      --writers RATE    how many bytes a second programs may write into the buffers\n" \
	"                        of each CPU (512K, 10M); any: no limit; no: nothing;\n" \
	"                        default: the usual limit. Without this option programs\n" \
	"                        may write, up to the usual limit, if the events have\n" \
	"                        user:CATEGORY, user, or all\n"
#define CHOICE_HELP \
	"                        system, system:event, event, all; with * and ?; '!'\n" \
	"                        before one leaves it out; syscalls:open*,read;\n" \
	"                        user:CATEGORY: events of programs.\n" \
	"                        EVENT:stack:ustack:counters=cycles+instructions records\n" \
	"                        these with EVENT; :1/10 one event in ten, :rate=100 at\n" \
	"                        most 100 a second; :wide all fields, see --wide\n" \
	"  -f, --filter FILTER   record an event only if FILTER is true for it. Belongs to\n" \
	"                        the -e before it; without one, to all events:\n" \
	"                        'prev_prio < 100 && next_comm ~ \"ff*\"'\n"

/* Returns 1 if @option was one of these, 0 if not, -1 after complaining */
int choice_option(const struct command *command, int option, const char *value,
		  struct choice *choice);
/* The events of @text; EXIT_FINE, or EXIT_USAGE after complaining */
int choice_add(const struct command *command, struct choice *choice,
	       const char *text, bool optional);
void choice_free(struct choice *choice);

/* ---- rules (rules.c) ---- */

/* On a device that is not recording: these events and no others, with their rules,
 * or none at all.  Complains, EXIT_* */
int choice_set(struct tb_device *device, const struct choice *choice);
/* These too, and their rules instead of those they had */
int choice_enable(struct tb_device *device, const struct choice *choice);
/* These not any more */
int choice_disable(struct tb_device *device, const struct choice *choice);

/**
 * struct made - rules made of a choice, to be freed with made_free()
 * @rules: of those events that have one
 */
struct made {
	struct tb_rule *rules;
	struct tb_filter_code **codes;
	size_t count;
};

/* For a trigger: the patterns as the kernel wants them, in @text, and tests for some of
 * the events.  Complains, EXIT_* */
int choice_trigger(struct tb_device *device, const struct command *command,
		   const struct choice *choice, char *text, size_t size,
		   struct made *made);
void made_free(struct made *made);

/* Does any of it want stacks?  Those of programs? */
bool choice_stacks(const struct choice *choice);
bool choice_user_stacks(const struct choice *choice);
/* Does it want all system calls, their beginnings and their ends? */
bool choice_all_calls(const struct choice *choice);

/* ---- categories of programs (categories.c) ---- */

/* Does it ask for any? */
bool choice_users(const struct choice *choice);
/* Record those chosen, too, or not any more.  Complains, EXIT_* */
int choice_categories(struct tb_device *device, const struct choice *choice,
		      bool enable);

/* ---- what programs may write (quota.c) ---- */

/* The value of --writers; EXIT_FINE, or EXIT_USAGE after complaining */
int writers_option(const struct command *command, const char *value, struct choice *choice);
/* Open or close the provider as @choice says; @others: as if nothing had been said before, else it
 * is only opened.  Complains, EXIT_* */
int choice_quota(struct tb_device *device, const struct choice *choice, bool others);
int quota_close(struct tb_device *device);
/* The recording that was read all the time is over: what comes next may be kept */
void choice_quota_read(struct tb_device *device, const struct choice *choice);

/* Print the quota of programs and what exceeded it; quota_note() warns if anything did */
void quota_show(struct tb_device *device);
void quota_note(struct tb_device *device);

/* ---- what rules kept out (suppressed.c) ---- */

uint64_t suppressed_total(const struct tb_suppressed *of);
/* "12 by filters, 3 by sampling" */
void suppressed_text(const struct tb_suppressed *of, char *text, size_t size);

/* A line after a recording; for status, with @each by event */
void note_suppressed(struct tb_device *device, const struct tb_query *query);
void show_suppressed(struct tb_device *device, const struct tb_query *query,
		     bool each);

/* ---- whose (who.c) ---- */

/**
 * struct who - whose events are recorded
 * @cgroup: of the processes in cgroups of this path or name, or NULL
 * @follow: those of the command that is run
 * @self: not those of this program
 */
struct who {
	uint32_t pids[TB_PIDS_MAX];
	uint32_t count;
	uint32_t flags;		/* TB_PIDS_* */
	const char *cgroup;
	bool     threads;	/* --tid */
	bool     follow;
	bool     self;
	bool     given;
};

#define WHO_LONG \
	{ "pid",          required_argument, NULL, OPTION_PID }, \
	{ "tid",          required_argument, NULL, OPTION_TID }, \
	{ "exclude-pid",  required_argument, NULL, OPTION_EXCLUDE_PID }, \
	{ "cgroup",       required_argument, NULL, OPTION_CGROUP }, \
	{ "children",     no_argument,       NULL, OPTION_CHILDREN }
#define WHO_SELF_LONG \
	{ "exclude-self", no_argument,       NULL, OPTION_EXCLUDE_SELF }, \
	{ "follow",       no_argument,       NULL, OPTION_FOLLOW }
#define WHO_HELP \
	"      --pid PID,...     record only processes PID, with all their threads\n"
#define WHO_MORE_HELP \
	"      --tid TID,...     record only threads TID\n" \
	"      --cgroup NAME     record only the processes that are in this container or\n" \
	"                        cgroup now, and those that they create; with * and ?\n" \
	"      --children        also record the processes that these create from now on\n" \
	"      --exclude-pid PID,...  record all but these processes\n"
#define WHO_SELF_HELP \
	"      --follow          record only COMMAND and the processes that it creates\n"

/* Returns 1 if @option was one of these, 0 if not, -1 after complaining */
int who_option(const struct command *command, int option, const char *value,
	       struct who *who);
/* Do they go together?  Complains; EXIT_FINE or EXIT_USAGE */
int who_check(const struct command *command, const struct who *who,
	      bool has_command);
/* Tell the kernel; @pid: of the command, 0: there is none.  Complains, EXIT_* */
int who_apply(struct tb_device *device, struct who *who, uint32_t pid);

#endif /* TRACEBUF_CHOOSE_H */
