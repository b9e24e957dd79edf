// SPDX-License-Identifier: GPL-2.0-only
/*
 * The probes of raw_syscalls:sys_enter, and the wide probe of sys_exit, written by hand.
 *
 * The wide form of sys_enter has the kernel's fields "id" and "args", but ends with the last
 * argument of the call: most calls have three.  If a call takes names of files or other text
 * (calls.tab), the event has all six arguments, then up to two texts.  The address of a socket, the
 * files of poll() and those of select() become text, too.  The probe reads without paging in:
 * without access to the memory, the event has no text.  Another thread may change the memory before
 * the call reads it.  The compact form, for calls without text, packs "id" and "args[0]" into
 * 8 bytes.
 *
 * Tracepoints call the probes in process context, with preemption off, without locks.
 */
#include <linux/in.h>
#include <linux/in6.h>
#include <linux/nospec.h>
#include <linux/poll.h>
#include <linux/socket.h>
#include <linux/trace_events.h>
#include <linux/uaccess.h>
#include <linux/un.h>
#include <asm/syscall.h>
#include <asm/unistd.h>
#include <trace/events/syscalls.h>

#include "probe/probe.h"
#include "catalog.h"
#include "compact.h"

#ifdef CONFIG_HAVE_SYSCALL_TRACEPOINTS

#define TB_CALL_ARGS		6
#define TB_CALL_TEXTS		2
/* bytes of a text with its NUL; a longer text is cut, and has no NUL */
#define TB_CALL_TEXT_MAX	256
/* the first files of poll() or select() that become text */
#define TB_CALL_FILES_MAX	8
static_assert(TB_CALL_FILES_MAX * sizeof("-2147483648") + sizeof("...") <= TB_CALL_TEXT_MAX);
/* files of select() that are looked at: more than a fd_set of user space has */
#define TB_CALL_SELECTED_MAX	2048u

/*
 * An entry of tb_calls: the bytes of the arguments that the call lacks to have six; for each text,
 * 1 + the index of the argument that points to it; what the first text is made of, TB_CALL_IS_*.
 */
#define TB_CALL(args, text, text2, kind) \
	((TB_CALL_ARGS - (args)) * 8 | (text) << 6 | (text2) << 9 | (kind) << 12)
#define TB_CALL_BYTES_OF(call)	(TB_CALL_ARGS * 8u - ((call) & 63))
#define TB_CALL_TEXT(call, i)	((call) >> (6 + 3 * (i)) & 7)
#define TB_CALL_KIND(call)	((call) >> 12)
#define TB_CALL_IS_ADDRESS	1	/* of a socket; the next argument is its length */
#define TB_CALL_IS_POLLED	2	/* struct pollfd; the next argument is their number */
#define TB_CALL_IS_SELECTED	3	/* the first of the arguments of select() */

/* by number of the call; a call without an entry has six arguments and no text */
static const u16 tb_calls[] = {
#include "calls_tab.h"
};

/* sizes in the compact form: the number of the call, the first argument */
#define TB_CALL_ID_BITS		12
#define TB_CALL_ARG_BITS	48

/* it begins like the kernel's structure; an event without text ends after its last argument */
struct tb_call_raw {
	struct trace_entry ent;
	long id;
	unsigned long args[TB_CALL_ARGS];
	u32 path[TB_CALL_TEXTS];
	char text[];
};

static_assert(sizeof(long) == 8);

#define TB_CALL_BYTES(end)	(offsetof(struct tb_call_raw, end) - sizeof(struct trace_entry))

/* Copy the text at @from.  Return its bytes, with the NUL; 0 if reading needs to page in. */
static notrace u32 tb_call_read(char *to, unsigned long from)
{
	long n;

	pagefault_disable();
	n = strncpy_from_user(to, (const char __user *)from, TB_CALL_TEXT_MAX);
	pagefault_enable();
	return n < 0 ? 0 : min_t(u32, n + 1, TB_CALL_TEXT_MAX);
}

/*
 * Write the address of a socket, @length bytes at @from, as text: "127.0.0.1:80", "[::1]:80",
 * "/run/socket", or "@socket" for an abstract name, with "@" for each NUL.  Return the bytes of the
 * text, with its NUL; 0: the family has no text, the name is empty, or reading needs to page in.
 */
static notrace u32 tb_call_read_address(char *to, unsigned long from, int length)
{
	union {
		struct sockaddr any;
		struct sockaddr_in6 in6;
		struct sockaddr_un un;
	} address;
	char *path = address.un.sun_path;
	u32 bytes, i;

	if (length < (int)sizeof(address.any.sa_family))
		return 0;
	bytes = min_t(u32, length, sizeof(address.un));
	if (copy_from_user_nofault(&address, (const void __user *)from, bytes))
		return 0;
	switch (address.any.sa_family) {
	case AF_INET:
		if (bytes < sizeof(struct sockaddr_in))
			return 0;
		break;
	case AF_INET6:
		if (bytes < offsetofend(struct sockaddr_in6, sin6_addr))
			return 0;
		break;
	case AF_UNIX:
		bytes -= offsetof(struct sockaddr_un, sun_path);
		if (!bytes)
			return 0;
		if (!*path)
			for (i = 0; i < bytes; i++)
				path[i] = path[i] ?: '@';
		return scnprintf(to, TB_CALL_TEXT_MAX, "%.*s", bytes, path) + 1;
	default:
		return 0;
	}
	return scnprintf(to, TB_CALL_TEXT_MAX, "%pISpc", &address) + 1;
}

/* Write @number in decimal digits.  Return their count.  scnprintf() takes 7 times as long. */
static notrace u32 tb_call_put_number(char *to, int number)
{
	u32 rest = number < 0 ? -(u32)number : number, count = 0, at = 0;
	char digits[10];

	do
		digits[count++] = '0' + rest % 10;
	while (rest /= 10);
	if (number < 0)
		to[at++] = '-';
	while (count)
		to[at++] = digits[--count];
	return at;
}

/*
 * Write the numbers of the @count files that poll() waits for, at @from: "3 5", with "..." at the
 * end if there are more than TB_CALL_FILES_MAX.  Return the bytes of the text, with its NUL; 0:
 * there are none, or reading needs to page in.
 */
static notrace u32 tb_call_read_polled(char *to, unsigned long from, u32 count)
{
	struct pollfd files[TB_CALL_FILES_MAX];
	u32 i, at = 0, read = min_t(u32, count, TB_CALL_FILES_MAX);

	if (!count || copy_from_user_nofault(files, (const void __user *)from,
					     read * sizeof(files[0])))
		return 0;
	for (i = 0; i < read; i++) {
		if (i)
			to[at++] = ' ';
		at += tb_call_put_number(to + at, files[i].fd);
	}
	if (read < count) {
		memcpy(to + at, " ...", 4);
		at += 4;
	}
	to[at] = 0;
	return at + 1;
}

/*
 * Write the numbers of the files that select() waits for, with letters for the sets that have them:
 * "3r 5rw 6x", with "..." at the end if there are or may be more than these.  Return the bytes of
 * the text, with its NUL; 0: there are none, or reading needs to page in.
 */
static notrace u32 tb_call_read_selected(char *to, const unsigned long *args)
{
	u32 at = 0, count = 0, i, word, nr = max_t(int, args[0], 0);
	unsigned long sets[3], any, bit;

	for (word = 0; word < DIV_ROUND_UP(min(nr, TB_CALL_SELECTED_MAX), BITS_PER_LONG); word++) {
		for (any = 0, i = 0; i < ARRAY_SIZE(sets); i++) {
			const unsigned long __user *from = (void __user *)args[1 + i];

			sets[i] = 0;
			if (from && copy_from_user_nofault(&sets[i], from + word, sizeof(sets[i])))
				return 0;
			any |= sets[i];
		}
		if (nr - word * BITS_PER_LONG < BITS_PER_LONG)
			any &= BIT(nr % BITS_PER_LONG) - 1;
		for_each_set_bit(bit, &any, BITS_PER_LONG) {
			if (count++ == TB_CALL_FILES_MAX)
				goto more;
			at += tb_call_put_number(to + at, word * BITS_PER_LONG + bit);
			for (i = 0; i < ARRAY_SIZE(sets); i++)
				if (sets[i] & BIT(bit))
					to[at++] = "rwx"[i];
			to[at++] = ' ';
		}
	}
	if (nr <= TB_CALL_SELECTED_MAX) {
		/* replace the last space */
		to[at ? at - 1 : 0] = 0;
		return at;
	}
more:
	memcpy(to + at, "...", 4);
	return at + 4;
}

/* Out of line, because the buffers of texts take much of the stack. */
static noinline notrace void tb_call_enter_text(struct tb_probe *p, struct pt_regs *regs, long id,
						u32 call)
{
	struct tb_slot slot __uninitialized;
	char text[TB_CALL_TEXTS][TB_CALL_TEXT_MAX] __uninitialized;
	unsigned long args[TB_CALL_ARGS] __uninitialized;
	u32 bytes[TB_CALL_TEXTS] = { 0 }, at = offsetof(struct tb_call_raw, text);
	unsigned int i, first = TB_CALL_TEXT(call, 0) - 1;
	struct tb_call_raw *raw;

	syscall_get_arguments(current, regs, args);
	if (TB_CALL_KIND(call) == TB_CALL_IS_ADDRESS)
		bytes[0] = tb_call_read_address(text[0], args[first], args[first + 1]);
	else if (TB_CALL_KIND(call) == TB_CALL_IS_POLLED)
		bytes[0] = tb_call_read_polled(text[0], args[first], args[first + 1]);
	else if (TB_CALL_KIND(call) == TB_CALL_IS_SELECTED)
		bytes[0] = tb_call_read_selected(text[0], args);
	else
		for (i = 0; i < TB_CALL_TEXTS && TB_CALL_TEXT(call, i); i++)
			bytes[i] = tb_call_read(text[i], args[TB_CALL_TEXT(call, i) - 1]);
	raw = tb_probe_begin(p, &slot, TB_CALL_BYTES(text) + bytes[0] + bytes[1]);
	if (!raw)
		return;
	raw->id = id;
	memcpy(raw->args, args, sizeof(raw->args));
	for (i = 0; i < TB_CALL_TEXTS; i++) {
		raw->path[i] = bytes[i] ? bytes[i] << 16 | at : 0;
		memcpy((char *)raw + at, text[i], bytes[i]);
		at += bytes[i];
	}
	tb_probe_end(&slot);
}

/* Without a loop the compiler keeps the arguments in registers. */
static __always_inline void tb_call_put_args(struct tb_call_raw *raw, struct pt_regs *regs,
					     u32 bytes)
{
	unsigned long args[TB_CALL_ARGS] __uninitialized;

	if (!bytes)
		return;
	syscall_get_arguments(current, regs, args);
	raw->args[0] = args[0];
	if (bytes > 8)
		raw->args[1] = args[1];
	if (bytes > 16)
		raw->args[2] = args[2];
	if (bytes > 24)
		raw->args[3] = args[3];
	if (bytes > 32)
		raw->args[4] = args[4];
	if (bytes > 40)
		raw->args[5] = args[5];
}

/* Return the entry of call *@id, 0 if it has none; make *@id the number that readers see. */
static __always_inline u32 tb_call_of(long *id)
{
	if (unlikely((unsigned long)*id >= ARRAY_SIZE(tb_calls) || in_compat_syscall())) {
		*id = tb_call_number(*id);
		return 0;
	}
	return tb_calls[array_index_nospec(*id, ARRAY_SIZE(tb_calls))];
}

static notrace void tb_call_enter(void *data, struct pt_regs *regs, long id)
{
	struct tb_slot slot __uninitialized;
	struct tb_call_raw *raw;
	u32 call, bytes;

	tb_tracepoint_enter();
	call = tb_call_of(&id);
	if (unlikely(TB_CALL_TEXT(call, 0))) {
		tb_call_enter_text(data, regs, id, call);
	} else {
		bytes = TB_CALL_BYTES_OF(call);
		raw = tb_probe_begin(data, &slot, TB_CALL_BYTES(args) + bytes);
		if (raw) {
			raw->id = id;
			tb_call_put_args(raw, regs, bytes);
			tb_probe_end(&slot);
		}
	}
	tb_tracepoint_leave();
}

static const struct tb_field_def tb_call_fields[] = {
	{ .name = "id", .type = "long", .offset = TB_CALL_BYTES(id), .size = sizeof(long),
	  .flags = TB_FIELD_SIGNED },
	{ .name = "args", .type = "unsigned long", .offset = TB_CALL_BYTES(args),
	  .size = TB_CALL_ARGS * sizeof(long), .count = TB_CALL_ARGS, .flags = TB_FIELD_ARRAY },
	{ .name = "path", .type = "char", .offset = TB_CALL_BYTES(path[0]), .size = sizeof(u32),
	  .flags = TB_FIELD_DATA_LOC },
	{ .name = "path2", .type = "char", .offset = TB_CALL_BYTES(path[1]), .size = sizeof(u32),
	  .flags = TB_FIELD_DATA_LOC },
	{}
};

/* Record a call with @nr arguments in its compact form.  Return false if it needs the wide form. */
static __always_inline bool tb_call_compact(struct tb_probe *p, struct pt_regs *regs, long id,
					    u32 nr)
{
	struct tb_slot slot __uninitialized;
	unsigned long args[TB_CALL_ARGS] __uninitialized;
	struct tb_element *e;
	u64 first, *rest;

	args[0] = 0;
	if (nr)
		syscall_get_arguments(current, regs, args);
	first = TB_PACK(id, TB_CALL_ID_BITS, 0) | TB_PACK(nr, 4, TB_CALL_ID_BITS) |
		TB_PACK(args[0], TB_CALL_ARG_BITS, 16);
	if (unlikely((unsigned long)id >> TB_CALL_ID_BITS || tb_event_context() ||
		     args[0] != sign_extend64(args[0], TB_CALL_ARG_BITS - 1)))
		return false;
	if (nr < 2)
		return tb_probe_compact(p, first);
	e = tb_probe_compact_begin(p, &slot, 1 + nr / 2);
	if (IS_ERR_OR_NULL(e))
		return !!e;
	e->payload = first;
	rest = (u64 *)(e + 1);
	rest[0] = args[1];
	rest[1] = nr > 2 ? args[2] : 0;
	if (nr > 3) {
		rest[2] = args[3];
		rest[3] = nr > 4 ? args[4] : 0;
	}
	if (nr > 5) {
		rest[4] = args[5];
		rest[5] = 0;
	}
	tb_probe_end(&slot);
	return true;
}

static notrace void tb_call_enter_compact(void *data, struct pt_regs *regs, long id)
{
	long number = id;
	bool done = false;
	u32 call;

	tb_tracepoint_enter();
	call = tb_call_of(&number);
	if (likely(!TB_CALL_TEXT(call, 0)))
		done = tb_call_compact(data, regs, number, TB_CALL_BYTES_OF(call) / 8);
	tb_tracepoint_leave();
	/* not @number: the wide probe adds TB_CALL_COMPAT, too */
	if (unlikely(!done))
		tb_probe_wide(tb_call_enter_compact, data)(data, regs, id);
}

#define TB_CALL_WORD(_name, _n)						\
	{ .name = (_name), .type = "unsigned long",			\
	  .offset = (_n) * sizeof(u64), .size = sizeof(u64) }

static const struct tb_field_def tb_call_compact_fields[] = {
	TB_BITS("id", "long", 0, TB_CALL_ID_BITS, 0),
	TB_BITS("nr_args", "u8", TB_CALL_ID_BITS, 4, TB_FIELD_COUNT),
	TB_BITS("args[0]", "unsigned long", 16, TB_CALL_ARG_BITS, TB_FIELD_SIGNED),
	TB_CALL_WORD("args[1]", 1),
	TB_CALL_WORD("args[2]", 2),
	TB_CALL_WORD("args[3]", 3),
	TB_CALL_WORD("args[4]", 4),
	TB_CALL_WORD("args[5]", 5),
	{}
};

const struct tb_compact_def tb_call_compact_def = {
	.name = "sys_enter",
	.probe = tb_call_enter_compact,
	.fields = tb_call_compact_fields,
};

/* the kernel's print format */
#define TB_CALL_PRINT							\
	"\"NR %ld (%lx, %lx, %lx, %lx, %lx, %lx)\", "			\
	"REC->id, REC->args[0], REC->args[1], REC->args[2], "		\
	"REC->args[3], REC->args[4], REC->args[5]"

static struct tb_event_def tb_call_def = {
	.system = "raw_syscalls",
	.name = "sys_enter",
	.print = TB_CALL_PRINT,
	.probe = tb_call_enter,
	.fields = tb_call_fields,
	.cut = true,
};

/* it begins like the kernel's structure */
struct tb_call_exit_raw {
	struct trace_entry ent;
	long id;
	long ret;
};

#define TB_EXIT_BYTES(end)	\
	(offsetof(struct tb_call_exit_raw, end) - sizeof(struct trace_entry))

static notrace void tb_call_exit(void *data, struct pt_regs *regs, long ret)
{
	struct tb_slot slot __uninitialized;
	struct tb_call_exit_raw *raw;

	tb_tracepoint_enter();
	raw = tb_probe_begin(data, &slot, TB_EXIT_BYTES(ret) + sizeof(long));
	if (raw) {
		raw->id = tb_call_number(syscall_get_nr(current, regs));
		raw->ret = ret;
		tb_probe_end(&slot);
	}
	tb_tracepoint_leave();
}

static const struct tb_field_def tb_call_exit_fields[] = {
	{ .name = "id", .type = "long", .offset = TB_EXIT_BYTES(id), .size = sizeof(long),
	  .flags = TB_FIELD_SIGNED },
	{ .name = "ret", .type = "long", .offset = TB_EXIT_BYTES(ret), .size = sizeof(long),
	  .flags = TB_FIELD_SIGNED },
	{}
};

static struct tb_event_def tb_call_exit_def = {
	.system = "raw_syscalls",
	.name = "sys_exit",
	.print = "\"NR %ld = %ld\", REC->id, REC->ret",
	.probe = tb_call_exit,
	.fields = tb_call_exit_fields,
};

/* Never called: the compiler checks the probes against the prototypes of their tracepoints. */
static void __maybe_unused tb_call_check(void)
{
	check_trace_callback_type_sys_exit(tb_call_exit);
	check_trace_callback_type_sys_enter(tb_call_enter);
	check_trace_callback_type_sys_enter(tb_call_enter_compact);
}

#endif /* CONFIG_HAVE_SYSCALL_TRACEPOINTS */

__init TB_UNIT_INIT(calls)
{
#ifdef CONFIG_HAVE_SYSCALL_TRACEPOINTS
	list_add_tail(&tb_call_def.list, &unit->events);
	list_add_tail(&tb_call_exit_def.list, &unit->events);
#endif
}
