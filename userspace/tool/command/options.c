// SPDX-License-Identifier: GPL-2.0-only
/*
 * The options of a command, read from its help; see command.h.
 *
 *   "  -n, --max N           ..."   a letter and a name, with a value
 *   "      --jsonl           ..."   a name, without a value
 *   "  -h                    ..."   a letter
 *
 * One blank between name and value, two or more before what the option does.
 */
#include <ctype.h>
#include <getopt.h>
#include <stdlib.h>
#include <string.h>
#include "command.h"
#include "nearest.h"

#define OPTIONS_MOST 96

static const char *const names[] = {
#define NAME(option) #option,
	LONG_OPTIONS(NAME)
#undef NAME
};

/* What getopt_long() reads, of one command at a time */
static struct {
	const struct command *command;
	char order_and_letters[2 * OPTIONS_MOST + 2];
	struct option options[OPTIONS_MOST + 1];
	char text[4096];		/* the names */
	size_t count, letters, used;
} table;

/* The number of "flush-ms": OPTION_FLUSH_MS */
static int number_of(const char *name)
{
	size_t i, at;

	for (i = 0; i < sizeof(names) / sizeof(names[0]); i++) {
		for (at = 0; name[at] && names[i][at] == (name[at] == '-' ? '_' :
							   toupper((unsigned char)name[at])); at++)
			;
		if (!name[at] && !names[i][at])
			return OPTION_LONG + 1 + (int)i;
	}
	/* test_options runs each command */
	complain("--%s has no number", name);
	abort();
}

static void add_letter(char letter, bool value)
{
	table.order_and_letters[table.letters++] = letter;
	if (value)
		table.order_and_letters[table.letters++] = ':';
}

/* Add the option that a line of the help explains, if it explains one */
static void add_line(const char *line)
{
	char letter = 0;
	size_t length;
	bool value;

	if (strncmp(line, "  -", 3) && strncmp(line, "      --", 8))
		return;
	line += strspn(line, " ");
	if (line[1] != '-') {
		letter = line[1];
		line += 2;
		line += line[0] == ',' ? 2 : 0;
	}
	length = line[0] == '-' ? 2 + strcspn(line + 2, " \n") : 0;
	value = line[length] == ' ' && line[length + 1] != ' ';
	if (letter)
		add_letter(letter, value);
	if (!length)
		return;
	if (table.count == OPTIONS_MOST || length >= sizeof(table.text) - table.used)
		abort();
	table.options[table.count] = (struct option){
		.name = table.text + table.used,
		.has_arg = value ? required_argument : no_argument,
	};
	memcpy(table.text + table.used, line + 2, length - 2);
	table.used += length - 1;
	table.options[table.count].val = letter ? letter :
		number_of(table.options[table.count].name);
	table.count++;
}

static void read_help(const struct command *command, const char *order)
{
	const char *line;

	memset(&table, 0, sizeof(table));
	table.command = command;
	table.letters = strlen(strcpy(table.order_and_letters, order));
	for (line = command->help; line; line = strchr(line, '\n')) {
		line += *line == '\n';
		line += *line == '\f';
		add_line(line);
	}
}

static void suggest(const char *word)
{
	char wanted[64], name[64], text[256];
	struct nearest nearest;
	size_t i;

	/* the beginning of several names: getopt_long() has listed them */
	for (i = 0; i < table.count; i++)
		if (!strncmp(word + 2, table.options[i].name, strcspn(word + 2, "=")))
			return;
	snprintf(wanted, sizeof(wanted), "%.*s", (int)strcspn(word, "="), word);
	nearest_start(&nearest, wanted);
	for (i = 0; i < table.count; i++) {
		snprintf(name, sizeof(name), "--%s", table.options[i].name);
		nearest_offer(&nearest, NULL, name);
	}
	/* without the "; " before it */
	if (*nearest_text(&nearest, text, sizeof(text)))
		fprintf(stderr, "%s\n", text + 2);
}

/* ---- options that select a part of a trace ---- */

/* Return true if the word, such as "-C", "-C1" or "--cpu=1", is the option */
static bool is_option(const char *word, char letter, const char *name)
{
	size_t length = strlen(name);

	if (word[1] != '-')
		return letter && word[1] == letter;
	return !strncmp(word + 2, name, length) && (!word[2 + length] || word[2 + length] == '=');
}

static bool has_option(char letter, const char *name)
{
	size_t i;

	for (i = 0; i < table.count; i++)
		if (!strcmp(table.options[i].name, name))
			return true;
	return letter && strchr(table.order_and_letters, letter);
}

/* If the next option selects a part of a trace, and the command has no such option, complain */
static bool refuse_part(int argc, char **argv)
{
	static const struct { char letter; const char *name; } parts[] = {
		{ 'e', "events" }, { 'C', "cpu" }, { 't', "tid" }, { 0, "pid" }, { 0, "comm" },
		{ 0, "cgroup" }, { 0, "from" }, { 0, "to" }, { 'f', "filter" }, { 'T', "time" },
		{ 'r', "recording" },
	};
	int at = optind;
	size_t i;

	/* getopt_long() passes over operands */
	while (at < argc && (argv[at][0] != '-' || !argv[at][1]))
		at++;
	if (at >= argc)
		return false;
	for (i = 0; i < sizeof(parts) / sizeof(parts[0]); i++) {
		char letter = parts[i].letter;

		if (!is_option(argv[at], letter, parts[i].name))
			continue;
		if (argv[at][1] == '-' ? has_option(0, parts[i].name) : has_option(letter, ""))
			return false;
		complain("%.*s: %s", argv[at][1] == '-' ? (int)strcspn(argv[at], "=") : 2,
			 argv[at], table.command->whole);
		return true;
	}
	return false;
}

int next_option(const struct command *command, const char *order, int argc, char **argv)
{
	int option;

	if (table.command != command)
		read_help(command, order);
	if (command->whole && refuse_part(argc, argv))
		return '?';
	option = getopt_long(argc, argv, table.order_and_letters, table.options, NULL);
	/* a long option that the command does not have */
	if (option == '?' && !optopt && !strncmp(argv[optind - 1], "--", 2))
		suggest(argv[optind - 1]);
	return option;
}
