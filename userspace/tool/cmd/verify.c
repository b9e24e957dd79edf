// SPDX-License-Identifier: GPL-2.0-only
/*
 * tracebuf verify - check that a trace keeps the promises of the format.
 *
 * One pass over the blocks, in the order of the file, counts for each ring the events in the file,
 * and the lost events by the headers.  At the end these counts must match the totals that the
 * kernel wrote when the recording stopped:  attempted = in the file + overwritten + dropped.
 */
#include <inttypes.h>
#include <stdlib.h>
#include <string.h>
#include "cmd.h"
#include "lib/bisect.h"
#include "tool/choose/choose.h"
#include "tool/command/command.h"
#include "tool/show/input.h"
#include "tool/show/writers.h"
#include "verify.h"

static int verify_run(int argc, char **argv);

const struct command cmd_verify = {
	.name  = "verify",
	.run   = verify_run,
	.brief = "check that a trace is complete and consistent",
	.help  =
	"usage: tracebuf verify [-q] [--analysis] [FILE]\n"
	"\n"
	"Checks a trace file (" DEFAULT_FILE "; '-' is standard input): blocks and their\n"
	"order, sequence numbers, the structure of every event, time per CPU, what each\n"
	"field points to, and for each CPU the counts:\n"
	"\n"
	"  attempted = events in the file + overwritten + dropped\n"
	"\n"
	"For each writer of a program: attempted = records in the file + missing. The\n"
	"counts of a snapshot are those at its beginning. '>=' means that the end of a CPU\n"
	"is not known: the recording was not stopped, or the file is cut.\n"
	"\n"
	"Prints a line per CPU and writer, or where and how the file is wrong; the exit\n"
	"status is 1 then.\n"
	"\n"
	"With --analysis also what 'why' and 'report' conclude: that the times of each thread\n"
	"and CPU add up to their interval, that no two overlap, and that both commands have\n"
	"the same times. A CPU that is idle while a thread waits for it is a doubt, which\n"
	"does not change the exit status.\n"
	"\n"
	"      --analysis        check the conclusions of 'why' and 'report', too\n"
	"  -i, --input FILE      the same as FILE\n"
	"  -q, --quiet           print only complaints\n"
	"  -h, --help            show this text\n",
	.whole = "verify checks the whole recording",
};

static int compare_headers(const void *one, const void *other)
{
	const struct numbered_header *a = one, *b = other;
	int order = memcmp(&a->header, &b->header, sizeof(a->header));

	return order ? order : (a->number > b->number) - (a->number < b->number);
}

/* Sort the headers of recording @number; -ENOMEM */
static int sort_headers(struct verify *verify, unsigned int number)
{
	size_t end, i = tb_trace_range(verify->trace, number, 0, &end);
	const struct tb_block *header;

	verify->headers = malloc((end - i + 1) * sizeof(*verify->headers));
	if (!verify->headers)
		return -ENOMEM;
	for (; (i = tb_trace_range(verify->trace, number, i, &end)) < end &&
	       (header = tb_trace_header(verify->trace, i, NULL, NULL)); i++)
		verify->headers[verify->nr_headers++] = (struct numbered_header){ *header, i };
	qsort(verify->headers, verify->nr_headers, sizeof(*verify->headers), compare_headers);
	return 0;
}

/* Return the number of the last block before @number that has the same header; -1: there is none */
static ssize_t same_header(const struct verify *verify, size_t number)
{
	struct numbered_header wanted = { *verify->block, number };
	size_t low = 0;

	BISECT(low, verify->nr_headers, i, compare_headers(&verify->headers[i], &wanted) < 0);
	if (!low || memcmp(&verify->headers[low - 1].header, &wanted.header, sizeof(wanted.header)))
		return -1;
	return (ssize_t)verify->headers[low - 1].number;
}

/*
 * Return 1 if block number @number of the file is a copy of an earlier block, else 0, or -ENOMEM.
 * A user may join files of several readers of a recording ('cat').  Then durable blocks, which each
 * reader gets, occur twice, and also a rolling block that a killed recorder had written, but not
 * released.
 */
static int verify_repeated(struct verify *verify, unsigned int recording, size_t number)
{
	const struct tb_block *block = verify->block, *other;
	const struct ring *ring = block->kind == TB_BLOCK_DURABLE ? &verify->durable :
				  &verify->rings[block->cpu];
	size_t bytes = (size_t)1 << block->size_log2;
	ssize_t before;

	if (!ring->seen || block->sequence > ring->sequence)
		return 0;
	if (!verify->headers && sort_headers(verify, recording))
		return -ENOMEM;
	before = same_header(verify, number);
	if (before < 0)
		return 0;
	/* bytes behind the data may differ in a packed block */
	if (block->data < bytes)
		bytes = block->data;
	/* compare with one other block only: a packed file keeps few blocks in memory */
	other = tb_trace_block(verify->trace, (size_t)before, NULL, NULL);
	return other && !memcmp(other, block, bytes);
}

static int verify_recording(struct verify *verify, unsigned int number)
{
	unsigned int cpu;
	int repeated = 0;
	size_t end, i;

	tb_trace_select(verify->trace, number);
	verify->init = tb_trace_init(verify->trace);
	verify->nr_rings = tb_trace_nr_cpus(verify->trace);
	/* also CPUs that have blocks only in earlier files of the recording */
	if (verify->init && verify->init->nr_cpus > verify->nr_rings &&
	    verify->init->nr_cpus <= UINT16_MAX + 1u)
		verify->nr_rings = verify->init->nr_cpus;
	verify->rings = calloc(verify->nr_rings + 1, sizeof(*verify->rings));
	memset(&verify->durable, 0, sizeof(verify->durable));
	verify->note_blocks = verify->names = 0;
	verify->recording = 0;
	verify->headers = NULL;
	verify->nr_headers = 0;
	if (!verify->rings)
		return complain("out of memory");
	for (i = 0; repeated >= 0 &&
		    (i = tb_trace_range(verify->trace, number, i, &end)) < end; i++) {
		verify->block = tb_trace_block(verify->trace, i, &verify->offset, NULL);
		if (!verify->block)
			continue;
		if (verify->block->kind == TB_BLOCK_NOTE) {
			verify_note(verify);
			continue;
		}
		repeated = verify_repeated(verify, number, i);
		if (!repeated)
			verify_block(verify);
	}
	free(verify->headers);
	if (repeated < 0) {
		free(verify->rings);
		return complain("out of memory");
	}
	for (cpu = 0; cpu < verify->nr_rings; cpu++)
		verify_totals(verify, cpu);
	verify->problems += writers_check(verify->trace, verify->file);
	if (!verify->quiet)
		verify_summary(verify);
	free(verify->rings);
	return EXIT_FINE;
}

static int verify_run(int argc, char **argv)
{
	struct verify verify = { .file = NULL };
	const struct tb_error *fault;
	unsigned int i;
	int option;

	while ((option = next_option(&cmd_verify, "", argc, argv)) >= 0) {
		switch (option) {
		case 'i':
			verify.file = optarg;
			break;
		case OPTION_ANALYSIS:
			verify.analysis = true;
			break;
		case 'q':
			verify.quiet = true;
			break;
		default:
			return show_help(&cmd_verify, option);
		}
	}
	if (input_choose(&cmd_verify, argc, argv, &verify.file))
		return EXIT_USAGE;
	if (input_open(verify.file, &verify.trace))
		return EXIT_WRONG;
	for (i = 0; i < tb_trace_recordings(verify.trace); i++) {
		if (verify_recording(&verify, i))
			verify.problems++;
		if (verify.analysis && verify_analysis(verify.file, verify.trace, verify.quiet))
			verify.disagree = true;
	}
	fault = tb_trace_fault(verify.trace);
	if (fault) {
		complain_file(verify.file, fault);
		note("%zu blocks before it were checked",
		     tb_trace_blocks(verify.trace));
		verify.problems++;
	}
	if (verify.problems > VERIFY_MESSAGES)
		note("and %u more", verify.problems - VERIFY_MESSAGES);
	tb_trace_close(verify.trace);
	if (verify.disagree)
		return EXIT_WRONG;
	if (!verify.problems && !verify.quiet && verify.open)
		printf("%s: fine as far as it goes: of %u CPU%s the end is not known\n",
		       verify.file, verify.open, verify.open == 1 ? "" : "s");
	else if (!verify.problems && !verify.quiet)
		printf("%s: fine\n", verify.file);
	return verify.problems ? EXIT_WRONG : EXIT_FINE;
}
