/* SPDX-License-Identifier: GPL-2.0-only */
/* sys_enter and sys_exit have probes written by hand, in events/calls.c. */
#define TB_SKIP_sys_enter 1
#define TB_SKIP_sys_exit 1
