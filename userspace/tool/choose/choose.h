/* SPDX-License-Identifier: GPL-2.0-only */
/*
 * What to record: events (-e), filters (-f) and modifiers, and threads (--pid ...).
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
	unsigned int count;
};

/* Add the comma-separated patterns of @text; 0, -ENOMEM, or -EINVAL if a name is missing.  '!' or
 * '^' before one leaves out what it matches; if the first has it, all else is chosen */
int patterns_add(struct patterns *patterns, const char *text);
void patterns_free(struct patterns *patterns);

/* True if @pattern leaves out what it matches */
static inline bool pattern_excludes(const char *pattern)
{
	return *pattern == '!' || *pattern == '^';
}

/* Do the patterns choose "system:event"?  The last one that matches decides */
bool patterns_match(const struct patterns *patterns, const char *system,
		    const char *name);

/* Does "system:event" match @pattern?  The kernel decides in the same way */
bool pattern_match(const char *pattern, const char *system, const char *name);

/* Enable or disable all events that match @pattern; @optional: it is no error if none does.
 * Complains, EXIT_* */
int pattern_select(struct tb_device *device, const char *pattern,
		   enum tb_select_op op, enum tb_form form, bool optional);

/* Complain that no event matches @pattern, and offer similar names; EXIT_WRONG */
int unknown_event(struct tb_device *device, const char *pattern);

/* ---- sets of system calls (syscall_sets.c) ---- */

#define SYSCALL_SET_BYTES 256		/* numbers up to 2047 */

/* struct syscall_set - a bit for each system call: for its beginning, and for its return */
struct syscall_set {
	unsigned char enter[SYSCALL_SET_BYTES];
	unsigned char leave[SYSCALL_SET_BYTES];
};

/* Is this the name of a system call? */
bool syscall_set_knows(const char *name);
/* Add "openat", "*stat*", "sys_enter_openat" or "all"; complains, EXIT_* */
int syscall_set_add(const struct command *command, struct syscall_set *calls,
		    const char *name);
void syscall_set_join(struct syscall_set *calls, const struct syscall_set *more);
void syscall_set_remove(struct syscall_set *calls, const struct syscall_set *out);
void syscall_set_all(struct syscall_set *calls);
/* How many bytes, up to the last bit that is set */
size_t syscall_set_size(const unsigned char *bits);

/* ---- events (choose.c) ---- */

#define FILTERS_MAX 8		/* of one event */

/**
 * struct item - one part of a list of events
 * @pattern: "system:event", "event", "system", "all"; for system calls "syscalls"
 * @calls: system calls; NULL: other events
 * @users: @pattern is for categories of programs
 * @exclude: leave these events out
 * @optional: no event need match
 * @option: number of the -e that has this part
 * @form: TB_FORM_*; TB_FORM_DEFAULT: not given
 * @flags: TB_RULE_*
 * @sample: record one event in @sample; 0: all
 * @rate: record at most @rate events a second; 0: all
 * @counters: counters to record with the event
 * @filters: filters, all of which must be true
 */
struct item {
	char     pattern[2 * TB_NAME_MAX + 2];
	struct syscall_set *calls;
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
 * struct choice - the chosen events
 * @items: @count parts of lists
 * @options: number of -e options
 * @filters: filters for all events
 * @form: form of events whose item has none
 * @open: programs may write, up to the default quota
 * @reads: the recorder reads all the time, so programs may write more
 * @quota_given: @quota is what programs may write
 * @checked: choice_check() has given all warnings
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
	bool     checked;
	struct tb_quota quota;
};

/* Options of several commands for struct choice, and their help */
/* Help of --help-all */
#define WIDE_HELP \
	"  -W, --wide            record all fields of each event. Without this option, frequent\n" \
	"                        events lack fields that other records have; readers add them\n"
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

/* Parse an option of struct choice.  Returns 1; 0: another option; -1 after complaining */
int choice_option(const struct command *command, int option, const char *value,
		  struct choice *choice);
/* Add the events of @text; EXIT_FINE, or EXIT_USAGE after complaining */
int choice_add(const struct command *command, struct choice *choice,
	       const char *text, bool optional);
void choice_free(struct choice *choice);

/* ---- rules (rules.c) ---- */

/* Enable exactly the chosen events, with their rules; the provider must not be recording.  After a
 * failure no event is enabled, or nothing has changed.  Complains, EXIT_* */
int choice_set(struct tb_device *device, const struct choice *choice);
/* Find mistakes that choice_set() would find, and change nothing.  Complains, EXIT_* */
int choice_check(struct tb_device *device, struct choice *choice);
/* Disable all events, and let no program write */
void choice_clear(struct tb_device *device);
/* Enable the chosen events, too, and replace their rules */
int choice_enable(struct tb_device *device, const struct choice *choice);
int choice_disable(struct tb_device *device, const struct choice *choice);

/**
 * struct compiled_rules - compiled rules; free them with compiled_rules_free()
 * @rules: a rule for each event that has one
 * @codes: the tests of each rule
 */
struct compiled_rules {
	struct tb_rule *rules;
	struct tb_filter_code **codes;
	size_t count;
};

/* For a trigger: put the patterns, in the kernel's form, into @text, and the filters of its events
 * into @compiled.  Complains, EXIT_* */
int choice_trigger(struct tb_device *device, const struct command *command,
		   const struct choice *choice, char *text, size_t size,
		   struct compiled_rules *compiled);
void compiled_rules_free(struct compiled_rules *compiled);

bool choice_stacks(const struct choice *choice);
bool choice_user_stacks(const struct choice *choice);
/* Does the choice record all system calls, their beginnings and their ends? */
bool choice_all_calls(const struct choice *choice);

/* ---- categories of programs (categories.c) ---- */

/* Does the choice name categories of programs? */
bool choice_users(const struct choice *choice);
/* Enable or disable the chosen categories.  Complains, EXIT_* */
int choice_categories(struct tb_device *device, const struct choice *choice,
		      bool enable);

/* ---- what programs may write (quota.c) ---- */

/* Parse the value of --writers; EXIT_FINE, or EXIT_USAGE after complaining */
int writers_option(const struct command *command, const char *value, struct choice *choice);
/* Set the quota of --writers.  Without that option, open the provider to programs if @choice has
 * events of programs; else close it with @others, or leave it as it is.  Complains, EXIT_* */
int choice_quota(struct tb_device *device, const struct choice *choice, bool others);
int quota_close(struct tb_device *device);
/* After a recording with @choice->reads: set the default quota again, for recordings without a
 * reader */
void choice_quota_read(struct tb_device *device, const struct choice *choice);

/* Print the quota of programs and how many records exceeded it; quota_note() warns if any did */
void quota_show(struct tb_device *device);
void quota_note(struct tb_device *device);

/* ---- events that rules kept out (suppressed.c) ---- */

uint64_t suppressed_total(const struct tb_suppressed *of);
/* "12 by filters, 3 by sampling" */
void suppressed_text(const struct tb_suppressed *of, char *text, size_t size);

/* Print how many events were kept out: note_suppressed() after a recording, show_suppressed() for
 * status, with @each also for each event */
void note_suppressed(struct tb_device *device, const struct tb_query *query);
void show_suppressed(struct tb_device *device, const struct tb_query *query,
		     bool each);

/* ---- threads to record (target_threads.c) ---- */

/**
 * struct target_threads - the threads to record
 * @cgroup: record processes in cgroups of this path or name, or NULL
 * @follow: record the processes of COMMAND
 * @self: do not record this program
 */
struct target_threads {
	uint32_t pids[TB_PIDS_MAX];
	uint32_t count;
	uint32_t flags;		/* TB_PIDS_* */
	const char *cgroup;
	bool     threads;	/* --tid */
	bool     follow;
	bool     self;
	bool     given;
};

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

/* Parse an option of struct target_threads.  Returns 1; 0: another option; -1 after complaining
 * */
int target_threads_option(const struct command *command, int option, const char *value,
			  struct target_threads *target);
/* Check that the options fit together.  Complains; EXIT_FINE or EXIT_USAGE */
int target_threads_check(const struct command *command, const struct target_threads *target,
			 bool has_command);
/* Set the threads to record in the kernel; @pid: process of COMMAND; 0: none.  Complains, EXIT_* */
int target_threads_apply(struct tb_device *device, struct target_threads *target, uint32_t pid);

#endif /* TRACEBUF_CHOOSE_H */
