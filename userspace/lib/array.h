/* SPDX-License-Identifier: LGPL-2.1-or-later */
/*
 * Arrays that grow.
 */
#ifndef TRACEBUF_ARRAY_H
#define TRACEBUF_ARRAY_H

#include <stddef.h>

/* error.c: make room for one more item at the end of an array; -ENOMEM */
int tb_array_grow(void *array, size_t *room, size_t count, size_t size);
/* make an array whose items all exist as long as @index needs, with new items of zeros; -ENOMEM */
int tb_array_reach(void *array, unsigned int *count, unsigned int index, size_t size);

#endif /* TRACEBUF_ARRAY_H */
