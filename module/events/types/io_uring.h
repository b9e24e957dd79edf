/* SPDX-License-Identifier: GPL-2.0-only */
/* Modules cannot get the names of operations; the events also have their numbers. */
#include <linux/io_uring.h>

#define io_uring_get_opcode(opcode)	""
