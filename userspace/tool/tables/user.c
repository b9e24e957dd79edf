// SPDX-License-Identifier: GPL-2.0-only
/*
 * A trace as tables - records of programs, and their losses.
 */
#include "tables.h"
#include "tool/show/user_writers.h"

enum {
	TYPE = DB_COMMON_COLUMNS + 1, CATEGORY, NAME, WRITER, DEPTH, VALUE,
	DURATION, FLOW, FLOW_ENDS, TEXT, DATA, ARGS, DOUBT,
};

/* Bind what a record of this type has besides arguments */
static void bind_own(struct db *db, const struct tb_user *user)
{
	switch (user->type) {
	case TB_REC_COUNTER:
		if (user->flags & TB_USER_DOUBLE)
			sqlite3_bind_double(db->user, VALUE, user->value.f64);
		else
			db_number(db->user, VALUE, user->value.u64);
		break;
	case TB_REC_SIMPLE:
		db_number(db->user, VALUE, user->value.u64);
		break;
	case TB_REC_SLICE:
		if (!(user->flags & TB_USER_OPEN))
			db_number(db->user, DURATION, user->duration_ns);
		break;
	case TB_REC_EVENT:
		sqlite3_bind_blob64(db->user, DATA, user->data, user->data_bytes, SQLITE_STATIC);
		break;
	case TB_REC_MARK:
		cell_text(db, DB_AT(db->user, TEXT), user->data, user->data_bytes);
		break;
	}
}

static void bind_args(struct db *db, const struct tb_view *view)
{
	struct tb_user alone = *view->user;
	struct tb_view args = *view;

	if (!alone.nr_args)
		return;
	/* an instant has only arguments */
	alone.type = TB_REC_INSTANT;
	alone.flags = 0;
	args.user = &alone;
	json_fields_write(db->fields, &db->json, &args);
	cell_json(db, DB_AT(db->user, ARGS));
}

static void bind_doubt(struct db *db, const struct tb_user *user)
{
	const char *doubt = user->flags & TB_USER_UNMATCHED ? "without a beginning" :
			    user->flags & TB_USER_CLAMPED ? "impossible time" :
			    user->flags & TB_USER_NO_TIME ? "unknown clock" :
			    user->flags & TB_USER_CUT ? "truncated" :
			    user->flags & TB_USER_OPEN ? "not ended" : NULL;

	cell_string(db, DB_AT(db->user, DOUBT), doubt);
}

static void insert_loss(struct db *db, const struct tb_view *view)
{
	const struct tb_user *user = view->user;
	sqlite3_stmt *loss = db->loss;
	char causes[512];

	lost_causes(user->cause, causes, sizeof(causes));
	db_number(loss, 1, db_ns(db, view->ticks, view->ns));
	db_number(loss, 3, view->tid);
	db_number(loss, 4, user->lost);
	db_number(loss, 8, user->flags & TB_USER_AT_MOST ? 1 : 0);
	cell_string(db, DB_AT(loss, 9), causes);
	db_number(loss, 10, tb_trace_ns(db->trace, view->lost.first, db->base));
	db_number(loss, 11, tb_trace_ns(db->trace, view->lost.last, db->base));
	db_insert(db, loss);
}

void db_user(struct db *db, const struct tb_view *view)
{
	const struct tb_user *user = view->user;
	bool lost = view->kind == TB_VIEW_USER_LOST;

	if (lost && db->parts & DB_LOSSES)
		insert_loss(db, view);
	if (!(db->parts & DB_USER))
		return;
	db_common(db, db->user, view);
	cell_string(db, DB_AT(db->user, TYPE),
		    lost ? "lost" : tb_record_type_name(user->type));
	db_number(db->user, WRITER, user->writer);
	if (lost) {
		db_number(db->user, VALUE, user->lost);
		db_insert(db, db->user);
		return;
	}
	cell_string(db, DB_AT(db->user, CATEGORY),
		    user->category_id ? user->category : NULL);
	cell_string(db, DB_AT(db->user, NAME), *user->name ? user->name : NULL);
	db_number(db->user, DEPTH, user->depth);
	if (user->flags & TB_USER_FLOW) {
		db_number(db->user, FLOW, user->flow);
		db_number(db->user, FLOW_ENDS,
			  user->flags & TB_USER_FLOW_END ? 1 : 0);
	}
	bind_own(db, user);
	bind_args(db, view);
	bind_doubt(db, user);
	db_insert(db, db->user);
}
