// SPDX-License-Identifier: GPL-2.0-only
/*
 * tracebuf list - list the events that can be enabled, or that a trace describes.
 */
#include <errno.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include "cmd.h"
#include "lib/utf8.h"
#include "tool/choose/choose.h"
#include "tool/command/command.h"
#include "tool/command/nearest.h"
#include "tool/device/device.h"
#include "tool/show/writers.h"
#include "tool/show/input.h"

static int list_run(int argc, char **argv);

const struct command cmd_list = {
	.name  = "list",
	.run   = list_run,
	.brief = "list the events that can be recorded",
	.help  =
	"usage: tracebuf list [-p NAME] [-v | --format] [-a] [-i FILE] [PATTERN]...\n"
	"\n"
	"Lists the events that can be enabled, or those that a trace file describes.\n"
	"Before a name: '*' enabled; 'c' has a compact form; 'C' may be recorded in it;\n"
	"'U' user:CATEGORY and the name of a program's event (of a trace file only).\n"
	"\n"
	"  PATTERN               system, system:event, event; with * and ?\n"
	PROVIDER_HELP
	"  -v, --verbose         show the fields of each event, as they are in the payload,\n"
	"                        and the print format\n"
	"      --format          show the fields as tracefs does: events/*/*/format\n"
	"  -a, --all             include events whose tracepoint this kernel does not have\n"
	"  -i, --input FILE      list the events of a trace file, not of the running kernel\n"
	"  -h, --help            show this text\n",
};

/* How much is shown of each event */
enum detail { NAMES, FIELDS, FORMAT };

/* Print tabs and newlines of a print format; replace all else that a terminal would obey */
static void put_format(const char *text)
{
	size_t left = strlen(text), size;

	for (; left; text += size, left -= size) {
		size = utf8_shown(text, left);
		if (size)
			fwrite(text, 1, size, stdout);
		else
			putchar(*text == '\t' || *text == '\n' ? *text : '?');
		size += !size;
	}
	putchar('\n');
}

static void list_fields(const struct tb_format *format)
{
	const struct tb_format_field *field;
	char declaration[512];
	uint32_t i;

	for (i = 0; i < format->nr_fields; i++) {
		field = &format->fields[i];
		tb_field_declare(field, declaration, sizeof(declaration));
		printf("        %-40s offset %u, size %u", declaration,
		       field->offset, field->size);
		if (field->flags & TB_FIELD_SIGNED)
			printf(", signed");
		if (field->count)
			printf(", %u items", field->count);
		if (field->flags & (TB_FIELD_DATA_LOC | TB_FIELD_REL_LOC))
			printf(", dynamic");
		if (field->flags & TB_FIELD_BITS)
			printf(", bits %u-%u", field->bit,
			       field->bit + field->bits - 1);
		putchar('\n');
	}
	if (*format->print) {
		fputs("        print: ", stdout);
		put_format(format->print);
	}
}

/* Print the event as a tracefs "format" file does; EXIT_* */
static int list_format(const struct tb_format *format)
{
	int size = tb_format_text(format, format->id, NULL, 0) + 1;
	char *text = malloc((size_t)size);

	if (!text)
		return complain("out of memory");
	tb_format_text(format, format->id, text, (size_t)size);
	printf("system: %s\n", format->system);
	put_format(text);
	free(text);
	return EXIT_FINE;
}

static int list_recording(const struct tb_trace *trace, const struct patterns *patterns,
			  enum detail detail, unsigned int *shown)
{
	const struct tb_format *format;
	int status = EXIT_FINE;
	unsigned int i;

	for (i = 0; !status && (format = tb_trace_format_at(trace, i)); i++) {
		if (patterns->count &&
		    !patterns_match(patterns, format->system, format->name))
			continue;
		++*shown;
		if (detail == FORMAT) {
			/* simple events have no tracefs format */
			if (!(format->flags & TB_EVENT_SIMPLE))
				status = list_format(format);
			continue;
		}
		printf("%s %s:%s\n", format->flags & TB_EVENT_SIMPLE ? "C" : " ",
		       format->system, format->name);
		if (detail == FIELDS)
			list_fields(format);
	}
	if (!status && detail != FORMAT)
		status = writers_list(trace, patterns, shown);
	return status;
}

static int list_file(const char *file, const struct patterns *patterns,
		     enum detail detail)
{
	unsigned int i, count, shown = 0;
	int status = EXIT_FINE;
	struct tb_trace *trace;

	if (input_open(file, &trace))
		return EXIT_WRONG;
	count = tb_trace_recordings(trace);
	for (i = 0; !status && i < count; i++) {
		tb_trace_select(trace, i);
		if (count > 1)
			printf("# recording %u of %u\n", i + 1, count);
		status = list_recording(trace, patterns, detail, &shown);
	}
	if (!status && !shown && patterns->count)
		status = complain("no event of %s matches", file);
	return input_close(file, trace, status);
}

static void list_name(const struct tb_event_info *info)
{
	printf("%c%c %s:%s%s\n", info->flags & TB_INFO_ENABLED ? '*' : ' ',
	       info->flags & TB_INFO_COMPACT ? 'C' :
	       info->flags & TB_INFO_HAS_COMPACT ? 'c' : ' ', info->system,
	       info->name, info->flags & TB_INFO_ABSENT ? " (absent)" : "");
}

static int list_device(struct tb_device *device,
		       const struct patterns *patterns, enum detail detail,
		       bool all)
{
	struct tb_event_info info;
	struct tb_format *format;
	struct nearest nearest;
	unsigned int i, shown = 0;
	int result, status = EXIT_FINE;
	char text[512];

	nearest_start(&nearest, patterns->count ? patterns->list[0] : "");
	for (i = 0; (result = tb_device_event(device, i, &info)) == 0; i++) {
		if (patterns->count) {
			nearest_offer(&nearest, info.system, info.name);
			if (!patterns_match(patterns, info.system, info.name))
				continue;
		}
		if (info.flags & TB_INFO_ABSENT && !all)
			continue;
		shown++;
		if (detail != FORMAT)
			list_name(&info);
		if (detail == NAMES)
			continue;
		result = tb_device_format(device, i, &format);
		/* its module was unloaded meanwhile */
		if (result == -ENOENT)
			continue;
		if (result)
			break;
		if (detail == FORMAT)
			status = list_format(format);
		else
			list_fields(format);
		free(format);
		if (status)
			return status;
	}
	if (result != -ENOENT)
		return complain("cannot list events: %s", strerror(-result));
	if (!shown && patterns->count)
		return complain("no event matches '%s'%s", patterns->list[0],
				nearest_text(&nearest, text, sizeof(text)));
	return EXIT_FINE;
}

static int list_run(int argc, char **argv)
{
	struct patterns patterns = { 0 };
	struct tb_device *device;
	const char *file = NULL, *provider = NULL;
	enum detail detail = NAMES;
	bool all = false;
	int option, status;

	while ((option = next_option(&cmd_list, "", argc, argv)) >= 0) {
		switch (option) {
		case 'p':
			provider = optarg;
			break;
		case 'v':
			detail = FIELDS;
			break;
		case OPTION_FORMAT:
			detail = FORMAT;
			break;
		case 'a':
			all = true;
			break;
		case 'i':
			file = optarg;
			break;
		default:
			return show_help(&cmd_list, option);
		}
	}
	for (; optind < argc; optind++)
		if (patterns_add(&patterns, argv[optind]))
			return misused(&cmd_list, "a name is missing in '%s'", argv[optind]);
	if (file) {
		status = list_file(file, &patterns, detail);
	} else {
		device = open_device(provider, 0);
		status = device ? list_device(device, &patterns, detail, all) :
				  EXIT_WRONG;
		tb_device_close(device);
	}
	patterns_free(&patterns);
	return status;
}
