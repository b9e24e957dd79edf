// SPDX-License-Identifier: GPL-2.0-only
/*
 * Words of the commands that findings name: the options of the command line, as a shell reads them.
 */
#include <ctype.h>
#include <inttypes.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include "out.h"

/* True if a shell does not interpret any character of @text */
static bool is_plain(const char *text)
{
	const char *at = text;

	while (isalnum((unsigned char)*at) || (*at && strchr("_./+,:@%-", *at)))
		at++;
	return *text && !*at;
}

bool shell_is_plain(const char *path)
{
	return *path != '-' && is_plain(path);
}

/* Write @text in quotes if a shell would interpret it */
static void put_quoted(FILE *out, const char *text)
{
	if (is_plain(text)) {
		fputs(text, out);
		return;
	}
	fputc('\'', out);
	for (; *text; text++)
		if (*text == '\'')
			fputs("'\\''", out);
		else
			fputc(*text, out);
	fputc('\'', out);
}

static void put_option(FILE *out, const char *option, const char *value)
{
	fprintf(out, "%s ", option);
	put_quoted(out, value);
	fputc(' ', out);
}

static void put_numbers(FILE *out, const char *option, const struct number_list *numbers)
{
	size_t i;

	if (numbers->count)
		fprintf(out, "%s ", option);
	for (i = 0; i < numbers->count; i++)
		fprintf(out, "%" PRIu32 "%c", numbers->list[i],
			i + 1 < numbers->count ? ',' : ' ');
}

static void put_rest(FILE *out, const struct selection *selection)
{
	size_t i;

	for (i = 0; i < selection->patterns.count; i++)
		put_option(out, "-e", selection->patterns.list[i]);
	if (selection->cpu_list)
		put_option(out, "-C", selection->cpu_list);
	put_numbers(out, "-t", &selection->tids);
	put_numbers(out, "--pid", &selection->pids);
	if (selection->comm)
		put_option(out, "--comm", selection->comm);
	if (selection->cgroup)
		put_option(out, "--cgroup", selection->cgroup);
}

char *shell_options(const struct selection *selection, enum shell_options which)
{
	char *text = NULL;
	size_t size;
	FILE *out = open_memstream(&text, &size);

	if (!out)
		return NULL;
	if (which == SHELL_CLOCK && selection->recording)
		fprintf(out, "-r %" PRIu32 " ", selection->recording);
	if (which == SHELL_CLOCK && selection->base != TB_TIME_MONOTONIC)
		put_option(out, "-T", timebase_name(selection->base));
	if (which == SHELL_TIMES && selection->from.given)
		put_option(out, "--from", selection->from.text);
	if (which == SHELL_TIMES && selection->to.given)
		put_option(out, "--to", selection->to.text);
	if (which == SHELL_REST)
		put_rest(out, selection);
	if (!fclose(out))
		return text;
	free(text);
	return NULL;
}

char *shell_file(const char *path)
{
	const char *at = path;
	char *text = NULL;
	size_t size;
	FILE *out;

	while (*at && !iscntrl((unsigned char)*at))
		at++;
	if (*path == '-' || *at)
		return strdup("FILE");
	out = open_memstream(&text, &size);
	if (!out)
		return NULL;
	put_quoted(out, path);
	if (!fclose(out))
		return text;
	free(text);
	return NULL;
}
