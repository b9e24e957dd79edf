// SPDX-License-Identifier: GPL-2.0-only
/*
 * tracebuf export - a trace for another program.
 */
#include <errno.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>
#include "tool.h"
#include "export.h"

/* A build may leave the exporter out */
#pragma weak tb_export_perfetto
#pragma weak tb_export_ctf

static int export_run(int argc, char **argv);

const struct command cmd_export = {
	.name  = "export",
	.run   = export_run,
	.brief = "convert a trace for another program (Perfetto, CTF)",
	.help  =
	"usage: tracebuf export [--format FORMAT] [-o OUT] [FILE]\n"
	"\n"
	"Converts a trace file (" DEFAULT_FILE "; '-' is standard input).\n"
	"\n"
	"  -f, --format FORMAT   perfetto (default): a native Perfetto trace, to be\n"
	"                        opened at https://ui.perfetto.dev (it stays in the\n"
	"                        browser) or with trace_processor\n"
	"                        ctf: a directory in the Common Trace Format, for\n"
	"                        Babeltrace 2 (which must be installed) and Trace Compass\n"
	"  -o, --output OUT      FILE with .pftrace or .ctf for its ending; '-': standard\n"
	"                        output, not for ctf, whose OUT must be new or empty\n"
	"  -i, --input FILE      the same as FILE\n"
	"  -r, --recording N     of a file with several: number N, from 1\n"
	"  -v, --verbose         say what could not be converted\n"
	"  -h, --help\n",
};

/* One of @export, which writes a stream, and @export_path */
static const struct {
	const char *name;
	const char *ending;
	const char *hint;
	int (*export)(struct tb_trace *trace, FILE *out,
		      const struct tb_export_options *options);
	int (*export_path)(struct tb_trace *trace, const char *path,
			   const struct tb_export_options *options);
} formats[] = {
	{ "perfetto", ".pftrace", "open it at https://ui.perfetto.dev",
	  tb_export_perfetto, NULL },
	{ "ctf", ".ctf", "read it with babeltrace2, or open it in Trace Compass",
	  NULL, tb_export_ctf },
};

#define NR_FORMATS (sizeof(formats) / sizeof(formats[0]))

/* "x.tbuf" -> "x.pftrace"; to be freed */
static char *output_name(const char *file, const char *ending)
{
	const char *base = strrchr(file, '/');
	const char *dot = strrchr(base ? base : file, '.');
	size_t length = dot && dot != file ? (size_t)(dot - file) : strlen(file);
	char *name = malloc(length + strlen(ending) + 1);

	if (name) {
		memcpy(name, file, length);
		strcpy(name + length, ending);
	}
	return name;
}

/* 0; -errno; EXIT_WRONG after complaining */
static int export_stream(struct tb_trace *trace, const char *output,
			 size_t format, const struct tb_export_options *options)
{
	FILE *out = stdout;
	int result;

	if (strcmp(output, "-"))
		out = fopen(output, "wb");
	else if (isatty(STDOUT_FILENO))
		return complain("a binary trace is not written to a terminal: redirect standard output, or name a file (-o)");
	if (!out)
		return complain("%s: cannot be written: %s", output,
				strerror(errno));
	result = formats[format].export(trace, out, options);
	if (out != stdout ? fclose(out) : fflush(out))
		result = result < 0 ? result : -errno;
	return result;
}

static int export_trace(struct tb_trace *trace, const char *file,
			const char *output, size_t format, int verbose)
{
	char text[256] = "";
	struct tb_export_options options = {
		.verbose = verbose,
		.error = text,
		.error_size = sizeof(text),
	};
	const struct tb_error *fault = tb_trace_fault(trace);
	int result;

	if (formats[format].export_path)
		result = formats[format].export_path(trace, output, &options);
	else
		result = export_stream(trace, output, format, &options);
	if (result > 0)
		return result;
	if (result < 0)
		return complain("%s: %s", output,
				text[0] ? text : strerror(-result));
	if (fault) {
		complain_file(file, fault);
		return complain("%s holds what comes before", output);
	}
	return EXIT_FINE;
}

static int export_run(int argc, char **argv)
{
	static const struct option long_options[] = {
		{ "format",    required_argument, NULL, 'f' },
		{ "output",    required_argument, NULL, 'o' },
		{ "input",     required_argument, NULL, 'i' },
		{ "recording", required_argument, NULL, 'r' },
		{ "verbose",   no_argument,       NULL, 'v' },
		{ "help",      no_argument,       NULL, 'h' },
		{ 0 }
	};
	const char *file = NULL, *output = NULL, *format = "perfetto";
	struct tb_trace *trace;
	struct tb_error error;
	uint32_t recording = 0;
	char *made = NULL;
	int option, verbose = 0, status;
	size_t i;

	while ((option = getopt_long(argc, argv, "f:o:i:r:vh", long_options,
				     NULL)) >= 0) {
		switch (option) {
		case 'f':
			format = optarg;
			break;
		case 'o':
			output = optarg;
			break;
		case 'i':
			file = optarg;
			break;
		case 'r':
			if (parse_u32(optarg, 1, UINT32_MAX, &recording))
				return misused(&cmd_export, "'%s' is not a recording's number",
					       optarg);
			break;
		case 'v':
			verbose = 1;
			break;
		default:
			return show_help(&cmd_export, option);
		}
	}
	if (argc - optind > (file ? 0 : 1))
		return misused(&cmd_export, "one file at a time");
	if (optind < argc)
		file = argv[optind];
	if (!file)
		file = DEFAULT_FILE;
	for (i = 0; i < NR_FORMATS; i++)
		if (!strcmp(format, formats[i].name))
			break;
	if (i == NR_FORMATS)
		return misused(&cmd_export, "there is no format '%s'; there are: perfetto, ctf",
			       format);
	if (!formats[i].export && !formats[i].export_path)
		return complain("this tracebuf was built without the %s exporter",
				format);
	if (formats[i].export_path && !strcmp(output ? output : file, "-"))
		return misused(&cmd_export, "%s is a directory, which cannot be standard output: name one (-o)",
			       format);
	if (tb_trace_open(file, &trace, &error) < 0)
		return complain_file(file, &error);
	if (!recording && tb_trace_recordings(trace) > 1)
		note("%s holds %u recordings; the first is exported (choose with -r)",
		     file, tb_trace_recordings(trace));
	if (recording && tb_trace_select(trace, recording - 1) < 0) {
		status = complain("%s holds %u recordings, there is no number %u",
				  file, tb_trace_recordings(trace), recording);
		goto out;
	}
	if (!output) {
		made = strcmp(file, "-") ?
		       output_name(file, formats[i].ending) : strdup("-");
		output = made;
	}
	status = output ? export_trace(trace, file, output, i, verbose) :
			  complain("out of memory");
	if (status == EXIT_FINE && strcmp(output, "-"))
		fprintf(stderr, "%s: %s\n", output, formats[i].hint);
out:
	free(made);
	tb_trace_close(trace);
	return status;
}
