// SPDX-License-Identifier: GPL-2.0-only
/*
 * The files of one recording; see series.h.
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
#include "series.h"
#include "tool/command/command.h"
#include "tool/command/number.h"
#include "tool/show/input.h"

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
			 struct series *series)
{
	size_t digits = strspn(value, "0123456789.");

	series->given = true;
	if (!strcmp(value, "signal"))
		return 1;
	if (digits && value[digits]) {
		series->bytes = parse_size(value) ? parse_size(value) : series->bytes;
		if (parse_size(value) || !parse_seconds(value, &series->seconds))
			return 1;
	}
	misused(command, "--rotate: '%s' is neither a size (K, M, G, T: 100M) nor a time (s, m, h: 10m) nor 'signal'",
		value);
	return -1;
}

int series_option(const struct command *command, int option, const char *value,
		  struct series *series)
{
	if (option == OPTION_ROTATE)
		return rotate_option(command, value, series);
	if (option != OPTION_KEEP)
		return 0;
	if (!parse_u32(value, 1, NUMBER_MAX, &series->keep))
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

int series_file_name(const struct series *series, unsigned int number, char *name)
{
	size_t stem = file_stem(series->output);	/* the number goes here */
	int length;

	length = snprintf(name, PATH_MAX, "%.*s-%04u%s", (int)stem, series->output,
			  number, series->output + stem);
	return length < PATH_MAX ? 0 : -ENAMETOOLONG;
}

/* The number in a file's name; 0: not a file of the series */
static unsigned int number_of(const struct series *series, const char *name)
{
	const char *base = base_name(series->output);
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
static int each_file(const struct series *series,
		     void (*each)(const struct series *, unsigned int number, void *),
		     void *context)
{
	size_t length = (size_t)(base_name(series->output) - series->output);
	char folder[PATH_MAX];
	struct dirent *entry;
	unsigned int number;
	DIR *dir;

	if (length >= sizeof(folder))
		return -ENAMETOOLONG;
	memcpy(folder, series->output, length);
	folder[length] = 0;
	dir = opendir(length ? folder : ".");
	if (!dir)
		return -errno;
	while ((entry = readdir(dir))) {
		number = number_of(series, entry->d_name);
		if (number)
			each(series, number, context);
	}
	closedir(dir);
	return 0;
}

static void last_number(const struct series *series, unsigned int number, void *context)
{
	unsigned int *last = context;

	(void)series;
	if (number > *last)
		*last = number;
}

int series_next(struct series *series, const char *output)
{
	unsigned int last = series->number;
	int result;

	series->output = output;
	/* read the folder each time: other programs may create files, too */
	result = each_file(series, last_number, &last);
	if (!result && last >= NUMBER_MAX)
		result = -EOVERFLOW;
	if (!result)
		result = series_file_name(series, last + 1, series->names[!series->turn]);
	if (result)
		return complain("%s: cannot name the next file: %s", output,
				strerror(-result));
	series->before = series->number;
	series->number = last + 1;
	series->turn = !series->turn;
	series->name = series->names[series->turn];
	return EXIT_FINE;
}

void series_back(struct series *series)
{
	series->number = series->before;
	series->turn = !series->turn;
	series->name = series->names[series->turn];
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

static void collect_number(const struct series *series, unsigned int number, void *context)
{
	struct numbers *numbers = context;
	unsigned int *grown;

	if (number > series->number)
		return;
	if (numbers->count == numbers->room) {
		grown = realloc(numbers->list, (numbers->room + 64) * sizeof(*grown));
		if (!grown)
			return;		/* the next call finds the file again */
		numbers->list = grown;
		numbers->room += 64;
	}
	numbers->list[numbers->count++] = number;
}

static void first_number(const struct series *series, unsigned int number, void *context)
{
	unsigned int *first = context;

	if (number < series->number && (!*first || number < *first))
		*first = number;
}

bool series_make_room(struct series *series, const char *current)
{
	unsigned int first = 0;
	char name[PATH_MAX];

	if ((!series->keep && !series->memory) || each_file(series, first_number, &first) || !first ||
	    series_file_name(series, first, name) || !strcmp(name, current))
		return false;
	if (unlink(name) < 0 && errno != ENOENT) {
		note("%s: cannot be deleted: %s", name, strerror(errno));
		return false;
	}
	if (!series->deleted)
		note("the disk is full: %s is deleted; further files follow when more room is needed",
		     name);
	series->deleted = true;
	return true;
}

int series_numbers(const struct series *series, unsigned int **numbers, size_t *count)
{
	struct numbers found = { 0 };
	int result = each_file(series, collect_number, &found);

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

static void delete_file(const struct series *series, unsigned int number)
{
	char name[PATH_MAX];

	if (!series_file_name(series, number, name) && unlink(name) < 0 && errno != ENOENT)
		note("%s: cannot be deleted: %s", name, strerror(errno));
}

static void trim_to_count(const struct series *series, uint32_t keep)
{
	unsigned int *numbers;
	size_t count, i;

	if (series_numbers(series, &numbers, &count))
		return;
	for (i = 0; i + keep < count; i++)
		delete_file(series, numbers[i]);
	free(numbers);
}

static void delete_oldest(struct series *series)
{
	delete_file(series, series->files[0].number);
	series->nr_files--;
	memmove(series->files, series->files + 1, series->nr_files * sizeof(*series->files));
}

static void add_finished(struct series *series, uint64_t now)
{
	struct series_file *file;
	char name[PATH_MAX];
	struct stat status;

	if (series_file_name(series, series->before, name) || stat(name, &status) < 0)
		return;
	if (series->nr_files == SERIES_FILES)
		delete_oldest(series);
	file = &series->files[series->nr_files++];
	*file = (struct series_file){
		.number = series->before, .bytes = (uint64_t)status.st_blocks * 512, .ended = now,
	};
}

/*
 * Reserve 2 * series->bytes for the current file: it can exceed series->bytes by the blocks of one
 * write, and by the notes at its end.
 */
static bool is_too_much(const struct series *series, uint64_t now)
{
	uint64_t sum = 2 * series->bytes;
	unsigned int i;

	for (i = 0; i < series->nr_files; i++)
		sum += series->files[i].bytes;
	return sum > series->memory ||
	       (series->age > 0 && (double)(now - series->files[0].ended) > series->age * 1e9);
}

void series_trim(struct series *series, uint64_t now)
{
	if (series->keep)
		trim_to_count(series, series->keep);
	if (!series->memory)
		return;
	if (series->before)
		add_finished(series, now);
	else
		trim_to_count(series, 1);
	while (series->nr_files && is_too_much(series, now))
		delete_oldest(series);
}
