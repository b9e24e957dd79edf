// SPDX-License-Identifier: GPL-2.0-only
/*
 * Events that other modules record themselves: which providers want them, and recording
 * them there (include/linux/tracebuf_event.h).
 *
 * To a module such an event is what a tracepoint is to the kernel: a branch that is patched
 * in when somebody wants it, and a list of who does.  The list is replaced when it gets
 * longer; who goes leaves a hole in it, for going must not fail, and the last one takes it with
 * him.  Who records looks at it with preemption off.
 *
 * From there on an event goes the way of a tracepoint's: through tb_probe_begin() and
 * tb_probe_simple(), once for each provider.  One that is filled in where it is to stay is in the
 * ring of the first that has room for it; the others get a copy when it is committed, just
 * before.  So no memory is needed but the rings', and each provider has it as a whole or has
 * counted it as lost.
 */
#include <linux/export.h>
#include <linux/jump_label.h>
#include <linux/minmax.h>
#include <linux/mutex.h>
#include <linux/rcupdate.h>
#include <linux/slab.h>
#include <linux/string.h>
#include <linux/tracebuf_event.h>

#include "unit.h"
#include "machine/contiguous.h"
#include "module_event.h"
#include "probe/pending.h"
#include "probe/record.h"

/**
 * struct tracebuf_sinks - who wants an event
 * @rcu: to free it
 * @count: places
 * @probe: of each provider; NULL: a hole
 */
struct tracebuf_sinks {
	struct rcu_head rcu;
	u32 count;
	struct tb_probe *probe[];
};

/* what tb_probe_begin() returns is so far before the payload */
#define TB_RAW_HEADER	(sizeof(struct tb_composite) - offsetof(struct tb_composite, tid))

/* in DATA_LOC words offsets count from there */
static_assert(TB_RAW_HEADER == 8);

static DEFINE_MUTEX(tb_source_lock);

/* ---- who wants them --------------------------------------------------- */

static int tb_source_add(struct tracebuf_source *s, struct tb_probe *p)
{
	struct tracebuf_sinks *old = s->sinks, *new;
	u32 i, count = old ? old->count : 0;

	for (i = 0; i < count; i++) {
		if (old->probe[i])
			continue;
		/* the probe before the place: pairs with the dependent load of who records */
		smp_store_release(&old->probe[i], p);
		return 0;
	}
	new = kzalloc(struct_size(new, probe, count + 1), TB_GFP);
	if (!new)
		return -ENOMEM;
	for (i = 0; i < count; i++)
		new->probe[i] = old->probe[i];
	new->probe[count] = p;
	new->count = count + 1;
	/* likewise */
	smp_store_release(&s->sinks, new);
	if (old)
		kfree_rcu(old, rcu);
	return 0;
}

/**
 * tb_source_attach() - record an event from now on
 * @s: its source
 * @p: the event and the provider
 *
 * Context: process.
 * Return: 0, -ENOMEM.
 */
int tb_source_attach(struct tracebuf_source *s, struct tb_probe *p)
{
	int err;

	mutex_lock(&tb_source_lock);
	err = tb_source_add(s, p);
	mutex_unlock(&tb_source_lock);
	if (!err)
		static_branch_inc(&s->wanted);
	return err;
}

/**
 * tb_source_detach() - do not record an event any more
 * @s: its source
 * @p: as attached
 *
 * It may still be being recorded: see tb_events_synchronize().
 *
 * Context: process.
 */
void tb_source_detach(struct tracebuf_source *s, struct tb_probe *p)
{
	struct tracebuf_sinks *sinks;
	bool empty = true;
	u32 i;

	static_branch_dec(&s->wanted);
	mutex_lock(&tb_source_lock);
	sinks = s->sinks;
	for (i = 0; i < sinks->count; i++) {
		if (sinks->probe[i] == p)
			WRITE_ONCE(sinks->probe[i], NULL);
		empty = empty && !sinks->probe[i];
	}
	if (empty) {
		WRITE_ONCE(s->sinks, NULL);
		kfree_rcu(sinks, rcu);
	}
	mutex_unlock(&tb_source_lock);
}

/* ---- recording -------------------------------------------------------- */

/**
 * __tracebuf_record() - what tracebuf_event() does when an event is wanted
 * @def: the event
 * @payload: its structure
 *
 * Context: any where RCU is watching, NMI included.
 */
void __tracebuf_record(struct tracebuf_def *def, const void *payload)
{
	struct tracebuf_sinks *sinks;
	u32 i;

	/* one for those who wait, see tb_events_synchronize(); tb_probe_begin() reckons with it */
	preempt_disable_notrace();
	/* pairs with the release in tb_source_add() */
	sinks = READ_ONCE(def->source.sinks);
	for (i = 0; sinks && i < sinks->count; i++) {
		struct tb_probe *p = READ_ONCE(sinks->probe[i]);
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
 * __tracebuf_record_simple() - likewise, of a simple event
 * @def: the event
 * @payload: its structure
 *
 * Context: any where RCU is watching, NMI included.
 */
void __tracebuf_record_simple(struct tracebuf_def *def, u64 payload)
{
	struct tracebuf_sinks *sinks;
	u32 i;

	preempt_disable_notrace();
	/* pairs with the release in tb_source_add() */
	sinks = READ_ONCE(def->source.sinks);
	for (i = 0; sinks && i < sinks->count; i++) {
		struct tb_probe *p = READ_ONCE(sinks->probe[i]);

		if (!p)
			continue;
		/* a ring without buffers would not know which of the event's probes it is for */
		if (unlikely(p->trigger))
			tb_pending_trigger_simple(p, payload);
		else
			tb_probe_simple(p, payload);
	}
	preempt_enable_notrace();
}
EXPORT_SYMBOL_GPL(__tracebuf_record_simple);

/**
 * __tracebuf_reserve() - what tracebuf_reserve() does when an event is wanted
 * @def: the event
 * @slot: the reservation
 * @extra: bytes after its structure
 *
 * Context: see tracebuf_reserve().
 * Return: its structure, zeroed; NULL if there is nothing to fill in.
 */
void *__tracebuf_reserve(struct tracebuf_def *def, struct tracebuf_slot *slot, u32 extra)
{
	/* more than any ring takes is counted as too large, whatever more */
	u32 bytes = def->bytes + min_t(u32, extra, TB_EVENT_ELEMENTS_MAX * TB_ELEMENT_SIZE);
	struct tracebuf_sinks *sinks;
	void *raw = NULL;
	u32 i;

	preempt_disable_notrace();
	/* pairs with the release in tb_source_add() */
	sinks = READ_ONCE(def->source.sinks);
	for (i = 0; sinks && i < sinks->count; i++) {
		struct tb_probe *p = READ_ONCE(sinks->probe[i]);

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

/* The other providers get what the first has. */
static void tb_source_copy(const struct tracebuf_slot *slot)
{
	u32 i;

	for (i = slot->sink + 1; i < slot->sinks->count; i++) {
		struct tb_probe *p = READ_ONCE(slot->sinks->probe[i]);
		struct tb_slot copy;
		void *raw;

		raw = p ? tb_probe_begin(p, &copy, slot->bytes) : NULL;
		if (!raw)
			continue;
		/* with its context, which is not that of now: preemption is off once more */
		memcpy(raw, slot->payload - TB_RAW_HEADER, TB_RAW_HEADER + slot->bytes);
		tb_probe_end(&copy);
	}
}

/**
 * tracebuf_commit() - make a reserved event part of the trace
 * @slot: from tracebuf_reserve()
 *
 * Bytes that nothing was put into are zero.
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
 * tracebuf_room() - room for a dynamic field, to be filled in
 * @slot: from tracebuf_reserve()
 * @bytes: how much
 * @word: out: what the field's member is to be
 *
 * Context: that of tracebuf_reserve().
 * Return: @bytes of memory, not cleared; NULL if not so many have been asked for as extra,
 * @word is 0 then.
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
 * @data: what with
 * @bytes: of it; cut to what is left of extra
 *
 * Context: that of tracebuf_reserve().
 * Return: what the field's member is to be.
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
 * @text: what with; takes strlen() + 1 bytes, cut to what is left of extra
 *
 * Context: that of tracebuf_reserve().
 * Return: what the field's member is to be.
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
