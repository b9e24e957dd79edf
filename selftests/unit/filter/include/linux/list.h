/* SPDX-License-Identifier: GPL-2.0-only */
/* Stands in for the kernel's where a header of the module is read in user space. */
#ifndef UNIT_LIST_H
#define UNIT_LIST_H

struct list_head {
	struct list_head *next, *prev;
};

#endif /* UNIT_LIST_H */
