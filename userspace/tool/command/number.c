// SPDX-License-Identifier: GPL-2.0-only
/*
 * Parse numbers in options: see number.h.
 */
#include <errno.h>
#include <inttypes.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include "command.h"
#include "number.h"

const char *parse_number(const char *text, unsigned int base, uint64_t max, uint64_t *value)
{
	const char *digit = text;
	uint64_t number = 0;
	unsigned int next;

	for (;; digit++) {
		next = *digit >= '0' && *digit <= '9' ? (unsigned int)(*digit - '0') :
		       (*digit | 0x20) >= 'a' && (*digit | 0x20) <= 'f' ?
		       (unsigned int)((*digit | 0x20) - 'a') + 10 : base;
		if (next >= base)
			break;
		if (next > max || number > (max - next) / base)
			return NULL;
		number = number * base + next;
	}
	if (digit == text)
		return NULL;
	*value = number;
	return digit;
}

int parse_u32(const char *text, uint32_t min, uint32_t max, uint32_t *value)
{
	const char *end;
	uint64_t number;

	end = parse_number(text, 10, max, &number);
	if (!end || *end || number < min)
		return -EINVAL;
	*value = (uint32_t)number;
	return 0;
}

int parse_s32(const char *text, int32_t min, int32_t max, int32_t *value)
{
	bool minus = *text == '-';
	const char *end;
	uint64_t number;
	int64_t with_sign;

	end = parse_number(text + minus, 10, INT32_MAX, &number);
	if (!end || *end)
		return -EINVAL;
	with_sign = minus ? -(int64_t)number : (int64_t)number;
	if (with_sign < min || with_sign > max)
		return -EINVAL;
	*value = (int32_t)with_sign;
	return 0;
}

const char *parse_decimal(const char *text, double *value)
{
	size_t digits = strspn(text, "0123456789"), more = 0;
	char *end;

	if (text[digits] == '.')
		more = strspn(text + digits + 1, "0123456789");
	if (!digits && !more)
		return NULL;
	errno = 0;
	*value = strtod(text, &end);
	/* refuse hexadecimal numbers and exponents: strtod() then goes on behind the digits */
	if (errno || (size_t)(end - text) != digits + (text[digits] == '.') + more)
		return NULL;
	return end;
}

int parse_seconds(const char *text, double *seconds)
{
	const char *end;

	end = parse_decimal(text, seconds);
	if (!end || !(*seconds > 0))
		return -EINVAL;
	if (!strcmp(end, "ms"))
		*seconds /= 1000;
	else if (!strcmp(end, "m"))
		*seconds *= 60;
	else if (!strcmp(end, "h"))
		*seconds *= 3600;
	else if (*end && strcmp(end, "s"))
		return -EINVAL;
	/* twice the time, in nanoseconds, must fit into 64 bits */
	return *seconds > 1e9 ? -EINVAL : 0;
}

/* ---- lists ---- */

/* Return the place of @number in the list, or where it belongs */
static size_t find_number(const struct number_list *numbers, uint32_t number)
{
	size_t first = 0, end = numbers->count;

	while (first < end) {
		size_t middle = first + (end - first) / 2;

		if (numbers->list[middle] < number)
			first = middle + 1;
		else
			end = middle;
	}
	return first;
}

bool number_list_has(const struct number_list *numbers, uint32_t number)
{
	size_t at = find_number(numbers, number);

	return at < numbers->count && numbers->list[at] == number;
}

/* Returns false if there is no room */
static bool add_number(struct number_list *numbers, uint32_t number)
{
	size_t at = find_number(numbers, number);

	if (number_list_has(numbers, number))
		return true;
	if (numbers->count == NUMBERS_MAX)
		return false;
	memmove(numbers->list + at + 1, numbers->list + at,
		(numbers->count - at) * sizeof(*numbers->list));
	numbers->list[at] = number;
	numbers->count++;
	return true;
}

int number_option(const struct command *command, const char *value, uint32_t min, uint32_t max,
		  const char *what, struct number_list *numbers)
{
	const char *at = value;
	uint64_t number;

	for (;; at++) {
		at = parse_number(at, 10, max, &number);
		if (!at || number < min || (*at && *at != ','))
			return misused(command, "'%s' is not a list of %s numbers, as in 12,345",
				       value, what);
		if (!add_number(numbers, (uint32_t)number))
			return misused(command, "more than %d %s numbers", NUMBERS_MAX, what);
		if (!*at)
			return EXIT_FINE;
	}
}

const char *number_list_text(const struct number_list *numbers, char *text, size_t size)
{
	size_t used = 0, i;

	for (i = 0; i < numbers->count && used < size; i++)
		used += (size_t)snprintf(text + used, size - used, "%s%" PRIu32, i ? "," : "",
					 numbers->list[i]);
	return text;
}

int parse_cpus(const char *text, const char **rest, struct cpu_bits *cpus)
{
	uint64_t first, last;
	const char *end;

	memset(cpus, 0, sizeof(*cpus));
	do {
		end = parse_number(text, 10, CPUS_MAX - 1, &first);
		last = first;
		if (end && *end == '-')
			end = parse_number(end + 1, 10, CPUS_MAX - 1, &last);
		if (!end || first > last)
			return -EINVAL;
		for (; first <= last; first++)
			cpus->bits[first / 8] |= (uint8_t)(1 << first % 8);
		text = end + 1;
	} while (*end == ',');
	if (rest)
		*rest = end;
	return *end && !rest ? -EINVAL : 0;
}
