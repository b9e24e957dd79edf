// SPDX-License-Identifier: GPL-2.0-only
/*
 * tracebuf - record a running kernel and look at it.
 *
 * The first word is the subcommand; each subcommand is a file in cmd/.
 */
#include <errno.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>
#include "tool/cmd/cmd.h"
#include "tool/command/command.h"
#include "tool/command/nearest.h"

/*
 * The recorder, the program of the package tracebuf, has none of these commands: it runs the whole
 * tool, of the package tracebuf-tools, for them.  A build without SQLite has no query.
 */
#pragma weak cmd_recover
#pragma weak cmd_report
#pragma weak cmd_why
#pragma weak cmd_query
#pragma weak cmd_print
#pragma weak cmd_diff
#pragma weak cmd_flamegraph
#pragma weak cmd_verify
#pragma weak cmd_export
#pragma weak cmd_pack
#pragma weak cmd_unpack
#pragma weak cmd_top

/* In the order in which overview() prints them; a title begins a group */
static const struct {
	const char *title;
	const struct command *command;
} commands[] = {
	{ "record", &cmd_record },
	{ NULL, &cmd_start },
	{ NULL, &cmd_stop },
	{ NULL, &cmd_mark },
	{ "get the events out of memory", &cmd_snapshot },
	{ NULL, &cmd_arm },
	{ NULL, &cmd_save },
	{ NULL, &cmd_recover },
	{ "look at a trace", &cmd_report },
	{ NULL, &cmd_why },
	{ NULL, &cmd_query },
	{ NULL, &cmd_print },
	{ NULL, &cmd_diff },
	{ NULL, &cmd_flamegraph },
	{ NULL, &cmd_verify },
	{ "convert a trace", &cmd_export },
	{ NULL, &cmd_pack },
	{ NULL, &cmd_unpack },
	{ "look at the machine", &cmd_top },
	{ NULL, &cmd_status },
	{ NULL, &cmd_list },
	{ "change what is recorded", &cmd_enable },
	{ NULL, &cmd_disable },
	{ NULL, &cmd_flush },
	{ NULL, &cmd_provider },
};

#define NR_COMMANDS (sizeof(commands) / sizeof(commands[0]))

static bool is_recorder(void)
{
	return !&cmd_print;
}

#define IN_TOOLS "here: the package tracebuf-tools has the commands that read recordings"

static void overview(FILE *out)
{
	const char *title = NULL;
	size_t i;

	fputs("usage: tracebuf COMMAND [OPTIONS]\n", out);
	for (i = 0; i < NR_COMMANDS; i++) {
		if (commands[i].title)
			title = commands[i].title;
		if (title && commands[i].command)
			fprintf(out, "\n%s\n", title);
		if (commands[i].command)
			title = NULL;
		if (commands[i].command)
			fprintf(out, "  %-10s %s\n", commands[i].command->name,
				commands[i].command->brief);
	}
	fputs("\n'tracebuf COMMAND -h' shows the options of a command.", out);
	if (is_recorder())
		fputs("\nOnly the recorder's commands are " IN_TOOLS ".\n", out);
	else
		fputs(" To begin:\n\n  tracebuf record -d 5\n  tracebuf report\n", out);
}

static const struct command *find(const char *name)
{
	size_t i;

	for (i = 0; i < NR_COMMANDS; i++)
		if (commands[i].command && !strcmp(commands[i].command->name, name))
			return commands[i].command;
	return NULL;
}

/* The command that does what a command of another program does: of perf, trace-cmd, LTTng, git, a
 * shell; NULL: none */
static const char *known_elsewhere(const char *name)
{
	static const char *const names[][2] = {
		{ "ls", "list" }, { "events", "list" },
		{ "script", "print" }, { "view", "print" }, { "show", "print" },
		{ "cat", "print" }, { "log", "print" }, { "dump", "print" },
		{ "extract", "save" },
		{ "convert", "export" }, { "data", "export" },
		{ "sched", "query" }, { "sql", "query" },
		{ "create", "provider" }, { "destroy", "provider" }, { "session", "provider" },
		{ "enable-event", "enable" }, { "disable-event", "disable" },
		{ "add-trigger", "arm" },
		{ "check", "verify" }, { "fsck", "verify" },
		{ "info", "status" }, { "live", "top" }, { "watch", "top" },
	};
	size_t i;

	for (i = 0; i < sizeof(names) / sizeof(names[0]); i++)
		if (!strcmp(names[i][0], name) && find(names[i][1]))
			return names[i][1];
	return NULL;
}

static int complain_unknown(const char *name)
{
	const char *known = known_elsewhere(name);
	struct nearest nearest;
	char text[256];
	size_t i;

	nearest_start(&nearest, name);
	for (i = 0; i < NR_COMMANDS; i++)
		if (commands[i].command)
			nearest_offer(&nearest, NULL, commands[i].command->name);
	nearest_text(&nearest, text, sizeof(text));
	if (known)
		snprintf(text, sizeof(text), "; did you mean %s?", known);
	complain("there is no command '%s'%s", name, is_recorder() ? " " IN_TOOLS : text);
	fputs("'tracebuf -h' lists them\n", stderr);
	return EXIT_USAGE;
}

/* Return true if the command line, or the help that it asks for, is not of a recorder's command */
static bool is_for_tools(int argc, char **argv)
{
	bool help = argc > 1 && (!strcmp(argv[1], "-h") || !strcmp(argv[1], "--help") ||
				 !strcmp(argv[1], "help"));

	if (argc > 1 && (!strcmp(argv[1], "-V") || !strcmp(argv[1], "--version")))
		return false;
	return argc < 2 + help || !find(argv[1 + help]);
}

static int run(int argc, char **argv)
{
	const struct command *command;

	if (is_recorder() && is_for_tools(argc, argv))
		execv(TB_TOOLS, argv);
	if (argc < 2) {
		overview(stderr);
		return EXIT_USAGE;
	}
	if (!strcmp(argv[1], "-h") || !strcmp(argv[1], "--help") ||
	    !strcmp(argv[1], "help")) {
		command = argc > 2 ? find(argv[2]) : NULL;
		if (command)
			return show_help(command, 'h');
		overview(stdout);
		return EXIT_FINE;
	}
	if (!strcmp(argv[1], "-V") || !strcmp(argv[1], "--version")) {
		printf("tracebuf %s\n", tb_version());
		return EXIT_FINE;
	}
	command = find(argv[1]);
	return command ? command->run(argc - 1, argv + 1) : complain_unknown(argv[1]);
}

/* Fail if standard output could not be written, even if the command succeeded */
int main(int argc, char **argv)
{
	int status = run(argc, argv);

	errno = 0;
	if (!fflush(stdout) && !ferror(stdout))
		return status;
	complain("standard output could not be written%s%s", errno ? ": " : "",
		 errno ? strerror(errno) : "");
	return status == EXIT_FINE ? EXIT_WRONG : status;
}
