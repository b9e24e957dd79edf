// SPDX-License-Identifier: GPL-2.0-only
/*
 * Sets of system calls, by their names in the architecture that the tool was built for.
 */
#include <fnmatch.h>
#include <string.h>
#include "choose.h"
#include "tool/command/command.h"
#include "tool/command/nearest.h"

#define NUMBERS (SYSCALL_SET_BYTES * 8)

static bool has(const unsigned char *bits, unsigned int number)
{
	return bits[number / 8] >> number % 8 & 1;
}

static void set(unsigned char *bits, unsigned int number)
{
	bits[number / 8] |= (unsigned char)(1 << number % 8);
}

bool syscall_set_knows(const char *name)
{
	const char *known;
	unsigned int i;

	for (i = 0; i < NUMBERS; i++) {
		known = tb_syscall_name(i);
		if (known && !strcmp(known, name))
			return true;
	}
	return false;
}

static int complain_unknown(const struct command *command, const char *name)
{
	struct nearest nearest;
	const char *known;
	char text[512];
	unsigned int i;

	nearest_start(&nearest, name);
	for (i = 0; i < NUMBERS; i++) {
		known = tb_syscall_name(i);
		if (known)
			nearest_offer(&nearest, NULL, known);
	}
	return misused(command, "there is no system call '%s'%s", name,
		       nearest_text(&nearest, text, sizeof(text)));
}

int syscall_set_add(const struct command *command, struct syscall_set *calls,
		    const char *name)
{
	bool enter = true, leave = true, some = false;
	const char *known;
	unsigned int i;

	/* names of the events of ftrace and perf */
	if (!strncmp(name, "sys_enter_", 10))
		leave = false;
	else if (!strncmp(name, "sys_exit_", 9))
		enter = false;
	if (!enter || !leave)
		name += leave ? 9 : 10;
	if (!strcmp(name, "all")) {
		syscall_set_all(calls);
		return EXIT_FINE;
	}
	for (i = 0; i < NUMBERS; i++) {
		known = tb_syscall_name(i);
		if (!known || fnmatch(name, known, 0))
			continue;
		some = true;
		if (enter)
			set(calls->enter, i);
		if (leave)
			set(calls->leave, i);
	}
	return some ? EXIT_FINE : complain_unknown(command, name);
}

void syscall_set_join(struct syscall_set *calls, const struct syscall_set *more)
{
	size_t i;

	for (i = 0; i < SYSCALL_SET_BYTES; i++) {
		calls->enter[i] |= more->enter[i];
		calls->leave[i] |= more->leave[i];
	}
}

void syscall_set_remove(struct syscall_set *calls, const struct syscall_set *out)
{
	size_t i;

	for (i = 0; i < SYSCALL_SET_BYTES; i++) {
		calls->enter[i] &= (unsigned char)~out->enter[i];
		calls->leave[i] &= (unsigned char)~out->leave[i];
	}
}

void syscall_set_all(struct syscall_set *calls)
{
	memset(calls, 0xff, sizeof(*calls));
}

size_t syscall_set_size(const unsigned char *bits)
{
	unsigned int i = NUMBERS;

	while (i && !has(bits, i - 1))
		i--;
	return (i + 7) / 8;
}
