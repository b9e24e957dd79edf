/* SPDX-License-Identifier: GPL-2.0-only */
/*
 * What each pass of passes.h, and survey.h, reads: the unit's own definitions, then the kernel's
 * header.  Without a guard, because each pass includes this file.
 */
#ifdef TB_EXTRA
#include TB_EXTRA
#endif
#include TB_HEADER
