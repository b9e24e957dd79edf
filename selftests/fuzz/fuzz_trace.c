// SPDX-License-Identifier: GPL-2.0-only
/*
 * fuzz_trace.c - checks that a user can open any file as a trace: neither the library's readers nor
 * the tool's commands crash, read beyond the file or loop forever. If this fails, a damaged or
 * malicious file can crash the tool, or make it read foreign memory.
 *
 * The file is a target for libFuzzer (make -C userspace check-fuzz). With FUZZ_MAIN it has a main()
 * for the tests, which reads all files of a folder: the corpus has every input that once broke
 * something. With --changing, some reads of a byte find another value than the reads before and
 * after, as when another program changes the file that the library has mapped. INSIDE checks that
 * pointers lead into the trace, PROMISED checks what the library's headers promise.
 */
#include <errno.h>
#include <getopt.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/mman.h>
#include <unistd.h>
#include "lib/pack/column.h"
#include "tool/cmd/cmd.h"

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size);

static const unsigned char *bytes;
static size_t nr_bytes;
static bool changing;		/* the bytes change meanwhile: PROMISED checks nothing */
static bool copied;		/* the library reads its own memory, not bytes[] */
static volatile uint64_t used;	/* keeps the compiler from removing reads */

/* Drop what the tool prints about broken traces. The sanitizers still write to the descriptor. */
__attribute__((constructor))
static void be_quiet(void)
{
	FILE *nowhere = fopen("/dev/null", "w");

	if (!nowhere)
		abort();
	stdout = nowhere;
	stderr = nowhere;
}

#define INSIDE(condition) \
	do { \
		if (!(condition)) { \
			dprintf(STDERR_FILENO, "%s:%d: %s\n", __FILE__, __LINE__, #condition); \
			abort(); \
		} \
	} while (0)

#define PROMISED(condition) \
	do { \
		if (!(condition) && !changing) { \
			dprintf(STDERR_FILENO, "%s:%d: %s\n", __FILE__, __LINE__, #condition); \
			abort(); \
		} \
	} while (0)

static void look(const void *data, size_t length)
{
	const unsigned char *at = data;
	size_t i;

	/* each access then costs two signals */
	if (changing && length > 16)
		length = 16;
	for (i = 0; i < length; i++)
		used += at[i];
}

static void look_text(const char *text)
{
	if (text)
		look(text, strlen(text));
}

static void inside(const void *data, size_t length)
{
	INSIDE(copied ||
	       ((const unsigned char *)data >= bytes && length <= nr_bytes &&
		(size_t)((const unsigned char *)data - bytes) <= nr_bytes - length));
	look(data, length);
}

static void see_error(const struct tb_error *error)
{
	if (!error)
		return;
	PROMISED(error->code < 0 && error->text[0]);
	PROMISED(error->offset == TB_OFFSET_NONE || error->offset <= nr_bytes);
}

/* ---- events ---- */

static void see_fields(const struct tb_view *view)
{
	const struct tb_format_field *field;
	uint64_t number;
	int64_t sign;
	const char *text;
	const void *data;
	size_t length;
	uint32_t i;
	int count, item;

	for (i = 0; i < view->format->nr_fields; i++) {
		field = &view->format->fields[i];
		tb_field_u64(view, field, &number);
		tb_field_s64(view, field, &sign);
		if (!tb_field_str(view, field, &text, &length))
			inside(text, length);
		if (!tb_field_data(view, field, &data, &length))
			inside(data, length);
		count = tb_field_count(view, field);
		for (item = 0; item < count && item < 70000; item++)
			tb_field_item(view, field, (unsigned int)item, &number);
	}
}

static void see_user(const struct tb_trace *trace, const struct tb_user *user)
{
	uint32_t i;

	look_text(user->name);
	look_text(user->category);
	look_text(tb_record_type_name(user->type));
	if (user->data_bytes)
		look(user->data, user->data_bytes);
	for (i = 0; i < user->nr_args; i++) {
		look_text(user->args[i].name);
		look_text(user->args[i].text);
	}
	PROMISED(tb_trace_user_writer(trace, user->writer));
}

static void see_view(const struct tb_trace *trace, const struct tb_view *view)
{
	static char text[4096];
	char spare[24];
	uint32_t number, i;
	uint64_t value;
	int length;

	PROMISED(view->comm);
	PROMISED(view->offset < nr_bytes);
	look_text(view->comm);
	if (view->task)
		look_text(view->task->comm);
	look_text(tb_view_system(view));
	look_text(tb_view_name(view, spare));
	look(view->payload, view->length);
	if (view->nr_stack)
		inside(view->stack, view->nr_stack * sizeof(uint64_t));
	if (view->nr_user_stack)
		inside(view->user_stack, view->nr_user_stack * sizeof(uint64_t));
	for (i = 0; tb_view_counter(view, i, &number, &value); i++)
		used += value;
	if (view->kind == TB_VIEW_EVENT)
		inside(view->payload, view->length);
	if (view->kind == TB_VIEW_EVENT && view->format)
		see_fields(view);
	if (view->user)
		see_user(trace, view->user);
	length = tb_view_print(trace, view, text, sizeof(text));
	PROMISED(length >= 0 && memchr(text, 0, sizeof(text)));
	tb_view_print(trace, view, text, 1 + (size_t)length / 2 % sizeof(text));
	tb_trace_ns(trace, view->ticks, TB_TIME_REALTIME);
}

static int see_task(const struct tb_task *task, void *context)
{
	(void)context;
	look_text(task->comm);
	return 0;
}

static void see_events(struct tb_trace *trace)
{
	struct tb_cursor *cursor;
	struct tb_view view;

	PROMISED(!tb_cursor_open(trace, &cursor));
	while (tb_cursor_next(cursor, &view) > 0)
		see_view(trace, &view);
	see_error(tb_cursor_fault(cursor));
	used += tb_cursor_uncommitted(cursor);
	tb_cursor_each_task(cursor, see_task, NULL);
	tb_cursor_close(cursor);
}

/* After a seek to a time, the first view is not before that time. */
static void see_seeks(struct tb_trace *trace)
{
	const struct tb_block *block;
	struct tb_cursor *cursor;
	struct tb_view view;
	unsigned int i, more;

	PROMISED(!tb_cursor_open(trace, &cursor));
	for (i = 0; i < 6 && (block = tb_trace_block(trace, i, NULL, NULL)); i++) {
		uint64_t ticks = i % 2 ? block->time_end : block->time_start + 10;

		PROMISED(!tb_cursor_seek(cursor, ticks));
		for (more = 0; more < 3 && tb_cursor_next(cursor, &view) > 0; more++) {
			PROMISED(more || view.ticks >= ticks);
			see_view(trace, &view);
		}
	}
	tb_cursor_close(cursor);
}

static void see_raw(struct tb_trace *trace, unsigned int number)
{
	const struct tb_block *block;
	struct tb_cursor *cursor;
	unsigned int recording;
	struct tb_view view;
	struct tb_walk walk;
	uint64_t offset, at;
	bool missing = false;
	int result;
	size_t i;

	PROMISED(!tb_cursor_open(trace, &cursor));
	result = tb_cursor_next_block(cursor, &block, &offset);
	for (i = 0; tb_trace_block(trace, i, &at, &recording); i++) {
		if (recording != number)
			continue;
		if (result == 1 && offset == at)
			result = tb_cursor_next_block(cursor, &block, &offset);
		else
			missing = true;
	}
	PROMISED(!result);
	/* in some packed frames the library can unpack only the headers of blocks */
	PROMISED(!missing || tb_cursor_fault(cursor));
	PROMISED(tb_cursor_next(cursor, &view) == -EINVAL);
	tb_cursor_close(cursor);
	PROMISED(!tb_cursor_open(trace, &cursor));
	while (tb_cursor_next_element(cursor, &walk, &offset) > 0) {
		PROMISED(offset < nr_bytes);
		inside(walk.payload, walk.bytes);
	}
	see_error(tb_cursor_fault(cursor));
	tb_cursor_close(cursor);
}

/* ---- other data of a trace ---- */

static void see_formats(const struct tb_trace *trace)
{
	const struct tb_format *format;
	static char text[8192];
	unsigned int i, j;

	for (i = 0; i < tb_trace_formats(trace); i++) {
		format = tb_trace_format_at(trace, i);
		PROMISED(format && tb_trace_format(trace, format->id) == format);
		look_text(format->system);
		look_text(format->name);
		look_text(format->print);
		tb_format_text(format, format->id, text, sizeof(text));
		for (j = 0; j < format->nr_fields; j++) {
			tb_field_declare(&format->fields[j], text, sizeof(text));
			PROMISED(tb_format_field(format, format->fields[j].name));
		}
	}
}

static void see_users(const struct tb_trace *trace)
{
	const struct tb_user_writer *writer;
	const struct tb_user_name *name;
	unsigned int i;

	for (i = 0; (writer = tb_trace_user_writer(trace, i)); i++)
		PROMISED(writer->attempted == writer->delivered + writer->missing ||
			 writer->wrong);
	for (i = 0; (name = tb_trace_user_name(trace, i)); i++) {
		look_text(name->text);
		look_text(tb_trace_user_category(trace, name));
	}
	used += tb_trace_user_malformed(trace);
}

static void see_recording(struct tb_trace *trace)
{
	const struct tb_init *init = tb_trace_init(trace);
	const struct tb_suppressed *suppressed;
	const struct tb_clock_sync *syncs;
	const char *name;
	size_t count, length;
	uint64_t offset;
	unsigned int cpu;
	uint32_t kind;

	if (init) {
		look_text(init->provider);
		look_text(init->release);
		look_text(init->version);
		look_text(init->machine);
		look_text(init->nodename);
	}
	for (cpu = 0; cpu < tb_trace_nr_cpus(trace); cpu++)
		tb_trace_totals(trace, cpu);
	for (kind = 0; kind < 8; kind++)
		look_text(tb_trace_string(trace, kind, 3));
	suppressed = tb_trace_suppressed(trace, &count);
	look(suppressed, count * sizeof(*suppressed));
	syncs = tb_trace_syncs(trace, &count);
	look(syncs, count * sizeof(*syncs));
	if (!tb_trace_symbol(trace, 0xffffffff81000010ull, &name, &length, &offset))
		inside(name, length);
	see_formats(trace);
	see_users(trace);
	see_events(trace);
}

static void see_blocks(const struct tb_trace *trace)
{
	const struct tb_block *block;
	unsigned int recording;
	struct tb_walk walk;
	uint64_t offset, end = 0;
	size_t i;
	int step;

	for (i = 0; (block = tb_trace_block(trace, i, &offset, &recording)); i++) {
		PROMISED(offset == end && recording < tb_trace_recordings(trace));
		end = offset + (1u << (block->size_log2 & 31));
		PROMISED(end <= nr_bytes);
		tb_walk_trace(&walk, trace, block);
		while ((step = tb_walk_next(&walk)) != 0)
			if (step == 1)
				inside(walk.payload, walk.bytes);
			else if (step != -EAGAIN)
				PROMISED(step == -EBADMSG && walk.wrong);
	}
	PROMISED(i == tb_trace_blocks(trace));
	if (!tb_trace_fault(trace))
		PROMISED(end == nr_bytes);
}

static bool is_compressed(const void *data, size_t size)
{
	uint32_t magic = 0;

	memcpy(&magic, data, size < sizeof(magic) ? size : sizeof(magic));
	/* a frame of zstd, a skippable frame of zstd, or a frame of a packed trace */
	return magic == 0xfd2fb528u || (magic & ~15u) == 0x184d2a50u || magic == TB_PACK_MAGIC;
}

static void see_trace(const void *data, size_t size)
{
	struct tb_trace *trace = NULL;
	struct tb_error error = { 0 };
	unsigned int i;
	int result;

	result = tb_trace_open_memory(data, size, &trace, &error);
	if (result < 0) {
		PROMISED(!trace && error.code == result);
		see_error(&error);
		return;
	}
	/* the offset may belong to the unpacked trace or to the file: see tb_trace_fault() */
	if (tb_trace_size(trace) > size)
		nr_bytes = tb_trace_size(trace);
	see_error(tb_trace_fault(trace));
	nr_bytes = tb_trace_size(trace);
	copied = is_compressed(data, size);
	see_blocks(trace);
	for (i = 0; i < tb_trace_recordings(trace); i++) {
		PROMISED(!tb_trace_select(trace, i));
		see_recording(trace);
		see_seeks(trace);
		see_raw(trace, i);
	}
	PROMISED(tb_trace_select(trace, i) < 0);
	tb_trace_close(trace);
	copied = false;
	nr_bytes = size;
}

/* ---- the tool ---- */

static void command(const struct command *command, const char *file, ...)
{
	char *argv[8] = { (char *)(uintptr_t)command->name };
	va_list arguments;
	int argc = 1, status;

	va_start(arguments, file);
	while ((argv[argc] = va_arg(arguments, char *)))
		argc++;
	va_end(arguments);
	argv[argc++] = (char *)(uintptr_t)file;
	argv[argc] = NULL;
	optind = 0;		/* start getopt() again */
	status = command->run(argc, argv);
	PROMISED(status == EXIT_FINE || status == EXIT_WRONG);
}

static void see_commands(const char *file)
{
	command(&cmd_verify, file, NULL);
	command(&cmd_print, file, "--fields", NULL);
	command(&cmd_export, file, "-q", "--format", "perfetto", "-o", "/dev/null", NULL);
	command(&cmd_export, file, "-q", "--format", "fxt", "-o", "/dev/null", NULL);
	command(&cmd_export, file, "-q", "--format", "json", "-o", "/dev/null", NULL);
	command(&cmd_export, file, "-q", "--format", "jsonl", "-o", "/dev/null", NULL);
	command(&cmd_export, file, "-q", "--format", "csv", "-o", "/dev/null", NULL);
	command(&cmd_report, file, "--json", "-T", "real", "--why", "1*", NULL);
	command(&cmd_recover, file, "-o", "/dev/null", NULL);
	command(&cmd_recover, file, "--raw", "-q", "-o", "/dev/null", NULL);
}

/* ---- as a file ---- */

static void see_headers(const char *file)
{
	size_t size = nr_bytes;
	struct tb_trace *trace;
	unsigned int i;

	if (tb_trace_open_with(file, TB_OPEN_HEADERS, &trace, NULL) < 0)
		return;
	copied = true;		/* the library maps the file */
	nr_bytes = tb_trace_size(trace);
	for (i = 0; i < tb_trace_recordings(trace); i++) {
		PROMISED(!tb_trace_select(trace, i));
		see_seeks(trace);
	}
	copied = false;
	nr_bytes = size;
	tb_trace_close(trace);
}

static void see_followed(int fd, bool raw)
{
	struct tb_trace *trace;
	struct tb_cursor *cursor;
	struct tb_view view;
	struct tb_walk walk;
	uint64_t offset;
	int result;

	PROMISED(!lseek(fd, 0, SEEK_SET));
	PROMISED(!tb_trace_follow_fd(fd, NULL, &trace, NULL));
	copied = true;
	do {
		PROMISED(!tb_cursor_open(trace, &cursor));
		while ((result = raw ? tb_cursor_next_element(cursor, &walk, &offset) :
				 tb_cursor_next(cursor, &view)) != 0) {
			if (result == -EBADMSG && !raw)
				break;
			PROMISED(result == 1 || result == -EAGAIN);
			if (result == 1 && !raw)
				see_view(trace, &view);
			else if (result == 1)
				inside(walk.payload, walk.bytes);
		}
		see_error(tb_cursor_fault(cursor));
		tb_cursor_each_task(cursor, see_task, NULL);
		tb_cursor_close(cursor);
		see_formats(trace);
	} while (tb_trace_next_recording(trace) == 1);
	see_error(tb_trace_fault(trace));
	copied = false;
	tb_trace_close(trace);
}

static void see_file(const void *data, size_t size)
{
	char file[32];
	int fd = memfd_create("trace", 0);

	PROMISED(fd >= 0 && write(fd, data, size) == (ssize_t)size);
	snprintf(file, sizeof(file), "/dev/fd/%d", fd);
	see_headers(file);
	see_followed(fd, false);
	see_followed(fd, true);
	see_commands(file);
	close(fd);
}

/* Give packed frames the right checksums: otherwise the library refuses most frames early. */
static void sign_frames(unsigned char *data, size_t size)
{
	struct tb_pack_frame header;
	size_t at = 0;

	while (tb_packed(data + at, size - at) && size - at >= sizeof(header)) {
		memcpy(&header, data + at, sizeof(header));
		if (header.bytes < sizeof(header) || header.bytes > size - at)
			return;
		header.check = pack_crc(0, data + at + sizeof(header),
					header.bytes - sizeof(header));
		header.header_check = pack_crc(0, &header, offsetof(struct tb_pack_frame,
								    header_check));
		memcpy(data + at, &header, sizeof(header));
		at += header.bytes;
	}
}

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size)
{
	/* exactly this size, so that the sanitizer sees a read beyond it; and aligned */
	void *copy = malloc(size ? size : 1);

	PROMISED(copy);
	memcpy(copy, data, size);
	sign_frames(copy, size);
	bytes = copy;
	nr_bytes = size;
	see_trace(copy, size);
	see_file(copy, size);
	free(copy);
	return 0;
}

#ifdef FUZZ_MAIN
#include <dirent.h>
#include <signal.h>
#include <sys/mman.h>
#include <ucontext.h>

/* ---- bytes that change while they are read ---- */

#ifdef __x86_64__
#define TRAP_FLAG 0x100		/* in the flags register: a trap after each instruction */

static unsigned char *region;		/* memory in which each access causes a signal */
static size_t region_bytes;
static unsigned char *restore_at;	/* the bytes that the last access changed, or NULL */
static uint32_t restore_value;
static uint64_t random_state;

static uint64_t random_next(void)
{
	random_state ^= random_state << 13;
	random_state ^= random_state >> 7;
	random_state ^= random_state << 17;
	return random_state;
}

/* Allow an access; one in eight finds other bytes than the accesses before and after it. */
static void on_access(int number, siginfo_t *info, void *context)
{
	static const uint32_t values[] = {
		0, 1, 2, 3, 0xff, 0x7fff, 0xffff, 0x7fffffff, 0xffffffff,
	};
	unsigned char *at = info->si_addr;
	ucontext_t *state = context;

	if (at < region || at >= region + region_bytes) {
		signal(number, SIG_DFL);	/* a real crash */
		return;
	}
	mprotect(region, region_bytes, PROT_READ | PROT_WRITE);
	if (!restore_at && random_next() % 8 == 0 &&
	    at + sizeof(uint32_t) <= region + region_bytes) {
		uint32_t value = values[random_next() % (sizeof(values) / sizeof(values[0]))];

		restore_at = at;
		memcpy(&restore_value, at, sizeof(restore_value));
		memcpy(at, &value, random_next() % 2 ? 2 : 4);
	}
	state->uc_mcontext.gregs[REG_EFL] |= TRAP_FLAG;
}

static void after_access(int number, siginfo_t *info, void *context)
{
	ucontext_t *state = context;

	(void)number;
	(void)info;
	if (restore_at)
		memcpy(restore_at, &restore_value, sizeof(restore_value));
	restore_at = NULL;
	mprotect(region, region_bytes, PROT_NONE);
	state->uc_mcontext.gregs[REG_EFL] &= ~(greg_t)TRAP_FLAG;
}

static void run_changing(const uint8_t *data, size_t size)
{
	struct sigaction access = { .sa_sigaction = on_access, .sa_flags = SA_SIGINFO };
	struct sigaction after = { .sa_sigaction = after_access, .sa_flags = SA_SIGINFO };
	unsigned int i, count = getenv("TRACEBUF_FULL") ? 40 : 10;
	unsigned char *copy;

	region_bytes = (size + 4095) & ~(size_t)4095;
	region = mmap(NULL, region_bytes, PROT_READ | PROT_WRITE, MAP_PRIVATE | MAP_ANONYMOUS,
		      -1, 0);
	INSIDE(region != MAP_FAILED);
	copy = region + (region_bytes - size) / 16 * 16;
	memcpy(copy, data, size);
	sigaction(SIGSEGV, &access, NULL);
	sigaction(SIGTRAP, &after, NULL);
	changing = true;
	for (i = 0; i < count; i++) {
		random_state = 0x9e3779b97f4a7c15ull * (i + 1);
		bytes = copy;
		nr_bytes = size;
		mprotect(region, region_bytes, PROT_NONE);
		see_trace(copy, size);
		mprotect(region, region_bytes, PROT_READ | PROT_WRITE);
	}
	changing = false;
	munmap(region, region_bytes);
}
#endif

static int run_file(const char *path, bool change)
{
	static uint8_t data[1 << 20];
	FILE *in = fopen(path, "rb");
	size_t size;

	if (!in)
		return -1;
	size = fread(data, 1, sizeof(data), in);
	fclose(in);
#ifdef __x86_64__
	if (change)
		run_changing(data, size);
	else
#else
	(void)change;
#endif
		LLVMFuzzerTestOneInput(data, size);
	return 0;
}

static int is_input(const struct dirent *entry)
{
	return entry->d_name[0] != '.';
}

/* Each file of the folder is one test. A crash ends the run; the line before it names the file. */
int main(int argc, char **argv)
{
	bool change = argc == 3 && !strcmp(argv[1], "--changing");
	struct dirent **entries;
	int count, i, wrong, failed = 0;
	char path[4096];

#ifndef __x86_64__
	if (change) {
		dprintf(STDOUT_FILENO, "TAP version 14\n1..0 # SKIP traps of single instructions are x86's\n");
		return 0;
	}
#endif
	count = argc == 2 || change ?
		scandir(argv[argc - 1], &entries, is_input, alphasort) : -1;
	if (count <= 0) {
		dprintf(STDERR_FILENO, "usage: %s [--changing] FOLDER\n", argv[0]);
		return 2;
	}
	dprintf(STDOUT_FILENO, "TAP version 14\n1..%d\n", count);
	for (i = 0; i < count; i++) {
		snprintf(path, sizeof(path), "%s/%s", argv[argc - 1], entries[i]->d_name);
		dprintf(STDOUT_FILENO, "# %s\n", entries[i]->d_name);
		wrong = run_file(path, change);
		failed |= wrong;
		dprintf(STDOUT_FILENO, "%sok %d %s%s\n", wrong ? "not " : "", i + 1,
			entries[i]->d_name, change ? ", while it changes" : "");
		free(entries[i]);
	}
	free(entries);
	return failed != 0;
}
#endif
