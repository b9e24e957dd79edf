/* SPDX-License-Identifier: GPL-2.0-only */
/* passed on, never looked at */
enum cachefiles_content { TB_CACHEFILES_CONTENT };
