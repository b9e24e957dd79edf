// SPDX-License-Identifier: GPL-2.0-only
/*
 * tracebuf query - run statements, and report their errors.
 */
#include <ctype.h>
#include <errno.h>
#include <strings.h>
#include "query.h"
#include "tool/command/command.h"
#include "tool/command/nearest.h"

volatile sig_atomic_t query_stopped;

/* ---- errors ---- */

static bool is_word(char c)
{
	return isalnum((unsigned char)c) || c == '_' || c == '$';
}

/* The first place in @text that has @word as a whole word; NULL */
static const char *find_word(const char *text, const char *word)
{
	size_t length = strlen(word);
	const char *at;

	for (at = text; *at; at++)
		if (!strncasecmp(at, word, length) && !is_word(at[length]) &&
		    (at == text || !is_word(at[-1])))
			return at;
	return NULL;
}

/* Print the line of @text that @offset is in, and a caret below */
static void show_place(const char *text, size_t offset)
{
	size_t start = offset, end = offset, i;

	while (start && text[start - 1] != '\n')
		start--;
	while (text[end] && text[end] != '\n')
		end++;
	fprintf(stderr, "  %.*s\n  ", (int)(end - start), text + start);
	for (i = start; i < offset; i++)
		fputc(text[i] == '\t' ? '\t' : ' ', stderr);
	fputs("^\n", stderr);
}

struct offer {
	struct query *query;
	struct nearest nearest;
	const char *sql;
	const char *part;	/* names that begin with it are also near */
};

static void offer_name(void *context, const char *name)
{
	struct offer *offer = context;
	size_t length = strlen(offer->part);

	nearest_offer(&offer->nearest, NULL, name);
	/* a name that begins with it is the nearest */
	if (length > 1 && !strncasecmp(name, offer->part, length) &&
	    !offer->nearest.best[0].name[0]) {
		snprintf(offer->nearest.best[0].name,
			 sizeof(offer->nearest.best[0].name), "%s", name);
		offer->nearest.best[0].distance = 0;
	}
}

/* Offer the columns of tables that the statement names */
static void offer_columns(void *context, const char *table)
{
	struct offer *offer = context;

	if (find_word(offer->sql, table))
		query_each_name(offer->query, table, offer_name, offer);
}

static int report_unknown_table(struct query *query, const char *sql, const char *name)
{
	struct offer offer = { .query = query, .sql = sql, .part = name };
	const char *at = find_word(sql, name);
	char text[512];

	nearest_start(&offer.nearest, name);
	query_each_name(query, NULL, offer_name, &offer);
	complain("%s has no event '%s' recorded, and there is no table of that name%s",
		 query->file, name,
		 nearest_text(&offer.nearest, text, sizeof(text)));
	if (at)
		show_place(sql, (size_t)(at - sql));
	note("tracebuf query --schema %s lists tables and columns", query->file);
	return EXIT_WRONG;
}

static int report_unknown_column(struct query *query, const char *sql, const char *message,
				 const char *name, int offset)
{
	struct offer offer = { .query = query, .sql = sql };
	const char *dot = strrchr(name, '.');
	char text[512];

	offer.part = dot ? dot + 1 : name;
	nearest_start(&offer.nearest, offer.part);
	query_each_name(query, NULL, offer_columns, &offer);
	complain("%s%s", message,
		 nearest_text(&offer.nearest, text, sizeof(text)));
	if (offset >= 0)
		show_place(sql, (size_t)offset);
	return EXIT_WRONG;
}

/* The rest of @message behind @start; NULL: it begins in another way */
static const char *text_behind(const char *message, const char *start)
{
	size_t length = strlen(start);

	return strncmp(message, start, length) ? NULL : message + length;
}

static int report_error(struct query *query, const char *sql)
{
	sqlite3 *sqlite = query->db->sqlite;
	int offset = sqlite3_error_offset(sqlite);
	char message[512];
	const char *name;

	snprintf(message, sizeof(message), "%s", sqlite3_errmsg(sqlite));
	name = text_behind(message, "no such table: ");
	if (name)
		return report_unknown_table(query, sql, text_behind(name, "main.") ?
					    name + strlen("main.") : name);
	name = text_behind(message, "no such column: ");
	if (name)
		return report_unknown_column(query, sql, message, name, offset);
	if (!strcmp(message, "not authorized") || strstr(message, "prohibited") ||
	    strstr(message, "may not be modified"))
		return complain("a trace is only read: create tables with CREATE TEMP TABLE or VIEW");
	complain("%s", message);
	if (offset >= 0)
		show_place(sql, (size_t)offset);
	return EXIT_WRONG;
}

static int report_trace_error(struct query *query, int error)
{
	if (query_stopped)
		return complain("interrupted: not all rows were shown");
	return complain("%s: %s", query->file, query->db->message[0] ?
			query->db->message : strerror(-error));
}

/* ---- events that the trace lacks ---- */

struct missing_events {
	struct query *query;
	const char *sql;
};

static void note_missing(void *context, const char *table)
{
	struct missing_events *missing = context;
	char text[256];

	if (find_word(missing->sql, table) &&
	    query_lacks(missing->query, table, text, sizeof(text)))
		note("%s has no %s %s, which %s is made of", missing->query->file, text,
		     query_lacking(missing->query), table);
}

/* Note the events that are missing for tables of a statement that returned no rows */
static void note_all_missing(struct query *query, const char *sql)
{
	struct missing_events missing = { .query = query, .sql = sql };

	query_each_name(query, NULL, note_missing, &missing);
}

/* ---- statements ---- */

static int step(struct query *query, sqlite3_stmt *statement, const char *sql,
		struct query_rows *rows, unsigned int most)
{
	uint64_t count = 0;
	int result;

	while ((result = sqlite3_step(statement)) == SQLITE_ROW) {
		if (most && count == most) {
			note("only the first %u rows are shown; --csv and --json print all", most);
			return EXIT_FINE;
		}
		count++;
		if (query_rows_add(rows))
			return ferror(stdout) ? EXIT_WRONG : complain("out of memory");
		if (query_stopped)
			break;
	}
	if (query_stopped)
		return complain("interrupted: not all rows were shown");
	if (result != SQLITE_DONE)
		return query->db->error ? report_trace_error(query, query->db->error) :
					  report_error(query, sql);
	if (!count && rows)
		note_all_missing(query, sql);
	return EXIT_FINE;
}

static int run_one(struct query *query, sqlite3_stmt *statement, const char *sql,
		   enum query_format format, bool header, unsigned int most)
{
	struct query_rows *rows = NULL;
	int result = query_fill(query), status;

	if (result < 0)
		return report_trace_error(query, result);
	if (sqlite3_column_count(statement)) {
		rows = query_rows_open(statement, format, header);
		if (!rows)
			return complain("out of memory");
	}
	status = step(query, statement, sql, rows, most);
	query_rows_close(rows, status == EXIT_FINE);
	return status;
}

int query_run(struct query *query, const char *sql, enum query_format format,
	      bool header, unsigned int most)
{
	sqlite3_stmt *statement;
	const char *next;
	int status = EXIT_FINE;
	bool some = false;

	for (; *sql && status == EXIT_FINE; sql = next) {
		if (sqlite3_prepare_v2(query->db->sqlite, sql, -1, &statement, &next))
			return report_error(query, sql);
		if (!statement)		/* blanks, or a comment */
			continue;
		some = true;
		status = run_one(query, statement, sql, format, header, most);
		sqlite3_finalize(statement);
	}
	if (status == EXIT_FINE && !some)
		return complain("there is no statement to run");
	return status;
}
