// SPDX-License-Identifier: GPL-2.0-only
/*
 * tracebuf query - answer SQL queries about a trace, without an export.
 */
#include <errno.h>
#include <signal.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>
#include "cmd.h"
#include "tool/command/command.h"
#include "tool/command/option_value.h"
#include "tool/command/nearest.h"
#include "tool/query/query.h"
#include "tool/show/selection.h"
#include "tool/show/input.h"

static int query_run_command(int argc, char **argv);

const struct command cmd_query = {
	.name  = "query",
	.run   = query_run_command,
	.brief = "answer a question about a trace, in SQL or by its name",
	.help  =
	"usage: tracebuf query [OPTIONS] FILE SQL\n"
	"       tracebuf query [OPTIONS] FILE NAME\n"
	"       tracebuf query --list\n"
	"       tracebuf query --schema FILE [TABLE]\n"
	"\n"
	"Answers a question about a trace file ('-' is standard input), in the SQL of\n"
	"SQLite or by its name. Each event has a table; others have what lasts: slices,\n"
	"wakeups, off_cpu, block_io (docs/query.md). These are the tables that 'tracebuf\n"
	"export --format sqlite' writes. The table why is here only: where the time of\n"
	"each thread went, as 'tracebuf why' says. If SQL is '-' it is read from standard\n"
	"input.\n"
	"\n"
	"      --name NAME       answer the question of this name\n"
	"  -l, --list            list the questions that have a name; with -v their SQL\n"
	"      --schema          list tables and columns\n"
	"      --file SQLFILE    read SQL from a file\n"
	"  -i, --input FILE      the same as FILE\n"
	"      --csv             print rows as CSV, below the names of columns\n"
	"      --no-header       print CSV without the names of columns\n"
	"      --json            print rows as an array of JSON objects\n"
	"  -H, --header          the same as --csv\n"
	SELECTION_HELP
	"  -v, --verbose         say how much of the trace was read\n"
	"  -h, --help            show this text\n"
	"\n"
	"  tracebuf query trace.tbuf cpu\n"
	"  tracebuf query trace.tbuf 'select comm, sum(duration) from run_slices group by comm'\n",
	.whole =
	"query takes conditions in SQL: SELECT ... WHERE ...",
};

struct job {
	const char *file, *name, *sql, *sql_file;
	char *text;			/* contents of @sql_file, or made of @name */
	unsigned int most;		/* rows to show; 0: all */
	enum query_format format;
	struct selection selection;
	bool no_header, schema, list, verbose;
};

/* ---- signals ---- */

static sqlite3 *running;

static void on_signal(int number)
{
	query_stopped = number;
	if (running)
		sqlite3_interrupt(running);
}

/* A second signal ends the program at once */
static void catch_signals(sqlite3 *sqlite)
{
	struct sigaction action = {
		.sa_handler = on_signal, .sa_flags = (int)SA_RESETHAND,
	};

	running = sqlite;
	sigaction(SIGINT, &action, NULL);
	sigaction(SIGTERM, &action, NULL);
}

/* ---- the query ---- */

static void list(const struct job *job)
{
	const struct query_named *named;

	for (named = query_named; named->name; named++) {
		printf("%-15s %s\n", named->name, named->brief);
		if (job->verbose)
			printf("\n%s;\n\n", named->sql);
	}
}

static const struct query_named *find_named(const char *name)
{
	const struct query_named *named;

	for (named = query_named; named->name; named++)
		if (!strcmp(named->name, name))
			return named;
	return NULL;
}

/* Is it a name?  A name is one word, a statement is not */
static bool is_name(const char *text)
{
	return *text && !text[strspn(text, "abcdefghijklmnopqrstuvwxyz-_0123456789")];
}

static int wrong_name(const char *name)
{
	const struct query_named *named;
	struct nearest nearest;
	char text[256];

	nearest_start(&nearest, name);
	for (named = query_named; named->name; named++)
		nearest_offer(&nearest, NULL, named->name);
	complain("there is no question called '%s'%s", name,
		 nearest_text(&nearest, text, sizeof(text)));
	fputs("'tracebuf query --list' lists the questions\n", stderr);
	return EXIT_USAGE;
}

static char *read_all(FILE *in)
{
	char *text = NULL;
	size_t size = 0;
	ssize_t length = getdelim(&text, &size, 0, in);

	if (length < 0 && !ferror(in) && text) {
		text[0] = 0;
		return text;
	}
	if (length < 0) {
		free(text);
		return NULL;
	}
	return text;
}

static int read_sql(struct job *job)
{
	bool standard = !strcmp(job->sql_file, "-");
	FILE *in;

	if (standard && !strcmp(job->file, "-"))
		return misused(&cmd_query, "standard input is either the trace or the SQL");
	in = standard ? stdin : fopen(job->sql_file, "re");
	if (in)
		job->text = read_all(in);
	if (!job->text)
		complain("%s: %s", job->sql_file, strerror(errno));
	if (in && !standard)
		fclose(in);
	job->sql = job->text;
	return job->text ? EXIT_FINE : EXIT_WRONG;
}

/* Find the SQL: in a file, of a name, or as given; EXIT_* */
static int choose(struct job *job)
{
	const struct query_named *named;

	if (job->sql_file)
		return read_sql(job);
	if (!job->name && job->sql && is_name(job->sql))
		job->name = job->sql;
	if (!job->name)
		return EXIT_FINE;
	named = find_named(job->name);
	if (!named)
		return wrong_name(job->name);
	job->sql = named->sql;
	if (job->format != QUERY_TABLE || !named->most)
		return EXIT_FINE;
	/* SQLite need not sort all rows; one more tells that there are more */
	job->most = named->most;
	if (asprintf(&job->text, "%s LIMIT %u", named->sql, named->most + 1) < 0) {
		job->text = NULL;
		return complain("out of memory");
	}
	job->sql = job->text;
	return EXIT_FINE;
}

/* ---- the answer ---- */

/* Complain if the trace lacks events that the named question needs; EXIT_* */
static int check_named(struct query *query, const struct job *job)
{
	const struct query_named *named = job->name ? find_named(job->name) : NULL;
	char text[256];

	if (named && query_lacks(query, named->needs, text, sizeof(text)))
		return complain("%s has no %s %s, which the question '%s' needs", job->file, text,
				query_lacking(query), named->name);
	return EXIT_FINE;
}

static void say_figures(const struct query *query)
{
	const struct query_figures *figures = &query->figures;

	note("blocks %llu of %zu, events %llu, scans %llu, indexes %llu",
	     (unsigned long long)figures->blocks, tb_trace_blocks(query->trace),
	     (unsigned long long)figures->events,
	     (unsigned long long)figures->scans,
	     (unsigned long long)figures->stores);
}

static int show_schema(struct query *query, const struct job *job)
{
	if (query_schema(query, job->sql))
		return EXIT_FINE;
	return complain("%s has no event '%s' recorded, and there is no table of that name",
			job->file, job->sql);
}

/* Number of CPUs of which the file has events to an earlier time than of others */
static unsigned int ends_early(const struct spans *missing)
{
	uint64_t last = 0;
	unsigned int i, count = 0;

	for (i = 0; i < missing->nr_cpus; i++)
		if (missing->cpus[i].any && missing->cpus[i].end > last)
			last = missing->cpus[i].end;
	for (i = 0; i < missing->nr_cpus; i++)
		count += missing->cpus[i].any && missing->cpus[i].end < last;
	return count;
}

/* Warn before the answer if the trace misses events; EXIT_* */
static int say_missing(struct query *query, const struct job *job)
{
	const struct spans *missing = &query->missing;
	unsigned int early;

	if (query_missing(query))
		return complain("%s: out of memory", job->file);
	if (missing->nr_own)
		note("%s: %llu event%s missing in %zu gap%s: no row has them (see the table losses)",
		     job->file, (unsigned long long)missing->lost,
		     missing->lost == 1 ? " is" : "s are", missing->nr_own,
		     plural(missing->nr_own));
	early = ends_early(missing);
	if (early)
		note("%s: what %u CPU%s did after the last event is unknown: no row has it",
		     job->file, early, plural(early));
	return EXIT_FINE;
}

/* Does the selection have slices, wakeups ...?  Their events may be outside the selection */
static bool has_lasting(struct query *query)
{
	sqlite3_stmt *statement = NULL;
	bool found;

	query->own = true;
	found = !sqlite3_prepare_v2(query->db->sqlite,
				    "SELECT 1 FROM slices UNION ALL SELECT 1 FROM wakeups "
				    "UNION ALL SELECT 1 FROM off_cpu UNION ALL "
				    "SELECT 1 FROM block_io", -1, &statement, NULL) &&
		sqlite3_step(statement) == SQLITE_ROW;
	sqlite3_finalize(statement);
	query->own = false;
	return found;
}

/* Complain if the selection is empty: the answer would just have no rows */
static int check_selected(struct query *query, struct job *job)
{
	struct selection *selection = &job->selection;
	struct tb_cursor *cursor;
	struct tb_view view;
	int result;

	if (!query->selects)
		return EXIT_FINE;
	result = tb_cursor_open(query->trace, &cursor);
	if (result < 0)
		return complain("%s: %s", job->file, strerror(-result));
	if (selection->from.given)
		result = tb_cursor_seek(cursor, selection->from_ticks);
	while (!selection->found && result >= 0 && (result = next_event(cursor, &view)) > 0 &&
	       !selection_over(selection, &view))
		selection_wants(selection, &view);
	tb_cursor_close(cursor);
	if (!selection->found)
		selection->found = has_lasting(query);
	return selection_found(selection, query->trace, job->file);
}

static int ask(struct query *query, struct job *job)
{
	int status;

	if (job->schema)
		return show_schema(query, job);
	status = check_named(query, job);
	if (status == EXIT_FINE)
		status = check_selected(query, job);
	if (status != EXIT_FINE)
		return status;
	status = say_missing(query, job);
	if (status != EXIT_FINE)
		return status;
	catch_signals(query->db->sqlite);
	status = query_run(query, job->sql, job->format, !job->no_header, job->most);
	running = NULL;
	if (job->verbose)
		say_figures(query);
	return status;
}

static int report(const struct query *query, const struct job *job, int status)
{
	const struct tb_error *fault = tb_trace_fault(query->trace);

	if (query->uncommitted)
		note("%s: %llu event%s had not been written completely and %s left out",
		     job->file, (unsigned long long)query->uncommitted,
		     plural(query->uncommitted), was(query->uncommitted));
	if (query->damaged)
		status = complain_file(job->file, &query->damage);
	if (fault) {
		status = complain_file(job->file, fault);
		note("%zu block%s could be read, and the answer uses only %s",
		     tb_trace_blocks(query->trace), plural(tb_trace_blocks(query->trace)),
		     tb_trace_blocks(query->trace) == 1 ? "this one" : "these");
	}
	return status;
}

static int ask_trace(struct job *job, struct tb_trace *trace)
{
	struct query query;
	unsigned int number;
	int result, status;

	status = selection_one(&job->selection, trace, job->file, "asked", &number);
	if (status != EXIT_FINE)
		return status;
	result = query_open(&query, trace, job->file, &job->selection);
	if (result < 0)
		status = complain("%s: %s", job->file,
				  query.db && query.db->message[0] ?
				  query.db->message : strerror(-result));
	else
		status = report(&query, job, ask(&query, job));
	query_close(&query);
	return status;
}

static int ask_file(struct job *job)
{
	struct tb_trace *trace;
	int status = job->schema ? EXIT_FINE : choose(job);

	if (status != EXIT_FINE)
		return status;
	if (input_open(job->file, &trace))
		return EXIT_WRONG;
	status = ask_trace(job, trace);
	tb_trace_close(trace);
	return status;
}

/* ---- the command line ---- */

/* Take FILE, and SQL or a name, or a table after --schema */
static int take_words(struct job *job, int count, char **words)
{
	bool asked = job->name || job->sql_file;

	if (!job->file && (count || asked || job->schema)) {
		job->file = count ? *words : DEFAULT_FILE;
		words += count != 0;
		count -= count != 0;
	}
	if (count && !asked) {
		job->sql = *words++;
		count--;
	}
	if (count)
		return misused(&cmd_query, "there is one question too many: '%s'",
			       *words);
	if (!job->sql && !asked && !job->schema)
		return misused(&cmd_query, "no question: put SQL or a name (--list) after the file");
	if (job->sql && !job->schema && !strcmp(job->sql, "-"))
		job->sql_file = "-";
	return EXIT_FINE;
}

static int query_run_command(int argc, char **argv)
{
	struct job job = { .file = NULL };
	const struct option_value values[] = {
		{ OPTION_NAME, .text = &job.name }, { OPTION_FILE, .text = &job.sql_file },
		{ 'i', .text = &job.file }, { 'l', .flag = &job.list },
		{ OPTION_SCHEMA, .flag = &job.schema },
		{ OPTION_NO_HEADER, .flag = &job.no_header }, { 'v', .flag = &job.verbose }, { 0 },
	};
	int option, taken, status;

	while ((option = next_option(&cmd_query, "", argc, argv)) >= 0) {
		taken = selection_option(&cmd_query, option, optarg, &job.selection);
		if (taken < 0)
			return EXIT_USAGE;
		if (taken || take_value(values, option, optarg))
			continue;
		switch (option) {
		case OPTION_CSV:
			job.format = QUERY_CSV;
			break;
		case OPTION_JSON:
			job.format = QUERY_JSON;
			break;
		case 'H':
			job.format = QUERY_CSV;
			break;
		default:
			return show_help(&cmd_query, option);
		}
	}
	if (job.list) {
		list(&job);
		return EXIT_FINE;
	}
	if (job.no_header && job.format != QUERY_CSV)
		return misused(&cmd_query, "--no-header is for --csv");
	if (job.name && job.sql_file)
		return misused(&cmd_query, "--name and --file exclude each other");
	status = take_words(&job, argc - optind, argv + optind);
	if (status == EXIT_FINE)
		status = ask_file(&job);
	free(job.text);
	selection_free(&job.selection);
	return status;
}
