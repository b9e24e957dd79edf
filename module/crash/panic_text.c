// SPDX-License-Identifier: GPL-2.0-only
/*
 * Format an event as a line of the kernel's log: its thread, its name, and its fields according to
 * its description, which stays until module exit (tb_event_description()).  The event may be
 * damaged, so this code reads no memory outside its payload.  It prints addresses of the kernel's
 * text by name, and other kernel addresses by %p, which hides them.
 *
 * Callers: panic.c, in any context, NMI included, without locks.
 */
#include <linux/kallsyms.h>
#include <linux/seq_buf.h>
#include <uapi/linux/tracebuf_producer.h>

#include "block_walk.h"
#include "events/catalog.h"
#include "panic.h"

#define TB_TEXT_STRING	64	/* limit of the bytes of a text */
#define TB_TEXT_BYTES	32	/* limit of the bytes of an array */
#define TB_TEXT_CALLERS	8	/* limit of the functions of a stack */

static void tb_print_string(struct seq_buf *t, const void *from, u32 bytes)
{
	seq_buf_printf(t, "%*pE", (int)strnlen(from, min_t(u32, bytes, TB_TEXT_STRING)), from);
}

static void tb_print_bytes(struct seq_buf *t, const void *from, u32 bytes)
{
	seq_buf_printf(t, "%*phN", (int)min_t(u32, bytes, TB_TEXT_BYTES), from);
	if (bytes > TB_TEXT_BYTES)
		seq_buf_printf(t, "...");
}

static void tb_print_address(struct seq_buf *t, u64 value)
{
	char name[KSYM_SYMBOL_LEN];

	sprint_symbol(name, value);
	if (strncmp(name, "0x", 2))
		seq_buf_printf(t, "%s", name);
	else if ((s64)value < 0)
		seq_buf_printf(t, "%p", (void *)(unsigned long)value);
	else
		seq_buf_printf(t, "0x%llx", value);
}

static void tb_print_number(struct seq_buf *t, const struct tb_field *f, const void *from)
{
	u64 value = 0;

	/* the ABI is little-endian */
	memcpy(&value, from, f->size);
	if (f->flags & TB_FIELD_BITS)
		value = value >> f->bit & (f->bits < 64 ? (1ull << f->bits) - 1 : ~0ull);
	if (f->flags & TB_FIELD_SIGNED) {
		u32 bits = f->flags & TB_FIELD_BITS ? f->bits : f->size * 8;

		seq_buf_printf(t, "%lld", bits ? (s64)(value << (64 - bits)) >> (64 - bits) : 0);
	} else if (!(f->flags & TB_FIELD_HEX)) {
		seq_buf_printf(t, "%llu", value);
	} else if (f->size == sizeof(value)) {
		tb_print_address(t, value);
	} else {
		seq_buf_printf(t, "0x%llx", value);
	}
}

static void tb_print_field(struct seq_buf *t, const struct tb_field *f, const void *payload,
			   u32 bytes)
{
	const u16 elsewhere = TB_FIELD_DATA_LOC | TB_FIELD_REL_LOC;
	u32 offset = f->offset, size = f->size, word;

	if (size > bytes || offset > bytes - size)
		return;
	if (f->flags & elsewhere) {
		memcpy(&word, payload + offset, sizeof(word));
		size = word >> 16;
		/* a negative offset wraps to a large one, which the check below rejects */
		if (f->flags & TB_FIELD_DATA_LOC)
			offset = (word & 0xffff) - (sizeof(struct tb_composite) -
						    offsetof(struct tb_composite, tid));
		else
			offset += sizeof(word) + (word & 0xffff);
		if (size > bytes || offset > bytes - size)
			size = 0;
	}
	if (f->flags & TB_FIELD_STRING && size)
		tb_print_string(t, payload + offset, size);
	else if (f->flags & (elsewhere | TB_FIELD_ARRAY | TB_FIELD_CPUMASK) || size > sizeof(u64))
		tb_print_bytes(t, payload + offset, size);
	else
		tb_print_number(t, f, payload + offset);
}

static void tb_print_fields(struct seq_buf *t, const struct tb_event_desc *desc,
			    const void *payload, u32 bytes)
{
	const struct tb_field *f = (const void *)(desc + 1);
	const char *strings = (const void *)(f + desc->nr_fields);
	u32 i;

	seq_buf_printf(t, " %s:%s", strings + desc->system, strings + desc->name);
	for (i = 0; i < desc->nr_fields; i++, f++) {
		seq_buf_printf(t, " %s=", strings + f->name);
		tb_print_field(t, f, payload, bytes);
	}
}

static void tb_print_stack(struct seq_buf *t, const struct tb_stack *s, u32 bytes)
{
	u32 i, count = min_t(u32, (bytes - sizeof(*s)) / sizeof(s->ip[0]), TB_TEXT_CALLERS);

	seq_buf_printf(t, " called by%s",
		       READ_ONCE(s->kind) == TB_STACK_KERNEL ? "" : " user space");
	for (i = 0; i < count; i++) {
		seq_buf_printf(t, " ");
		tb_print_address(t, READ_ONCE(s->ip[i]));
	}
}

/* Format a control event, or an event that has no description. */
static void tb_print_control(struct seq_buf *t, u32 id, const void *payload, u32 bytes)
{
	const struct tb_chunk_event *chunk = payload;

	if (id == TB_EV_STACK && bytes >= sizeof(struct tb_stack)) {
		tb_print_stack(t, payload, bytes);
	} else if (id == TB_EV_MARK) {
		seq_buf_printf(t, " mark: ");
		tb_print_string(t, payload, bytes);
	} else if (id == TB_EV_CHUNK && bytes >= sizeof(*chunk)) {
		seq_buf_printf(t, " program's events: pid %u tid %u, %u bytes",
			       READ_ONCE(chunk->pid), READ_ONCE(chunk->tid), bytes);
	} else {
		seq_buf_printf(t, " event %u: ", id);
		tb_print_bytes(t, payload, bytes);
	}
}

static void tb_print_context(struct seq_buf *t, const struct tb_composite *c)
{
	u32 context = READ_ONCE(c->context);

	seq_buf_printf(t, " tid %u", READ_ONCE(c->tid));
	if (context & TB_CONTEXT_NMI)
		seq_buf_printf(t, " nmi");
	else if (context & TB_CONTEXT_HARDIRQ)
		seq_buf_printf(t, " irq");
	else if (context & TB_CONTEXT_SOFTIRQ)
		seq_buf_printf(t, " softirq");
}

/*
 * Format event @e, which a writer may overwrite meanwhile, as @text, always NUL-terminated, of
 * @size bytes, not 0.  @w: the position in the block after @e.
 */
void tb_panic_text(char *text, size_t size, const struct tb_block_walk *w,
		   const struct tb_element *e)
{
	bool simple = TB_HEAD_STRUCT(w->head) == TB_STRUCT_SIMPLE;
	const void *payload = simple ? (const void *)&e->payload : e + 1;
	const struct tb_event_desc *desc = NULL;
	u32 id = TB_HEAD_ID(w->head);
	struct seq_buf t;

	if (id >= TB_EV_FIRST) {
		const struct tb_event *known = tb_event_by_index((id - TB_EV_FIRST) / 2);
		const bool compact = (id - TB_EV_FIRST) & 1;

		if (known) {
			/* pairs with the exchange in tb_event_description() */
			desc = smp_load_acquire(&known->desc[compact]);
		}
	}
	*text = '\0';
	seq_buf_init(&t, text, size);
	if (!simple)
		tb_print_context(&t, (const void *)e);
	if (desc)
		tb_print_fields(&t, desc, payload, w->bytes);
	else
		tb_print_control(&t, id, payload, w->bytes);
}
