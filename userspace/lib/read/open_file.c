// SPDX-License-Identifier: LGPL-2.1-or-later
/*
 * What processes had open, as the notes of a trace tell it.
 */
#include <errno.h>
#include <string.h>
#include "internal.h"

int tb_open_file_add(struct tb_recording *recording, const struct tb_walk *walk)
{
	struct tb_open_file_at *at;

	if (tb_array_grow(&recording->open_files, &recording->room_open_files,
			  recording->nr_open_files, sizeof(*at)))
		return -ENOMEM;
	at = &recording->open_files[recording->nr_open_files++];
	memcpy(&at->file, walk->payload, sizeof(at->file));
	at->name = (const char *)walk->payload + sizeof(at->file);
	at->length = strnlen(at->name, walk->bytes - sizeof(at->file));
	return 0;
}

int tb_trace_open_file(const struct tb_trace *trace, size_t index, struct tb_open_file *file,
		       const char **name, size_t *length)
{
	const struct tb_recording *recording = trace->selected;
	const struct tb_open_file_at *at;

	if (index >= recording->nr_open_files)
		return -ENOENT;
	at = &recording->open_files[index];
	*file = at->file;
	*name = at->name;
	*length = at->length;
	return 0;
}
