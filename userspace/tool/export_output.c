// SPDX-License-Identifier: GPL-2.0-only
/*
 * Where an export goes.  A file or a directory gets its name when it is complete, and has another
 * one beside it until then; what stood there before stays until then, too.  Pipes
 * and devices are written to as they are.
 */
#include <dirent.h>
#include <errno.h>
#include <ftw.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>
#include <unistd.h>
#include "export_output.h"

static int cannot(const struct output *output)
{
	return complain("%s: cannot be written: %s", output->name,
			strerror(errno));
}

static mode_t usual_mode(enum output_kind kind)
{
	mode_t mask = umask(0);

	umask(mask);
	return (kind == OUTPUT_DIRECTORY ? 0777 : 0666) & ~mask;
}

/* An empty file or directory beside the target; EXIT_* */
static int make_beside(struct output *output, mode_t mode)
{
	int fd;

	output->path = malloc(strlen(output->target) + sizeof(".XXXXXX"));
	if (!output->path)
		return complain("out of memory");
	strcpy(output->path, output->target);
	strcat(output->path, ".XXXXXX");
	if (output->kind == OUTPUT_DIRECTORY) {
		if (mkdtemp(output->path) && !chmod(output->path, mode))
			return EXIT_FINE;
	} else {
		fd = mkstemp(output->path);
		if (fd >= 0) {
			fchmod(fd, mode);
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

static int open_new(struct output *output, mode_t mode)
{
	int status = make_beside(output, mode);

	if (status == EXIT_FINE && output->kind == OUTPUT_PATH) {
		fclose(output->stream);
		output->stream = NULL;
	}
	return status;
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

/* An empty one is as good as none */
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
	/* through symbolic links, which stay */
	output->target = realpath(output->name, NULL);
	return output->target ? open_new(output, there->st_mode & 07777) :
				cannot(output);
}

/* Something of that name is there already */
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
	if (!stat(trace, &from) && from.st_dev == there->st_dev &&
	    from.st_ino == there->st_ino)
		return complain("%s: is the trace itself: name another file (-o)",
				output->name);
	/* through symbolic links, which stay */
	output->target = realpath(output->name, NULL);
	if (!output->target || access(output->target, W_OK))
		return cannot(output);
	return open_new(output, there->st_mode & 0777);
}

int output_open(struct output *output, const char *name, const char *trace,
		enum output_kind kind)
{
	struct stat there;
	size_t length;

	memset(output, 0, sizeof(*output));
	output->name = name;
	output->kind = kind;
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
	return open_new(output, usual_mode(kind));
}

static int remove_one(const char *path, const struct stat *there, int kind,
		      struct FTW *where)
{
	(void)there;
	(void)kind;
	(void)where;
	return remove(path);
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
	if (stream && (stream == stdout ? fflush(stdout) : fclose(stream))) {
		status = cannot(output);
		output_drop(output);
		return status;
	}
	if (output->path && rename(output->path, output->target)) {
		status = cannot(output);
		output_drop(output);
		return status;
	}
	forget(output);
	return EXIT_FINE;
}
