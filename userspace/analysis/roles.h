/* SPDX-License-Identifier: GPL-2.0-only */
/*
 * Roles: the events of the scheduler, interrupts, system calls and block devices that the analyses
 * use, and the places of their numbers.
 */
#ifndef TRACEBUF_ROLES_H
#define TRACEBUF_ROLES_H

#include <stdbool.h>
#include "tracebuf.h"

enum role {
	ROLE_NONE, ROLE_SWITCH, ROLE_WAKING, ROLE_WAKEUP, ROLE_MIGRATE, ROLE_IRQ, ROLE_IRQ_EXIT,
	ROLE_SOFTIRQ, ROLE_SOFTIRQ_EXIT, ROLE_SOFTIRQ_RAISE, ROLE_SYSCALL, ROLE_SYSCALL_EXIT,
	ROLE_FUNCTION, ROLE_FUNCTION_EXIT,
	ROLE_ISSUE, ROLE_COMPLETE, ROLE_REQUEUE,
	ROLES,
};

/* Indexes of struct plan.fields, by role; the first field of each role is always there */
enum { SWITCH_PREV, SWITCH_NEXT, SWITCH_STATE, SWITCH_PRIO };
enum { WAKE_PID, WAKE_CPU };
enum { MIGRATE_PID, MIGRATE_CPU, MIGRATE_FROM };
enum { IRQ_NUMBER, IRQ_RESULT };
enum { SYSCALL_NUMBER, SYSCALL_RESULT };
enum { FUNCTION_OBJECT, FUNCTION_ADDRESS };
enum { BLOCK_DEV, BLOCK_SECTOR, BLOCK_SECTORS, BLOCK_BYTES };
enum { BLOCK_ERROR = 3 };

/**
 * struct plan - role of a format
 * @fields: fields with numbers, by role; NULL: it does not have that field
 * @name: field with a text, or NULL: the handler of an interrupt, the kind of a request
 * @fixed: name of the interrupt, if the event is for one kind of interrupt
 * @made: false: the other members are not set yet
 */
struct plan {
	enum role role;
	const struct tb_format_field *fields[4];
	const struct tb_format_field *name;
	const char *fixed;
	size_t fixed_length;
};

/* Plans of formats, added at their first use.  All zero: empty */
struct plans {
	struct plan **list;
	unsigned int count;
};

/** plan_of - the plan of @format; valid until plans_free(); NULL: no memory */
const struct plan *plan_of(struct plans *plans, const struct tb_format *format);
void plans_free(struct plans *plans);

/** is_whole - true if no rule kept events of @format out of the recording, nor a choice of threads
 *  unless @chosen_threads; false if the counts are not complete */
bool is_whole(const struct tb_trace *trace, const struct tb_format *format, bool chosen_threads);

/** is_of_threads - true if the recording says at its end that it has only chosen threads */
bool is_of_threads(const struct tb_trace *trace);

/** plan_number - get a number of an event; 0, and @has false, if it has none */
static inline int64_t plan_number(const struct tb_view *view,
				  const struct tb_format_field *field, bool *has)
{
	uint64_t value = 0;

	*has = field && !tb_field_u64(view, field, &value);
	return (int64_t)value;
}

#endif /* TRACEBUF_ROLES_H */
