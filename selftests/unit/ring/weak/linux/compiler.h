/* SPDX-License-Identifier: GPL-2.0-only */
/*
 * For module/crash/block_walk.c in test_ring_weak: the kernel's accesses as those of the memory model.
 */
#include "ring_user.h"

#define READ_ONCE(x)		tb_read(&(x))
