// SPDX-License-Identifier: LGPL-2.1-or-later
/*
 * Functions that all parts use: error objects, growing arrays, the version.
 */
#include <errno.h>
#include <stdarg.h>
#include <stdio.h>
#include <stdlib.h>
#include "lib/read/internal.h"

#ifndef TB_VERSION
#define TB_VERSION "0.0.0"
#endif

const char *tb_version(void)
{
	return TB_VERSION;
}

int tb_error_set(struct tb_error *error, int code, uint64_t offset,
		 const char *text, ...)
{
	va_list arguments;

	if (error) {
		error->code = code;
		error->offset = offset;
		va_start(arguments, text);
		vsnprintf(error->text, sizeof(error->text), text, arguments);
		va_end(arguments);
	}
	return code;
}

int tb_array_grow(void *array, size_t *room, size_t count, size_t size)
{
	void **place = array;
	size_t wanted;
	void *grown;

	if (count < *room)
		return 0;
	wanted = *room ? *room * 2 : 16;
	if (wanted > SIZE_MAX / size)
		return -ENOMEM;
	grown = realloc(*place, wanted * size);
	if (!grown)
		return -ENOMEM;
	*place = grown;
	*room = wanted;
	return 0;
}

int tb_array_reach(void *array, unsigned int *count, unsigned int index, size_t size)
{
	void **place = array;
	char *grown;

	if (index < *count)
		return 0;
	grown = reallocarray(*place, (size_t)index + 1, size);
	if (!grown)
		return -ENOMEM;
	memset(grown + *count * size, 0, ((size_t)index + 1 - *count) * size);
	*place = grown;
	*count = index + 1;
	return 0;
}
