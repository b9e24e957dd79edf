// SPDX-License-Identifier: GPL-2.0-only
/*
 * Print formats that use constants and variables of the kernel that the trace does not have, as
 * vmemmap_base in "page=%p pfn=0x%lx".  libtraceevent takes them for 0 and would show wrong values.
 * So words that use them are left out, if other words show their fields.
 */
#include <ctype.h>
#include <stdbool.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include "print_format.h"

#define ARGUMENTS_MAX 64

/* ---- names ---- */

/*
 * Return true if the name at @at, of @length bytes, is a type or an argument: it is within
 * parentheses that have nothing but names, as in (struct page *) and __get_str(name).
 */
static bool is_within_parentheses(const char *text, const char *at, size_t length)
{
	const char *end = at + length;

	while (at > text && (at[-1] == ' ' || at[-1] == '*' || is_of_name(at[-1])))
		at--;
	while (*end == ' ' || *end == '*' || is_of_name(*end))
		end++;
	return at > text && at[-1] == '(' && *end == ')';
}

/*
 * Return true if @text has a name that is no field, function or type, or a character as 'F', which
 * libtraceevent also takes for 0.
 */
static bool has_unknown(const char *text, const struct tb_format *format)
{
	const char *at = text;
	char name[TB_NAME_MAX];
	bool quoted = false;
	size_t length;

	for (; *at; at += length) {
		length = 1;
		if (*at == '"')
			quoted = !quoted;
		if (*at == '\\' && quoted && at[1])
			length = 2;
		if (!quoted && *at == '\'')
			return true;
		if (quoted || !is_of_name(*at))
			continue;
		while (is_of_name(at[length]))
			length++;
		if (isdigit((unsigned char)*at) || length >= sizeof(name) || at[length] == '(' ||
		    (at - text > 1 && !strncmp(at - 2, "->", 2)) || !strncmp(at + length, "->", 2))
			continue;
		snprintf(name, sizeof(name), "%.*s", (int)length, at);
		if (!tb_format_field(format, name) && !is_within_parentheses(text, at, length))
			return true;
	}
	return false;
}

/* ---- words ---- */

/**
 * struct split - a print format in parts
 * @text: "...", the first part, without the quotes; @arguments: @count texts
 */
struct split {
	char *text;
	char *arguments[ARGUMENTS_MAX];
	size_t count;
};

static void split_free(struct split *split)
{
	while (split->count)
		free(split->arguments[--split->count]);
	free(split->text);
}

/* The closing quote of the string that begins at @at, behind its quote; NULL: there is none */
static const char *string_end(const char *at)
{
	for (; *at && *at != '"'; at++)
		if (*at == '\\' && at[1])
			at++;
	return *at ? at : NULL;
}

/* The closing quote of the character, as 'F' or '\n', that begins at @at; NULL: there is none */
static const char *character_end(const char *at)
{
	if (!at[1] || !at[2])
		return NULL;
	at += at[1] == '\\' ? 3 : 2;
	return *at == '\'' ? at : NULL;
}

/* The end of the argument at @at: a comma, or the end of the text */
static const char *argument_end(const char *at)
{
	int depth = 0;

	for (; *at && (depth || *at != ','); at++) {
		depth += strchr("({[", *at) != NULL;
		depth -= strchr(")}]", *at) != NULL;
		if (*at == '"')
			at = string_end(at + 1);
		else if (*at == '\'')
			at = character_end(at);
		if (!at)
			return NULL;
	}
	return at;
}

/* False: @print has another syntax than formats of the kernel, or there is no memory */
static bool split_open(struct split *split, const char *print)
{
	const char *end = *print == '"' ? string_end(print + 1) : NULL;

	memset(split, 0, sizeof(*split));
	split->text = end ? strndup(print + 1, (size_t)(end - print - 1)) : NULL;
	if (!split->text)
		return false;
	for (end++; *end == ','; split->count++) {
		print = end + 1;
		end = argument_end(print);
		if (!end || split->count == ARGUMENTS_MAX)
			return false;
		split->arguments[split->count] = strndup(print, (size_t)(end - print));
		if (!split->arguments[split->count])
			return false;
	}
	return !end[strspn(end, " ")];
}

/* The next conversion at or after @at; NULL: there is none, or it has several arguments */
static char *next_conversion(char *at)
{
	while ((at = strchr(at, '%')) && at[1] == '%')
		at += 2;
	if (!at || at[1 + strspn(at + 1, "-+ #0123456789.")] == '*')
		return NULL;
	return at;
}

/* Leave out the word with conversion number @wanted; false: the word has other conversions, too */
static bool leave_out(char *text, size_t wanted)
{
	char *at = next_conversion(text), *begin, *end, *next;

	for (; at && wanted; wanted--)
		at = next_conversion(at + 1);
	if (!at)
		return false;
	for (begin = at; begin > text && begin[-1] != ' '; begin--)
		;
	end = at + strcspn(at, " ");
	next = next_conversion(at + 1);
	if (memchr(begin, '%', (size_t)(at - begin)) || (next && next < end))
		return false;
	end += *end == ' ';
	/* the last word is removed with the space before it */
	if (!*end && begin > text)
		begin--;
	memmove(begin, end, strlen(end) + 1);
	return true;
}

static size_t count_conversions(char *text)
{
	size_t count = 0;
	char *at;

	for (at = next_conversion(text); at; at = next_conversion(at + 1))
		count++;
	return count;
}

/* Join the parts to a print format; NULL: no memory */
static char *split_join(const struct split *split)
{
	size_t size = strlen(split->text) + 3, i;
	char *text, *to;

	for (i = 0; i < split->count; i++)
		size += strlen(split->arguments[i]) + 1;
	text = malloc(size);
	if (!text)
		return NULL;
	to = text + sprintf(text, "\"%s\"", split->text);
	for (i = 0; i < split->count; i++)
		to += sprintf(to, ",%s", split->arguments[i]);
	return text;
}

/* True if an argument that stays uses the field @name, of @length bytes */
static bool shows_field(const struct split *split, const struct tb_format *format,
			const char *name, size_t length)
{
	const char *at;
	size_t i;

	for (i = 0; i < split->count; i++) {
		if (has_unknown(split->arguments[i], format))
			continue;
		for (at = split->arguments[i]; (at = strstr(at, "REC->"));) {
			at += strlen("REC->");
			if (!strncmp(at, name, length) && !is_of_name(at[length]))
				return true;
		}
	}
	return false;
}

/* True if arguments that stay use all fields of @argument */
static bool is_shown_elsewhere(const struct split *split, const struct tb_format *format,
			       const char *argument)
{
	size_t length;

	while ((argument = strstr(argument, "REC->"))) {
		argument += strlen("REC->");
		for (length = 0; is_of_name(argument[length]); length++)
			;
		if (!shows_field(split, format, argument, length))
			return false;
	}
	return true;
}

char *print_without_unknown(const struct tb_format *format)
{
	struct split split;
	char *text = NULL;
	bool fits;
	size_t i;

	if (!has_unknown(format->print, format))
		return strdup(format->print);
	fits = split_open(&split, format->print) &&
	       count_conversions(split.text) == split.count;
	for (i = split.count; fits && i-- > 0;) {
		if (!has_unknown(split.arguments[i], format))
			continue;
		fits = is_shown_elsewhere(&split, format, split.arguments[i]) &&
		       leave_out(split.text, i);
		free(split.arguments[i]);
		memmove(&split.arguments[i], &split.arguments[i + 1],
			(--split.count - i) * sizeof(split.arguments[0]));
	}
	if (fits && *split.text)
		text = split_join(&split);
	split_free(&split);
	return text;
}
