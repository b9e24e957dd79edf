// SPDX-License-Identifier: GPL-2.0-only
/*
 * tracebuf recover - find recordings in an image of a machine's memory.
 *
 * This file has the options and the report.  recover/image.c reads the image, recover/scan.c finds
 * blocks and rings, recover/block.c decides which part of a block is valid, recover/opening.c
 * identifies blocks whose header is not complete, recover/accounting.c writes a trace.
 */
#include <errno.h>
#include <fcntl.h>
#include <inttypes.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>
#include <unistd.h>
#include "cmd.h"
#include "tool/command/command.h"
#include "tool/command/number.h"
#include "tool/command/option_value.h"
#include "tool/export/output.h"
#include "tool/recover/recover.h"

#define RECOVERED_FILE "recovered.tbuf"

static int recover_run(int argc, char **argv);

const struct command cmd_recover = {
	.name  = "recover",
	.run   = recover_run,
	.brief = "find recordings in an image of a machine's memory",
	.help  =
	"usage: tracebuf recover [OPTIONS] IMAGE\n"
	"\n"
	"Finds the buffers of recordings in an image of a crashed machine's memory, without\n"
	"symbols, and writes the valid part of them as a trace: all events that were\n"
	"committed, up to the last. Says what is missing.\n"
	"\n"
	"IMAGE is an ELF core (QEMU's dump-guest-memory, /proc/vmcore, makedumpfile -E) or\n"
	"plain memory (QEMU's pmemsave, /dev/mem, any file).\n"
	"\n"
	"  -o, --output FILE     write to FILE (" RECOVERED_FILE "); '-': standard output,\n"
	"                        without a report\n"
	"  -l, --list            only list what was found\n"
	"  -p, --provider NAME   only recordings of this provider\n"
	"  -r, --recording ID    only this one, as --list shows it\n"
	"      --raw             treat IMAGE as plain memory, whatever it looks like\n"
	"      --range START:BYTES\n"
	"                        read only this part of the file, as plain memory\n"
	"      --base ADDRESS    the physical address at which plain memory begins (START,\n"
	"                        or 0); needed if it is no multiple of 1 MiB\n"
	"  -q, --quiet           print only complaints\n"
	"  -h, --help            show this text\n"
	"\n"
	"Numbers may be hexadecimal (0x...) or end in K, M, G.\n",
};

struct options {
	const char *image, *output, *provider;
	uint64_t recording;
	struct image_range range;
	bool raw, based, list, quiet;
};

/* ---- numbers ---- */

/* Parse the number at the start of @text, as the help describes it; returns its end, or NULL */
static const char *parse_prefix(const char *text, uint64_t *value)
{
	static const char units[] = "KMG";
	bool hexadecimal = !strncmp(text, "0x", 2);
	const char *unit, *end;

	end = parse_number(text + 2 * hexadecimal, hexadecimal ? 16 : 10, UINT64_MAX, value);
	if (!end)
		return NULL;
	unit = *end ? strchr(units, *end & ~0x20) : NULL;
	if (unit && *end) {
		unsigned int shift = 10 * (unsigned int)(unit - units + 1);

		if (*value >> (64 - shift))
			return NULL;
		*value <<= shift;
		end++;
	}
	return end;
}

static bool whole_number(const char *text, uint64_t *value)
{
	const char *end = parse_prefix(text, value);

	return end && !*end;
}

static bool parse_range(const char *text, struct image_range *range)
{
	const char *end = parse_prefix(text, &range->start);

	return end && *end == ':' && whole_number(end + 1, &range->bytes) && range->bytes &&
	       range->start + range->bytes > range->start;
}

/* ---- the report ---- */

static void tick(uint64_t bytes, uint64_t of)
{
	static unsigned int last = ~0u;
	unsigned int percent = of ? (unsigned int)(bytes * 100.0 / (double)of) : 100;

	if (percent == last || !isatty(STDERR_FILENO))
		return;
	last = percent;
	fprintf(stderr, "\r%3u %% of %.1f GiB%s", percent, (double)of / (1 << 30),
		percent >= 100 ? "\r\033[K" : "");
}

static const char *name_of(const struct recover_recording *recording)
{
	return recording->has_init ? recording->init.provider : "?";
}

static void show_cpu(const struct recover_cpu *cpu)
{
	printf("%5u %8" PRIu64 " %12" PRIu64 " %12" PRIu64 " %10" PRIu64 " %6" PRIu64 " %10" PRIu64,
	       cpu->cpu, cpu->blocks, cpu->events, cpu->missing, cpu->dropped, cpu->gaps,
	       cpu->unfinished);
	if (!cpu->ring && !cpu->totals)
		printf("  ring not found: more events may be missing");
	if (cpu->damaged)
		printf("  %" PRIu64 " blocks damaged", cpu->damaged);
	if (cpu->gaps > 1 && (cpu->ring || cpu->totals))
		printf("  missing is exact in total, but not for each gap");
	putchar('\n');
}

static void show_durable(const struct recover_recording *recording)
{
	if (!recording->has_init)
		puts("  the initialisation is not there: no clock, no names of events");
	if (recording->durable_missing)
		printf("  %" PRIu64 " durable blocks are missing: descriptions and names may be, too\n",
		       recording->durable_missing);
	if (recording->contradicting)
		printf("  %" PRIu64 " blocks left out: they cannot be of this recording\n",
		       recording->contradicting);
}

static void show(const struct recover_recording *recording)
{
	size_t i;

	printf("recording %016" PRIx64 ": %s", recording->id, name_of(recording));
	if (recording->has_init)
		printf(" number %" PRIu64 ", %s, %s", (uint64_t)recording->init.generation,
		       recording->init.nodename, recording->init.release);
	putchar('\n');
	show_durable(recording);
	printf("%5s %8s %12s %12s %10s %6s %10s\n", "CPU", "blocks", "events", "missing",
	       "dropped", "gaps", "unfinished");
	for (i = 0; i < recording->nr_cpus; i++)
		show_cpu(&recording->cpus[i]);
}

static void show_rest(const struct recover *recover, const struct image *image)
{
	if (recover->unknown)
		printf("%" PRIu64 " blocks of unknown recordings, left out\n",
		       recover->unknown);
	if (recover->inside)
		printf("%" PRIu64 " blocks in the events of others, left out: a program has recorded their contents\n",
		       recover->inside);
	if (recover->cut)
		printf("%" PRIu64 " blocks that the end of the image cuts, left out\n", recover->cut);
	if (recover->refused)
		printf("%" PRIu64 " places that look like a block but are not one\n", recover->refused);
	if (image->unreadable)
		note("%" PRIu64 " bytes could not be read: %s", image->unreadable,
		     strerror(-image->error));
}

/* ---- saving ---- */

static bool wanted(const struct options *options, const struct recover_recording *recording,
		   bool described)
{
	if (options->recording || options->provider)
		return (!options->recording || recording->id == options->recording) &&
		       (!options->provider || !strcmp(name_of(recording), options->provider));
	/*
	 * readers assign blocks to the initialisation before them: they would assign the blocks of
	 * a recording without one to another recording
	 */
	return recording->has_init || !described;
}

/* No recording was found, or none is wanted: complain; EXIT_WRONG */
static int complain_none(const struct options *options, size_t count)
{
	if (!count)
		return complain("%s: no recording found%s", options->image,
				options->range.bytes || options->based ? "" :
				"; if the image is only part of the memory, give the address at which it begins (--base)");
	if (options->recording && options->provider)
		return complain("%s: no recording %016" PRIx64 " of provider '%s'; --list shows what was found",
				options->image, options->recording, options->provider);
	if (options->recording)
		return complain("%s: no recording %016" PRIx64 "; --list shows what was found",
				options->image, options->recording);
	return complain("%s: no recording of provider '%s'; --list shows what was found",
			options->image, options->provider);
}

static int save(const struct options *options, const struct image *image,
		const struct recover_recording *recordings, size_t count, bool described)
{
	struct output output;
	bool one = false;
	struct stat in, st;
	int result = 0;
	size_t i;

	if (!stat(options->output, &st) && !fstat(image->fd, &in) &&
	    st.st_dev == in.st_dev && st.st_ino == in.st_ino)
		return complain("%s: that is the image", options->output);
	/* an existing file is replaced only when the new one is complete */
	if (output_open(&output, options->output, NULL, OUTPUT_STREAM))
		return EXIT_WRONG;
	errno = 0;
	for (i = 0; i < count && !result; i++) {
		if (!wanted(options, &recordings[i], described))
			continue;
		/* readers would take several recordings without initialisation for one */
		if (!recordings[i].has_init && one) {
			note("recording %016" PRIx64 " left out: it has no initialisation; -r saves it alone",
			     recordings[i].id);
			continue;
		}
		one = true;
		result = recover_write(&recordings[i], image, output.stream);
	}
	if (!result)
		return output_finish(&output);
	output_drop(&output);
	if (result == -ESTALE)
		return complain("%s: it changed while it was read", options->image);
	return complain("%s: %s", options->output, strerror(-result));
}

static int recover_image(const struct options *options)
{
	bool plain = options->raw || options->range.bytes || options->based;
	struct recover_recording *recordings = NULL;
	struct recover recover = { 0 };
	bool described = false;
	size_t i, count = 0, chosen = 0;
	struct image image;
	int result = image_open(&image, options->image, plain ? &options->range : NULL);

	if (result == EXIT_FINE) {
		result = recover_scan(&recover, &image, options->quiet ? NULL : tick);
		if (!result)
			result = recover_recordings(&recover, &image, &recordings, &count);
		if (result == -ESTALE)
			result = complain("%s: it changed while it was read", options->image);
		else if (result)
			result = complain("%s", strerror(-result));
	}
	for (i = 0; i < count; i++)
		described |= recordings[i].has_init;
	for (i = 0; result == EXIT_FINE && i < count; i++) {
		if (!wanted(options, &recordings[i], described) && !options->list)
			continue;
		chosen++;
		if (!options->quiet)
			show(&recordings[i]);
	}
	if (result == EXIT_FINE && !options->quiet)
		show_rest(&recover, &image);
	if (result == EXIT_FINE && !chosen)
		result = complain_none(options, count);
	if (result == EXIT_FINE && !options->list)
		result = save(options, &image, recordings, count, described);
	recover_recordings_free(recordings, count);
	recover_free(&recover);
	image_close(&image);
	return result;
}

static int recover_run(int argc, char **argv)
{
	struct options options = { .output = RECOVERED_FILE };
	const char *end;
	const struct option_value values[] = {
		{ 'o', .text = &options.output }, { 'p', .text = &options.provider },
		{ 'l', .flag = &options.list }, { OPTION_RAW, .flag = &options.raw },
		{ 'q', .flag = &options.quiet }, { 0 },
	};
	int option;

	while ((option = next_option(&cmd_recover, "", argc, argv)) >= 0) {
		if (take_value(values, option, optarg))
			continue;
		switch (option) {
		case 'r':
			end = parse_number(optarg + 2 * !strncmp(optarg, "0x", 2), 16,
					   UINT64_MAX, &options.recording);
			if (!end || *end || !options.recording)
				return misused(&cmd_recover, "-r takes the number of a recording, as --list shows it, not '%s'",
					       optarg);
			break;
		case OPTION_RANGE:
			if (!parse_range(optarg, &options.range))
				return misused(&cmd_recover, "--range takes START:BYTES, as in 0x100000:64M, not '%s'",
					       optarg);
			if (!options.based)
				options.range.base = options.range.start;
			break;
		case OPTION_BASE:
			if (!whole_number(optarg, &options.range.base))
				return misused(&cmd_recover, "--base takes an address, as in 0x100000, not '%s'",
					       optarg);
			options.based = true;
			break;
		default:
			return show_help(&cmd_recover, option);
		}
	}
	if (argc - optind != 1)
		return misused(&cmd_recover, "give exactly one image");
	options.image = argv[optind];
	if (!strcmp(options.output, "-") && !options.list)
		options.quiet = true;
	return recover_image(&options);
}
