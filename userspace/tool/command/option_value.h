/* SPDX-License-Identifier: GPL-2.0-only */
/*
 * Options that only set a variable.
 */
#ifndef TRACEBUF_TOOL_OPTION_VALUE_H
#define TRACEBUF_TOOL_OPTION_VALUE_H

#include <stdbool.h>

/* The option sets @text to its value, or @flag to true.  A list of them ends with zeros */
struct option_value {
	int option;
	const char **text;
	bool *flag;
};

/* Set the variable of @option; false: @values does not have it */
static inline bool take_value(const struct option_value *values, int option, const char *value)
{
	while (values->option && values->option != option)
		values++;
	if (values->text)
		*values->text = value;
	if (values->flag)
		*values->flag = true;
	return values->option;
}

#endif /* TRACEBUF_TOOL_OPTION_VALUE_H */
