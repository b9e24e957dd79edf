// SPDX-License-Identifier: GPL-2.0-only
/*
 * tracebuf export - events as lines of text, as 'tracebuf print' shows them.
 */
#include <errno.h>
#include "export.h"
#include "tool/show/print_line.h"

int tb_export_text(struct tb_trace *trace, FILE *out,
		   const struct tb_export_options *options)
{
	struct print_line line = { .trace = trace, .base = options->base };
	struct tb_cursor *cursor;
	struct tb_view view;
	int result;

	if (!options->fields) {
		line.formats = print_format_open(trace, options->symbols);
		if (!line.formats)
			return -ENOMEM;
	}
	result = tb_cursor_open(trace, &cursor);
	if (!result) {
		while ((result = tb_export_next(options, cursor, &view)) > 0) {
			print_line(out, &line, &view);
			if (ferror(out)) {
				result = errno ? -errno : -EIO;
				break;
			}
		}
		tb_cursor_close(cursor);
	}
	if (line.formats && options->verbose)
		print_format_complain(line.formats);
	if (line.formats)
		print_format_close(line.formats);
	return result;
}
