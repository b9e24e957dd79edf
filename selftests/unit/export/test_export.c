// SPDX-License-Identifier: GPL-2.0-only
/*
 * An export has every event of its trace, and no trace makes an exporter crash. If this fails, a
 * timeline hides events, or a user loses the export of a damaged recording. The program writes
 * traces for the tests of exporters, and runs the exporters under the sanitizers.
 *
 *   test_export make FILE           at least one event of each kind that an exporter handles itself
 *   test_export user FILE           records of programs
 *   test_export golden-kernel FILE  as make, in smaller blocks, with stacks, counters and a name
 *                                   with special characters: makes selftests/golden/kernel.tbuf
 *   test_export golden-user FILE    as user, in smaller blocks: selftests/golden/user.tbuf
 *   test_export named FILE          a field that is called like the name of another one's number
 *   test_export extras FILE         stacks, counters, requests to a block device, many fields
 *   test_export overlap FILE        overlapping slices of programs, a flow id used for two flows,
 *                                   system calls and interrupts that are open at a gap
 *   test_export edges FILE          beginnings without ends, ends without beginnings, task states
 *   test_export stacks FILE N       N events, each with another stack
 *   test_export threads FILE N      N threads; each makes two system calls
 *   test_export waits FILE N        N switches and wake-ups at random times on 2 CPUs, with gaps
 *   test_export flush FILE          a flush beside a request for the same sector
 *   test_export requests FILE N M   N random events of block requests at M places, with gaps
 *   test_export big FILE N          N events of the common kinds on 4 CPUs
 *   test_export export FILE OUT     what "tracebuf export" does
 *   test_export damage FILE N       N times: damage a copy of FILE, export it
 *   test_export full FILE           export to a full disk
 *
 * The last three export to Perfetto's format; with a last argument "fxt" to FXT.
 */
#include <errno.h>
#include "export_traces_special.h"
#include "tool/export/export.h"

static int save(const struct fx *fx, const char *path)
{
	FILE *out = fopen(path, "wb");
	size_t done = out ? fwrite(fx->data, 1, fx->size, out) : 0;

	return !out || fclose(out) || done != fx->size;
}

static bool fxt;

static int export_to(struct tb_trace *trace, FILE *out)
{
	char text[256] = "";
	struct tb_export_options options = {
		.error = text, .error_size = sizeof(text),
	};
	int result = (fxt ? tb_export_fxt : tb_export_perfetto)(trace, out, &options);

	if (result < 0)
		fprintf(stderr, "%s\n", text[0] ? text : "no text of the error");
	return result;
}

static int export_file(const char *path, const char *to)
{
	struct tb_trace *trace;
	struct tb_error error;
	int result = 1;
	FILE *out;

	if (tb_trace_open(path, &trace, &error) < 0) {
		fprintf(stderr, "%s\n", error.text);
		return 1;
	}
	out = fopen(to, "wb");
	if (out) {
		result = export_to(trace, out) < 0;
		if (fclose(out))
			result = 1;
	}
	tb_trace_close(trace);
	return result;
}

/* The exporter must neither crash nor fail, whatever bytes are damaged */
static int damage(const char *path, unsigned int times)
{
	uint64_t random = 88172645463325252ull;
	unsigned char *data, *copy;
	struct tb_trace *trace;
	unsigned int i, hits, opened = 0;
	FILE *in = fopen(path, "rb"), *out = fopen("/dev/null", "wb");
	size_t size;
	int result = 0;

	assert(in && out);
	data = malloc(1 << 20);
	copy = aligned_alloc(16, 1 << 20);
	assert(data && copy);
	size = fread(data, 1, 1 << 20, in);
	fclose(in);
	for (i = 0; i < times && !result; i++) {
		memcpy(copy, data, size);
		for (hits = 0; hits < 1 + i % 40; hits++) {
			random ^= random << 13;
			random ^= random >> 7;
			random ^= random << 17;
			/* damage bytes in use: most of a block is empty */
			copy[(random >> 16) % (size / 16384) * 16384 +
			     (random >> 8) % 2500] = (unsigned char)random;
		}
		if (tb_trace_open_memory(copy, size, &trace, NULL) < 0)
			continue;
		opened++;
		result = export_to(trace, out);
		tb_trace_close(trace);
	}
	printf("%u of %u damaged traces exported\n", opened, times);
	fclose(out);
	free(data);
	free(copy);
	return result || opened < times / 2;
}

static int full(const char *path)
{
	struct tb_trace *trace;
	FILE *out = fopen("/dev/full", "wb");
	int result;

	assert(out && !tb_trace_open(path, &trace, NULL));
	result = export_to(trace, out);
	tb_trace_close(trace);
	fclose(out);
	return result != -ENOSPC;
}

int main(int argc, char **argv)
{
	struct fx fx;

	fxt = argc > 3 && !strcmp(argv[argc - 1], "fxt");
	if (argc >= 3 && !strcmp(argv[1], "make")) {
		make(&fx, 14, false);
	} else if (argc >= 3 && !strcmp(argv[1], "golden-kernel")) {
		make(&fx, 12, true);
	} else if (argc >= 3 && !strcmp(argv[1], "user")) {
		make_user(&fx, 14);
	} else if (argc >= 3 && !strcmp(argv[1], "golden-user")) {
		make_user(&fx, 12);
	} else if (argc >= 3 && !strcmp(argv[1], "extras")) {
		make_extras(&fx);
	} else if (argc >= 3 && !strcmp(argv[1], "named")) {
		make_named(&fx);
	} else if (argc >= 4 && !strcmp(argv[1], "stacks")) {
		make_stacks(&fx, strtoull(argv[3], NULL, 0));
	} else if (argc >= 3 && !strcmp(argv[1], "overlap")) {
		make_overlap(&fx);
	} else if (argc >= 3 && !strcmp(argv[1], "edges")) {
		make_edges(&fx);
	} else if (argc >= 4 && !strcmp(argv[1], "threads")) {
		make_threads(&fx, strtoull(argv[3], NULL, 0));
	} else if (argc >= 4 && !strcmp(argv[1], "waits")) {
		make_waits(&fx, strtoull(argv[3], NULL, 0));
	} else if (argc >= 3 && !strcmp(argv[1], "flush")) {
		make_flush(&fx);
	} else if (argc >= 5 && !strcmp(argv[1], "requests")) {
		make_requests(&fx, strtoull(argv[3], NULL, 0), strtoull(argv[4], NULL, 0));
	} else if (argc >= 4 && !strcmp(argv[1], "big")) {
		make_big(&fx, strtoull(argv[3], NULL, 0));
	} else if (argc >= 4 && !strcmp(argv[1], "export")) {
		return export_file(argv[2], argv[3]);
	} else if (argc >= 4 && !strcmp(argv[1], "damage")) {
		return damage(argv[2], (unsigned int)strtoul(argv[3], NULL, 0));
	} else if (argc >= 3 && !strcmp(argv[1], "full")) {
		return full(argv[2]);
	} else {
		fprintf(stderr, "usage: see the top of %s\n", __FILE__);
		return 2;
	}
	if (save(&fx, argv[2]))
		return 1;
	fx_free(&fx);
	return 0;
}
