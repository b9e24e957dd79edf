// SPDX-License-Identifier: GPL-2.0-only
/*
 * A trace as tables - pass a value to SQLite: as a parameter of an INSERT, or as the value of a
 * column of a virtual table.
 */
#include <errno.h>
#include "tables.h"

void cell_number(const struct db_cell *cell, uint64_t number)
{
	if (cell->context)
		sqlite3_result_int64(cell->context, (int64_t)number);
	else
		sqlite3_bind_int64(cell->statement, cell->at, (int64_t)number);
}

static void put_text(const struct db_cell *cell, const char *text, size_t length,
		     sqlite3_destructor_type destructor)
{
	if (cell->context)
		sqlite3_result_text(cell->context, text, (int)length, destructor);
	else
		sqlite3_bind_text(cell->statement, cell->at, text, (int)length,
				  destructor);
}

static void put_clean(struct db *db, const struct db_cell *cell,
		      const char *text, size_t length,
		      sqlite3_destructor_type destructor)
{
	size_t i;

	if (!text)
		return;
	if (length > DB_TEXT_MAX)
		length = DB_TEXT_MAX;
	for (i = 0; i < length; i++)
		if (!text[i] || text[i] & 0x80)
			break;
	if (i == length) {
		put_text(cell, text, length, destructor);
		return;
	}
	length = utf8_clean(db->clean, text, length);
	put_text(cell, db->clean, length, SQLITE_TRANSIENT);
}

void cell_text(struct db *db, const struct db_cell *cell, const char *text,
	       size_t length)
{
	put_clean(db, cell, text, length, SQLITE_STATIC);
}

void cell_string(struct db *db, const struct db_cell *cell, const char *text)
{
	if (text)
		cell_text(db, cell, text, strlen(text));
}

void cell_copy(struct db *db, const struct db_cell *cell, const char *text,
	       size_t length)
{
	put_clean(db, cell, text, length,
		  cell->context ? SQLITE_TRANSIENT : SQLITE_STATIC);
}

void cell_copy_string(struct db *db, const struct db_cell *cell, const char *text)
{
	if (text)
		cell_copy(db, cell, text, strlen(text));
}

void cell_json(struct db *db, const struct db_cell *cell)
{
	struct out *json = &db->json;

	/* fast path: the whole text is in the buffer */
	if (!ftell(json->file)) {
		put_text(cell, json->buffer, json->used, SQLITE_TRANSIENT);
		json->used = 0;
		return;
	}
	if (out_write(json) || fflush(json->file)) {
		db->error = -ENOMEM;
		return;
	}
	put_text(cell, db->written, (size_t)ftell(json->file), SQLITE_TRANSIENT);
	rewind(json->file);
}

static void put_bytes(const struct db_cell *cell, const void *data, size_t length)
{
	if (cell->context)
		sqlite3_result_blob64(cell->context, data, length, SQLITE_STATIC);
	else
		sqlite3_bind_blob64(cell->statement, cell->at, data, length,
				    SQLITE_STATIC);
}

void cell_stored(const struct db_cell *cell, sqlite3_value *value)
{
	if (cell->context)
		sqlite3_result_value(cell->context, value);
	else
		sqlite3_bind_value(cell->statement, cell->at, value);
}

void cell_value(struct db *db, const struct db_cell *cell,
		const struct value *value)
{
	switch (value->kind) {
	case VALUE_NONE:
		break;
	case VALUE_SIGNED:
	case VALUE_UNSIGNED:
	case VALUE_HEX:
		cell_number(cell, value->number);
		break;
	case VALUE_DOUBLE:
		if (cell->context)
			sqlite3_result_double(cell->context, value->real);
		else
			sqlite3_bind_double(cell->statement, cell->at,
					    value->real);
		break;
	case VALUE_TEXT:
		if (value->data == value->text)
			put_text(cell, value->text, value->length,
				 SQLITE_TRANSIENT);
		else
			cell_text(db, cell, value->data, value->length);
		break;
	case VALUE_BYTES:
		put_bytes(cell, value->data, value->length);
		break;
	case VALUE_MASK:
		out_mask(&db->json, value->data, value->length);
		cell_json(db, cell);
		break;
	case VALUE_ARRAY:
		value_json(&db->json, value);
		cell_json(db, cell);
		break;
	}
}

void cell_meaning(struct db *db, const struct db_cell *cell, const struct value *value)
{
	put_clean(db, cell, value->meaning, value->meaning ? strlen(value->meaning) : 0,
		  value->meaning == value->text ? SQLITE_TRANSIENT : SQLITE_STATIC);
}

/* ---- common columns of events ---- */

uint64_t db_ns(const struct db *db, uint64_t ticks, uint64_t ns)
{
	return tb_ns_in(db->trace, db->base, ticks, ns);
}

void db_common_cell(struct db *db, const struct tb_view *view, int column,
		    const struct db_cell *cell)
{
	switch (column) {
	case DB_TIME:
		cell_number(cell, db_ns(db, view->ticks, view->ns));
		break;
	case DB_CPU:
		if (view->cpu != TB_RING_DURABLE && view->cpu != TB_RING_USER)
			cell_number(cell, view->cpu);
		break;
	case DB_PID:
		cell_number(cell, process_of(view));
		break;
	case DB_TID:
		cell_number(cell, view->tid);
		break;
	case DB_COMM:
		cell_copy_string(db, cell, view->comm);
		break;
	}
}

void db_cgroup_cell(struct db *db, uint32_t cgroup, bool container, const struct db_cell *cell)
{
	cell_copy_string(db, cell, container ?
			 cgroup_container(db->trace, cgroup, db->container) :
			 cgroup_path(db->trace, cgroup));
}

void db_common(struct db *db, sqlite3_stmt *statement, const struct tb_view *view)
{
	struct db_cell cell = { .statement = statement };
	int i;

	for (i = 0; i < DB_COMMON_COLUMNS; i++) {
		cell.at = i + 1;
		db_common_cell(db, view, i, &cell);
	}
}
