// SPDX-License-Identifier: GPL-2.0-only
/*
 * Programs that record: verify checks their counts in a trace, list shows the names of their
 * events, status shows the programs that record now.
 */
#include <errno.h>
#include <inttypes.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include "writers.h"
#include "tool/choose/choose.h"
#include "tool/command/command.h"

/* ---- counts ---- */

static void lost_text(const struct tb_user_writer *writer, char *text,
		      size_t size)
{
	unsigned int bit;
	size_t used = 0;

	text[0] = 0;
	for (bit = 0; bit <= TB_LOST_BITS && used < size; bit++)
		if (writer->lost[bit])
			used += (size_t)snprintf(text + used, size - used,
				"%s%" PRIu64 " %s", used ? ", " : "",
				writer->lost[bit], bit == TB_LOST_BITS ?
				"several causes" : tb_lost_cause_name(bit));
}

/* Writers with problems that writers_check() complains of */
#define MESSAGES_MAX 10

unsigned int writers_check(const struct tb_trace *trace, const char *file)
{
	uint64_t malformed = tb_trace_user_malformed(trace);
	const struct tb_user_writer *writer;
	unsigned int i, problems = 0;

	if (malformed) {
		complain("%s: %" PRIu64 " chunks or patches of programs are too short",
			 file, malformed);
		problems++;
	}
	for (i = 0; (writer = tb_trace_user_writer(trace, i)); i++) {
		if (writer->attempted == writer->delivered + writer->missing &&
		    !writer->wrong)
			continue;
		if (++problems > MESSAGES_MAX)
			continue;
		if (writer->wrong)
			complain("%s: writer %u/%u of thread %u: %" PRIu64 " of %" PRIu64
				 " pieces have not the records that they say, or numbers that were there before",
				 file, writer->producer, writer->writer,
				 writer->tid, writer->wrong, writer->pieces);
		else
			complain("%s: writer %u/%u of thread %u: %" PRIu64
				 " records attempted, but %" PRIu64 " in the file + %" PRIu64 " missing",
				 file, writer->producer, writer->writer,
				 writer->tid, writer->attempted,
				 writer->delivered, writer->missing);
	}
	return problems;
}

void writers_show(const struct tb_trace *trace)
{
	const struct tb_user_writer *writer;
	char text[512], name[32];
	unsigned int i;

	for (i = 0; (writer = tb_trace_user_writer(trace, i)); i++) {
		if (!i)
			printf("%12s %8s %8s %8s %12s %12s %10s  %s\n", "writer",
			       "process", "thread", "chunks", "records",
			       "attempted", "missing", "why");
		snprintf(name, sizeof(name), "%u/%u", writer->producer,
			 writer->writer);
		lost_text(writer, text, sizeof(text));
		printf("%12s %8u %8u %8" PRIu64 " %12" PRIu64 " %12" PRIu64 " %10" PRIu64 "  %s\n",
		       name, writer->pid, writer->tid, writer->chunks,
		       writer->delivered, writer->attempted, writer->missing,
		       *text ? text : "-");
		if (writer->before)
			printf("%12s %" PRIu64 " records before these: of an earlier recording, or overwritten\n",
			       "", writer->before);
		if (writer->unknown)
			printf("%12s %" PRIu64 " records of a kind that this program does not know\n",
			       "", writer->unknown);
	}
}

/* ---- names ---- */

struct entry {
	const char *category, *name;
};

static int compare_entries(const void *a, const void *b)
{
	const struct entry *first = a, *second = b;
	int result = strcmp(first->category, second->category);

	return result ? result : strcmp(first->name, second->name);
}

int writers_list(const struct tb_trace *trace, const struct patterns *patterns,
		 unsigned int *shown)
{
	const struct tb_user_name *name;
	struct entry *entries;
	size_t count = 0, used = 0, i;
	const char *category;

	while (tb_trace_user_name(trace, (unsigned int)count))
		count++;
	entries = calloc(count + 1, sizeof(*entries));
	if (!entries)
		return complain("out of memory");
	for (i = 0; i < count; i++) {
		name = tb_trace_user_name(trace, (unsigned int)i);
		category = tb_trace_user_category(trace, name);
		if (name->kind != TB_NAME_EVENT || !category ||
		    (patterns->count && !patterns_match(patterns, "user", category)))
			continue;
		entries[used].category = category;
		entries[used++].name = name->text;
	}
	qsort(entries, used, sizeof(*entries), compare_entries);
	for (i = 0; i < used; i++) {
		if (i && !compare_entries(&entries[i], &entries[i - 1]))
			continue;
		printf("U user:");
		print_plain(stdout, entries[i].category, strlen(entries[i].category));
		putchar(' ');
		print_plain(stdout, entries[i].name, strlen(entries[i].name));
		putchar('\n');
	}
	*shown += (unsigned int)used;
	free(entries);
	return EXIT_FINE;
}

/* ---- status ---- */

int writers_status(struct tb_device *device)
{
	struct tb_producer_info info;
	unsigned int i;
	int result;

	for (i = 0; !(result = tb_device_producer(device, i, &info)); i++) {
		if (!i)
			printf("%8s %8s %-16s %8s %7s %10s %12s %14s %8s %8s\n",
			       "producer", "process", "name", "chunks",
			       "writers", "pieces", "records", "bytes",
			       "refused", "lost");
		printf("%8u %8u ", info.producer, info.pid);
		print_plain(stdout, info.comm, strlen(info.comm));
		printf("%*s %4u/%-4u %6u %10" PRIu64 " %12" PRIu64 " %14" PRIu64
		       " %8" PRIu64 " %8" PRIu64 "\n",
		       (int)(16 - strlen(info.comm)), "", info.busy,
		       info.chunks, info.writers, (uint64_t)info.taken,
		       (uint64_t)info.records, (uint64_t)info.bytes,
		       (uint64_t)info.refused, (uint64_t)info.lost);
	}
	/* -ENOENT: the end of the list; -ENOTTY: an older module, without such programs */
	return result == -ENOENT || result == -ENOTTY ? 0 : result;
}
