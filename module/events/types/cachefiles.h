/* SPDX-License-Identifier: GPL-2.0-only */
/*
 * A type of fs/cachefiles/internal.h that prototypes in <trace/events/cachefiles.h> use.  Probes
 * only copy its values, so one enumerator suffices.
 */
enum cachefiles_content { TB_CACHEFILES_CONTENT };
