// SPDX-License-Identifier: GPL-2.0-only
/*
 * Options of the tool that is built with AddressSanitizer. A search for leaks at the end of each
 * command would take longer than most commands, so only `scripts/check --full` asks for it, with
 * ASAN_OPTIONS=detect_leaks=1. Tests of the library always search.
 */
const char *__asan_default_options(void);

const char *__asan_default_options(void)
{
	return "detect_leaks=0";
}
