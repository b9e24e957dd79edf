// SPDX-License-Identifier: GPL-2.0-only
/*
 * Events that other modules record (include/linux/tracebuf_event.h).
 *
 * To its module a source is what a tracepoint is to the kernel: a branch, patched in while a
 * provider wants the event, and a list of the providers' probes.  tracebuf_reserve() reserves the
 * event in the first ring with room, and tracebuf_commit() copies it to the other providers.  So
 * each provider has the complete event, or has counted it as lost.
 *
 * Recording runs in any context, NMI included, with preemption off, without locks.  catalog.c
 * attaches probes in process context, under tb_source_lock.
 */
#include <linux/jump_label.h>
#include <linux/tracebuf_event.h>

#include "catalog.h"
#include "machine/pointer_list.h"
#include "probe/probe.h"

/* distance from the address that tb_probe_begin() returns to the payload */
#define TB_RAW_HEADER	(sizeof(struct tb_composite) - offsetof(struct tb_composite, tid))

/* offsets in DATA_LOC words count from that address */
static_assert(TB_RAW_HEADER == 8);

static DEFINE_MUTEX(tb_source_lock);

/* ---- attach ----------------------------------------------------------- */

/* Add a probe to the source of its event.  Return 0, -ENOMEM. */
int tb_source_attach(struct tracebuf_source *s, struct tb_probe *p)
{
	int err;

	mutex_lock(&tb_source_lock);
	err = tb_list_add(&s->sinks, p, &tb_source_lock);
	mutex_unlock(&tb_source_lock);
	if (!err)
		static_branch_inc(&s->wanted);
	return err;
}

/* Remove a probe, which may still be recording: see tb_tracepoint_synchronize(). */
void tb_source_detach(struct tracebuf_source *s, struct tb_probe *p)
{
	static_branch_dec(&s->wanted);
	mutex_lock(&tb_source_lock);
	tb_list_remove(&s->sinks, p, &tb_source_lock);
	mutex_unlock(&tb_source_lock);
}

/* ---- record ----------------------------------------------------------- */

/**
 * __tracebuf_record() - record an event, for tracebuf_event()
 * @def: the event
 * @payload: its structure
 *
 * Context: any in which RCU is watching, NMI included.
 */
void __tracebuf_record(struct tracebuf_def *def, const void *payload)
{
	const struct tracebuf_list *sinks;
	u32 i;

	/* tb_tracepoint_synchronize() waits for the end; tb_probe_begin() ignores this level */
	preempt_disable_notrace();
	sinks = tb_list_read(&def->source.sinks);
	for (i = 0; sinks && i < sinks->count; i++) {
		struct tb_probe *p = READ_ONCE(sinks->at[i]);
		struct tb_slot slot;
		void *raw;

		raw = p ? tb_probe_begin(p, &slot, def->bytes) : NULL;
		if (!raw)
			continue;
		memcpy(raw + TB_RAW_HEADER, payload, def->bytes);
		tb_probe_end(&slot);
	}
	preempt_enable_notrace();
}
EXPORT_SYMBOL_GPL(__tracebuf_record);

/**
 * __tracebuf_record_simple() - record a simple event, for tracebuf_event()
 * @def: the event
 * @payload: its structure, as a number
 *
 * Context: any in which RCU is watching, NMI included.
 */
void __tracebuf_record_simple(struct tracebuf_def *def, u64 payload)
{
	const struct tracebuf_list *sinks;
	u32 i;

	preempt_disable_notrace();
	sinks = tb_list_read(&def->source.sinks);
	for (i = 0; sinks && i < sinks->count; i++) {
		struct tb_probe *p = READ_ONCE(sinks->at[i]);

		if (!p)
			continue;
		/* probe/pending.c cannot tell the trigger's probe from the event's other probes */
		if (unlikely(p->trigger))
			tb_pending_trigger_simple(p, payload);
		else
			tb_probe_simple(p, payload);
	}
	preempt_enable_notrace();
}
EXPORT_SYMBOL_GPL(__tracebuf_record_simple);

/**
 * __tracebuf_reserve() - reserve an event, for tracebuf_reserve()
 * @def: the event
 * @slot: out: the reservation
 * @extra: bytes for dynamic fields, after its structure
 *
 * Context: see tracebuf_reserve().
 * Return: its structure, zeroed; NULL if no provider records it.
 */
void *__tracebuf_reserve(struct tracebuf_def *def, struct tracebuf_slot *slot, u32 extra)
{
	/* the limit avoids an overflow; rings still count the event as too large */
	u32 bytes = def->bytes + min_t(u32, extra, TB_EVENT_ELEMENTS_MAX * TB_ELEMENT_SIZE);
	const struct tracebuf_list *sinks;
	void *raw = NULL;
	u32 i;

	preempt_disable_notrace();
	sinks = tb_list_read(&def->source.sinks);
	for (i = 0; sinks && i < sinks->count; i++) {
		struct tb_probe *p = READ_ONCE(sinks->at[i]);

		raw = p ? tb_probe_begin(p, (struct tb_slot *)slot->opaque, bytes) : NULL;
		if (raw)
			break;
	}
	if (!raw) {
		preempt_enable_notrace();
		return NULL;
	}
	slot->sinks = sinks;
	slot->sink = i;
	slot->payload = raw + TB_RAW_HEADER;
	slot->used = def->bytes;
	slot->bytes = bytes;
	return memset(slot->payload, 0, def->bytes);
}
EXPORT_SYMBOL_GPL(__tracebuf_reserve);

/* Copy the event to the providers that follow in the list. */
static void tb_source_copy(const struct tracebuf_slot *slot)
{
	u32 i;

	for (i = slot->sink + 1; i < slot->sinks->count; i++) {
		struct tb_probe *p = READ_ONCE(slot->sinks->at[i]);
		struct tb_slot copy;
		void *raw;

		raw = p ? tb_probe_begin(p, &copy, slot->bytes) : NULL;
		if (!raw)
			continue;
		/* copy the recorded context, too: now preemption is off one level deeper */
		memcpy(raw, slot->payload - TB_RAW_HEADER, TB_RAW_HEADER + slot->bytes);
		tb_probe_end(&copy);
	}
}

/**
 * tracebuf_commit() - commit a reserved event
 * @slot: from tracebuf_reserve()
 *
 * Clears the bytes that were reserved for dynamic fields and not used.
 *
 * Context: that of tracebuf_reserve().
 */
void tracebuf_commit(struct tracebuf_slot *slot)
{
	memset(slot->payload + slot->used, 0, slot->bytes - slot->used);
	if (unlikely(slot->sink + 1 < slot->sinks->count))
		tb_source_copy(slot);
	tb_probe_end((struct tb_slot *)slot->opaque);
	preempt_enable_notrace();
}
EXPORT_SYMBOL_GPL(tracebuf_commit);

/**
 * tracebuf_room() - get memory for a dynamic field
 * @slot: from tracebuf_reserve()
 * @bytes: size of the field's data
 * @word: out: value for the field's member
 *
 * Context: that of tracebuf_reserve().
 * Return: @bytes of memory, not cleared; NULL, with @word 0, if fewer bytes are left.
 */
void *tracebuf_room(struct tracebuf_slot *slot, u32 bytes, u32 *word)
{
	void *room = slot->payload + slot->used;

	*word = 0;
	if (bytes > slot->bytes - slot->used)
		return NULL;
	*word = bytes << 16 | (slot->used + TB_RAW_HEADER);
	slot->used += bytes;
	return room;
}
EXPORT_SYMBOL_GPL(tracebuf_room);

/**
 * tracebuf_put_data() - fill in a dynamic field
 * @slot: from tracebuf_reserve()
 * @data: the data
 * @bytes: bytes of @data, of which the field gets no more than are left
 *
 * Context: that of tracebuf_reserve().
 * Return: value for the field's member.
 */
u32 tracebuf_put_data(struct tracebuf_slot *slot, const void *data, u32 bytes)
{
	u32 word;
	void *room;

	bytes = min(bytes, slot->bytes - slot->used);
	room = tracebuf_room(slot, bytes, &word);
	memcpy(room, data, bytes);
	return word;
}
EXPORT_SYMBOL_GPL(tracebuf_put_data);

/**
 * tracebuf_put_text() - fill in a dynamic field of char
 * @slot: from tracebuf_reserve()
 * @text: the text; takes strlen() + 1 bytes, or those that are left
 *
 * Context: that of tracebuf_reserve().
 * Return: value for the field's member.
 */
u32 tracebuf_put_text(struct tracebuf_slot *slot, const char *text)
{
	u32 left = slot->bytes - slot->used, bytes = strnlen(text, left) + 1;
	u32 word = 0;
	char *room;

	if (!left)
		return 0;
	bytes = min(bytes, left);
	room = tracebuf_room(slot, bytes, &word);
	memcpy(room, text, bytes - 1);
	room[bytes - 1] = '\0';
	return word;
}
EXPORT_SYMBOL_GPL(tracebuf_put_text);
