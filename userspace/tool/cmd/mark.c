// SPDX-License-Identifier: GPL-2.0-only
/*
 * tracebuf mark - record a text, with a user-space writer of this process.
 */
#include <errno.h>
#include <string.h>
#include "cmd.h"
#include "tracebuf_record.h"
#include "tool/command/command.h"
#include "tool/device/device.h"

/* Bytes of a chunk beside the text: its header, the writer's names, the record's first element */
#define AROUND	192

static int mark_run(int argc, char **argv);

const struct command cmd_mark = {
	.name  = "mark",
	.run   = mark_run,
	.brief = "record a text of your own",
	.help  =
	"usage: tracebuf mark [-p NAME] TEXT...\n"
	"\n"
	"Records TEXT with the time of now; several words are joined by blanks. Fails if\n"
	"nothing is being recorded, or if the recording takes nothing from programs\n"
	"('tracebuf enable user' changes that). Programs do the same with tb_write_mark()\n"
	"of tracebuf_record.h.\n"
	"\n"
	PROVIDER_HELP
	"  -h, --help            show this text\n",
};

static int complain_device(const char *what, int result)
{
	switch (result) {
	case -ENOENT:
	case -ENXIO:
	case -ENODEV:
		return complain("%s does not exist: the module is not loaded ('modprobe tracebuf' as root), or has no user-space writers",
				what);
	case -EACCES:
	case -EPERM:
		return complain("no permission: this user may not open %s", what);
	}
	return complain("%s: %s", what, strerror(-result));
}

static int mark(struct tb_arbiter *arbiter, const char *provider, const char *text)
{
	int target = tb_arbiter_target(arbiter, provider), result;
	struct tb_writer_stats stats;
	struct tb_writer *writer;

	if (target == -ENOENT)
		return complain("there is no provider '%s'; 'tracebuf provider list' lists them",
				provider);
	if (target == -EMSGSIZE)
		return complain("the text is too long for the buffers of provider '%s'", provider);
	if (target < 0)
		return complain("provider '%s': %s", provider, strerror(-target));
	if (tb_arbiter_closed(arbiter, (unsigned int)target))
		return complain("provider '%s' is closed to programs: 'tracebuf enable -p %s user' opens it",
				provider, provider);
	writer = tb_writer_create(arbiter, (unsigned int)target, TB_FULL_DROP);
	if (tb_writer_is_null(writer))
		return complain("cannot create a writer for provider '%s'", provider);
	tb_put_mark(writer, text, strlen(text));
	result = tb_writer_flush(writer);
	tb_writer_read_stats(writer, &stats);
	tb_writer_destroy(writer);
	if (result < 0)
		return complain("cannot hand the text over to the kernel: %s", strerror(-result));
	if (stats.lost)
		return complain("the text is too long");
	if (stats.refused)
		return complain("provider '%s' did not accept the text: is it recording? ('tracebuf status' shows that)",
				provider);
	return EXIT_FINE;
}

static int mark_run(int argc, char **argv)
{
	struct tb_arbiter_options options = {
		.chunk_bytes = TB_CHUNK_BYTES_MIN, .chunks = TB_CHUNKS_MIN,
	};
	const char *provider = "kernel";
	char text[TB_CHUNK_BYTES_MAX];
	struct tb_arbiter *arbiter;
	size_t used = 0;
	int option, result;

	while ((option = next_option(&cmd_mark, "", argc, argv)) >= 0) {
		if (option != 'p')
			return show_help(&cmd_mark, option);
		provider = optarg;
	}
	if (optind == argc)
		return misused(&cmd_mark, "what is the text?");
	for (; optind < argc; optind++) {
		size_t length = strlen(argv[optind]);

		if (used + length + 2 > TB_EVENT_BYTES_MAX)
			return complain("the text is too long: it may have %u bytes",
					TB_EVENT_BYTES_MAX - 2);
		if (used)
			text[used++] = ' ';
		memcpy(text + used, argv[optind], length);
		used += length;
	}
	text[used] = 0;
	/* as small as possible: the chunk must fit into a buffer of the recording */
	while (options.chunk_bytes < used + AROUND && options.chunk_bytes < TB_CHUNK_BYTES_MAX)
		options.chunk_bytes *= 2;
	result = tb_arbiter_create(&options, &arbiter);
	if (result < 0)
		return complain_device(TB_PRODUCER_PATH, result);
	result = mark(arbiter, provider, text);
	tb_arbiter_destroy(arbiter);
	return result;
}
