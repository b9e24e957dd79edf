// SPDX-License-Identifier: GPL-2.0-only
/*
 * Names of error numbers; see error_names.h.
 */
#include <stddef.h>
#include <string.h>
#include "error_names.h"

/* linux/errno.h: seen in a trace, for instance, when a signal interrupts a call */
static const char *const inside[] = {
	"ERESTARTSYS", "ERESTARTNOINTR", "ERESTARTNOHAND", "ENOIOCTLCMD",
	"ERESTART_RESTARTBLOCK", "EPROBE_DEFER", "EOPENSTALE", "ENOPARAM", NULL, "EBADHANDLE",
	"ENOTSYNC", "EBADCOOKIE", "ENOTSUPP", "ETOOSMALL", "ESERVERFAULT", "EBADTYPE",
	"EJUKEBOX", "EIOCBQUEUED", "ERECALLCONFLICT", "ENOGRACE",
};

enum { FIRST_INSIDE = 512 };

const char *error_name(int64_t number)
{
	if (number <= 0 || number > ERROR_MAX)
		return NULL;
	if (number >= FIRST_INSIDE &&
	    number < FIRST_INSIDE + (int64_t)(sizeof(inside) / sizeof(inside[0])))
		return inside[number - FIRST_INSIDE];
	return strerrorname_np((int)number);
}
