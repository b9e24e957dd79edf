// SPDX-License-Identifier: GPL-2.0-only
/*
 * Create classes of fields with names that Babeltrace and CTF accept, and set texts.
 *
 * Names may come from drivers, programs, and damaged files.  Babeltrace aborts if two members of a
 * structure have the same name, and CTF accepts only C identifiers.  So this file changes names.
 */
#include <errno.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include "source.h"
#include "../../lib/utf8.h"

#define NAME_LENGTH 64

static bool is_letter(char c)
{
	return (c >= 'a' && c <= 'z') || (c >= 'A' && c <= 'Z') || c == '_';
}

static bool is_digit(char c)
{
	return c >= '0' && c <= '9';
}

static void write_identifier(char plain[NAME_LENGTH], const char *name)
{
	size_t used = 0;

	if (!is_letter(*name))
		plain[used++] = '_';
	for (; *name && used < NAME_LENGTH - 1; name++)
		plain[used++] = is_letter(*name) || is_digit(*name) ? *name : '_';
	plain[used] = 0;
}

/* Write an identifier that no member of @structure has */
static void write_unique_identifier(char plain[NAME_LENGTH + 12], bt_field_class *structure,
				    const char *name)
{
	unsigned int number = 2;
	size_t length;

	write_identifier(plain, name);
	length = strlen(plain);
	while (bt_field_class_structure_borrow_member_by_name_const(structure,
								    plain))
		snprintf(plain + length, 12, "_%u", number++);
}

bool bs_member_add(bt_field_class *structure, const char *name,
		   bt_field_class *class)
{
	char plain[NAME_LENGTH + 12];
	bool fine;

	if (!class)
		return false;
	write_unique_identifier(plain, structure, name);
	fine = !bt_field_class_structure_append_member(structure, plain, class);
	bt_field_class_put_ref(class);
	return fine;
}

bool bs_sequence_add(bt_trace_class *trace_class, bt_field_class *structure,
		     const char *name, bt_field_class *element)
{
	bt_field_class *length, *class = NULL;
	char text[NAME_LENGTH + 16];
	bool fine = false;

	length = bs_integer_class_create(trace_class, false, 32, false);
	if (length && element)
		class = bt_field_class_array_dynamic_create(trace_class,
							    element, length);
	/* the name that LTTng uses */
	snprintf(text, sizeof(text), "_%.48s_length", name);
	if (class) {
		fine = bs_member_add(structure, text, length) &&
		       bs_member_add(structure, name, class);
	} else if (length) {
		bt_field_class_put_ref(length);
	}
	if (element)
		bt_field_class_put_ref(element);
	return fine;
}

/* ---- text ---- */

bool bs_text_set(bt_field *field, const char *text, size_t length)
{
	size_t at = 0, plain = 0, bytes;
	char escape[8];

	bt_field_string_clear(field);
	while (at < length) {
		bytes = text[at] ? utf8_size(text + at, length - at) : 0;
		if (bytes) {
			at += bytes;
			continue;
		}
		snprintf(escape, sizeof(escape), "\\x%02x",
			 (unsigned char)text[at]);
		if (bt_field_string_append_with_length(field, text + plain,
						       at - plain) ||
		    bt_field_string_append(field, escape))
			return false;
		plain = ++at;
	}
	return !bt_field_string_append_with_length(field, text + plain,
						   at - plain);
}

/* ---- numbers with names ---- */

/* sink.ctf.fs of Babeltrace 2.0 aborts on whole bytes that are no C type: 24, 40, 48, 56 bits */
static unsigned int round_up_bits(unsigned int bits)
{
	if (bits % 8)
		return bits;
	return bits <= 8 ? 8 : bits <= 16 ? 16 : bits <= 32 ? 32 : 64;
}

bt_field_class *bs_integer_class_create(bt_trace_class *trace_class, bool is_signed,
					unsigned int bits, bool hex)
{
	bt_field_class *class = is_signed ?
		bt_field_class_integer_signed_create(trace_class) :
		bt_field_class_integer_unsigned_create(trace_class);

	if (!class)
		return NULL;
	bt_field_class_integer_set_field_value_range(class, round_up_bits(bits));
	if (hex)
		bt_field_class_integer_set_preferred_display_base(class,
			BT_FIELD_CLASS_INTEGER_PREFERRED_DISPLAY_BASE_HEXADECIMAL);
	return class;
}

static int compare_labels(const void *a, const void *b)
{
	const struct bs_label *first = a, *second = b;
	int order = strcmp(first->text, second->text);

	if (order)
		return order;
	return first->value < second->value ? -1 : first->value > second->value;
}

static bool fits_bits(int64_t value, bool is_signed, unsigned int bits)
{
	if (!is_signed)
		return value >= 0 && (bits > 62 || value >> bits == 0);
	return bits > 63 || (uint64_t)(value >> (bits - 1)) + 1 <= 1;
}

/* Map the name of the first label to the numbers of all @count labels */
static bool add_mapping(bt_field_class *class, bool is_signed,
			const struct bs_label *labels, size_t count)
{
	bt_integer_range_set_unsigned *numbers = NULL;
	bt_integer_range_set_signed *integers = NULL;
	bool fine;
	size_t i;

	if (is_signed)
		integers = bt_integer_range_set_signed_create();
	else
		numbers = bt_integer_range_set_unsigned_create();
	fine = integers || numbers;
	for (i = 0; fine && i < count; i++) {
		if (i && labels[i].value == labels[i - 1].value)
			continue;
		fine = is_signed ?
		       !bt_integer_range_set_signed_add_range(integers,
				labels[i].value, labels[i].value) :
		       !bt_integer_range_set_unsigned_add_range(numbers,
				(uint64_t)labels[i].value,
				(uint64_t)labels[i].value);
	}
	if (fine)
		fine = is_signed ?
		       !bt_field_class_enumeration_signed_add_mapping(class,
				labels->text, integers) :
		       !bt_field_class_enumeration_unsigned_add_mapping(class,
				labels->text, numbers);
	bt_integer_range_set_signed_put_ref(integers);
	bt_integer_range_set_unsigned_put_ref(numbers);
	return fine;
}

bt_field_class *bs_enumeration_class_create(bt_trace_class *trace_class, bool is_signed,
					    unsigned int bits, struct bs_label *labels,
					    size_t count)
{
	bt_field_class *class;
	size_t i, kept = 0, same;

	for (i = 0; i < count; i++)
		if (fits_bits(labels[i].value, is_signed, bits))
			labels[kept++] = labels[i];
	if (!kept)
		return bs_integer_class_create(trace_class, is_signed, bits, false);
	qsort(labels, kept, sizeof(*labels), compare_labels);
	class = is_signed ? bt_field_class_enumeration_signed_create(trace_class) :
		bt_field_class_enumeration_unsigned_create(trace_class);
	if (!class)
		return NULL;
	bt_field_class_integer_set_field_value_range(class, round_up_bits(bits));
	for (i = 0; i < kept; i += same) {
		for (same = 1; i + same < kept &&
			       !strcmp(labels[i].text, labels[i + same].text);)
			same++;
		if (!add_mapping(class, is_signed, labels + i, same)) {
			bt_field_class_put_ref(class);
			return NULL;
		}
	}
	return class;
}

/* ---- print formats ---- */

static const char *skip_space(const char *at)
{
	while (*at == ' ' || *at == '\t' || *at == '\n')
		at++;
	return at;
}

static const char *expect_char(const char *at, char c)
{
	at = skip_space(at);
	return *at == c ? at + 1 : NULL;
}

/* Parse `{ 3, "name" }' at @at.  Return the end; NULL: the text is something else */
static const char *parse_label(const char *at, struct bs_label *label)
{
	size_t length;
	char *end;

	at = expect_char(at, '{');
	if (!at)
		return NULL;
	at = skip_space(at);
	errno = 0;
	label->value = (int64_t)strtoll(at, &end, 0);
	if (end == at || errno)
		return NULL;
	for (at = end; *at == 'U' || *at == 'u' || *at == 'L' || *at == 'l';)
		at++;
	at = expect_char(at, ',');
	at = at ? expect_char(at, '"') : NULL;
	if (!at)
		return NULL;
	length = strcspn(at, "\"\\");
	if (!length || length >= sizeof(label->text) || at[length] != '"')
		return NULL;
	memcpy(label->text, at, length);
	label->text[length] = 0;
	return expect_char(at + length + 1, '}');
}

size_t bs_labels_parse(const char *print, const char *field,
		       struct bs_label *labels, size_t room)
{
	static const char call[] = "__print_symbolic(";
	size_t length = strlen(field), count;
	const char *at = print;

	while ((at = strstr(at, call))) {
		at = skip_space(at + sizeof(call) - 1);
		if (strncmp(at, "REC->", 5) || strncmp(at + 5, field, length) ||
		    !expect_char(at + 5 + length, ','))
			continue;
		at = expect_char(at + 5 + length, ',');
		for (count = 0; count < room; count++) {
			at = parse_label(at, &labels[count]);
			if (!at)
				break;
			at = skip_space(at);
			if (*at == ')')
				return count + 1;
			at = expect_char(at, ',');
			if (!at)
				break;
		}
		return 0;	/* half a list would be wrong */
	}
	return 0;
}
