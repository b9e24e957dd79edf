// SPDX-License-Identifier: GPL-2.0-only
/*
 * Filters: small programs that decide whether an event is wanted.  select/ makes and frees them in
 * process context; pending.c runs them in any context, NMI included.  They take no lock.
 *
 * tb_filter_make() refuses illegal programs: each number must lie within a field of the event, each
 * pattern must end, each jump must lead forward.  Each run checks the place of a dynamic field,
 * which depends on the event and may be wrong.  So a run reads nothing outside of payload and data,
 * and ends after at most @nr tests.  The time of a test is bounded: for a pattern by its length
 * times that of the text, for the search for zeros by the payload.
 */
#include "filter.h"
#include "filter_arch.h"

/* offsets in DATA_LOC words count from this many bytes before the payload */
#define TB_DATA_LOC_BASE	8

/* ---- patterns --------------------------------------------------------- */

/*
 * Sets *@match if @c matches the class in brackets, which begins at @p, after the '['.  As in the
 * kernel's glob_match(), a ']' at the start is an ordinary character, and so is '\'.
 * Return: index after the class; 0 if no ']' ends it.
 */
static notrace u32 tb_glob_class(const u8 *pat, u32 len, u32 p, u8 c, bool *match)
{
	bool invert = p < len && pat[p] == '!';
	bool in = false;
	u32 first = p + invert;

	for (p = first; p < len;) {
		u8 from = pat[p], to = from;

		if (from == ']' && p > first) {
			*match = in != invert;
			return p + 1;
		}
		if (p + 2 < len && pat[p + 1] == '-' && pat[p + 2] != ']') {
			to = pat[p + 2];
			p += 2;
		}
		p++;
		in |= from <= c && c <= to;
	}
	return 0;
}

/*
 * Sets *@match if @c matches the element of the pattern at @p, which is not a '*'.
 * Return: index of the next element; 0 if the element is not legal.
 */
static notrace u32 tb_glob_one(const u8 *pat, u32 len, u32 p, u8 c, bool *match)
{
	switch (pat[p]) {
	case '\0':
		return 0;
	case '?':
		*match = true;
		return p + 1;
	case '[':
		return tb_glob_class(pat, len, p + 1, c, match);
	case '\\':
		if (++p == len || !pat[p])
			return 0;
		fallthrough;
	default:
		*match = pat[p] == c;
		return p + 1;
	}
}

static bool tb_glob_legal(const u8 *pat, u32 len)
{
	bool match;
	u32 p = 0;

	while (p < len) {
		p = tb_glob_one(pat, len, p, 0, &match);
		if (!p)
			return false;
	}
	return true;
}

/*
 * Return true if the text, up to a NUL or @room, matches.  After a mismatch, extends only the last
 * '*' over more of the text: the matches of earlier ones need not change.
 */
static notrace bool tb_glob(const u8 *pat, u32 len, const u8 *text, u32 room)
{
	u32 p = 0, t = 0, star = 0, mark = 0;

	while (t < room && text[t]) {
		bool match = false;
		u32 next = 0;

		if (p < len && pat[p] == '*') {
			/* the index after the '*', so never 0 */
			star = ++p;
			mark = t;
			continue;
		}
		if (p < len)
			next = tb_glob_one(pat, len, p, text[t], &match);
		if (match) {
			p = next;
			t++;
		} else if (star) {
			p = star;
			t = ++mark;
		} else {
			return false;
		}
	}
	while (p < len && pat[p] == '*')
		p++;
	return p == len;
}

/* ---- running ---------------------------------------------------------- */

static __always_inline u64 tb_filter_load(const u8 *from, u32 size, bool is_signed)
{
	u8 v8;
	u16 v16;
	u32 v32;
	u64 v64;

	switch (size) {
	case 1:
		memcpy(&v8, from, sizeof(v8));
		return is_signed ? (u64)(s8)v8 : v8;
	case 2:
		memcpy(&v16, from, sizeof(v16));
		return is_signed ? (u64)(s16)v16 : v16;
	case 4:
		memcpy(&v32, from, sizeof(v32));
		return is_signed ? (u64)(s32)v32 : v32;
	default:
		memcpy(&v64, from, sizeof(v64));
		return v64;
	}
}

/*
 * Return a value that every event has besides its fields.  All rare tests are out of line, so that
 * a filter on fields needs few registers and no stack.
 */
static noinline notrace u64 tb_filter_common(const struct tb_test *t)
{
	switch (t->source) {
	case TB_TEST_TID:
		return tb_filter_tid();
	case TB_TEST_TGID:
		return tb_filter_tgid();
	case TB_TEST_UID:
		return tb_filter_uid();
	case TB_TEST_CPU:
		return tb_filter_cpu();
	default: /* TB_TEST_CONTEXT */
		return tb_filter_context();
	}
}

static __always_inline bool tb_filter_value(const struct tb_test *t, const void *payload, u32 bytes,
					    u64 *number)
{
	bool is_signed = t->flags & TB_TEST_SIGNED;
	u64 v;

	if (unlikely(t->source != TB_TEST_FIELD)) {
		*number = tb_filter_common(t);
		return true;
	}
	if ((u32)t->offset + t->size > bytes)
		return false;
	v = tb_filter_load(payload + t->offset, t->size, is_signed);
	if (unlikely(t->bits)) {
		/* shift to the upper end, and down again with or without sign extension */
		v <<= 64 - t->bit - t->bits;
		v = is_signed ? (u64)((s64)v >> (64 - t->bits)) : v >> (64 - t->bits);
	}
	*number = v;
	return true;
}

/**
 * tb_filter_number() - get the number that a test compares
 * @t: @source, @size, @flags, @offset, @bit and @bits are those of a legal test (tb_filter_make())
 * @payload: payload of the event
 * @bytes: size of @payload
 * @number: out: the number
 *
 * Context: any, NMI included; preemption off.
 * Return: false if the event has no such field.
 */
notrace bool tb_filter_number(const struct tb_test *t, const void *payload, u32 bytes, u64 *number)
{
	return tb_filter_value(t, payload, bytes, number);
}

/*
 * Finds a text or a dynamic array.
 * Return: false if it is not within the payload.
 */
static notrace bool tb_filter_extent(const struct tb_test *t, const u8 *payload, u32 bytes,
				     const u8 **from, u32 *len)
{
	u32 at = t->offset, word;

	*len = t->length;
	if (t->flags & (TB_TEST_DATA_LOC | TB_TEST_REL_LOC)) {
		if (at + sizeof(word) > bytes)
			return false;
		memcpy(&word, payload + at, sizeof(word));
		*len = word >> 16;
		if (t->flags & TB_TEST_REL_LOC) {
			at += sizeof(word) + (word & 0xffff);
		} else if (!word) {
			/* the event did not fill in the word: empty */
			at = 0;
		} else {
			at = word & 0xffff;
			if (at < TB_DATA_LOC_BASE)
				return false;
			at -= TB_DATA_LOC_BASE;
		}
	}
	*from = payload + at;
	return at <= bytes && *len <= bytes - at;
}

static noinline notrace bool tb_filter_text(const struct tb_filter *f, const struct tb_test *t,
					    const u8 *payload, u32 bytes)
{
	char comm[TB_COMM_LEN];
	const u8 *text = (const u8 *)comm;
	u32 len = sizeof(comm);

	if (t->source == TB_TEST_COMM)
		tb_filter_comm(comm);
	else if (!tb_filter_extent(t, payload, bytes, &text, &len))
		return false;
	return tb_glob(f->data + t->data, t->data_bytes, text, min_t(u32, len, TB_TEXT_MAX));
}

static noinline notrace bool tb_filter_empty(const struct tb_test *t, const u8 *payload, u32 bytes)
{
	const u8 *from;
	u32 len;

	if (!tb_filter_extent(t, payload, bytes, &from, &len))
		return false;
	while (len && !*from) {
		from++;
		len--;
	}
	return !len;
}

static __always_inline bool tb_filter_test(const struct tb_filter *f, const struct tb_test *t,
					   const void *payload, u32 bytes)
{
	u64 n, i;

	if (unlikely(t->op >= TB_TEST_GLOB))
		return t->op == TB_TEST_GLOB ? tb_filter_text(f, t, payload, bytes) :
		       tb_filter_empty(t, payload, bytes);
	if (!tb_filter_value(t, payload, bytes, &n))
		return false;
	switch (t->op) {
	case TB_TEST_EQ:
		return n == t->value;
	case TB_TEST_LT:
		return t->flags & TB_TEST_SIGNED ? (s64)n < (s64)t->value : n < t->value;
	case TB_TEST_LE:
		return t->flags & TB_TEST_SIGNED ? (s64)n <= (s64)t->value : n <= t->value;
	case TB_TEST_BITS:
		return n & t->value;
	default: /* TB_TEST_IN */
		if (n / 8 >= t->data_bytes)
			return false;
		/* a program can choose @n, for example as the number of a system call */
		i = array_index_nospec(n / 8, t->data_bytes);
		return f->data[t->data + i] >> (n % 8) & 1;
	}
}

/*
 * Return true if an event with this payload is wanted.  Any context, NMI included; preemption off.
 */
notrace bool tb_filter_run(const struct tb_filter *f, const void *payload, u32 bytes)
{
	u32 i = 0, to;

	do {
		const struct tb_test *t = &f->tests[i];

		to = tb_filter_test(f, t, payload, bytes) ? t->yes : t->no;
		i += 1 + to;
	} while (i < f->nr);
	/* TB_TEST_PASS and TB_TEST_REJECT are larger than any jump, so they end the loop */
	return to == TB_TEST_PASS;
}

/* ---- making ----------------------------------------------------------- */

/* Return true if the test's number lies within @field; a test must use all of a field of bits. */
static bool tb_filter_number_in(const struct tb_test *t, const struct tb_field_def *field)
{
	if (field->flags & (TB_FIELD_DATA_LOC | TB_FIELD_REL_LOC))
		return false;
	if (field->flags & TB_FIELD_BITS)
		return t->offset == field->offset && t->size == field->size &&
		       t->bits && t->bit == field->bit && t->bits == field->bits;
	return !t->bit && !t->bits && t->offset >= field->offset &&
	       (u32)t->offset + t->size <= (u32)field->offset + field->size;
}

/* Return true if @field is the text or dynamic array that the test uses. */
static bool tb_filter_extent_is(const struct tb_test *t, const struct tb_field_def *field)
{
	bool text = !strcmp(field->type, "char");

	if (t->offset != field->offset || (t->op == TB_TEST_GLOB && !text))
		return false;
	if (t->flags == TB_TEST_DATA_LOC)
		return field->flags & TB_FIELD_DATA_LOC;
	if (t->flags == TB_TEST_REL_LOC)
		return field->flags & TB_FIELD_REL_LOC;
	return text && (field->flags & TB_FIELD_ARRAY) && t->length == field->size;
}

static bool tb_filter_field_legal(const struct tb_test *t, const struct tb_field_def *fields)
{
	bool number = t->op != TB_TEST_GLOB && t->op != TB_TEST_EMPTY;

	for (; fields->name; fields++)
		if (number ? tb_filter_number_in(t, fields) : tb_filter_extent_is(t, fields))
			return true;
	return false;
}

static bool tb_filter_number_legal(const struct tb_test *t, const struct tb_field_def *fields)
{
	if (t->flags & ~TB_TEST_SIGNED || t->length)
		return false;
	if (t->source != TB_TEST_FIELD)
		return t->source < TB_TEST_COMM && !t->size && !t->offset && !t->bit && !t->bits;
	if (t->size != 1 && t->size != 2 && t->size != 4 && t->size != 8)
		return false;
	return tb_filter_field_legal(t, fields);
}

/* Return true if a test of a text, or with TB_TEST_EMPTY of a dynamic array, is legal. */
static bool tb_filter_extent_legal(const struct tb_test *t, const struct tb_field_def *fields)
{
	bool dynamic = t->flags == TB_TEST_DATA_LOC || t->flags == TB_TEST_REL_LOC;

	if (t->size || t->bit || t->bits || t->value || (t->flags && !dynamic))
		return false;
	if (t->source == TB_TEST_COMM)
		return t->op == TB_TEST_GLOB && !t->offset && !t->length && !t->flags;
	if (t->source != TB_TEST_FIELD)
		return false;
	if (dynamic ? t->length : (!t->length || t->op == TB_TEST_EMPTY))
		return false;
	return tb_filter_field_legal(t, fields);
}

static bool tb_filter_test_legal(const struct tb_test *t, const u8 *data, u32 data_bytes,
				 const struct tb_field_def *fields)
{
	if (t->reserved[0] || t->reserved[1] || t->reserved[2])
		return false;
	if ((u32)t->data + t->data_bytes > data_bytes)
		return false;
	switch (t->op) {
	case TB_TEST_EQ:
	case TB_TEST_LT:
	case TB_TEST_LE:
	case TB_TEST_BITS:
		return !t->data && !t->data_bytes && tb_filter_number_legal(t, fields);
	case TB_TEST_IN:
		return t->data_bytes && !t->value && tb_filter_number_legal(t, fields);
	case TB_TEST_GLOB:
		return t->data_bytes <= TB_GLOB_MAX &&
		       tb_glob_legal(data + t->data, t->data_bytes) &&
		       tb_filter_extent_legal(t, fields);
	case TB_TEST_EMPTY:
		return !t->data && !t->data_bytes && tb_filter_extent_legal(t, fields);
	default:
		return false;
	}
}

/* Return true if the jump by @to from test @i ends the run or leads to a test. */
static bool tb_filter_jump_legal(u32 to, u32 i, u32 nr)
{
	return to == TB_TEST_PASS || to == TB_TEST_REJECT || i + 1 + to < nr;
}

/**
 * tb_filter_make() - check tests and make a filter of them
 * @out: out: the filter, to free with tb_filter_free()
 * @tests: the tests, copied; need not be legal
 * @nr: number of tests, 1 to TB_TESTS_MAX
 * @data: data that the tests compare with, copied
 * @data_bytes: size of @data, at most TB_TEST_DATA_MAX
 * @fields: fields of the event in the form that it is filtered in; the last one has no name
 * @bad: out: with -EINVAL, the wrong test; @nr if @nr or @data_bytes is out of range
 *
 * Context: process.
 * Return: 0; -EINVAL; -ENOMEM.
 */
int tb_filter_make(struct tb_filter **out, const struct tb_test *tests, u32 nr, const void *data,
		   u32 data_bytes, const struct tb_field_def *fields, u32 *bad)
{
	struct tb_filter *f;
	u32 i;

	*bad = nr;
	if (!nr || nr > TB_TESTS_MAX || data_bytes > TB_TEST_DATA_MAX)
		return -EINVAL;
	f = tb_filter_alloc(sizeof(*f) + nr * sizeof(*tests) + data_bytes);
	if (!f)
		return -ENOMEM;
	f->nr = nr;
	f->data = (u8 *)&f->tests[nr];
	memcpy(f->tests, tests, nr * sizeof(*tests));
	memcpy(&f->tests[nr], data, data_bytes);
	for (i = 0; i < nr; i++) {
		const struct tb_test *t = &f->tests[i];

		if (!tb_filter_test_legal(t, f->data, data_bytes, fields) ||
		    !tb_filter_jump_legal(t->yes, i, nr) || !tb_filter_jump_legal(t->no, i, nr)) {
			*bad = i;
			tb_filter_free(f);
			return -EINVAL;
		}
	}
	*out = f;
	return 0;
}

/* Free a filter, or NULL, which no probe runs any more. */
void tb_filter_free(struct tb_filter *f)
{
	kvfree(f);
}
