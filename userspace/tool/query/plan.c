// SPDX-License-Identifier: GPL-2.0-only
/*
 * tracebuf query - conditions of a statement that narrow down a scan.
 *
 * SQLite tests every row again, so a plan may keep too many rows, but must not lose one.  It goes
 * from xBestIndex to xFilter as a text: a letter for each value, in their order, a comma, and the
 * used columns.
 *
 *	g G l L e	time >= > <= < =
 *	c C		CPU =, IN
 *	k K		kind of slice, or event: =, IN
 *	=N;		column N =, for an index
 */
#include <inttypes.h>
#include <math.h>
#include <stdlib.h>
#include "query.h"

/* ---- making a plan (xBestIndex) ---- */

static char time_letter(unsigned char operator)
{
	switch (operator) {
	case SQLITE_INDEX_CONSTRAINT_GE:
		return 'g';
	case SQLITE_INDEX_CONSTRAINT_GT:
		return 'G';
	case SQLITE_INDEX_CONSTRAINT_LE:
		return 'l';
	case SQLITE_INDEX_CONSTRAINT_LT:
		return 'L';
	case SQLITE_INDEX_CONSTRAINT_EQ:
		return 'e';
	default:
		return 0;
	}
}

/* The letter of a constraint; 0: it does not narrow a scan down */
static char letter_of(const struct query_table *table, sqlite3_index_info *info,
		      int which, int key)
{
	const struct sqlite3_index_constraint *constraint = &info->aConstraint[which];
	bool equal = constraint->op == SQLITE_INDEX_CONSTRAINT_EQ;
	int column = constraint->iColumn;

	if (!constraint->usable)
		return 0;
	if (column >= 0 && column == table->time)
		return time_letter(constraint->op);
	if (!equal || strcmp(sqlite3_vtab_collation(info, which), "BINARY"))
		return 0;
	if (column >= 0 && column == table->cpu)
		return sqlite3_vtab_in(info, which, 1) ? 'C' : 'c';
	if (column >= 0 && column == table->choose)
		return sqlite3_vtab_in(info, which, 1) ? 'K' : 'k';
	return column == key ? '=' : 0;
}

/* The column that an index would be for: the rowid if possible, else the first with "=" */
static int key_of(const struct query_table *table, sqlite3_index_info *info)
{
	const struct sqlite3_index_constraint *constraint = info->aConstraint;
	int key = QUERY_NO_KEY, i, column;

	for (i = 0; i < info->nConstraint; i++) {
		column = constraint[i].iColumn;
		if (!constraint[i].usable ||
		    constraint[i].op != SQLITE_INDEX_CONSTRAINT_EQ ||
		    (column >= 0 && (column == table->time || column == table->cpu ||
				     column == table->choose)) ||
		    strcmp(sqlite3_vtab_collation(info, i), "BINARY"))
			continue;
		if (key == QUERY_NO_KEY || column < 0)
			key = column;
	}
	return key;
}

/* Estimate the cost: about the number of events that the scan reads */
static void estimate(const struct query_table *table, sqlite3_index_info *info,
		     const char *letters)
{
	double events = (double)table->query->events;
	double cost = events, rows = events / 4;
	bool seeks = table->kind == QUERY_EVENT || table->kind == QUERY_EVENTS;
	bool from = strpbrk(letters, "gGe"), to = strpbrk(letters, "lLe");

	if (from && to) {
		cost /= seeks ? 100 : 1;
		rows /= 100;
	} else if (from || to) {
		cost /= seeks ? 3 : 1;
		rows /= 3;
	}
	if (strpbrk(letters, "cC"))
		cost /= 2, rows /= 4;
	if (strpbrk(letters, "kK") || table->is_mapped)
		cost /= 2, rows /= 4;
	/* the second scan of this kind makes an index */
	if (strchr(letters, '=')) {
		cost = from && to ? 20 : cost / 1000 + 20;
		rows = from && to ? 2 : rows / 1000 + 5;
	}
	info->estimatedCost = cost + 10;
	info->estimatedRows = (sqlite3_int64)rows + 1;
}

int query_best_index(const struct query_table *table, sqlite3_index_info *info)
{
	sqlite3_str *plan = sqlite3_str_new(NULL);
	int i, key = key_of(table, info), count = 0;
	char letters[64], letter;
	size_t used = 0;

	for (i = 0; i < info->nConstraint && used + 1 < sizeof(letters); i++) {
		letter = letter_of(table, info, i, key);
		if (!letter)
			continue;
		sqlite3_str_appendchar(plan, 1, letter);
		if (letter == '=') {
			sqlite3_str_appendf(plan, "%d;", key);
			key = QUERY_NO_KEY;
		}
		letters[used++] = letter;
		info->aConstraintUsage[i].argvIndex = ++count;
	}
	letters[used] = 0;
	sqlite3_str_appendf(plan, ",%llx", info->colUsed);
	estimate(table, info, letters);
	info->idxStr = sqlite3_str_finish(plan);
	info->needToFreeIdxStr = 1;
	return info->idxStr ? SQLITE_OK : SQLITE_NOMEM;
}

/* ---- reading a plan with its values (xFilter) ---- */

/* Round @value up or down to an integer; false: it is no number, or too large */
static bool round_value(sqlite3_value *value, bool up, int64_t *number)
{
	double real;

	switch (sqlite3_value_type(value)) {
	case SQLITE_INTEGER:
		*number = sqlite3_value_int64(value);
		return true;
	case SQLITE_FLOAT:
		real = sqlite3_value_double(value);
		real = up ? ceil(real) : floor(real);
		if (!(real > -9.2e18 && real < 9.2e18))
			return false;
		*number = (int64_t)real;
		return true;
	default:
		/* leave it to SQLite to compare other types */
		return false;
	}
}

static void range_time(struct query_range *range, char letter, sqlite3_value *value)
{
	int64_t number;

	if (sqlite3_value_type(value) == SQLITE_NULL) {
		range->nothing = true;
		return;
	}
	if (strchr("gGe", letter) && round_value(value, true, &number) &&
	    number > range->from)
		range->from = number;
	if (strchr("lLe", letter) && round_value(value, false, &number) &&
	    number < range->to)
		range->to = number;
	range->narrows = true;
}

/* 1: @value is CPU @cpu of the trace; 0: no CPU; -1: only SQLite can compare it */
static int cpu_of(const struct query_range *range, sqlite3_value *value,
		  unsigned int *cpu)
{
	int64_t number;

	if (sqlite3_value_type(value) == SQLITE_NULL)
		return 0;
	if (!round_value(value, true, &number))
		return -1;
	*cpu = (unsigned int)number;
	return number >= 0 && number < range->nr_cpus;
}

/* Call @add for @value, or for each item if it is a @list */
static int each_value(struct query_table *table, struct query_range *range,
		      sqlite3_value *value, bool list,
		      int (*add)(struct query_table *table,
				 struct query_range *range, sqlite3_value *value))
{
	sqlite3_value *one;
	int result = 0, next;

	if (!list)
		return add(table, range, value);
	for (next = sqlite3_vtab_in_first(value, &one);
	     next == SQLITE_OK && one && !result;
	     next = sqlite3_vtab_in_next(value, &one))
		result = add(table, range, one);
	return result;
}

static int add_cpu(struct query_table *table, struct query_range *range,
		   sqlite3_value *value)
{
	unsigned int cpu;
	int known = cpu_of(range, value, &cpu);

	(void)table;
	if (known > 0)
		range->cpus[cpu] |= 2;
	return known < 0;
}

/* 1: only SQLite can compare @value: a number equals names with other digits, as "05" */
static int add_choice(struct query_table *table, struct query_range *range,
		      sqlite3_value *value)
{
	const char *name = (const char *)sqlite3_value_text(value);
	const struct tb_format *format;
	const char *kind;
	unsigned int i;

	if (query_is_number(value))
		return 1;
	if (!name)
		return 0;
	if (table->kind == QUERY_SLICES) {
		for (i = 0; i < SLICE_KINDS; i++) {
			kind = db_slice_kind(i);
			if (kind && !strcmp(kind, name))
				range->kinds |= 1u << (16 + i);
		}
		return 0;
	}
	for (i = 0; (format = tb_trace_format_at(table->query->trace, i)); i++)
		if (!strcmp(db_table_of(table->query->db->events, format)->name,
			    name))
			range->formats[i] |= 2;
	if (!strcmp(name, "mark"))
		range->marks = true;
	return 0;
}

/* Keep bytes that were 1 and that add_*() has marked with 2 */
static void keep_marked(unsigned char *bytes, unsigned int count)
{
	unsigned int i;

	for (i = 0; i < count; i++)
		bytes[i] = bytes[i] == 3;
}

static void range_cpus(struct query_table *table, struct query_range *range,
		       sqlite3_value *value, bool list)
{
	unsigned int i;

	if (each_value(table, range, value, list, add_cpu)) {
		for (i = 0; i < range->nr_cpus; i++)
			range->cpus[i] &= 1;
		return;
	}
	keep_marked(range->cpus, range->nr_cpus);
	range->narrows = true;
}

static void range_choice(struct query_table *table, struct query_range *range,
			 sqlite3_value *value, bool list)
{
	unsigned int formats = tb_trace_formats(table->query->trace), i;
	bool marks = range->marks;

	range->marks = false;
	if (each_value(table, range, value, list, add_choice)) {
		range->marks = marks;
		range->kinds &= (1u << 16) - 1;
		for (i = 0; i < formats; i++)
			range->formats[i] &= 1;
		return;
	}
	range->marks &= marks;
	if (table->kind == QUERY_SLICES)
		range->kinds &= range->kinds >> 16;
	else
		keep_marked(range->formats, formats);
	range->narrows = true;
}

/* True if @columns has a hidden column, or one with pid or name of a thread */
static bool uses_thread_names(const struct query_table *table, uint64_t columns)
{
	static const uint64_t names[] = {
		[QUERY_EVENT] = 1 << DB_PID | 1 << DB_COMM,
		[QUERY_EVENTS] = 1 << DB_PID | 1 << DB_COMM,
		[QUERY_SLICES] = 1 << 4 | 1 << 6,
		[QUERY_WAKEUPS] = 1 << 3 | 1 << 5 | 1 << 7,
		[QUERY_OFF] = 1 << 3 | 1 << 5 | 1 << 9,
		[QUERY_STATES] = 1 << 3 | 1 << 4,
		[QUERY_REQUESTS] = 1 << 4 | 1 << 6,
		[QUERY_USER_SLICES] = 0,
	};
	int i;

	if (columns >> (table->cgroup < 63 ? table->cgroup : 63))
		return true;
	if (!table->is_mapped)
		return columns & names[table->kind];
	for (i = 0; i < table->cgroup; i++)
		if (columns & query_column_bit(i) && table->map[i] >= 0 &&
		    names[table->kind] & query_column_bit(table->map[i]))
			return true;
	return false;
}

/* True if the table has simple events, the thread of which only earlier events tell */
static bool has_simple_events(const struct query_table *table,
			      const struct query_range *range)
{
	const struct tb_format *format;
	unsigned int i;

	for (i = 0; (format = tb_trace_format_at(table->query->trace, i)); i++)
		if (range->formats[i] && format->flags & TB_EVENT_SIMPLE)
			return true;
	return false;
}

static int range_all(const struct query_table *table, struct query_range *range)
{
	unsigned int formats = tb_trace_formats(table->query->trace), i;
	const struct selection *selection = table->query->selection;

	range->from = INT64_MIN;
	range->to = INT64_MAX;
	range->kinds = table->kinds;
	range->marks = table->kind == QUERY_EVENTS;
	range->nr_cpus = tb_trace_nr_cpus(table->query->trace);
	range->cpus = malloc(range->nr_cpus + 1);
	range->formats = malloc(formats + 1);
	if (!range->cpus || !range->formats)
		return SQLITE_NOMEM;
	for (i = 0; i < range->nr_cpus; i++)
		range->cpus[i] = selection_wants_cpu(selection, i);
	for (i = 0; i < formats; i++)
		range->formats[i] = table->formats[i];
	return SQLITE_OK;
}

void query_range_free(struct query_range *range)
{
	free(range->cpus);
	free(range->formats);
}

int query_plan(struct query_table *table, const char *text, int count,
	       sqlite3_value **values, struct query_plan *plan,
	       struct query_range *range)
{
	int result, i;

	memset(range, 0, sizeof(*range));
	plan->key = QUERY_NO_KEY;
	result = range_all(table, range);
	for (i = 0; i < count && !result; i++) {
		switch (*text++) {
		case 'c':
		case 'C':
			range_cpus(table, range, values[i], text[-1] == 'C');
			break;
		case 'k':
		case 'K':
			range_choice(table, range, values[i], text[-1] == 'K');
			break;
		case '=':
			plan->key = (int)strtol(text, (char **)&text, 10);
			plan->key_at = i;
			text++;
			break;
		default:
			range_time(range, text[-1], values[i]);
		}
	}
	plan->columns = strtoull(text + 1, NULL, 16);
	range->columns = plan->columns;
	plan->bounds = range->from > INT64_MIN && range->to < INT64_MAX;
	if (result)
		return result;
	range->names = uses_thread_names(table, plan->columns) ||
		       selection_of_threads(table->query->selection);
	range->objects = range->kinds & 1u << SLICE_SYSCALL &&
			 plan->columns & query_column_bit(table->cgroup + QUERY_OBJECT);
	range->seeks = (table->kind == QUERY_EVENT || table->kind == QUERY_EVENTS) &&
		       table->query->rises && !range->names && !(plan->columns & 1 << DB_TID &&
					  has_simple_events(table, range));
	if (range->from > range->to)
		range->nothing = true;
	return SQLITE_OK;
}
