// SPDX-License-Identifier: GPL-2.0-only
/*
 * A user reads from the table of counts what became of the events that were attempted. If this
 * fails, a count is in the column of another.
 */
#include <stdio.h>
#include <stdlib.h>
#include "test_lib_fixture.h"
#include "tool/device/device.h"

static const struct tb_stats counts = {
	.attempted = 1000, .recorded = 900, .delivered = 700, .overwritten = 150, .dropped = 100,
	.bytes = 4096, .pending = 50, .blocks = 6, .ready = 5, .held = 4, .marks = 3, .retries = 2,
};

static char *table(bool full)
{
	char *text = NULL;
	size_t size = 0;
	FILE *out = open_memstream(&text, &size);

	assert(out);
	print_table(out, &counts, 1, &counts, full);
	fclose(out);
	return text;
}

/* What record prints at its end */
static void brief(void)
{
	char *text = table(false);

	CHECK(!strcmp(text,
	"  CPU    attempted     recorded    delivered  overwritten    dropped          bytes\n"
	"    0         1000          900          700          150        100           4096\n"
	"  all         1000          900          700          150        100           4096\n"));
	free(text);
}

/* What status prints */
static void full(void)
{
	char *text = table(true);

	CHECK(strstr(text, " bytes    pending   blocks  ready  held    marks  retries\n"));
	CHECK(strstr(text, " 4096         50        6      5     4        3        2\n"));
	free(text);
}

static const struct test tests[] = {
	{ "the table of counts, at the end of record", brief },
	{ "the table of counts, of status", full },
};

int main(void)
{
	return test_main(tests, sizeof(tests) / sizeof(tests[0]));
}
