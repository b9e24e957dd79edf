// SPDX-License-Identifier: GPL-2.0-only
/*
 * The output of an export.  A file or directory is written under a temporary name beside the
 * target, and replaces the target when it is complete.  Pipes and devices are written directly.
 */
#include <dirent.h>
#include <errno.h>
#include <fcntl.h>
#include <fts.h>
#include <ftw.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>
#include <unistd.h>
#include "output.h"
#include "tool/command/command.h"

static int cannot(const struct output *output)
{
	return complain("%s: cannot be written: %s", output->name,
			strerror(errno));
}

/*
 * Give the export the mode of the trace less umask, and its group: an export has the secrets of the
 * trace, so only users that may read the trace may read it.
 */
static void inherit(struct output *output, const char *trace)
{
	mode_t mask = umask(0);
	struct stat from;

	umask(mask);
	output->file_mode = 0600;
	output->group = (gid_t)-1;
	if (trace &&
	    !(strcmp(trace, "-") ? stat(trace, &from) : fstat(STDIN_FILENO, &from))) {
		output->file_mode = from.st_mode & 0666;
		output->group = from.st_gid;
	}
	output->file_mode = (output->file_mode & ~mask) | 0600;
}

/* Users that can read a directory can also enter it */
static mode_t directory_mode(mode_t mode)
{
	return mode | (mode & 0444) >> 2;
}

/* The group bits are for the group of the trace: any other group gets the bits of others */
static mode_t for_group(const struct output *output, gid_t group, mode_t mode)
{
	return group == output->group ? mode : (mode & ~0070u) | (mode & 0007) << 3;
}

/* Give the new file @fd group and mode.  Errors are ignored: some file systems have neither */
static void set_access(const struct output *output, int fd, mode_t mode)
{
	struct stat made;

	/* fails if the user is not in the group; for_group() then withholds its bits */
	if (output->group != (gid_t)-1 && fchown(fd, (uid_t)-1, output->group) < 0)
		errno = 0;
	if (!fstat(fd, &made) && fchmod(fd, for_group(output, made.st_gid, mode)) < 0)
		errno = 0;
}

/*
 * Create an empty file or directory beside the target; EXIT_*.  @mode: of the target that will be
 * replaced; 0: there is none.  A directory stays closed to others until set_all_access().
 */
static int make_beside(struct output *output, mode_t mode)
{
	int fd;

	output->path = malloc(strlen(output->target) + sizeof(".XXXXXX"));
	if (!output->path)
		return complain("out of memory");
	strcpy(output->path, output->target);
	strcat(output->path, ".XXXXXX");
	if (output->kind == OUTPUT_DIRECTORY) {
		output->mode = mode;
		if (mkdtemp(output->path))
			return EXIT_FINE;
	} else {
		fd = mkostemp(output->path, O_CLOEXEC);
		if (fd >= 0) {
			if (mode)
				fchmod(fd, mode);
			else
				set_access(output, fd, output->file_mode);
			if (output->kind == OUTPUT_PATH) {
				close(fd);
				return EXIT_FINE;
			}
			output->stream = fdopen(fd, "wb");
			if (output->stream)
				return EXIT_FINE;
			close(fd);
			unlink(output->path);
		}
	}
	free(output->path);
	output->path = NULL;
	return cannot(output);
}

static int open_stdout(struct output *output)
{
	if (output->kind != OUTPUT_STREAM)
		return complain("this format is not written to a pipe: name a %s (-o)",
				output->kind == OUTPUT_DIRECTORY ? "directory" :
								   "file");
	output->stream = stdout;
	return EXIT_FINE;
}

/* An empty directory will be replaced */
static int open_directory(struct output *output, const struct stat *there)
{
	struct dirent *entry;
	bool empty = true;
	DIR *directory;

	if (!S_ISDIR(there->st_mode))
		return complain("%s: this format is a directory, and there is a file of that name: name another (-o)",
				output->name);
	directory = opendir(output->name);
	if (!directory)
		return cannot(output);
	while (empty && (entry = readdir(directory)))
		empty = !strcmp(entry->d_name, ".") ||
			!strcmp(entry->d_name, "..");
	closedir(directory);
	if (!empty)
		return complain("%s: is not empty: name a directory that is, or is not there yet (-o)",
				output->name);
	/* replace the target of symbolic links, not the links */
	output->target = realpath(output->name, NULL);
	return output->target ? make_beside(output, there->st_mode & 07777) :
				cannot(output);
}

/* The target exists */
static int open_existing(struct output *output, const struct stat *there,
			 const char *trace)
{
	struct stat from;

	if (output->kind == OUTPUT_DIRECTORY)
		return open_directory(output, there);
	if (S_ISDIR(there->st_mode))
		return complain("%s: is a directory: name a file in it (-o)",
				output->name);
	if (!S_ISREG(there->st_mode)) {
		if (output->kind != OUTPUT_STREAM)
			return complain("%s: is not a file: this format needs one (-o)",
					output->name);
		output->stream = fopen(output->name, "wb");
		return output->stream ? EXIT_FINE : cannot(output);
	}
	if (trace && !stat(trace, &from) && from.st_dev == there->st_dev &&
	    from.st_ino == there->st_ino)
		return complain("%s: is the trace itself: name another file (-o)",
				output->name);
	/* replace the target of symbolic links, not the links */
	output->target = realpath(output->name, NULL);
	if (!output->target || access(output->target, W_OK))
		return cannot(output);
	return make_beside(output, there->st_mode & 0777);
}

int output_open(struct output *output, const char *name, const char *trace,
		enum output_kind kind)
{
	struct stat there;
	size_t length;

	memset(output, 0, sizeof(*output));
	output->name = name;
	output->kind = kind;
	inherit(output, trace);
	if (!strcmp(name, "-"))
		return open_stdout(output);
	if (!stat(name, &there))
		return open_existing(output, &there, trace);
	if (errno != ENOENT)
		return cannot(output);
	if (!lstat(name, &there))
		return complain("%s: leads to nothing: name the file itself (-o)",
				name);
	output->target = strdup(name);
	if (!output->target)
		return complain("out of memory");
	length = strlen(name);
	while (kind == OUTPUT_DIRECTORY && length > 1 && name[length - 1] == '/')
		output->target[--length] = 0;
	return make_beside(output, 0);
}

static int remove_one(const char *path, const struct stat *there, int kind,
		      struct FTW *where)
{
	(void)there;
	(void)kind;
	(void)where;
	return remove(path);
}

/* Set group and mode of all files in the new directory, and then of the directory */
static int set_all_access(const struct output *output)
{
	char *paths[] = { output->path, NULL };
	FTS *tree = fts_open(paths, FTS_PHYSICAL | FTS_NOCHDIR, NULL);
	int result = 0, fd;
	FTSENT *entry;
	mode_t mode;

	if (!tree)
		return -1;
	while (!result && (entry = fts_read(tree))) {
		mode = output->file_mode;
		if (entry->fts_info == FTS_DP)
			mode = entry->fts_level || !output->mode ? directory_mode(mode) :
			       output->mode;
		else if (entry->fts_info != FTS_F)
			continue;
		fd = open(entry->fts_path, O_RDONLY | O_NOFOLLOW | O_CLOEXEC);
		if (fd < 0) {
			result = -1;
			break;
		}
		if (!entry->fts_level && output->mode)
			fchmod(fd, mode);
		else
			set_access(output, fd, mode);
		close(fd);
	}
	fts_close(tree);
	return result;
}

static void forget(struct output *output)
{
	free(output->path);
	free(output->target);
	memset(output, 0, sizeof(*output));
}

void output_drop(struct output *output)
{
	if (output->stream && output->stream != stdout)
		fclose(output->stream);
	if (output->path)
		nftw(output->path, remove_one, 16, FTW_DEPTH | FTW_PHYS);
	forget(output);
}

int output_finish(struct output *output)
{
	FILE *stream = output->stream;
	int status;

	output->stream = NULL;
	if ((stream && (stream == stdout ? fflush(stdout) : fclose(stream))) ||
	    (output->path && output->kind == OUTPUT_DIRECTORY && set_all_access(output)) ||
	    (output->path && rename(output->path, output->target))) {
		status = cannot(output);
		output_drop(output);
		return status;
	}
	forget(output);
	return EXIT_FINE;
}
