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
#include <uapi/linux/tracebuf_producer.h>

#include "block_walk.h"
#include "events/catalog.h"
#include "panic.h"

#define TB_TEXT_STRING	64	/* limit of the bytes of a text */
#define TB_TEXT_BYTES	32	/* limit of the bytes of an array */
#define TB_TEXT_CALLERS	8	/* limit of the functions of a stack */

/**
 * struct tb_text - a line while it is formatted
 * @to: its memory
 * @size: bytes of @to
 * @at: bytes used
 */
struct tb_text {
	char *to;
	size_t size;
	size_t at;
};

static __printf(2, 3) void tb_print(struct tb_text *t, const char *format, ...)
{
	va_list args;

	va_start(args, format);
	t->at += vscnprintf(t->to + t->at, t->size - t->at, format, args);
	va_end(args);
}

static void tb_print_string(struct tb_text *t, const void *from, u32 bytes)
{
	tb_print(t, "%*pE", (int)strnlen(from, min_t(u32, bytes, TB_TEXT_STRING)), from);
}

static void tb_print_bytes(struct tb_text *t, const void *from, u32 bytes)
{
	tb_print(t, "%*phN", (int)min_t(u32, bytes, TB_TEXT_BYTES), from);
	if (bytes > TB_TEXT_BYTES)
		tb_print(t, "...");
}

static void tb_print_address(struct tb_text *t, u64 value)
{
	char name[KSYM_SYMBOL_LEN];

	sprint_symbol(name, value);
	if (strncmp(name, "0x", 2))
		tb_print(t, "%s", name);
	else if ((s64)value < 0)
		tb_print(t, "%p", (void *)(unsigned long)value);
	else
		tb_print(t, "0x%llx", value);
}

static void tb_print_number(struct tb_text *t, const struct tb_field *f, const void *from)
{
	u64 value = 0;

	/* the ABI is little-endian */
	memcpy(&value, from, f->size);
	if (f->flags & TB_FIELD_BITS)
		value = value >> f->bit & (f->bits < 64 ? (1ull << f->bits) - 1 : ~0ull);
	if (f->flags & TB_FIELD_SIGNED) {
		u32 bits = f->flags & TB_FIELD_BITS ? f->bits : f->size * 8;

		tb_print(t, "%lld", bits ? (s64)(value << (64 - bits)) >> (64 - bits) : 0);
	} else if (!(f->flags & TB_FIELD_HEX)) {
		tb_print(t, "%llu", value);
	} else if (f->size == sizeof(value)) {
		tb_print_address(t, value);
	} else {
		tb_print(t, "0x%llx", value);
	}
}

static void tb_print_field(struct tb_text *t, const struct tb_field *f, const void *payload,
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

static void tb_print_fields(struct tb_text *t, const struct tb_event_desc *desc,
			    const void *payload, u32 bytes)
{
	const struct tb_field *f = (const void *)(desc + 1);
	const char *strings = (const void *)(f + desc->nr_fields);
	u32 i;

	tb_print(t, " %s:%s", strings + desc->system, strings + desc->name);
	for (i = 0; i < desc->nr_fields; i++, f++) {
		tb_print(t, " %s=", strings + f->name);
		tb_print_field(t, f, payload, bytes);
	}
}

static void tb_print_stack(struct tb_text *t, const struct tb_stack *s, u32 bytes)
{
	u32 i, count = min_t(u32, (bytes - sizeof(*s)) / sizeof(s->ip[0]), TB_TEXT_CALLERS);

	tb_print(t, READ_ONCE(s->kind) == TB_STACK_KERNEL ? " called by" : " called by user space");
	for (i = 0; i < count; i++) {
		tb_print(t, " ");
		tb_print_address(t, READ_ONCE(s->ip[i]));
	}
}

/* Format a control event, or an event that has no description. */
static void tb_print_control(struct tb_text *t, u32 id, const void *payload, u32 bytes)
{
	const struct tb_chunk_event *chunk = payload;

	if (id == TB_EV_STACK && bytes >= sizeof(struct tb_stack)) {
		tb_print_stack(t, payload, bytes);
	} else if (id == TB_EV_MARK) {
		tb_print(t, " mark: ");
		tb_print_string(t, payload, bytes);
	} else if (id == TB_EV_CHUNK && bytes >= sizeof(*chunk)) {
		tb_print(t, " program's events: pid %u tid %u, %u bytes", READ_ONCE(chunk->pid),
			 READ_ONCE(chunk->tid), bytes);
	} else {
		tb_print(t, " event %u: ", id);
		tb_print_bytes(t, payload, bytes);
	}
}

static void tb_print_context(struct tb_text *t, const struct tb_composite *c)
{
	u32 context = READ_ONCE(c->context);

	tb_print(t, " tid %u", READ_ONCE(c->tid));
	if (context & TB_CONTEXT_NMI)
		tb_print(t, " nmi");
	else if (context & TB_CONTEXT_HARDIRQ)
		tb_print(t, " irq");
	else if (context & TB_CONTEXT_SOFTIRQ)
		tb_print(t, " softirq");
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
	struct tb_text t = { .to = text, .size = size };
	const struct tb_event_desc *desc = NULL;
	u32 id = TB_HEAD_ID(w->head);

	if (id >= TB_EV_FIRST) {
		const struct tb_event *known = tb_event_by_index((id - TB_EV_FIRST) / 2);
		const bool compact = (id - TB_EV_FIRST) & 1;

		if (known) {
			/* pairs with the exchange in tb_event_description() */
			desc = smp_load_acquire(&known->desc[compact]);
		}
	}
	*text = '\0';
	if (!simple)
		tb_print_context(&t, (const void *)e);
	if (desc)
		tb_print_fields(&t, desc, payload, w->bytes);
	else
		tb_print_control(&t, id, payload, w->bytes);
}
