// SPDX-License-Identifier: GPL-2.0-only
/*
 * The files of one recording; see rotation.h.
 *
 * Number 12 of "dir/trace.tbuf" is "dir/trace-0012.tbuf".  Files of an earlier recording with that
 * name stay: a new recording continues their numbers, and --keep counts them.
 */
#include <dirent.h>
#include <errno.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>
#include <unistd.h>
#include "rotation.h"
#include "tool/command/command.h"
#include "tool/command/number.h"
#include "tool/show/input.h"
#include "lib/array.h"

#define NUMBER_MAX 999999999u

/* ---- options ---- */

uint64_t parse_size(const char *text)
{
	static const char units[] = "KMGT";
	const char *unit;
	double size;
	const char *end;

	end = parse_decimal(text, &size);
	unit = end && *end ? strchr(units, *end) : NULL;
	if (!unit || !(size > 0) ||
	    (end[1] && strcmp(end + 1, "iB") && strcmp(end + 1, "B")))
		return 0;
	size *= (double)(1ull << 10 * (unit - units + 1));
	return size < 1e18 ? (uint64_t)size : 0;
}

static int rotate_option(const struct command *command, const char *value,
			 struct rotation *rotation)
{
	size_t digits = strspn(value, "0123456789.");

	rotation->given = true;
	if (!strcmp(value, "signal"))
		return 1;
	if (digits && value[digits]) {
		rotation->bytes = parse_size(value) ? parse_size(value) : rotation->bytes;
		if (parse_size(value) || !parse_seconds(value, &rotation->seconds))
			return 1;
	}
	misused(command, "--rotate: '%s' is neither a size (K, M, G, T: 100M) nor a time (s, m, h: 10m) nor 'signal'",
		value);
	return -1;
}

int rotation_option(const struct command *command, int option, const char *value,
		    struct rotation *rotation)
{
	if (option == OPTION_ROTATE)
		return rotate_option(command, value, rotation);
	if (option != OPTION_KEEP)
		return 0;
	if (!parse_u32(value, 1, NUMBER_MAX, &rotation->keep))
		return 1;
	misused(command, "--keep: '%s' is not a number of files from 1 on", value);
	return -1;
}

/* ---- names ---- */

static const char *base_name(const char *path)
{
	const char *slash = strrchr(path, '/');

	return slash ? slash + 1 : path;
}

int rotation_file_name(const struct rotation *rotation, unsigned int number, char *name)
{
	size_t stem = file_stem(rotation->output);	/* the number goes here */
	int length;

	length = snprintf(name, PATH_MAX, "%.*s-%04u%s", (int)stem, rotation->output,
			  number, rotation->output + stem);
	return length < PATH_MAX ? 0 : -ENAMETOOLONG;
}

/* The number in a file's name; 0: not a file of the rotation */
static unsigned int number_of(const struct rotation *rotation, const char *name)
{
	const char *base = base_name(rotation->output);
	size_t stem = file_stem(base), digits;
	unsigned long number;

	if (strncmp(name, base, stem) || name[stem] != '-')
		return 0;
	name += stem + 1;
	digits = strspn(name, "0123456789");
	if (digits < 4 || digits > 9 || (digits > 4 && *name == '0') ||
	    strcmp(name + digits, base + stem))
		return 0;
	number = strtoul(name, NULL, 10);
	return (unsigned int)number;
}

/* Call @each for the number of each existing file; -errno: the folder cannot be read */
static int each_file(const struct rotation *rotation,
		     void (*each)(const struct rotation *, unsigned int number, void *),
		     void *context)
{
	size_t length = (size_t)(base_name(rotation->output) - rotation->output);
	char folder[PATH_MAX];
	struct dirent *entry;
	unsigned int number;
	DIR *dir;

	if (length >= sizeof(folder))
		return -ENAMETOOLONG;
	memcpy(folder, rotation->output, length);
	folder[length] = 0;
	dir = opendir(length ? folder : ".");
	if (!dir)
		return -errno;
	while ((entry = readdir(dir))) {
		number = number_of(rotation, entry->d_name);
		if (number)
			each(rotation, number, context);
	}
	closedir(dir);
	return 0;
}

static void last_number(const struct rotation *rotation, unsigned int number, void *context)
{
	unsigned int *last = context;

	(void)rotation;
	if (number > *last)
		*last = number;
}

int rotation_next(struct rotation *rotation, const char *output)
{
	unsigned int last = rotation->number;
	int result;

	rotation->output = output;
	/* read the folder each time: other programs may create files, too */
	result = each_file(rotation, last_number, &last);
	if (!result && last >= NUMBER_MAX)
		result = -EOVERFLOW;
	if (!result)
		result = rotation_file_name(rotation, last + 1, rotation->names[!rotation->turn]);
	if (result)
		return complain("%s: cannot name the next file: %s", output,
				strerror(-result));
	rotation->before = rotation->number;
	rotation->number = last + 1;
	rotation->turn = !rotation->turn;
	rotation->name = rotation->names[rotation->turn];
	return EXIT_FINE;
}

void rotation_back(struct rotation *rotation)
{
	rotation->number = rotation->before;
	rotation->turn = !rotation->turn;
	rotation->name = rotation->names[rotation->turn];
}

/* ---- deleting ---- */

static int compare_numbers(const void *a, const void *b)
{
	unsigned int first = *(const unsigned int *)a, second = *(const unsigned int *)b;

	return first < second ? -1 : first > second;
}

struct numbers {
	unsigned int *list;
	size_t count, room;
};

static void collect_number(const struct rotation *rotation, unsigned int number, void *context)
{
	struct numbers *numbers = context;

	if (number > rotation->number)
		return;
	if (tb_array_grow(&numbers->list, &numbers->room, numbers->count, sizeof(*numbers->list)))
		return;		/* the next call finds the file again */
	numbers->list[numbers->count++] = number;
}

static void first_number(const struct rotation *rotation, unsigned int number, void *context)
{
	unsigned int *first = context;

	if (number < rotation->number && (!*first || number < *first))
		*first = number;
}

bool rotation_make_room(struct rotation *rotation, const char *current)
{
	unsigned int first = 0;
	char name[PATH_MAX];

	if ((!rotation->keep && !rotation->memory) ||
	    each_file(rotation, first_number, &first) || !first ||
	    rotation_file_name(rotation, first, name) || !strcmp(name, current))
		return false;
	if (unlink(name) < 0 && errno != ENOENT) {
		note("%s: cannot be deleted: %s", name, strerror(errno));
		return false;
	}
	if (!rotation->deleted)
		note("the disk is full: %s is deleted; further files follow when more room is needed",
		     name);
	rotation->deleted = true;
	return true;
}

int rotation_numbers(const struct rotation *rotation, unsigned int **numbers, size_t *count)
{
	struct numbers found = { 0 };
	int result = each_file(rotation, collect_number, &found);

	if (result) {
		free(found.list);
		return result;
	}
	if (found.count)
		qsort(found.list, found.count, sizeof(*found.list), compare_numbers);
	*numbers = found.list;
	*count = found.count;
	return 0;
}

static void delete_file(const struct rotation *rotation, unsigned int number)
{
	char name[PATH_MAX];

	if (!rotation_file_name(rotation, number, name) && unlink(name) < 0 && errno != ENOENT)
		note("%s: cannot be deleted: %s", name, strerror(errno));
}

static void trim_to_count(const struct rotation *rotation, uint32_t keep)
{
	unsigned int *numbers;
	size_t count, i;

	if (rotation_numbers(rotation, &numbers, &count))
		return;
	for (i = 0; i + keep < count; i++)
		delete_file(rotation, numbers[i]);
	free(numbers);
}

static void delete_oldest(struct rotation *rotation)
{
	delete_file(rotation, rotation->files[0].number);
	rotation->nr_files--;
	memmove(rotation->files, rotation->files + 1,
		rotation->nr_files * sizeof(*rotation->files));
}

static void add_finished(struct rotation *rotation, uint64_t now)
{
	struct rotation_file *file;
	char name[PATH_MAX];
	struct stat status;

	if (rotation_file_name(rotation, rotation->before, name) || stat(name, &status) < 0)
		return;
	if (rotation->nr_files == ROTATION_FILES)
		delete_oldest(rotation);
	file = &rotation->files[rotation->nr_files++];
	*file = (struct rotation_file){
		.number = rotation->before, .bytes = (uint64_t)status.st_blocks * 512, .ended = now,
	};
}

/*
 * Reserve 2 * rotation->bytes for the current file: it can exceed rotation->bytes by the blocks of
 * one write, and by the notes at its end.
 */
static bool is_too_much(const struct rotation *rotation, uint64_t now)
{
	uint64_t sum = 2 * rotation->bytes;
	unsigned int i;

	for (i = 0; i < rotation->nr_files; i++)
		sum += rotation->files[i].bytes;
	return sum > rotation->memory ||
	       (rotation->age > 0 &&
		(double)(now - rotation->files[0].ended) > rotation->age * 1e9);
}

void rotation_trim(struct rotation *rotation, uint64_t now)
{
	if (rotation->keep)
		trim_to_count(rotation, rotation->keep);
	if (!rotation->memory)
		return;
	if (rotation->before)
		add_finished(rotation, now);
	else
		trim_to_count(rotation, 1);
	while (rotation->nr_files && is_too_much(rotation, now))
		delete_oldest(rotation);
}
