/* SPDX-License-Identifier: GPL-2.0-only */
/*
 * Names of error numbers, with those that only the kernel uses.
 */
#ifndef TRACEBUF_ERROR_NAMES_H
#define TRACEBUF_ERROR_NAMES_H

#include <stdint.h>

/* The highest number that can be the result of a system call */
#define ERROR_MAX 4095

/* "ENOENT" for 2, "ERESTARTSYS" for 512; NULL: there is none */
const char *error_name(int64_t number);

#endif /* TRACEBUF_ERROR_NAMES_H */
