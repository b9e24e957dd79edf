// SPDX-License-Identifier: GPL-2.0-only
/*
 * Load libbabeltrace2 when the tool exports CTF.  The tool is not linked with the library, so it
 * runs on machines without Babeltrace.
 *
 * libbabeltrace2.list names the functions.  If the tool calls another, linking it fails.
 */
#include <dlfcn.h>
#include <errno.h>
#include <stdio.h>
#include <string.h>
#include "source.h"

#define LIBRARY "libbabeltrace2.so.0"

struct bs_library bs_library;

int bs_library_load(char *error, size_t size)
{
	/* in the order of the members of struct bs_library */
	static const char *const names[] = { BS_FUNCTION_NAMES };
	void *library, *call;
	size_t i;

	library = dlopen(LIBRARY, RTLD_NOW | RTLD_LOCAL);
	if (!library) {
		snprintf(error, size,
			 "CTF export needs libbabeltrace2 (Debian: apt install libbabeltrace2-0): %s",
			 dlerror());
		return -ENOENT;
	}
	for (i = 0; i < sizeof(names) / sizeof(names[0]); i++) {
		call = dlsym(library, names[i]);
		if (!call) {
			snprintf(error, size, "%s has no %s: install Babeltrace 2.0 or newer",
				 LIBRARY, names[i]);
			dlclose(library);
			return -ENOENT;
		}
		memcpy((char *)&bs_library + i * sizeof(call), &call, sizeof(call));
	}
	/* never close the library: its plugins do not support that */
	return 0;
}
