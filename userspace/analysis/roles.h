/* SPDX-License-Identifier: GPL-2.0-only */
/*
 * Which event is which: those of the scheduler, of interrupts, of system calls and of block
 * devices that something is concluded from, and where in them the numbers are.
 */
#ifndef TRACEBUF_ROLES_H
#define TRACEBUF_ROLES_H

#include <stdbool.h>
#include "tracebuf.h"

enum role {
	ROLE_NONE, ROLE_SWITCH, ROLE_WAKING, ROLE_WAKEUP, ROLE_MIGRATE, ROLE_IRQ, ROLE_IRQ_EXIT,
	ROLE_SOFTIRQ, ROLE_SOFTIRQ_EXIT, ROLE_SYSCALL, ROLE_SYSCALL_EXIT,
	ROLE_ISSUE, ROLE_COMPLETE, ROLE_REQUEUE,
	ROLES,
};

/* Where in struct plan.fields what is; the first of each role is always there */
enum { SWITCH_PREV, SWITCH_NEXT, SWITCH_STATE, SWITCH_PRIO };
enum { WAKE_PID, WAKE_CPU };
enum { MIGRATE_PID, MIGRATE_CPU };
enum { IRQ_NUMBER, IRQ_RESULT };
enum { SYSCALL_NUMBER, SYSCALL_RESULT };
enum { BLOCK_DEV, BLOCK_SECTOR, BLOCK_SECTORS, BLOCK_BYTES };
enum { BLOCK_ERROR = 3 };

/**
 * struct plan - what a format is here
 * @fields: its numbers, by role; NULL where it has not got one
 * @name: a text in it, or NULL: the handler of an interrupt, the kind of a request
 * @fixed: what the interrupt is called, of events for one kind of them
 */
struct plan {
	enum role role;
	const struct tb_format_field *fields[4];
	const struct tb_format_field *name;
	const char *fixed;
	size_t fixed_length;
};

/* All zero: empty.  They are added as formats come by */
struct plans {
	struct plan *list;
	bool *made;
	size_t count;
};

/** plan_of - of @format; NULL: ENOMEM */
const struct plan *plan_of(struct plans *plans, const struct tb_format *format);
void plans_free(struct plans *plans);

/** plan_number - a number of an event; 0 and @has false where there is none */
static inline int64_t plan_number(const struct tb_view *view,
				  const struct tb_format_field *field, bool *has)
{
	uint64_t value = 0;

	*has = field && !tb_field_u64(view, field, &value);
	return (int64_t)value;
}

#endif /* TRACEBUF_ROLES_H */
