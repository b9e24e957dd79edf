// SPDX-License-Identifier: GPL-2.0-only
/*
 * No filter makes the kernel read outside of the event or of the filter's data, and every accepted
 * filter gives the right answer. If this fails, a program with access to the device crashes the
 * kernel or reads its memory, or a recording lacks events. The filters and events are random.
 *
 * For a refused filter the kernel names a test: all tests before it are legal, and that test is
 * illegal in any filter.  An accepted filter runs on a payload and data of exact size, under the
 * sanitizers, and agrees with a second, plain interpreter.  Random expressions, compiled as the
 * tool compiles them, agree with the expressions.
 */
#include <stdio.h>

#include "probe/filter.h"
#include "ring_ktap.h"

struct filter_task filter_task;
int filter_fail = -1;

#define FIELDS_MAX	8
#define PAYLOAD_MAX	400

static u64 seed;
static char why[200];
static struct tb_field_def fields[FIELDS_MAX + 1];
static u32 nr_fields;
static u8 data[300];
static u32 data_bytes;

static u32 rnd(u32 below)
{
	/* xorshift64* */
	seed ^= seed >> 12;
	seed ^= seed << 25;
	seed ^= seed >> 27;
	return (u32)((seed * 0x2545f4914f6cdd1dull) >> 32) % below;
}

static u64 rnd64(void)
{
	return (u64)rnd(~0u) << 32 ^ rnd(~0u);
}

static bool often(void)
{
	return rnd(16);
}

/* ---- the second interpreter ------------------------------------------- */

/* Can pattern pat[p..] match text[t..]? By a table of all positions */
static bool naive_glob(const u8 *pat, u32 len, const u8 *text, u32 room)
{
	static u8 can[TB_GLOB_MAX + 2][TB_TEXT_MAX + 2];
	u32 start[TB_GLOB_MAX + 1], end[TB_GLOB_MAX + 1], n = 0, p = 0, t, i, size = 0;

	while (size < room && text[size])
		size++;
	while (p < len) {
		start[n] = p;
		if (pat[p] == '[') {
			p++;
			p += pat[p] == '!';
			for (p++; pat[p] != ']'; p++)
				if (pat[p] == '-' && p > start[n] + 1 && pat[p + 1] != ']' &&
				    pat[p - 1] != '!')
					p++;
		} else if (pat[p] == '\\') {
			p++;
		}
		end[n++] = ++p;
	}
	for (t = 0; t <= size; t++)
		can[n][t] = t == size;
	for (i = n; i-- > 0;) {
		const u8 *e = pat + start[i];

		for (t = size + 1; t-- > 0;) {
			bool in = false;

			if (*e == '*') {
				can[i][t] = can[i + 1][t] || (t < size && can[i][t + 1]);
				continue;
			}
			if (t == size) {
				can[i][t] = false;
				continue;
			}
			if (*e == '?') {
				in = true;
			} else if (*e == '[') {
				u32 k = 1 + (e[1] == '!'), last = end[i] - start[i] - 1;

				while (k < last) {
					if (k + 2 < last && e[k + 1] == '-') {
						in |= text[t] >= e[k] && text[t] <= e[k + 2];
						k += 3;
					} else {
						in |= text[t] == e[k++];
					}
				}
				in ^= e[1] == '!';
			} else {
				in = text[t] == e[*e == '\\'];
			}
			can[i][t] = in && can[i + 1][t + 1];
		}
	}
	return can[0][0];
}

static bool naive_test(const struct tb_test *t, const u8 *payload, u32 bytes)
{
	u32 sources[] = { 0, filter_task.tid, filter_task.tgid, filter_task.uid, filter_task.cpu,
		filter_task.context }, bits = 8 * t->size, i;
	bool is_signed = t->flags & TB_TEST_SIGNED;
	__int128 n = 0, value = is_signed ? (__int128)(s64)t->value : (__int128)t->value;

	if (t->op == TB_TEST_GLOB || t->op == TB_TEST_EMPTY) {
		const u8 *text = (const u8 *)filter_task.comm;
		u64 at = t->offset, len = sizeof(filter_task.comm);

		if (t->source == TB_TEST_FIELD) {
			len = t->length;
			if (t->flags) {
				if (at + 4 > bytes)
					return false;
				len = payload[at + 2] | payload[at + 3] << 8;
				if (t->flags == TB_TEST_DATA_LOC && !len && !payload[at] &&
				    !payload[at + 1])
					at = 0;
				else if (t->flags == TB_TEST_DATA_LOC)
					at = (payload[at] | payload[at + 1] << 8) - 8ull;
				else
					at += 4 + (payload[at] | payload[at + 1] << 8);
			}
			if (at > bytes || at + len > bytes)
				return false;
			text = payload + at;
		}
		if (t->op == TB_TEST_GLOB)
			return naive_glob(data + t->data, t->data_bytes, text,
					  len < TB_TEXT_MAX ? len : TB_TEXT_MAX);
		for (i = 0; i < len; i++)
			if (text[i])
				return false;
		return true;
	}
	if (t->source == TB_TEST_FIELD) {
		u32 first = t->bit;

		if (t->offset + t->size > (int)bytes)
			return false;
		if (t->bits)
			bits = t->bits;
		/* read bit by bit */
		for (i = 0; i < bits; i++)
			if (payload[t->offset + (first + i) / 8] >> (first + i) % 8 & 1)
				n |= (__int128)1 << i;
		if (is_signed && n >> (bits - 1) & 1)
			n -= (__int128)1 << bits;
	} else {
		n = sources[t->source];
	}
	switch (t->op) {
	case TB_TEST_EQ:
		return n == value;
	case TB_TEST_LT:
		return n < value;
	case TB_TEST_LE:
		return n <= value;
	case TB_TEST_BITS:
		return (u64)n & (u64)value;
	default:
		return n >= 0 && n < 8 * t->data_bytes &&
			(data[t->data + (u32)n / 8] & 1 << (u32)n % 8);
	}
}

/* 1, 0, or -1 if it takes more steps than there are tests */
static int naive_run(const struct tb_test *tests, u32 nr, const u8 *payload, u32 bytes)
{
	u32 i = 0, steps;

	for (steps = 0; steps < nr; steps++) {
		u32 to;

		if (i >= nr)
			return -1;
		to = naive_test(&tests[i], payload, bytes) ? tests[i].yes : tests[i].no;
		if (to == TB_TEST_PASS || to == TB_TEST_REJECT)
			return to == TB_TEST_PASS;
		i += 1 + to;
	}
	return -1;
}

/* ---- random things ---------------------------------------------------- */

static void random_fields(void)
{
	static const char * const elements[] = { "char", "u8", "u32", "cpumask_t" };
	u32 offset = 0, i;

	nr_fields = rnd(FIELDS_MAX + 1);
	for (i = 0; i < nr_fields; i++) {
		struct tb_field_def *f = &fields[i];

		offset += rnd(3);
		*f = (struct tb_field_def){ .name = "f", .type = "int", .offset = offset,
			.size = 1u << rnd(4) };
		switch (rnd(5)) {
		case 0:
			f->type = elements[rnd(3)];
			f->count = 1 + rnd(20);
			f->size = f->count << (f->type[1] == '3' ? 2 : 0);
			f->flags = TB_FIELD_ARRAY;
			break;
		case 1:
			f->type = elements[rnd(4)];
			f->size = 4;
			f->flags = rnd(2) ? TB_FIELD_DATA_LOC : TB_FIELD_REL_LOC;
			break;
		case 2:
			f->size = 8;
			f->bit = rnd(64);
			f->bits = 1 + rnd(64 - f->bit);
			f->flags = TB_FIELD_BITS;
			break;
		}
		/* fields of bits may share a word */
		if (!(f->flags & TB_FIELD_BITS) || rnd(2))
			offset += f->size;
	}
	fields[nr_fields] = (struct tb_field_def){ 0 };
}

static void random_data(void)
{
	static const char chars[] = "aabbcc*?[]-!\\";
	u32 i;

	data_bytes = rnd(often() ? 60 : sizeof(data));
	for (i = 0; i < data_bytes; i++)
		data[i] = rnd(3) ? (u8)chars[rnd(sizeof(chars))] : rnd(256);
}

static u64 random_value(void)
{
	switch (rnd(4)) {
	case 0:
		return rnd64();
	case 1:
		return (u64)-1 - rnd(4);
	default:
		return rnd(300);
	}
}

/* A random test, often a legal one */
static struct tb_test random_test(u32 i, u32 nr)
{
	const struct tb_field_def *f = &fields[nr_fields ? rnd(nr_fields) : 0];
	struct tb_test t = { .op = TB_TEST_EQ + rnd(TB_TEST_IN), .offset = f->offset };
	u16 *const leads[] = { &t.yes, &t.no };
	u8 *byte = (u8 *)&t;
	u32 k;

	if (rnd(3) == 0) {
		t.source = TB_TEST_TID + rnd(TB_TEST_COMM);
		t.offset = 0;
		if (t.source == TB_TEST_COMM)
			t.op = TB_TEST_GLOB;
	} else if (f->flags & (TB_FIELD_DATA_LOC | TB_FIELD_REL_LOC)) {
		t.op = TB_TEST_GLOB + rnd(2);
		t.flags = f->flags & TB_FIELD_DATA_LOC ? TB_TEST_DATA_LOC : TB_TEST_REL_LOC;
	} else if (f->flags & TB_FIELD_ARRAY && rnd(2)) {
		t.op = TB_TEST_GLOB;
		t.length = f->size;
	} else {
		t.size = f->flags & TB_FIELD_ARRAY ? 1u << rnd(4) : f->size;
		if (t.size < f->size)
			t.offset += rnd(f->size - t.size);
		t.bit = f->bit;
		t.bits = f->bits;
	}
	if (t.op < TB_TEST_GLOB && rnd(2))
		t.flags = TB_TEST_SIGNED;
	if (t.op < TB_TEST_IN)
		t.value = random_value();
	if (t.op == TB_TEST_IN || t.op == TB_TEST_GLOB) {
		t.data = rnd(data_bytes + 1);
		t.data_bytes = rnd(often() ? data_bytes - t.data + 1 : TB_GLOB_MAX + 2);
		/* long random patterns are rarely legal */
		if (t.op == TB_TEST_GLOB && t.data_bytes > 6 && rnd(4))
			t.data_bytes = rnd(6);
	}
	for (k = 0; k < 2; k++)
		*leads[k] = rnd(3) && i + 1 < nr ? rnd(nr - i - 1) :
			    rnd(2) ? TB_TEST_PASS : TB_TEST_REJECT;
	if (!rnd(40))
		byte[rnd(sizeof(t))] = rnd(2) ? rnd(256) : 1u << rnd(8);
	return t;
}

static void random_task(void)
{
	u32 i;

	filter_task = (struct filter_task){ .tid = rnd(300), .tgid = rnd(300),
		.uid = random_value(), .cpu = rnd(4), .context = rnd(0x800) };
	for (i = 0; i < sizeof(filter_task.comm); i++)
		filter_task.comm[i] = rnd(12) ? "abc-]*"[rnd(6)] : 0;
}

static u8 *random_payload(u32 *bytes)
{
	u32 n = rnd(4) ? 60 + rnd(100) : rnd(PAYLOAD_MAX), i;
	u8 *p = malloc(n ? n : 1);

	for (i = 0; i < n; i++)
		p[i] = rnd(4) ? (u8)"abc-]*\0\0\0"[rnd(9)] : rnd(256);
	for (i = 0; i < nr_fields; i++) {
		u32 word = rnd(20) << 16 | rnd(n + 10);

		if (fields[i].flags & (TB_FIELD_DATA_LOC | TB_FIELD_REL_LOC) && often() &&
		    fields[i].offset + sizeof(word) <= n)
			memcpy(p + fields[i].offset, &word, sizeof(word));
	}
	*bytes = n;
	return p;
}

/* ---- programs --------------------------------------------------------- */

static int make(struct tb_filter **f, const struct tb_test *tests, u32 nr, u32 *bad)
{
	/* a copy of exact size; the second interpreter uses @data */
	u8 *copy = malloc(data_bytes ? data_bytes : 1);
	int ret;

	memcpy(copy, data, data_bytes);
	*f = NULL;
	ret = tb_filter_make(f, tests, nr, copy, data_bytes, fields, bad);
	free(copy);
	return ret;
}

/* All tests before @bad are legal, and @bad is not. */
static const char *check_refused(struct tb_test *tests, u32 nr, u32 bad)
{
	const struct tb_test legal = { .op = TB_TEST_EQ, .source = TB_TEST_CPU,
		.yes = TB_TEST_PASS, .no = TB_TEST_REJECT };
	struct tb_test alone[TB_TESTS_MAX], was = tests[bad];
	struct tb_filter *f;
	u32 i, next = 0;
	int ret;

	for (i = 0; i < nr; i++)
		alone[i] = legal;
	alone[bad] = was;
	if (make(&f, alone, nr, &next) != -EINVAL || next != bad)
		return "refused in company, not alone";
	tests[bad] = legal;
	ret = make(&f, tests, nr, &next);
	tests[bad] = was;
	if (!ret)
		tb_filter_free(f);
	else if (next <= bad)
		return "not the first that is wrong";
	return NULL;
}

static u64 accepted, refused, wanted;

static const char *one_program(void)
{
	struct tb_test tests[TB_TESTS_MAX];
	u32 nr = 1 + rnd(rnd(8) ? 6 : TB_TESTS_MAX), bad = 0, bytes, i;
	const char *failed = NULL;
	struct tb_filter *f;
	u8 *payload;
	int ret;

	if (!rnd(8))
		random_fields();
	if (!rnd(4))
		random_data();
	for (i = 0; i < nr; i++)
		tests[i] = random_test(i, nr);
	ret = make(&f, tests, nr, &bad);
	if (ret) {
		refused++;
		if (ret != -EINVAL || f || bad >= nr)
			return "refused, but not for a test";
		return check_refused(tests, nr, bad);
	}
	accepted++;
	for (i = 0; i < 4 && !failed; i++) {
		random_task();
		payload = random_payload(&bytes);
		ret = tb_filter_run(f, payload, bytes);
		wanted += ret;
		if (naive_run(tests, nr, payload, bytes) != ret)
			failed = "another result, or too many steps";
		free(payload);
	}
	tb_filter_free(f);
	return failed;
}

/* ---- expressions ------------------------------------------------------ */

/* Prefix notation: '&', '|', '!', or ATOM for the next test */
struct expression {
	u8 word[200];
	u32 words;
	struct tb_test atoms[TB_TESTS_MAX];
	u32 nr;
};

#define ATOM	'a'

static void random_expression(struct expression *e, u32 depth)
{
	const struct tb_field_def *f;
	u32 kind = depth && e->nr < 20 ? rnd(4) : 3;

	if (kind < 2) {
		e->word[e->words++] = "&|"[kind];
		random_expression(e, depth - 1);
		random_expression(e, depth - 1);
	} else if (kind == 2) {
		e->word[e->words++] = '!';
		random_expression(e, depth - 1);
	} else {
		e->word[e->words++] = ATOM;
		f = &fields[rnd(nr_fields)];
		e->atoms[e->nr++] = (struct tb_test){ .op = TB_TEST_EQ + rnd(5), .size = f->size,
			.offset = f->offset, .flags = rnd(2), .value = rnd(4) };
	}
}

static u32 skip(const struct expression *e, u32 at, u32 *atoms)
{
	u8 word = e->word[at++];

	*atoms += word == ATOM;
	if (word != ATOM)
		at = skip(e, at, atoms);
	if (word == '&' || word == '|')
		at = skip(e, at, atoms);
	return at;
}

static bool evaluate(const struct expression *e, u32 *at, u32 *atom, const u8 *payload, u32 bytes)
{
	u8 word = e->word[(*at)++];
	bool a, b;

	if (word == ATOM)
		return naive_test(&e->atoms[(*atom)++], payload, bytes);
	a = evaluate(e, at, atom, payload, bytes);
	if (word == '!')
		return !a;
	b = evaluate(e, at, atom, payload, bytes);
	return word == '&' ? a && b : a || b;
}

static u16 lead(u32 from, u32 to)
{
	return to >= TB_TEST_REJECT ? to : to - from - 1;
}

/* Write the tests of the expression at @at, from number @first on; return the next number. */
static u32 compile(struct expression *e, u32 at, u32 first, u32 yes, u32 no)
{
	u8 word = e->word[at++];
	u32 left = first;

	if (word == ATOM) {
		e->atoms[first].yes = lead(first, yes);
		e->atoms[first].no = lead(first, no);
		return at;
	}
	if (word == '!')
		return compile(e, at, first, no, yes);
	skip(e, at, &left);
	if (word == '&')
		at = compile(e, at, first, left, no);
	else
		at = compile(e, at, first, yes, left);
	return compile(e, at, left, yes, no);
}

static const char *one_expression(void)
{
	struct expression e = { .words = 0 };
	const char *failed = NULL;
	struct tb_filter *f;
	u32 bad, i, k;

	/* fields that are plain numbers */
	for (i = 0; i < 4; i++)
		fields[i] = (struct tb_field_def){ .name = "f", .type = "int", .offset = 8 * i,
			.size = 1u << i };
	fields[4] = (struct tb_field_def){ 0 };
	nr_fields = 4;
	data[0] = rnd(256);
	data_bytes = 1;
	random_expression(&e, 6);
	for (i = 0; i < e.nr; i++) {
		if (e.atoms[i].op == TB_TEST_IN) {
			e.atoms[i].data_bytes = 1;
			e.atoms[i].value = 0;
		}
	}
	compile(&e, 0, 0, TB_TEST_PASS, TB_TEST_REJECT);
	if (make(&f, e.atoms, e.nr, &bad))
		return "a compiled expression is refused";
	for (k = 0; k < 4 && !failed; k++) {
		u8 *payload = calloc(1, 32);
		u32 at = 0, atom = 0;

		for (i = 0; i < 4; i++)
			payload[8 * i] = rnd(5) ? rnd(4) : 255;
		if (tb_filter_run(f, payload, 32) != evaluate(&e, &at, &atom, payload, 32))
			failed = "not what the expression says";
		free(payload);
	}
	tb_filter_free(f);
	return failed;
}

static void repeat(const char *name, const char *(*run)(void), u64 n)
{
	const char *failed = NULL;
	u64 i;

	for (i = 0; i < n && !failed; i++)
		failed = run();
	if (failed)
		snprintf(why, sizeof(why), "%s; number %llu", failed, (unsigned long long)i);
	ktap_result(name, failed ? why : NULL);
}

int main(int argc, char **argv)
{
	u64 n = argc > 1 ? strtoull(argv[1], NULL, 0) : 2000000;

	seed = argc > 2 ? strtoull(argv[2], NULL, 0) : 1;
	seed = seed * 0x9e3779b97f4a7c15ull | 1;
	ktap_start(2);
	random_fields();
	random_data();
	repeat("filter_fuzz", one_program, n);
	printf("# %llu programs accepted, %llu refused; %llu events of %llu wanted\n",
	       (unsigned long long)accepted, (unsigned long long)refused,
	       (unsigned long long)wanted, (unsigned long long)accepted * 4);
	repeat("filter_expressions", one_expression, n / 2);
	return ktap_end();
}
