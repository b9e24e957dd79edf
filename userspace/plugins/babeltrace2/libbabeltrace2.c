// SPDX-License-Identifier: GPL-2.0-only
/*
 * libbabeltrace2 for the tool, loaded when it is wanted: so that the tool remains one file that
 * runs where Babeltrace is not installed.
 *
 * calls.list has the functions; the linker complains of those that are missing there.
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
	/* in the order in which they are in the table */
	static const char *const names[] = { BS_FUNCTION_NAMES };
	void *library, *call;
	size_t i;

	library = dlopen(LIBRARY, RTLD_NOW | RTLD_LOCAL);
	if (!library) {
		snprintf(error, size, "CTF is written by Babeltrace 2, whose library is not here (Debian: apt install libbabeltrace2-0): %s",
			 dlerror());
		return -ENOENT;
	}
	for (i = 0; i < sizeof(names) / sizeof(names[0]); i++) {
		call = dlsym(library, names[i]);
		if (!call) {
			snprintf(error, size, "Babeltrace's library here (%s) has no %s: version 2.0 or newer is wanted",
				 LIBRARY, names[i]);
			dlclose(library);
			return -ENOENT;
		}
		memcpy((char *)&bs_library + i * sizeof(call), &call, sizeof(call));
	}
	/* it stays: its plugins do not like to be unloaded */
	return 0;
}
