// SPDX-License-Identifier: GPL-2.0-only
/*
 * tracebuf export - records of FXT.
 *
 * A record is built in fxt_out.record and then copied to the buffer of the file.  So the string
 * record of a name that it needs can be written meanwhile, and comes before it.
 *
 * Header: bits 0 to 3 are the type, 4 to 15 the length in words, the others depend on the type.  A
 * string reference of 16 bits is 0 for "", or the number of a string record, or 0x8000 plus the
 * length of a string in the record itself, which zeros pad to whole words.
 */
#include <errno.h>
#include <inttypes.h>
#include <search.h>
#include <stdarg.h>
#include <stdlib.h>
#include <string.h>
#include "fxt.h"

#define MAGIC		0x0016547846040010ull
#define PROVIDER_ID	1ull
#define PROVIDER_NAME	"tracebuf"
#define STRINGS_MAX	0x7fff
#define INLINE_STRING	0x8000u
/* Longer names are cut off */
#define NAME_MAX_BYTES	1024

enum { METADATA_PROVIDER = 1, METADATA_SECTION = 2, METADATA_EVENT = 3 };

enum arg_type {
	ARG_INT32 = 1, ARG_UINT32 = 2, ARG_INT64 = 3, ARG_UINT64 = 4, ARG_DOUBLE = 5,
	ARG_STRING = 6, ARG_POINTER = 7, ARG_KOID = 8,
};

static size_t words_of(size_t bytes)
{
	return (bytes + 7) / 8;
}

/* ---- the file ---- */

static void flush(struct fxt_out *out)
{
	errno = 0;
	if (!out->error && out->filled &&
	    fwrite(out->buffer, sizeof(uint64_t), out->filled, out->file) != out->filled)
		out->error = errno ? -errno : -EIO;
	out->filled = 0;
}

static void write_words(struct fxt_out *out, const uint64_t *words, size_t count)
{
	if (out->filled + count > sizeof(out->buffer) / sizeof(out->buffer[0]))
		flush(out);
	memcpy(out->buffer + out->filled, words, count * sizeof(*words));
	out->filled += count;
}

void fxt_out_flush(struct fxt_out *out)
{
	flush(out);
	errno = 0;
	if (!out->error && fflush(out->file))
		out->error = errno ? -errno : -EIO;
}

static void start(struct fxt_out *out)
{
	const uint64_t magic = MAGIC, clock[2] = {
		FXT_INITIALIZATION | 2u << 4, 1000000000,
	};
	uint64_t provider[1 + sizeof(PROVIDER_NAME) / 8 + 1] = { 0 };
	size_t length = strlen(PROVIDER_NAME), words = 1 + words_of(length);
	uint64_t section = FXT_METADATA | 1u << 4 | METADATA_SECTION << 16 |
			   PROVIDER_ID << 20;

	provider[0] = FXT_METADATA | (uint64_t)words << 4 |
		      METADATA_PROVIDER << 16 | PROVIDER_ID << 20 |
		      (uint64_t)length << 52;
	memcpy(provider + 1, PROVIDER_NAME, length);
	write_words(out, &magic, 1);
	write_words(out, provider, words);
	write_words(out, &section, 1);
	write_words(out, clock, 2);
}

int fxt_out_open(struct fxt_out *out, FILE *file)
{
	out->file = file;
	out->name_nameless = malloc(sizeof(struct fxt_name) + 32);
	if (!out->name_nameless)
		return -ENOMEM;
	out->name_nameless->index = 0;
	out->name_nameless->length = (uint16_t)sprintf(out->name_nameless->text,
						       "(one name too many)");
	out->name_more = fxt_name(out, "more", 4);
	start(out);
	return 0;
}

void fxt_out_close(struct fxt_out *out)
{
	tdestroy(out->names, free);
	free(out->name_nameless);
}

void fxt_lost_mark(struct fxt_out *out)
{
	/* provider event 0: a buffer was full, records are missing */
	const uint64_t word = FXT_METADATA | 1u << 4 | METADATA_EVENT << 16 |
			      PROVIDER_ID << 20;

	write_words(out, &word, 1);
}

/* ---- names ---- */

static int compare(const void *a, const void *b)
{
	const struct fxt_name *first = a, *second = b;

	if (first->length != second->length)
		return first->length < second->length ? -1 : 1;
	return memcmp(first->text, second->text, first->length);
}

struct fxt_name *fxt_name(struct fxt_out *out, const char *text, size_t length)
{
	struct { struct fxt_name name; char text[NAME_MAX_BYTES + 1]; } wanted;
	struct fxt_name *name, **found;

	if (length > NAME_MAX_BYTES)
		length = NAME_MAX_BYTES;
	wanted.name.index = 0;
	wanted.name.length = (uint16_t)length;
	export_clean(wanted.name.text, text, length);
	found = tfind(&wanted.name, &out->names, compare);
	if (found)
		return *found;
	name = out->nr_strings < STRINGS_MAX - 1 ?
	       malloc(sizeof(*name) + length + 1) : NULL;
	if (name) {
		memcpy(name, &wanted, sizeof(*name) + length + 1);
		if (tsearch(name, &out->names, compare)) {
			out->nr_strings++;
			return name;
		}
		free(name);
	}
	out->beyond++;
	return out->name_nameless;
}

static void write_string(struct fxt_out *out, const struct fxt_name *name)
{
	uint64_t record[1 + NAME_MAX_BYTES / 8 + 1];
	size_t words = 1 + words_of(name->length);

	record[words - 1] = 0;
	record[0] = FXT_STRING | (uint64_t)words << 4 | (uint64_t)name->index << 16 |
		    (uint64_t)name->length << 32;
	memcpy(record + 1, name->text, name->length);
	write_words(out, record, words);
}

uint64_t fxt_ref(struct fxt_out *out, struct fxt_name *name)
{
	if (!name->length)
		return 0;
	if (!name->index) {
		name->index = ++out->last_string;
		write_string(out, name);
	}
	return name->index;
}

/* ---- a record ---- */

void fxt_record(struct fxt_out *out, enum fxt_record_type type, uint64_t header,
		uint32_t args, uint32_t arg_shift)
{
	out->record[0] = type | header;
	out->used = 1;
	out->nr_args = 0;
	out->arg_shift = arg_shift;
	out->limit = args <= FXT_ARGS_MAX ? args : FXT_ARGS_MAX - 1;
	out->more_used = 0;
	out->cut = false;
}

void fxt_word(struct fxt_out *out, uint64_t word)
{
	out->record[out->used++] = word;
}

static void put_text(struct fxt_out *out, const char *text, size_t length)
{
	size_t words = words_of(length);
	char clean[EXPORT_TEXT_MAX + 1];

	if (!words)
		return;
	export_clean(clean, text, length);
	out->record[out->used + words - 1] = 0;
	memcpy(out->record + out->used, clean, length);
	out->used += (uint32_t)words;
}

/* ---- arguments ---- */

/* Append an argument beyond the limit to "more", as text */
static void add_more(struct fxt_out *out, const struct fxt_name *name,
		     const char *text, size_t length)
{
	size_t room = sizeof(out->more) - out->more_used;
	int size = snprintf(out->more + out->more_used, room, "%s%s=%.*s",
			    out->more_used ? " " : "", name->text, (int)length, text);

	if ((size_t)size < room) {
		out->more_used += (size_t)size;
	} else {
		out->more[out->more_used] = 0;
		out->cut = true;
	}
}

/*
 * Write the header of an argument of @words words; @value: the upper 32 bits of the header.  False:
 * there is no room: "more" and a last word must still fit into the record.
 */
static bool put_arg(struct fxt_out *out, struct fxt_name *name, enum arg_type type,
		    size_t words, uint32_t value)
{
	uint64_t ref = fxt_ref(out, name);

	if (out->used + words > FXT_WORDS_MAX - 1 - (name == out->name_more ? 0 :
						     1 + words_of(sizeof(out->more)))) {
		out->cut = true;
		return false;
	}
	out->record[out->used++] = type | (uint64_t)words << 4 | ref << 16 |
				   (uint64_t)value << 32;
	out->nr_args++;
	return true;
}

static void put_number(struct fxt_out *out, struct fxt_name *name, enum arg_type type,
		       uint64_t value)
{
	if (put_arg(out, name, type, 2, 0))
		out->record[out->used++] = value;
}

__attribute__((format(printf, 3, 4)))
static void add_more_number(struct fxt_out *out, struct fxt_name *name, const char *format, ...)
{
	char text[64];
	va_list arguments;
	int length;

	va_start(arguments, format);
	length = vsnprintf(text, sizeof(text), format, arguments);
	va_end(arguments);
	add_more(out, name, text, (size_t)length);
}

void fxt_arg_signed(struct fxt_out *out, struct fxt_name *name, int64_t value)
{
	if (out->nr_args >= out->limit)
		add_more_number(out, name, "%" PRId64, value);
	else if (value == (int32_t)value)
		put_arg(out, name, ARG_INT32, 1, (uint32_t)value);
	else
		put_number(out, name, ARG_INT64, (uint64_t)value);
}

void fxt_arg_unsigned(struct fxt_out *out, struct fxt_name *name, uint64_t value)
{
	if (out->nr_args >= out->limit)
		add_more_number(out, name, "%" PRIu64, value);
	else if (value == (uint32_t)value)
		put_arg(out, name, ARG_UINT32, 1, (uint32_t)value);
	else
		put_number(out, name, ARG_UINT64, value);
}

void fxt_arg_double(struct fxt_out *out, struct fxt_name *name, double value)
{
	uint64_t bits;

	memcpy(&bits, &value, sizeof(bits));
	if (out->nr_args >= out->limit)
		add_more_number(out, name, "%.17g", value);
	else
		put_number(out, name, ARG_DOUBLE, bits);
}

void fxt_arg_pointer(struct fxt_out *out, struct fxt_name *name, uint64_t value)
{
	if (out->nr_args >= out->limit)
		add_more_number(out, name, "0x%" PRIx64, value);
	else
		put_number(out, name, ARG_POINTER, value);
}

void fxt_arg_koid(struct fxt_out *out, struct fxt_name *name, uint64_t value)
{
	put_number(out, name, ARG_KOID, value);
}

void fxt_arg_text(struct fxt_out *out, struct fxt_name *name, const char *text,
		  size_t length)
{
	uint32_t ref;

	if (length > EXPORT_TEXT_MAX) {
		length = EXPORT_TEXT_MAX;
		out->cut = true;
	}
	ref = length ? INLINE_STRING | (uint32_t)length : 0;
	if (out->nr_args >= out->limit && name != out->name_more)
		add_more(out, name, text, length);
	else if (put_arg(out, name, ARG_STRING, 1 + words_of(length), ref))
		put_text(out, text, length);
}

void fxt_arg_name(struct fxt_out *out, struct fxt_name *name, struct fxt_name *value)
{
	if (out->nr_args >= out->limit)
		add_more(out, name, value->text, value->length);
	else
		put_arg(out, name, ARG_STRING, 1, (uint32_t)fxt_ref(out, value));
}

void fxt_record_end(struct fxt_out *out, const uint64_t *last)
{
	if (out->more_used)
		fxt_arg_text(out, out->name_more, out->more, out->more_used);
	if (last)
		out->record[out->used++] = *last;
	out->record[0] |= (uint64_t)out->used << 4 |
			  (uint64_t)out->nr_args << out->arg_shift;
	write_words(out, out->record, out->used);
}
