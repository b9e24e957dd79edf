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

/* The record whose values are bound: by their names in values.c, without arguments */
struct target {
	struct db *db;
	uint32_t before;		/* values before the arguments */
	uint32_t count;
};

static void bind_own(void *context, const struct value *value)
{
	static const struct { const char *name; int at; } own[] = {
		{ "value", VALUE }, { "duration", DURATION }, { "text", TEXT },
		{ "data", DATA },
	};
	struct target *to = context;
	size_t i;

	if (to->count++ >= to->before)
		return;
	for (i = 0; i < sizeof(own) / sizeof(own[0]); i++)
		if (!strcmp(value->name, own[i].name))
			cell_value(to->db, &(struct db_cell){
				.statement = to->db->user, .at = own[i].at,
			}, value);
}

/* Number of values that values_each() passes before the arguments */
static uint32_t values_before(const struct tb_user *user)
{
	uint32_t count = user->flags & TB_USER_FLOW ? 1 : 0;

	switch (user->type) {
	case TB_REC_SLICE:
		return count + (user->flags & TB_USER_OPEN ? 0 : 1);
	case TB_REC_COUNTER:
	case TB_REC_SIMPLE:
	case TB_REC_EVENT:
	case TB_REC_MARK:
		return count + 1;
	default:
		return count;
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
	db_json(db, db->user, ARGS);
}

static void bind_doubt(struct db *db, const struct tb_user *user)
{
	const char *doubt = user->flags & TB_USER_UNMATCHED ? "without a beginning" :
			    user->flags & TB_USER_CLAMPED ? "impossible time" :
			    user->flags & TB_USER_NO_TIME ? "unknown clock" :
			    user->flags & TB_USER_CUT ? "truncated" :
			    user->flags & TB_USER_OPEN ? "not ended" : NULL;

	db_string(db, db->user, DOUBT, doubt);
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
	db_string(db, loss, 9, causes);
	db_number(loss, 10, tb_trace_ns(db->trace, view->lost.first, db->base));
	db_number(loss, 11, tb_trace_ns(db->trace, view->lost.last, db->base));
	db_insert(db, loss);
}

void db_user(struct db *db, const struct tb_view *view)
{
	const struct tb_user *user = view->user;
	struct target to = {
		.db = db, .before = values_before(user),
	};
	bool lost = view->kind == TB_VIEW_USER_LOST;

	if (lost && db->parts & DB_LOSSES)
		insert_loss(db, view);
	if (!(db->parts & DB_USER))
		return;
	db_common(db, db->user, view);
	db_string(db, db->user, TYPE,
		  lost ? "lost" : tb_record_type_name(user->type));
	db_number(db->user, WRITER, user->writer);
	if (lost) {
		db_number(db->user, VALUE, user->lost);
		db_insert(db, db->user);
		return;
	}
	db_string(db, db->user, CATEGORY,
		  user->category_id ? user->category : NULL);
	db_string(db, db->user, NAME, *user->name ? user->name : NULL);
	db_number(db->user, DEPTH, user->depth);
	if (user->flags & TB_USER_FLOW) {
		db_number(db->user, FLOW, user->flow);
		db_number(db->user, FLOW_ENDS,
			  user->flags & TB_USER_FLOW_END ? 1 : 0);
	}
	values_each(db->trace, view, db->base, bind_own, &to);
	bind_args(db, view);
	bind_doubt(db, user);
	db_insert(db, db->user);
}
