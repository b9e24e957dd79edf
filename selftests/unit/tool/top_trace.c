// SPDX-License-Identifier: GPL-2.0-only
/*
 * Makes a stream for test_top_screen.sh in parts. Each interval of whole parts shows the same.
 *
 *   top_trace FOLDER COUNT     writes FOLDER/begin, FOLDER/1 to FOLDER/COUNT, and FOLDER/end
 *
 * A part has one block of each of two CPUs and lasts 10 ms. CPU 0 runs hog for 8 ms and late for
 * 1 ms, after late has waited for 2 ms. CPU 1 runs other for 1 ms, and has a softirq. "begin"
 * describes events and threads. "end" has the totals that a recorder writes when it stops.
 */
#include "test_lib_fixture.h"

#define MS 1000000ull
#define BLOCK_LOG2 10

enum { HOG = 101, LATE = 102, OTHER = 103 };

static struct fx fx;

/* Events have only the lower half of the clock: write the upper half when it changes */
static void tell_time(unsigned int cpu, uint64_t time)
{
	if (time >> 32 != fx.rings[cpu].last >> 32)
		assert(fx_time(&fx, cpu, time));
}

static void change(unsigned int cpu, uint64_t time, const char *prev, int tid, int64_t state,
		   const char *next, int to)
{
	struct fx_switch event = fx_switch(prev, tid, state, next, to);

	tell_time(cpu, time);
	assert(fx_composite(&fx, cpu, FX_SWITCH, time, (uint32_t)tid, &event, sizeof(event)));
}

static void part(uint64_t begin)
{
	const struct { char comm[16]; int32_t pid; } wakeup = { "late", LATE };

	fx_open(&fx, 0, begin, 0, NULL);
	change(0, begin, "swapper/0", 0, 0, "hog", HOG);
	change(0, begin + 8 * MS, "hog", HOG, 0, "late", LATE);
	change(0, begin + 9 * MS, "late", LATE, 1, "swapper/0", 0);
	fx_close(&fx, 0);
	fx_open(&fx, 1, begin, 0, NULL);
	change(1, begin + 1 * MS, "swapper/1", 0, 0, "other", OTHER);
	change(1, begin + 2 * MS, "other", OTHER, 1, "swapper/1", 0);
	tell_time(1, begin + 6 * MS);
	assert(fx_composite(&fx, 1, FX_WAKEUP, begin + 6 * MS, 0, &wakeup, sizeof(wakeup)));
	tell_time(1, begin + 9 * MS);
	assert(fx_simple(&fx, 1, FX_SOFTIRQ, begin + 9 * MS, 1));
	fx_close(&fx, 1);
}

/* Write what the program has made since the last call */
static void save(const char *folder, const char *name)
{
	static size_t saved;
	char path[512];
	FILE *file;

	snprintf(path, sizeof(path), "%s/%s", folder, name);
	file = fopen(path, "wb");
	if (!file || fwrite(fx.data + saved, 1, fx.size - saved, file) != fx.size - saved ||
	    fclose(file)) {
		perror(path);
		exit(1);
	}
	saved = fx.size;
}

int main(int argc, char **argv)
{
	unsigned long i, count;
	char name[16];

	if (argc != 3) {
		fprintf(stderr, "usage: top_trace FOLDER COUNT\n");
		return 2;
	}
	count = strtoul(argv[2], NULL, 0);
	fx_init(&fx, BLOCK_LOG2, 1000);
	fx_thread(&fx, HOG, 100, 1, TB_THREAD_DUMP, "hog");
	fx_thread(&fx, LATE, LATE, 1, TB_THREAD_DUMP, "late");
	fx_thread(&fx, OTHER, OTHER, 1, TB_THREAD_DUMP, "other");
	fx_sync(&fx, 0, 5000 * MS);
	fx_durable_end(&fx);
	save(argv[1], "begin");
	for (i = 1; i <= count; i++) {
		part(i * 10 * MS);
		snprintf(name, sizeof(name), "%lu", i);
		save(argv[1], name);
	}
	fx_totals(&fx, 0);
	fx_totals(&fx, 1);
	fx_durable_end(&fx);
	save(argv[1], "end");
	fx_free(&fx);
	return 0;
}
