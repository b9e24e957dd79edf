/* SPDX-License-Identifier: GPL-2.0-only */
#define smp_load_acquire(p)	tb_load_acquire(p)
