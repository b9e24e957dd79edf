/* SPDX-License-Identifier: GPL-2.0-only */
#include <linux/io_uring.h>

/* Modules cannot get the names of operations; the events also have their numbers. */
#define io_uring_get_opcode(opcode)	""
