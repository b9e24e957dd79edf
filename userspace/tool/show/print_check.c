// SPDX-License-Identifier: GPL-2.0-only
/*
 * Check that libtraceevent can print an event safely and correctly.
 *
 * It trusts lengths, array indexes and divisors in an event, which a damaged file can set to any
 * value.  So expressions for lengths and indexes must be bounded if the fields in them are, and
 * divisors must be constants.
 *
 * It also computes constants while it parses a format, and can crash then.  So print_check_text()
 * looks at the text before that.
 *
 * Wrong text is worse than plain numbers.  So a format is refused if libtraceevent would misread
 * its operators, or would read a name in it as 0.
 */
#include <ctype.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <event-parse.h>
#include "print_format.h"

struct check {
	const struct tb_format *format;
	struct print_lengths *lengths;
};

static bool is_op(const struct tep_print_arg *arg, const char *op)
{
	return arg->op.op && !strcmp(arg->op.op, op);
}

static bool is_constant(const struct tep_print_arg *arg,
			unsigned long long min, unsigned long long max)
{
	unsigned long long value;
	char *end;

	while (arg && arg->type == TEP_PRINT_TYPE)
		arg = arg->typecast.item;
	if (!arg || arg->type != TEP_PRINT_ATOM || !arg->atom.atom)
		return false;
	value = strtoull(arg->atom.atom, &end, 0);
	end += strspn(end, "uUlL");
	return !*end && end != arg->atom.atom && value >= min && value <= max;
}

/* Note that field @name is a length; false: it cannot be one, or there are too many */
static bool add_length(struct check *check, const char *name)
{
	const struct tb_format_field *field =
		tb_format_field(check->format, name);
	struct print_lengths *lengths = check->lengths;
	unsigned int i;

	if (!field || !field->width || field->count ||
	    field->flags & (TB_FIELD_DATA_LOC | TB_FIELD_REL_LOC))
		return false;
	for (i = 0; i < lengths->count; i++)
		if (lengths->fields[i] == field)
			return true;
	if (lengths->count == PRINT_LENGTHS)
		return false;
	lengths->fields[lengths->count++] = field;
	return true;
}

/* True if @arg has an upper bound as long as the fields in it have; notes these fields */
static bool is_bounded(struct check *check, const struct tep_print_arg *arg)
{
	const struct tep_print_arg *left, *right;

	if (!arg)
		return false;
	switch (arg->type) {
	case TEP_PRINT_ATOM:
		return is_constant(arg, 0, PRINT_LENGTH_MAX);
	case TEP_PRINT_DYNAMIC_ARRAY_LEN:
		return true;
	case TEP_PRINT_TYPE:
		return is_bounded(check, arg->typecast.item);
	case TEP_PRINT_FIELD:
		return add_length(check, arg->field.name);
	case TEP_PRINT_OP:
		left = arg->op.left;
		right = arg->op.right;
		if (is_op(arg, "/"))
			return is_bounded(check, left) &&
			       is_constant(right, 1, UINT32_MAX);
		if (is_op(arg, ">>"))
			return is_bounded(check, left) && is_constant(right, 0, 63);
		if (is_op(arg, "*"))
			return is_bounded(check, left) &&
			       is_constant(right, 0, PRINT_FACTOR_MAX / 8);
		if (is_op(arg, ":"))
			return is_bounded(check, left) && is_bounded(check, right);
		if (is_op(arg, "?"))
			return right && right->type == TEP_PRINT_OP &&
			       is_bounded(check, right);
		return false;
	default:
		return false;
	}
}

/* True if the field exists; @dynamic: and points to its data */
static bool is_field(const struct check *check, const char *name, bool dynamic)
{
	const struct tb_format_field *field =
		tb_format_field(check->format, name);

	return field && (!dynamic || field->flags & (TB_FIELD_DATA_LOC |
						     TB_FIELD_REL_LOC));
}

static bool is_array(const struct tep_print_arg *arg)
{
	return arg && (arg->type == TEP_PRINT_DYNAMIC_ARRAY ||
		       arg->type == TEP_PRINT_FIELD);
}

/* True for arguments of print_array() in print_format.c: array, count, size of an item */
static bool is_print_array(struct check *check, const struct tep_print_arg *arg)
{
	return arg && arg->type == TEP_PRINT_DYNAMIC_ARRAY &&
	       !arg->dynarray.index && is_bounded(check, arg->next) &&
	       is_constant(arg->next->next, 1, 8);
}

/* ---- operators ---- */

/* Return the precedence in C of the operator at @text, 1 binds tightest; 0: no operator */
static int looseness(const char *text, size_t *length)
{
	static const char *const ranks[] = {
		"* / %", "+ -", "<< >>", "<= >= < >", "== !=", "&&", "||",
		"&", "^", "|", "? :", "= ! ,",
	};
	static const int order[] = { 1, 2, 3, 4, 5, 9, 10, 6, 7, 8, 11, 12 };
	const char *at;
	size_t i;

	for (i = 0; i < sizeof(ranks) / sizeof(ranks[0]); i++) {
		for (at = ranks[i]; *at; at += strspn(at, " ")) {
			*length = strcspn(at, " ");
			if (!strncmp(at, text, *length))
				return order[i];
			at += *length;
		}
	}
	return 0;
}

#define NESTED 64

/* Operators that wait for the end of their right operand, the outermost first */
struct pending {
	struct { int loose; char what; } list[NESTED];
	int count;
	int base[NESTED];		/* for each open parenthesis: its first operator */
	int depth;
};

/* True if (a outer b) inner c equals a outer (b inner c), for operators of one precedence */
static bool is_associative(char outer, char inner)
{
	return strchr("+&|^", outer) || (outer == '*' && inner == '*');
}

/*
 * True if libtraceevent understands this operator as C does.  libtraceevent makes only the one
 * operator before it the left operand of a looser one, and the rest of an expression of one
 * precedence the right operand.
 */
static bool is_understood(struct pending *pending, int loose, char what)
{
	int base = pending->base[pending->depth], top = pending->count - 1;

	if (top >= base && loose > pending->list[top].loose)
		pending->count = top--;
	if (top >= base && loose > pending->list[top].loose)
		return false;
	if (top >= base && loose == pending->list[top].loose &&
	    !is_associative(pending->list[top].what, what))
		return false;
	if (loose >= 11) {
		/* "?", ":" and "," begin a new expression */
		pending->count = base;
		return true;
	}
	if (pending->count == NESTED)
		return false;
	pending->list[pending->count].loose = loose;
	pending->list[pending->count++].what = what;
	return true;
}

/* Enter or leave parentheses; false: too many, or none is open */
static bool follow(struct pending *pending, char c)
{
	if (c == '(') {
		if (++pending->depth == NESTED)
			return false;
		pending->base[pending->depth] = pending->count;
	} else if (c == ')') {
		if (!pending->depth)
			return false;
		pending->count = pending->base[pending->depth--];
	}
	return true;
}

static bool is_misread(const char *text)
{
	struct pending pending = { .count = 0 };
	bool quoted = false, operand = false;
	size_t length;
	int loose;

	for (; *text; text += length) {
		length = 1;
		if (*text == '"')
			quoted = !quoted;
		if (*text == '\\' && quoted && text[1])
			length = 2;
		if (quoted || *text == ' ')
			continue;
		if (!strncmp(text, "->", 2)) {
			length = 2;
			continue;
		}
		if (!follow(&pending, *text))
			return true;
		loose = operand ? looseness(text, &length) : 0;
		if (loose && !is_understood(&pending, loose, *text))
			return true;
		if (!loose)
			length = 1;
		operand = !loose && *text != '(';
	}
	return false;
}

/* libtraceevent crashes on flags or symbols of a field that does not exist */
static bool has_fields(const struct tb_format *format)
{
	const char *at = format->print;
	char name[TB_NAME_MAX];
	size_t length;

	while ((at = strstr(at, "REC->"))) {
		at += strlen("REC->");
		for (length = 0; is_of_name(at[length]); length++)
			if (length == sizeof(name) - 1)
				return false;
		memcpy(name, at, length);
		name[length] = 0;
		if (!tb_format_field(format, name))
			return false;
	}
	return true;
}

/* ---- what makes libtraceevent crash while it parses ---- */

/* True if @text begins with a decimal, octal or hexadecimal number other than 0 */
static bool is_divisor_number(const char *text)
{
	char *end;

	if (!isdigit((unsigned char)*text) || !strtoull(text, &end, 0))
		return false;
	end += strspn(end, "uUlL");
	return !is_of_name(*end) && *end != '.';
}

/*
 * libtraceevent divides constants when it parses a format, also by 0 (SIGFPE), and reads each name
 * as 0: those of fields, and what functions as __builtin_expect() return.  So allow only divisors
 * of the kernel's formats: REC->field, and numbers other than 0.
 */
static bool may_divide_by_zero(const char *divisor)
{
	divisor += strspn(divisor, " \t\n");
	return !is_divisor_number(divisor) && strncmp(divisor, "REC->", strlen("REC->"));
}

/*
 * True if the member or item at @at is none of the kernel's formats: libtraceevent crashes when it
 * gives up within some of them.  Only REC has members, and a comma, a parenthesis or an operator
 * follows an item.
 */
static bool is_odd_access(const char *text, const char *at)
{
	if (*at == ']') {
		at += 1 + strspn(at + 1, " ");
		return *at && (!strchr(",)?:+-*/%&|^<>=!", *at) || !strncmp(at, "->", 2));
	}
	if (strncmp(at, "->", 2))
		return false;
	return at - text < 4 || strncmp(at - 3, "REC", 3) || is_of_name(at[-4]);
}

/* It parses operators recursively, until the stack is full.  The kernel's formats have 250 */
#define OPERATORS_MAX 2048

/*
 * True if libtraceevent may crash while it parses the text from @begin on, or sees other strings
 * than this file.  A character as '"' would begin a string here; libtraceevent reads characters as
 * 0 anyway.  It takes the last quote of "\\" for one within the string.  It frees the token of
 * some sizeof() twice; those of the kernel's formats are numbers by now.
 */
static bool may_crash(const char *begin)
{
	const char *text = begin;
	unsigned int operators = 0;
	bool quoted = false;

	for (; *text; text++) {
		if (*text == '"') {
			quoted = !quoted;
		} else if (quoted) {
			if (*text != '\\')
				continue;
			if (!text[1] || text[1] == '\\')
				return true;
			text++;
		} else if (*text == '\'') {
			return true;
		} else if (strchr("/%", *text) && may_divide_by_zero(text + 1)) {
			return true;
		} else if (!strncmp(text, "sizeof", strlen("sizeof")) ||
			   is_odd_access(begin, text)) {
			return true;
		} else if (strchr("!~+-*/%&|^<>=?:[", *text) && ++operators > OPERATORS_MAX) {
			return true;
		}
	}
	return quoted;
}

int print_check_text(const struct tb_format *format)
{
	return has_fields(format) && !is_misread(format->print) &&
	       !may_crash(format->print);
}

/* ---- parsed formats ---- */

/* True if all values of flags or symbols are numbers, and not names with unknown values */
static bool are_numbers(const struct tep_print_flag_sym *value)
{
	char *end;

	for (; value; value = value->next) {
		if (!value->value)
			return false;
		strtoull(value->value, &end, 0);
		if (end == value->value || end[strspn(end, "uUlL")])
			return false;
	}
	return true;
}

/* True if a field in @arg is signed: libtraceevent compares numbers as unsigned */
static bool has_sign(const struct check *check, const struct tep_print_arg *arg)
{
	const struct tb_format_field *field;

	if (!arg)
		return false;
	switch (arg->type) {
	case TEP_PRINT_FIELD:
		field = tb_format_field(check->format, arg->field.name);
		return field && field->flags & TB_FIELD_SIGNED;
	case TEP_PRINT_TYPE:
		return has_sign(check, arg->typecast.item);
	case TEP_PRINT_OP:
		return has_sign(check, arg->op.left) ||
		       has_sign(check, arg->op.right);
	default:
		return false;
	}
}

static bool is_comparison(const struct tep_print_arg *arg)
{
	return is_op(arg, "<") || is_op(arg, ">") || is_op(arg, "<=") ||
	       is_op(arg, ">=");
}

static bool is_safe(struct check *check, const struct tep_print_arg *arg)
{
	if (!arg)
		return true;
	switch (arg->type) {
	case TEP_PRINT_FIELD:
		return is_field(check, arg->field.name, false);
	case TEP_PRINT_STRING:
		return is_field(check, arg->string.string, true);
	case TEP_PRINT_BITMASK:
	case TEP_PRINT_CPUMASK:
		return is_field(check, arg->bitmask.bitmask, true);
	case TEP_PRINT_TYPE:
		return is_safe(check, arg->typecast.item);
	case TEP_PRINT_FLAGS:
		return are_numbers(arg->flags.flags) &&
		       is_safe(check, arg->flags.field);
	case TEP_PRINT_SYMBOL:
		return are_numbers(arg->symbol.symbols) &&
		       is_safe(check, arg->symbol.field);
	case TEP_PRINT_HEX:
	case TEP_PRINT_HEX_STR:
		return is_array(arg->hex.field) &&
		       is_bounded(check, arg->hex.size);
	case TEP_PRINT_INT_ARRAY:
		return false;		/* print_format.c replaces it by print_array() */
	case TEP_PRINT_DYNAMIC_ARRAY:
		return !arg->dynarray.index ||
		       is_bounded(check, arg->dynarray.index);
	case TEP_PRINT_OP:
		if (is_op(arg, "/") || is_op(arg, "%"))
			return is_safe(check, arg->op.left) &&
			       is_constant(arg->op.right, 1, UINT64_MAX);
		if (is_op(arg, "["))
			return is_safe(check, arg->op.left) &&
			       is_bounded(check, arg->op.right);
		if (is_comparison(arg) && has_sign(check, arg))
			return false;
		return is_safe(check, arg->op.left) &&
		       is_safe(check, arg->op.right);
	case TEP_PRINT_FUNC:
		return is_print_array(check, arg->func.args);
	default:
		return true;
	}
}

/* True if a field sets a width ('*'), and so the length of the output.  A precision only cuts text,
 * and for %*ph libtraceevent checks the length */
static bool has_width(const char *text)
{
	while ((text = strchr(text, '%'))) {
		text += 1 + strspn(text + 1, "-+ #0123456789");
		if (*text == '*' && strncmp(text, "*ph", 3))
			return true;
		text += *text == '%';
	}
	return false;
}

int print_check(const struct tep_print_fmt *print,
		const struct tb_format *format, struct print_lengths *lengths)
{
	struct check check = { .format = format, .lengths = lengths };
	const struct tep_print_arg *arg;

	lengths->count = 0;
	if (!print->format || has_width(print->format))
		return 0;
	for (arg = print->args; arg; arg = arg->next)
		if (!is_safe(&check, arg))
			return 0;
	return 1;
}
