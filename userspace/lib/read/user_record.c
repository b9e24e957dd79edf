// SPDX-License-Identifier: LGPL-2.1-or-later
/*
 * Decode a record that a program has written.
 *
 * The kernel has not checked it: every length is compared with the bytes that are there.  Missing
 * bytes are taken as zero, and TB_USER_CUT is set.
 */
#include <stdio.h>
#include "user.h"

const struct tb_record *tb_record_at(const void *data, uint32_t bytes,
				     uint32_t at, struct tb_record *head)
{
	const struct tb_record *record;

	if (at > bytes || bytes - at < sizeof(*record))
		return NULL;
	record = (const void *)((const unsigned char *)data + at);
	memcpy(head, record, sizeof(*head));
	tb_keep(head);
	if (head->bytes < sizeof(*record) || head->bytes % 8 ||
	    head->bytes > bytes - at)
		return NULL;
	return record;
}

bool tb_record_shows(const struct tb_record *record)
{
	return record->type >= TB_REC_BEGIN && record->type <= TB_REC_MARK;
}

const char *tb_record_name(const struct tb_users *users, uint32_t producer,
			   uint32_t id, char spare[TB_USER_SPARE])
{
	const struct tb_user_name *name = tb_names_find(users, producer, id);

	if (name)
		return name->text;
	snprintf(spare, TB_USER_SPARE, "#%u", (unsigned int)id);
	return spare;
}

/* The part of a record that is not decoded yet */
struct rest {
	const unsigned char *at;
	size_t bytes;
	bool   cut;
};

static uint64_t take(struct rest *rest)
{
	uint64_t value = 0;

	if (rest->bytes < sizeof(value)) {
		rest->cut = true;
		return 0;
	}
	memcpy(&value, rest->at, sizeof(value));
	rest->at += sizeof(value);
	rest->bytes -= sizeof(value);
	return value;
}

/* Decode bytes that follow their length and are padded to whole words */
static void take_data(struct rest *rest, struct tb_user *user)
{
	uint64_t length = (uint32_t)take(rest);

	if (length > rest->bytes) {
		rest->cut = true;
		length = rest->bytes;
	}
	user->data = rest->at;
	user->data_bytes = (uint32_t)length;
	length = (length + 7) & ~7ull;		/* rest->bytes is whole words */
	rest->at += length;
	rest->bytes -= length;
}

static void take_args(struct rest *rest, const struct tb_users *users,
		      uint32_t producer, struct tb_user_room *room)
{
	size_t count = rest->bytes / sizeof(struct tb_arg), i;
	struct tb_user_arg *to;
	struct tb_arg arg;

	if (count > TB_USER_ARGS_MAX)
		count = TB_USER_ARGS_MAX;
	rest->cut |= count * sizeof(arg) != rest->bytes;
	for (i = 0; i < count; i++) {
		memcpy(&arg, rest->at + i * sizeof(arg), sizeof(arg));
		to = &room->args[i];
		to->name_id = arg.name;
		to->name = tb_record_name(users, producer, arg.name,
					  room->spare[2 + 2 * i]);
		to->type = arg.type;
		to->value.u64 = arg.value;
		to->text = arg.type != TB_ARG_TEXT ? NULL :
			   tb_record_name(users, producer, (uint32_t)arg.value,
					  room->spare[3 + 2 * i]);
	}
	room->user.args = room->args;
	room->user.nr_args = (uint32_t)count;
}

static void decode_name(const struct tb_users *users, uint32_t producer,
			uint32_t id, struct tb_user_room *room)
{
	const struct tb_user_name *name;

	room->user.name_id = id;
	room->user.name = "";
	room->user.category = "-";
	if (!id)
		return;
	name = tb_names_find(users, producer, id);
	room->user.name = name ? name->text :
			  tb_record_name(users, producer, id, room->spare[0]);
	if (!name || !name->category)
		return;
	room->user.category_id = name->category;
	room->user.category = tb_record_name(users, producer, name->category,
					     room->spare[1]);
}

void tb_record_decode(const struct tb_users *users, uint32_t producer,
		      const struct tb_record *record, uint32_t id,
		      struct tb_user_room *room)
{
	struct rest rest = {
		.at = (const unsigned char *)(record + 1),
		.bytes = record->bytes - sizeof(*record),
	};
	struct tb_user *user = &room->user;

	memset(user, 0, sizeof(*user));
	user->type = record->type;
	user->producer = producer;
	decode_name(users, producer, id, room);
	if (record->flags & TB_REC_FLOW) {
		user->flags |= TB_USER_FLOW;
		if (record->flags & TB_REC_FLOW_END)
			user->flags |= TB_USER_FLOW_END;
		user->flow = take(&rest);
	}
	switch (record->type) {
	case TB_REC_COUNTER:
		if (record->flags & TB_REC_DOUBLE)
			user->flags |= TB_USER_DOUBLE;
		user->value.u64 = take(&rest);
		break;
	case TB_REC_SLICE:
		user->duration = take(&rest);
		if (!user->duration)
			user->flags |= TB_USER_OPEN;
		break;
	case TB_REC_SIMPLE:
		user->value.u64 = take(&rest);
		break;
	case TB_REC_EVENT:
	case TB_REC_MARK:
		take_data(&rest, user);
		break;
	}
	if (record->flags & TB_REC_ARGS)
		take_args(&rest, users, producer, room);
	if (rest.cut)
		user->flags |= TB_USER_CUT;
}

const char *tb_record_type_name(uint32_t type)
{
	static const char *const names[] = {
		"?", "name", "begin", "end", "instant", "counter", "slice",
		"simple", "event", "mark",
	};

	return type < sizeof(names) / sizeof(names[0]) ? names[type] : "?";
}
