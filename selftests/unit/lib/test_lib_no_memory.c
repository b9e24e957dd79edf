// SPDX-License-Identifier: GPL-2.0-only
/*
 * When memory runs out, a call returns -ENOMEM, or does without and gives the same answer as
 * otherwise. If this fails, a reader on a small machine shows fewer events, or takes a whole file
 * for a damaged one. Each allocation fails in turn, in each way of reading; ASan finds leaks and
 * uses after free on the error paths.
 */
#include <errno.h>
#include <fcntl.h>
#include <inttypes.h>
#include <unistd.h>
#include "test_lib_fixture.h"

void *__real_malloc(size_t size);
void *__real_calloc(size_t count, size_t size);
void *__real_realloc(void *old, size_t size);
void *__real_aligned_alloc(size_t alignment, size_t size);
void *__wrap_malloc(size_t size);
void *__wrap_calloc(size_t count, size_t size);
void *__wrap_realloc(void *old, size_t size);
void *__wrap_aligned_alloc(size_t alignment, size_t size);

static uint64_t allocations, first_failing = UINT64_MAX, failing;

static bool fails(void)
{
	uint64_t number = allocations++;

	return number >= first_failing && number - first_failing < failing;
}

void *__wrap_malloc(size_t size)
{
	return fails() ? NULL : __real_malloc(size);
}

void *__wrap_calloc(size_t count, size_t size)
{
	return fails() ? NULL : __real_calloc(count, size);
}

void *__wrap_realloc(void *old, size_t size)
{
	return fails() ? NULL : __real_realloc(old, size);
}

void *__wrap_aligned_alloc(size_t alignment, size_t size)
{
	return fails() ? NULL : __real_aligned_alloc(alignment, size);
}

/* ---- an answer: all that a reader shows ---- */

struct answer {
	uint64_t hash;
	unsigned int shown;
	int result;
};

static void add(struct answer *answer, const void *data, size_t size)
{
	const unsigned char *at = data;

	for (; size; size--)
		answer->hash = (answer->hash ^ *at++) * 0x100000001b3;
}

static void add_text(struct answer *answer, const char *text)
{
	add(answer, text, strlen(text) + 1);
}

static void add_symbol(struct answer *answer, const struct tb_trace *trace, uint64_t address)
{
	const char *name;
	uint64_t offset;
	size_t length;

	if (!tb_trace_symbol(trace, address, &name, &length, &offset))
		add(answer, name, length);
}

static void show_view(struct answer *answer, const struct tb_trace *trace,
		      const struct tb_view *view)
{
	char text[4096], spare[24];
	uint32_t i;

	add(answer, &view->ticks, sizeof(view->ticks));
	add(answer, &view->cpu, sizeof(view->cpu));
	if (view->kind == TB_VIEW_LOST)
		add(answer, &view->lost, sizeof(view->lost));
	if (view->kind != TB_VIEW_EVENT && view->kind != TB_VIEW_USER)
		return;
	add_text(answer, tb_view_name(view, spare));
	if (tb_view_print(trace, view, text, sizeof(text)) >= 0)
		add_text(answer, text);
	if (view->kind == TB_VIEW_EVENT && view->comm)
		add_text(answer, view->comm);
	for (i = 0; view->kind == TB_VIEW_EVENT && i < view->nr_stack; i++)
		add_symbol(answer, trace, view->stack[i]);
}

/* ---- a recording with notes: symbols, and code that a process has mapped ---- */

#define FUNCTION  0xffffffff81000000	/* each has 0x100 bytes */
#define FUNCTIONS 40

static void put_note(struct fx *fx, struct fx_ring *notes, unsigned int id, const void *payload,
		     size_t bytes)
{
	if (notes->open && fx_put_composite(fx, notes, id, 0, 0, 0, payload, bytes))
		return;
	if (notes->open)
		fx_end(fx, notes);
	fx_begin(fx, notes, TB_BLOCK_NOTE, 12, 0, 0, 0);
	assert(fx_put_composite(fx, notes, id, 0, 0, 0, payload, bytes));
}

static void write_noted(const char *path)
{
	struct { struct tb_symbol head; char name[16]; } symbol = { .head.size = 0x100 };
	struct { struct tb_string head; char text[16]; } string = {
		.head = { TB_STRING_CGROUP, 7 }, .text = "/system.slice",
	};
	struct { struct tb_mapping head; char rest[16]; } mapping = {
		.head = { .pid = 100, .kind = TB_MAPPING_CODE, .start = 0x400000, .size = 0x1000,
			  .build_id = 4, .path = 9 },
		.rest = "\1\2\3\4/bin/cat",
	};
	struct { uint32_t depth, kind; uint64_t frames[1]; } stack = {
		1, TB_STACK_KERNEL, { FUNCTION + 0x10 },
	};
	struct fx_ring notes = { 0 };
	unsigned int i;
	struct fx fx;
	FILE *file;

	fx_init(&fx, 12, 1000);
	fx_durable_end(&fx);
	put_note(&fx, &notes, TB_EV_STRING, &string, sizeof(string.head) + 13);
	for (i = 0; i < FUNCTIONS; i++) {
		symbol.head.start = FUNCTION + i * 0x100;
		snprintf(symbol.name, sizeof(symbol.name), "function_%u", i);
		put_note(&fx, &notes, TB_EV_SYMBOL, &symbol,
			 sizeof(symbol.head) + strlen(symbol.name));
		put_note(&fx, &notes, TB_EV_MAPPING, &mapping, sizeof(mapping.head) + 4 + 9);
	}
	fx_end(&fx, &notes);
	fx_open(&fx, 0, 2000, 100, NULL);
	for (i = 0; i < 10; i++) {
		fx_simple(&fx, 0, FX_SOFTIRQ, 2100 + i, 3);
		fx_composite(&fx, 0, TB_EV_STACK, 2100 + i, 0, &stack, sizeof(stack));
	}
	fx_close(&fx, 0);
	fx_totals(&fx, 0);
	fx_durable_end(&fx);
	file = fopen(path, "we");
	assert(file && fwrite(fx.data, 1, fx.size, file) == fx.size && !fclose(file));
	fx_free(&fx);
}

/* ---- ways of reading ---- */

static void show_all(struct answer *answer, struct tb_trace *trace, struct tb_cursor *cursor)
{
	struct tb_view view;

	while ((answer->result = tb_cursor_next(cursor, &view)) == 1) {
		show_view(answer, trace, &view);
		answer->shown++;
	}
}

static void read_views(struct answer *answer, struct tb_trace *trace, struct tb_cursor *cursor)
{
	show_all(answer, trace, cursor);
}

static void read_from_middle(struct answer *answer, struct tb_trace *trace,
			     struct tb_cursor *cursor)
{
	struct tb_view view;
	uint64_t middle = 0;
	unsigned int i;

	for (i = 0; i < 20 && (answer->result = tb_cursor_next(cursor, &view)) == 1; i++)
		middle = view.ticks;
	if (answer->result >= 0)
		answer->result = tb_cursor_seek(cursor, middle);
	if (!answer->result)
		show_all(answer, trace, cursor);
}

static void read_blocks(struct answer *answer, struct tb_trace *trace, struct tb_cursor *cursor)
{
	const struct tb_block *block;

	(void)trace;
	while ((answer->result = tb_cursor_next_block(cursor, &block, NULL)) == 1) {
		add(answer, block, (size_t)1 << block->size_log2);
		answer->shown++;
	}
}

static void read_elements(struct answer *answer, struct tb_trace *trace,
			  struct tb_cursor *cursor)
{
	struct tb_walk walk;

	(void)trace;
	while ((answer->result = tb_cursor_next_element(cursor, &walk, NULL)) == 1) {
		add(answer, &walk.time, sizeof(walk.time));
		answer->shown++;
	}
}

typedef void read_way(struct answer *answer, struct tb_trace *trace, struct tb_cursor *cursor);

static struct answer read_trace(const char *path, bool follow, read_way *way)
{
	struct answer answer = { .hash = 0xcbf29ce484222325 };
	struct tb_error error = { 0 };
	struct tb_cursor *cursor = NULL;
	struct tb_trace *trace = NULL;
	int fd = open(path, O_RDONLY | O_CLOEXEC);

	assert(fd >= 0);
	answer.result = follow ? tb_trace_follow_fd(fd, NULL, &trace, &error) :
				 tb_trace_open_fd(fd, &trace, &error);
	CHECK(!answer.result == !!trace);
	while (!answer.result) {
		answer.result = tb_cursor_open(trace, &cursor);
		CHECK(!answer.result == !!cursor);
		if (answer.result)
			break;
		way(&answer, trace, cursor);
		/* a caller may ask again after an error */
		if (answer.result == -ENOMEM) {
			struct answer ignored = answer;
			const char *cgroup = tb_trace_string(trace, TB_STRING_CGROUP, 7);
			unsigned int i;

			if (cgroup)
				add_text(&ignored, cgroup);
			way(&ignored, trace, cursor);
			CHECK(ignored.result == -ENOMEM || way == read_from_middle);
			for (i = 0; i < FUNCTIONS; i++)
				add_symbol(&ignored, trace, FUNCTION + i * 0x100);
		}
		tb_cursor_close(cursor);
		if (answer.result || tb_trace_next_recording(trace) != 1)
			break;
	}
	tb_trace_close(trace);
	close(fd);
	return answer;
}

/* Let each allocation fail alone, then each with all that come after it */
static void fail_each(const char *path, bool follow, read_way *way)
{
	uint64_t count, all;
	struct answer whole, cut;
	int failed_before = test_failures;

	allocations = 0;
	whole = read_trace(path, follow, way);
	CHECK(!whole.result);
	CHECK(whole.shown);
	count = allocations;
	for (all = 0; all < 2; all++) {
		for (first_failing = 0; first_failing < count; first_failing++) {
			failing = all ? UINT64_MAX : 1;
			allocations = 0;
			cut = read_trace(path, follow, way);
			failing = 0;
			if (cut.result == -ENOMEM ||
			    (cut.result == whole.result && cut.hash == whole.hash))
				continue;
			printf("# %s: allocation %" PRIu64 " of %" PRIu64
			       " fails%s: result %d, %u of %u shown\n",
			       path, first_failing, count, all ? ", and all later ones" : "",
			       cut.result, cut.shown, whole.shown);
			if (++test_failures > failed_before + 10)
				return;
		}
	}
	printf("# %" PRIu64 " allocations\n", count);
}

/* ---- tests ---- */

#define RAW_FILES 3
#define NOTED 2
#define FILES (2 * RAW_FILES)
static char files[FILES][512];

static void in_each_file(read_way *way)
{
	size_t i;

	for (i = 0; i < FILES; i++)
		fail_each(files[i], false, way);
}

static void views(void)
{
	in_each_file(read_views);
}

static void seek(void)
{
	in_each_file(read_from_middle);
}

static void blocks(void)
{
	in_each_file(read_blocks);
}

static void elements(void)
{
	in_each_file(read_elements);
}

static void followed(void)
{
	size_t i;

	/* a packed file cannot be followed */
	for (i = 0; i < RAW_FILES; i++) {
		fail_each(files[i], true, read_views);
		fail_each(files[i], true, read_blocks);
	}
}

static const struct test tests[] = {
	{ "events", views },
	{ "events after a seek", seek },
	{ "blocks", blocks },
	{ "elements", elements },
	{ "a trace that is followed", followed },
};

int main(void)
{
	const char *tool = getenv("TRACEBUF") ? getenv("TRACEBUF") : "tracebuf";
	static const char *const names[RAW_FILES] = { "kernel", "user", "noted" };
	char folder[] = "/tmp/test_lib_no_memory.XXXXXX", command[4096];
	const char *here = strrchr(__FILE__, '/');
	int result;
	size_t i;

	assert(here && mkdtemp(folder));
	for (i = 0; i < RAW_FILES; i++) {
		snprintf(files[i], sizeof(files[i]), "%.*s/../../golden/%s.tbuf",
			 (int)(here - __FILE__), __FILE__, names[i]);
		if (i == NOTED) {
			snprintf(files[i], sizeof(files[i]), "%s/noted.tbuf", folder);
			write_noted(files[i]);
		}
		snprintf(files[RAW_FILES + i], sizeof(files[i]), "%s/%s.packed", folder, names[i]);
		snprintf(command, sizeof(command), "%s pack -o %s %s 2>/dev/null", tool,
			 files[RAW_FILES + i], files[i]);
		if (system(command)) {
			printf("Bail out! %s\n", command);
			return 1;
		}
	}
	result = test_main(tests, sizeof(tests) / sizeof(tests[0]));
	for (i = NOTED; i < FILES; i++)
		unlink(files[i]);
	rmdir(folder);
	return result;
}
