// SPDX-License-Identifier: GPL-2.0-only
/*
 * Messages on standard error, which begin with the program's name.  A program in the background
 * sends them to the system's log.
 */
#include <inttypes.h>
#include <stdarg.h>
#include <stdio.h>
#include <string.h>
#include <syslog.h>
#include "command.h"

static bool to_log;

static void say(const char *text, va_list arguments)
{
	if (to_log) {
		vsyslog(LOG_NOTICE, text, arguments);
		return;
	}
	fflush(stdout);
	fputs("tracebuf: ", stderr);
	vfprintf(stderr, text, arguments);
	fputc('\n', stderr);
}

void messages_to_log(void)
{
	openlog("tracebuf", LOG_PID, LOG_DAEMON);
	to_log = true;
}

int complain(const char *text, ...)
{
	va_list arguments;

	va_start(arguments, text);
	say(text, arguments);
	va_end(arguments);
	return EXIT_WRONG;
}

void note(const char *text, ...)
{
	va_list arguments;

	va_start(arguments, text);
	say(text, arguments);
	va_end(arguments);
}

int misused(const struct command *command, const char *text, ...)
{
	va_list arguments;

	va_start(arguments, text);
	say(text, arguments);
	va_end(arguments);
	fprintf(stderr, "'tracebuf %s -h' shows its options\n", command->name);
	return EXIT_USAGE;
}

int complain_file(const char *file, const struct tb_error *error)
{
	if (error->offset == TB_OFFSET_NONE)
		return complain("%s: %s", file, error->text);
	return complain("%s: at byte %" PRIu64 ": %s", file, error->offset,
			error->text);
}

int show_help(const struct command *command, int option)
{
	const char *end = strchr(command->help, '\f');

	if (option == 'h' && end) {
		fwrite(command->help, 1, (size_t)(end - command->help), stdout);
		return EXIT_FINE;
	}
	if (option == 'h' || option == OPTION_HELP_ALL) {
		/* replace the mark by a blank line */
		if (end)
			printf("%.*s\n%s", (int)(end - command->help), command->help, end + 1);
		else
			fputs(command->help, stdout);
		return EXIT_FINE;
	}
	fprintf(stderr, "'tracebuf %s -h' shows its options\n", command->name);
	return EXIT_USAGE;
}

void print_plain(FILE *out, const char *text, size_t length)
{
	size_t i;

	for (i = 0; i < length; i++)
		fputc(text[i] >= 0x20 && text[i] < 0x7f ? text[i] : '?', out);
}
