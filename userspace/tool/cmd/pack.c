// SPDX-License-Identifier: GPL-2.0-only
/*
 * tracebuf pack, tracebuf unpack - convert a trace file into its packed form, and back.
 */
#include <fcntl.h>
#include <inttypes.h>
#include <stdlib.h>
#include <string.h>
#include <sys/mman.h>
#include <sys/stat.h>
#include <unistd.h>
#include "cmd.h"
#include "lib/pack/pack.h"
#include "tool/command/command.h"
#include "tool/export/output.h"

#define PLAIN	".tbuf"
#define PACKED	".tbz"
#define LEVEL	3		/* of zstd */
#define FRAME	(4u << 20)	/* bytes of blocks in a frame; more if a block is larger */

static int pack_run(int argc, char **argv);
static int unpack_run(int argc, char **argv);

const struct command cmd_pack = {
	.name  = "pack",
	.run   = pack_run,
	.brief = "make a trace file several times smaller",
	.help  =
	"usage: tracebuf pack [OPTIONS] FILE\n"
	"\n"
	"Writes the trace FILE in its packed form, which takes a fraction of the room.\n"
	"All commands read packed files. 'tracebuf unpack' makes the plain file again.\n"
	"\n"
	"  -o, --output OUT      write to OUT (FILE, with the ending .tbz instead of .tbuf);\n"
	"                        '-': standard output\n"
	"  -q, --quiet           do not say how much smaller it is\n"
	"  -h, --help            show this text\n",
	.whole = "pack packs the whole recording",
};

const struct command cmd_unpack = {
	.name  = "unpack",
	.run   = unpack_run,
	.brief = "make a plain trace file of a packed one",
	.help  =
	"usage: tracebuf unpack [OPTIONS] FILE\n"
	"\n"
	"Writes the plain form of FILE, which 'tracebuf pack' has written. If FILE is\n"
	"damaged, no file is written, and standard output ends before the damage. Commands\n"
	"that read traces show what is left.\n"
	"\n"
	"  -o, --output OUT      write to OUT (FILE, with the ending .tbuf instead of .tbz);\n"
	"                        '-': standard output\n"
	"  -q, --quiet           do not say how large it is\n"
	"  -h, --help            show this text\n",
	.whole = "unpack unpacks the whole recording",
};

/**
 * struct job - a conversion
 * @data, @size: mapping of the input
 * @left: beginning of the input that leave_behind() keeps
 * @written: bytes of the output
 * @events: events in rolling blocks
 */
struct job {
	const char *file;
	char *name;
	bool quiet;
	const unsigned char *data;
	size_t size;
	struct output output;
	size_t left;
	uint64_t written, events;
};

/* ---- input and output ---- */

static int map_input(struct job *job)
{
	struct stat status;
	void *map;
	int fd = open(job->file, O_RDONLY | O_CLOEXEC);

	if (fd < 0)
		return complain("%s: cannot be opened: %s", job->file, strerror(errno));
	if (fstat(fd, &status) < 0 || !S_ISREG(status.st_mode)) {
		close(fd);
		return complain("%s: is not a regular file", job->file);
	}
	job->size = (size_t)status.st_size;
	map = job->size ? mmap(NULL, job->size, PROT_READ, MAP_PRIVATE, fd, 0) : MAP_FAILED;
	close(fd);
	if (!job->size)
		return complain("%s: empty", job->file);
	if (map == MAP_FAILED)
		return complain("%s: cannot be read: %s", job->file, strerror(errno));
	job->data = map;
	madvise(map, job->size, MADV_SEQUENTIAL);
	return EXIT_FINE;
}

/* Derive the output's name from the input's; refuse to replace an existing file */
static int default_name(struct job *job, const char *from, const char *to)
{
	size_t length = strlen(job->file), ending = strlen(from);

	if (length > ending && !strcmp(job->file + length - ending, from))
		length -= ending;
	if (asprintf(&job->name, "%.*s%s", (int)length, job->file, to) < 0) {
		job->name = NULL;
		return complain("out of memory");
	}
	return access(job->name, F_OK) ? EXIT_FINE :
	       complain("%s: is there already: name the file to be written (-o)", job->name);
}

static int put(struct job *job, const void *data, size_t size)
{
	if (fwrite(data, 1, size, job->output.stream) != size)
		return complain("%s: cannot be written: %s", job->output.name, strerror(errno));
	job->written += size;
	return EXIT_FINE;
}

static double per_event(const struct job *job, uint64_t bytes)
{
	return job->events ? (double)bytes / (double)job->events : 0;
}

static void tell(const struct job *job, const char *name)
{
	if (!job->quiet)
		note("%s: %zu bytes to %" PRIu64 ", %" PRIu64 " event%s: %.2f bytes an event to %.2f",
		     name, job->size, job->written, job->events, plural(job->events),
		     per_event(job, job->size), per_event(job, job->written));
}

/* ---- pack ---- */

/* How many bytes at @data go into a frame: whole blocks, or bytes that are not a block */
static size_t frame_content(struct job *job, const unsigned char *data, size_t size)
{
	struct tb_block header;
	size_t used = 0, bytes;

	while (size - used >= sizeof(header)) {
		memcpy(&header, data + used, sizeof(header));
		if (header.magic != TB_BLOCK_MAGIC || header.size_log2 < 10 ||
		    header.size_log2 > 20)
			break;
		bytes = (size_t)1 << header.size_log2;
		if (bytes > size - used || (used && used + bytes > FRAME))
			break;
		if (header.kind == TB_BLOCK_ROLLING && header.flags & TB_BLOCK_COMPLETE)
			job->events += header.events;
		used += bytes;
	}
	return used ? used : size < FRAME ? size : FRAME;
}

/* The input before @at is not needed any more */
static void leave_behind(struct job *job, size_t at)
{
	if (at - job->left < 2 * FRAME)
		return;
	madvise((char *)(uintptr_t)job->data + job->left, 2 * FRAME, MADV_DONTNEED);
	job->left += 2 * FRAME;
}

static int pack_all(struct job *job)
{
	struct tb_packer *packer = tb_packer_open(LEVEL);
	void *blocks = aligned_alloc(16, TB_PACK_CONTENT);
	size_t at, content, bytes;
	const void *frame;
	int status = EXIT_FINE;

	for (at = 0; !status && at < job->size; at += content) {
		leave_behind(job, at);
		content = frame_content(job, job->data + at, job->size - at);
		/* pack a copy: another program may change the file meanwhile */
		if (blocks)
			memcpy(blocks, job->data + at, content);
		if (!blocks || !packer || tb_packer_frame(packer, blocks, content, &frame, &bytes))
			status = complain("out of memory");
		else
			status = put(job, frame, bytes);
	}
	free(blocks);
	tb_packer_close(packer);
	return status;
}

/* ---- unpack ---- */

static int unpack_piece(struct job *job, struct tb_unpacker *unpacker, size_t at, void *blocks,
			size_t *bytes)
{
	const unsigned char *from = job->data + at;
	struct tb_pack_frame header;
	struct tb_error error;
	struct tb_block block;
	int64_t size;
	int result;

	/* plain blocks may stand between frames */
	if (!tb_packed(from, job->size - at)) {
		size = tb_block_check(from, job->size - at, NULL);
		if (size < 0)
			return complain("%s: at byte %zu: neither a packed frame nor a block starts here",
					job->file, at);
		*bytes = (size_t)size;
		memcpy(&block, from, sizeof(block));
		job->events += block.kind == TB_BLOCK_ROLLING ? block.events : 0;
		return put(job, from, *bytes);
	}
	result = tb_pack_header(from, job->size - at, &header, &error);
	if (result) {
		error.offset += at;
		return complain_file(job->file, &error);
	}
	result = tb_unpacker_frame(unpacker, from, &header, blocks);
	if (result == -ENOMEM)
		return complain("out of memory");
	if (result)
		return complain("%s: at byte %zu: a damaged frame", job->file, at);
	*bytes = header.bytes;
	job->events += header.events;
	return put(job, blocks, header.content);
}

static int unpack_all(struct job *job)
{
	struct tb_unpacker *unpacker = tb_unpacker_open();
	void *blocks = aligned_alloc(16, TB_PACK_CONTENT);
	int status = unpacker && blocks ? EXIT_FINE : complain("out of memory");
	size_t at, bytes = 0;

	for (at = 0; !status && at < job->size; at += bytes) {
		leave_behind(job, at);
		status = unpack_piece(job, unpacker, at, blocks, &bytes);
	}
	free(blocks);
	tb_unpacker_close(unpacker);
	return status;
}

/* ---- both ---- */

/* Check that the input is a trace, and packed or not as the command needs; complains, EXIT_* */
static int check_input(const struct job *job, bool packed)
{
	static const unsigned char zstd[] = { 0x28, 0xb5, 0x2f, 0xfd };
	uint32_t magic = 0;

	if (job->size >= sizeof(zstd) && !memcmp(job->data, zstd, sizeof(zstd)))
		return complain("%s: is compressed by zstd: 'zstd -d <%s >PLAIN' makes a plain file",
				job->file, job->file);
	if (tb_packed(job->data, job->size) == packed) {
		memcpy(&magic, job->data, job->size < sizeof(magic) ? 0 : sizeof(magic));
		return packed || magic == TB_BLOCK_MAGIC ? EXIT_FINE :
		       complain("%s: is not a trace: no block starts at byte 0", job->file);
	}
	return complain(packed ? "%s: is not packed" : "%s: is packed already", job->file);
}

static int convert(struct job *job, bool unpack, const char *name)
{
	int status = map_input(job);

	if (!status)
		status = check_input(job, unpack);
	if (!status && !name) {
		status = unpack ? default_name(job, PACKED, PLAIN) : default_name(job, PLAIN, PACKED);
		name = job->name;
	}
	if (!status)
		status = output_open(&job->output, name, job->file, OUTPUT_STREAM);
	if (!status) {
		status = unpack ? unpack_all(job) : pack_all(job);
		if (status)
			output_drop(&job->output);
		else
			status = output_finish(&job->output);
	}
	if (!status)
		tell(job, name);
	if (job->data)
		munmap((void *)(uintptr_t)job->data, job->size);
	free(job->name);
	return status;
}

static int run(const struct command *command, int argc, char **argv)
{
	struct job job = { .file = NULL };
	const char *name = NULL;
	int option;

	while ((option = next_option(command, "", argc, argv)) >= 0) {
		switch (option) {
		case 'o':
			name = optarg;
			break;
		case 'q':
			job.quiet = true;
			break;
		default:
			return show_help(command, option);
		}
	}
	if (argc - optind != 1)
		return misused(command, "one file is %sed, not %d", command->name, argc - optind);
	job.file = argv[optind];
	return convert(&job, command == &cmd_unpack, name);
}

static int pack_run(int argc, char **argv)
{
	return run(&cmd_pack, argc, argv);
}

static int unpack_run(int argc, char **argv)
{
	return run(&cmd_unpack, argc, argv);
}
