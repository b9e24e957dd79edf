// SPDX-License-Identifier: GPL-2.0-only
/*
 * A program's trace has exactly its records, with name, category and time, also from signal
 * handlers. If this fails, records are missing or have another's name. No device: fake_producer.h
 * plays the kernel.
 */
#include <signal.h>
#include <sys/syscall.h>
#include <time.h>
#include <unistd.h>
#include "test_lib_record.h"

TB_CATEGORY(idle, "idle");

static struct tb_name ping = TB_NAME_INIT("ping", NULL);

/* ---- what is recorded ---- */

static void records(void)
{
	struct { uint32_t a, b, c; } data = { 1, 2, 3 };
	const struct got *got;

	open_fake(4096);
	fake.page.categories[0] = 1;
	tb_begin(w, &work, "begin");
	tb_end(w, &work);
	tb_instant(w, &work, "instant");
	tb_counter(w, &work, "counter", -5);
	tb_event(w, &work, "simple", 77);
	tb_event(w, &work, "composite", &data, sizeof(data));
	tb_put_mark(w, "mark", 4);
	CHECK(!tb_writer_flush(w));
	got = only(TB_REC_BEGIN);
	CHECK_NUMBER(got->record.bytes, 16);
	CHECK_NUMBER(got->record.id, told("begin", TB_NAME_EVENT));
	CHECK(got->record.id);
	CHECK_NUMBER(only(TB_REC_END)->record.bytes, 16);
	CHECK_NUMBER(only(TB_REC_INSTANT)->record.id, told("instant", TB_NAME_EVENT));
	got = only(TB_REC_COUNTER);
	CHECK_NUMBER(got->words[0], (uint64_t)-5);
	CHECK_NUMBER(got->record.flags, 0);
	CHECK_NUMBER(only(TB_REC_SIMPLE)->words[0], 77);
	got = only(TB_REC_EVENT);
	CHECK_NUMBER(got->record.bytes, 16 + 8 + 16);
	CHECK_NUMBER(got->words[0], 12);
	CHECK_NUMBER(got->words[1], 1 | 2ull << 32);
	CHECK_NUMBER(got->words[2], 3);
	got = only(TB_REC_MARK);
	CHECK_NUMBER(got->words[0], 4);
	CHECK(!memcmp(&got->words[1], "mark\0\0\0\0", 8));
	CHECK_NUMBER(got->record.id, 0);
	/* a name record refers to its category, which was announced before */
	got = fake_got(&fake, TB_REC_NAME, 1);
	CHECK_NUMBER(got->record.time >> 32, told("work", TB_NAME_CATEGORY));
	CHECK(told("work", TB_NAME_CATEGORY));
	close_fake();
}

static void flows_and_arguments(void)
{
	const struct got *got;
	const struct tb_arg *arg;
	char text[] = "runtime";
	double value;

	open_fake(4096);
	fake.page.categories[0] = 1;
	tb_begin_flow(w, &work, "begin", 1234);
	tb_instant_flow(w, &work, "step", 1234, false);
	tb_instant_flow(w, &work, "last", 1234, true);
	tb_counter_double(w, &work, "double", 0.5);
	tb_begin_args(w, &work, "args", TB_S64("s", -1), TB_TEXT("t", text),
		      TB_DOUBLE("d", 0.25), TB_POINTER("p", text));
	CHECK(!tb_writer_flush(w));
	got = fake_got(&fake, TB_REC_BEGIN, 0);
	CHECK_NUMBER(got->record.flags, TB_REC_FLOW);
	CHECK_NUMBER(got->words[0], 1234);
	CHECK_NUMBER(fake_got(&fake, TB_REC_INSTANT, 0)->record.flags, TB_REC_FLOW);
	CHECK_NUMBER(fake_got(&fake, TB_REC_INSTANT, 1)->record.flags,
		     TB_REC_FLOW | TB_REC_FLOW_END);
	got = only(TB_REC_COUNTER);
	CHECK_NUMBER(got->record.flags, TB_REC_DOUBLE);
	memcpy(&value, got->words, 8);
	CHECK(value == 0.5);
	got = fake_got(&fake, TB_REC_BEGIN, 1);
	CHECK_NUMBER(got->record.bytes, 16 + 4 * sizeof(*arg));
	CHECK_NUMBER(got->record.flags, TB_REC_ARGS);
	arg = (const struct tb_arg *)got->words;
	CHECK_NUMBER(arg[0].name, told("s", TB_NAME_EVENT));
	CHECK(arg[0].type == TB_ARG_S64 && arg[0].value == (uint64_t)-1);
	CHECK_NUMBER(arg[1].type, TB_ARG_TEXT);
	CHECK_NUMBER(arg[1].value, told("runtime", TB_NAME_TEXT));
	CHECK(arg[1].value);
	CHECK_NUMBER(arg[2].type, TB_ARG_DOUBLE);
	close_fake();
}

static void times(void)
{
	uint64_t before, after, last = 0;
	size_t i;

	open_fake(4096);
	/* the provider's clock, here the kernel's monotonic one */
	before = tb_clock_monotonic();
	for (i = 0; i < 100; i++)
		tb_put_instant(w, &ping);
	after = tb_clock_monotonic();
	CHECK(!tb_writer_flush(w));
	for (i = 0; i < 100; i++) {
		const struct got *got = fake_got(&fake, TB_REC_INSTANT, i);

		CHECK_NUMBER(got->flags & TB_CHUNK_CLOCK_MASK, TB_CLOCK_MONO);
		CHECK(got->record.time >= before && got->record.time <= after &&
		      got->record.time >= last);
		last = got->record.time;
	}
#ifdef __x86_64__
	/* another recording of the provider may use another clock */
	fake.page.targets[0].clock = TB_CLOCK_TSC;
	fake.page.targets[0].generation++;
	before = __builtin_ia32_rdtsc();
	tb_put_instant(w, &ping);
	after = __builtin_ia32_rdtsc();
	CHECK(!tb_writer_flush(w));
	CHECK_NUMBER(fake_got(&fake, TB_REC_INSTANT, 100)->flags & TB_CHUNK_CLOCK_MASK,
		     TB_CLOCK_TSC);
	CHECK(fake_got(&fake, TB_REC_INSTANT, 100)->record.time >= before);
	CHECK(fake_got(&fake, TB_REC_INSTANT, 100)->record.time <= after);
#endif
	close_fake();
}

/* ---- names ---- */

static void told_once(void)
{
	size_t i;

	open_fake(256);
	for (i = 0; i < 40; i++)
		tb_put_instant(w, &ping);
	CHECK(!tb_writer_flush(w));
	CHECK(fake.got[fake.nr_got - 1].chunk > 2);
	CHECK_NUMBER(fake_count(&fake, TB_REC_NAME), 1);
	CHECK(fake.got[0].flags & TB_CHUNK_FRESH);
	CHECK(!(fake.got[fake.nr_got - 1].flags & TB_CHUNK_FRESH));
	/* a new recording in the middle of a chunk: it does not know the name yet */
	tb_put_instant(w, &ping);
	fake.page.targets[0].generation++;
	tb_put_instant(w, &ping);
	CHECK(!tb_writer_flush(w));
	CHECK_NUMBER(fake_count(&fake, TB_REC_NAME), 2);
	close_fake();
}

static void told_in_each_chunk(void)
{
	size_t i;
	uint32_t chunk = UINT32_MAX;

	open_fake(256);
	fake.page.overwrites = 1;
	for (i = 0; i < 40; i++)
		tb_put_instant(w, &ping);
	CHECK(!tb_writer_flush(w));
	for (i = 0; i < fake.nr_got; i++) {
		if (fake.got[i].chunk != chunk)
			CHECK_NUMBER(fake.got[i].record.type, TB_REC_NAME);
		CHECK(fake.got[i].flags & TB_CHUNK_FRESH);
		chunk = fake.got[i].chunk;
	}
	CHECK(chunk > 2);
	close_fake();
}

static void many_names(void)
{
	struct tb_name *names[600];
	char text[16];
	size_t i, round;

	open_fake(8192);
	for (i = 0; i < 600; i++) {
		snprintf(text, sizeof(text), "name %zu", i);
		names[i] = tb_intern(text, NULL, TB_NAME_EVENT);
		CHECK_TEXT(names[i]->text, text);
		CHECK(tb_intern(text, NULL, TB_NAME_EVENT) == names[i]);
		CHECK(tb_intern(text, NULL, TB_NAME_TEXT) != names[i]);
	}
	for (round = 0; round < 2; round++)
		for (i = 0; i < 600; i++)
			tb_put_instant(w, names[i]);
	CHECK(!tb_writer_flush(w));
	CHECK_NUMBER(fake_count(&fake, TB_REC_INSTANT), 1200);
	/* a writer forgets some of these and announces them again; none may be missing */
	for (i = 0; i < 600; i++)
		CHECK(told(names[i]->text, TB_NAME_EVENT) == names[i]->id);
	for (i = 0; i < 600; i++)
		CHECK(i == 0 || names[i]->id != names[i - 1]->id);
	close_fake();
}

/* The names of one record share a slot of the table of announced names, and still all arrive */
static void names_that_collide(void)
{
	static struct tb_name argument = TB_NAME_INIT("argument", NULL);
	struct tb_argument list[] = { { &argument, TB_ARG_U64, 5 } };
	static struct tb_name event = TB_NAME_INIT("event", &work);
	int i;

	open_fake(4096);
	fake.page.categories[0] = 1;
	CHECK(!tb_arbiter_category(arbiter, &work));
	argument.id = work.id + 3 * TB_WRITER_NAMES;
	event.id = work.id + 4 * TB_WRITER_NAMES;
	for (i = 0; i < 200; i++)
		tb_put_args(w, &event, TB_REC_INSTANT, 0, list, 1);
	CHECK(!tb_writer_flush(w));
	CHECK_NUMBER(fake_count(&fake, TB_REC_INSTANT), 200);
	close_fake();
}

static void too_many_texts(void)
{
	struct tb_name *last = NULL;
	char text[16];
	size_t i;

	for (i = 0; i <= TB_INTERN_MAX; i++) {
		snprintf(text, sizeof(text), "text %zu", i);
		last = tb_intern(text, NULL, TB_NAME_EVENT);
	}
	CHECK_TEXT(last->text, "(too many names)");
	CHECK_TEXT(tb_intern("text 1", NULL, TB_NAME_EVENT)->text, "text 1");
}

static void many_argument_texts(void)
{
	char text[32];
	size_t i;

	open_fake(4096);
	fake.page.categories[0] = 1;
	for (i = 0; i < TB_INTERN_MAX + 10; i++) {
		snprintf(text, sizeof(text), "path %zu", i);
		tb_instant_args(w, &work, "open", TB_TEXT("path", text));
		if (i % 100 == 99) {
			CHECK(!tb_writer_flush(w));
			if (i < TB_INTERN_MAX)
				fake.nr_got = 0;
		}
	}
	CHECK(!tb_writer_flush(w));
	for (; i-- > TB_INTERN_MAX;) {
		snprintf(text, sizeof(text), "path %zu", i);
		CHECK(told(text, TB_NAME_TEXT));
		CHECK_NUMBER(((const struct tb_arg *)fake_got(&fake, TB_REC_INSTANT,
			     fake_count(&fake, TB_REC_INSTANT) -
			     (TB_INTERN_MAX + 10 - i))->words)->value, told(text, TB_NAME_TEXT));
	}
	CHECK(!told("(too many names)", TB_NAME_EVENT));
	/* names of events keep a part of the table */
	CHECK_TEXT(tb_intern("an event behind all these", NULL, TB_NAME_EVENT)->text,
		   "an event behind all these");
	close_fake();
}

static void long_name(void)
{
	char text[1000];
	struct tb_name name = TB_NAME_INIT(text, NULL);

	memset(text, 'n', sizeof(text) - 1);
	text[sizeof(text) - 1] = 0;
	open_fake(4096);
	tb_put_instant(w, &name);
	CHECK(!tb_writer_flush(w));
	CHECK_NUMBER(only(TB_REC_NAME)->record.time & 0xffff, 255);
	CHECK_NUMBER(only(TB_REC_NAME)->record.bytes, 16 + 256);
	close_fake();
	name.id = 0;
	open_fake(256);
	tb_put_instant(w, &name);
	CHECK(!tb_writer_flush(w));
	CHECK_NUMBER(only(TB_REC_NAME)->record.time & 0xffff, 40);
	close_fake();
}

/* ---- categories ---- */

static int evaluated;

static struct tb_writer *counted(void)
{
	evaluated++;
	return w;
}

static void categories(void)
{
	struct tb_writer *other;

	open_fake(4096);
	fake.page.categories[1] = 2;
	CHECK(!tb_arbiter_category(arbiter, &work));
	CHECK(!tb_arbiter_category(arbiter, &idle));
	CHECK(!tb_arbiter_category(arbiter, &idle));
	CHECK_NUMBER(fake.nr_categories, 2);
	CHECK_TEXT(fake.categories[1], "idle");
	CHECK(!tb_category_open(&work) && tb_category_open(&idle));
	evaluated = 0;
	tb_instant(counted(), &work, "off");
	CHECK_NUMBER(evaluated, 0);
	/* another target wants it, not the target of w */
	tb_instant(counted(), &idle, "other target");
	CHECK_NUMBER(evaluated, 1);
	CHECK(!tb_writer_flush(w));
	CHECK_NUMBER(fake.nr_got, 0);
	CHECK_NUMBER(tb_arbiter_target(arbiter, "second"), 1);
	other = tb_writer_create(arbiter, 1, TB_FULL_DROP);
	tb_instant(other, &idle, "this target");
	fake.page.categories[0] = 1;
	tb_instant(w, &work, "on");
	fake.page.categories[0] = 0;
	tb_instant(w, &work, "off again");
	tb_writer_destroy(other);
	CHECK(!tb_writer_flush(w));
	CHECK(told("this target", TB_NAME_EVENT) && told("on", TB_NAME_EVENT));
	CHECK_NUMBER(fake_count(&fake, TB_REC_INSTANT), 2);
	close_fake();
	/* a new arbiter must ask about categories again */
	CHECK(tb_category_open(&work) && tb_category_open(&idle));
}

static void categories_by_use(void)
{
	open_fake(4096);
	tb_instant(w, &work, "asked about now");
	CHECK_NUMBER(fake.nr_categories, 1);
	CHECK(!tb_category_open(&work));
	/* the kernel has no room for the category, so no provider can want it */
	fake.fail_category = -ENOSPC;
	CHECK_NUMBER(-tb_arbiter_category(arbiter, &idle), ENOSPC);
	CHECK(!tb_category_open(&idle));
	CHECK(!tb_writer_flush(w));
	CHECK_NUMBER(fake.nr_got, 0);
	close_fake();
}

static void categories_of_startup(void)
{
	struct tb_writer *early;

	open_fake(4096);
	tb_instant(w, &work, "nobody");
	CHECK(!tb_category_open(&work));
	/* a startup writer wants all categories, others those that their target wants */
	early = tb_writer_create_startup(arbiter, 5);
	CHECK(tb_category_open(&work));
	tb_instant(early, &work, "early");
	tb_instant(w, &work, "still nobody");
	CHECK(!tb_arbiter_bind_reservation(arbiter, 5, "kernel"));
	CHECK(!tb_category_open(&work));
	tb_writer_destroy(early);
	CHECK(!tb_writer_flush(w));
	CHECK_NUMBER(fake_count(&fake, TB_REC_INSTANT), 1);
	CHECK(told("early", TB_NAME_EVENT));
	close_fake();
}

/* The names of begun slices, and ")" for each end, in their order */
static const char *nesting(void)
{
	static char text[4096];
	size_t i, j, used = 0;

	CHECK(!tb_writer_flush(w));
	text[0] = 0;
	for (i = 0; i < fake.nr_got; i++) {
		const struct got *got = &fake.got[i];

		if (got->record.type == TB_REC_END)
			used += (size_t)snprintf(text + used, sizeof(text) - used, ")");
		if (got->record.type != TB_REC_BEGIN)
			continue;
		for (j = 0; j < fake.nr_got; j++)
			if (fake.got[j].record.type == TB_REC_NAME &&
			    fake.got[j].record.id == got->record.id)
				break;
		used += (size_t)snprintf(text + used, sizeof(text) - used, "(%.*s",
					 (int)(fake.got[j].record.time & 0xffff),
					 (const char *)fake.got[j].words);
	}
	fake.nr_got = 0;
	return text;
}

static void wants(uint32_t of_work, uint32_t of_idle)
{
	fake.page.categories[0] = of_work;
	fake.page.categories[1] = of_idle;
}

static void recurse(int depth)
{
	/* at depth 2 the kernel does not want it */
	wants(depth != 2, 1);
	tb_begin(w, &work, "r");
	tb_begin(w, &idle, "i");
	if (depth)
		recurse(depth - 1);
	tb_end(w, &idle);
	tb_end(w, &work);
}

static void ends(void)
{
	struct tb_writer *null;
	int i;

	open_fake(8192);
	CHECK(!tb_arbiter_category(arbiter, &work));
	CHECK(!tb_arbiter_category(arbiter, &idle));
	/* the category is disabled after the beginning: the end is recorded all the same */
	wants(1, 1);
	tb_begin(w, &work, "a");
	tb_begin(w, &idle, "b");
	wants(1, 0);
	tb_end(w, &idle);
	tb_begin(w, &work, "c");
	tb_end(w, &work);
	tb_end(w, &work);
	CHECK_TEXT(nesting(), "(a(b)(c))");
	/* the category is enabled after the beginning: no end */
	wants(1, 0);
	tb_begin(w, &work, "a");
	tb_begin(w, &idle, "b");
	wants(1, 1);
	tb_end(w, &idle);
	tb_end(w, &work);
	CHECK_TEXT(nesting(), "(a)");
	wants(0, 0);
	tb_begin(w, &work, "a");
	wants(1, 1);
	tb_begin(w, &idle, "b");
	tb_end(w, &idle);
	tb_end(w, &work);
	CHECK_TEXT(nesting(), "(b)");
	/* slices of one category inside each other */
	recurse(4);
	CHECK_TEXT(nesting(), "(r(i(r(i(i(r(i(r(i)))))))))");
	/* longjmp() out of the inner slice: the end of the outer one closes it */
	wants(1, 1);
	tb_begin(w, &work, "a");
	tb_begin(w, &idle, "b");
	tb_end(w, &work);
	tb_end(w, &idle);
	CHECK_TEXT(nesting(), "(a(b))");
	/* functions that take texts use categories of their own */
	fake.page.categories[2] = 1;
	tb_thread_writer = w;
	tb_write_begin("texts", "t");
	fake.page.categories[2] = 0;
	tb_write_begin("texts", "u");
	tb_write_end("texts");
	tb_begin(w, &work, "a");
	tb_write_end("texts");
	CHECK_TEXT(nesting(), "(t(a))");
	tb_end(w, &work);
	tb_thread_writer = NULL;
	CHECK_TEXT(nesting(), "");
	/* deeper than a writer tracks slice by slice */
	for (i = 0; i < 100; i++)
		tb_begin(w, &work, "d");
	for (i = 0; i < 100; i++)
		tb_end(w, &work);
	CHECK_NUMBER(w->depth, 0);
	CHECK_NUMBER(strlen(nesting()), 300);
	/* nothing may write to null writers */
	null = tb_writer_create(arbiter, TB_TARGETS_MAX, TB_FULL_DROP);
	CHECK(tb_writer_is_null(null));
	tb_begin(null, &work, "n");
	tb_end(null, &work);
	tb_put_begin(null, &ping);
	tb_put_end(null);
	close_fake();
}

static void by_parameter(struct tb_category *category)
{
	tb_begin(w, category, "parameter");
	tb_instant_args(w, category, "arguments", TB_U64("n", 1));
	tb_event(w, category, "value", 1);
	tb_end(w, category);
}

static uint32_t category_of(const char *name, size_t nth)
{
	size_t i;

	for (i = 0; i < fake.nr_got; i++) {
		const struct got *got = &fake.got[i];

		if (got->record.type == TB_REC_NAME &&
		    (got->record.time & 0xffff) == strlen(name) &&
		    !memcmp(got->words, name, strlen(name)) && !nth--)
			return (uint32_t)(got->record.time >> 32);
	}
	return 0;
}

extern void record_in(struct tb_category *category);

static void category_parameter(void)
{
	static const char *const names[] = { "parameter", "arguments", "value", "cpp" };
	size_t i;

	open_fake(8192);
	wants(1, 1);
	CHECK(!tb_arbiter_category(arbiter, &work));
	CHECK(!tb_arbiter_category(arbiter, &idle));
	tb_thread_writer = w;
	for (i = 0; i < 2; i++) {
		by_parameter(&work);
		by_parameter(&idle);
		record_in(&work);
		record_in(&idle);
	}
	tb_thread_writer = NULL;
	CHECK(!tb_writer_flush(w));
	for (i = 0; i < 4; i++) {
		CHECK_NUMBER(category_of(names[i], 0), told("work", TB_NAME_CATEGORY));
		CHECK_NUMBER(category_of(names[i], 1), told("idle", TB_NAME_CATEGORY));
		CHECK_NUMBER(category_of(names[i], 2), 0);
	}
	close_fake();
}

/* ---- signals ---- */

static void handler(int signal)
{
	(void)signal;
	tb_put_simple(w, &ping, 1000);
}

static void signals(void)
{
	struct sigaction action = { .sa_handler = handler }, before;
	struct tb_record *record;
	const struct got *got;

	open_fake(4096);
	sigaction(SIGUSR1, &action, &before);
	tb_put_simple(w, &ping, 1);
	raise(SIGUSR1);
	record = tb_record_begin(w, &ping, 24);
	raise(SIGUSR1);
	raise(SIGUSR1);
	*record = (struct tb_record){ .bytes = 24, .type = TB_REC_SIMPLE, .id = ping.id };
	*(uint64_t *)(record + 1) = 2;
	tb_record_end(w, 24);
	tb_put_simple(w, &ping, 3);
	sigaction(SIGUSR1, &before, NULL);
	CHECK(!tb_writer_flush(w));
	/* the handler between records recorded; the two inside of a record did not */
	CHECK_NUMBER(fake_count(&fake, TB_REC_SIMPLE), 4);
	CHECK_NUMBER(fake_got(&fake, TB_REC_SIMPLE, 1)->words[0], 1000);
	CHECK_NUMBER(fake_got(&fake, TB_REC_SIMPLE, 2)->words[0], 2);
	got = fake_got(&fake, TB_REC_NAME, 1);
	CHECK(got && got->missing == 2 && got->cause == TB_LOST_SIGNAL);
	close_fake();
}

/* A timer signal interrupts a thread that records all the time, at any instruction. */
static uint64_t handled;

static void often(int signal)
{
	(void)signal;
	tb_put_simple(w, &ping, ++handled | 1ull << 32);
}

static void signals_anywhere(void)
{
	struct sigaction action = { .sa_handler = often, .sa_flags = SA_RESTART }, before;
	struct sigevent event = { .sigev_notify = SIGEV_SIGNAL, .sigev_signo = SIGUSR1 };
	struct itimerspec soon = { { 0, 0 }, { 0, 20000 } };
	uint64_t own = 0, last = 0, last_own = 0, seen = UINT64_MAX, now;
	struct tb_writer_stats stats;
	timer_t timer;
	size_t i;

	open_fake(256);
	arbiter->period_ms = 0;
	handled = 0;
	sigaction(SIGUSR1, &action, &before);
	CHECK(!timer_create(CLOCK_MONOTONIC, &event, &timer));
	/*
	 * Until both have recorded enough. The loop starts the timer again after each signal: a
	 * timer with a period would keep a slow machine in the handler.
	 */
	while ((now = __atomic_load_n(&handled, __ATOMIC_RELAXED)) < 200 || own < 50000) {
		if (now != seen)
			timer_settime(timer, 0, &soon, NULL);
		seen = now;
		tb_put_simple(w, &ping, ++own);
	}
	timer_delete(timer);
	sigaction(SIGUSR1, &before, NULL);
	CHECK(!tb_writer_flush(w));
	tb_writer_read_stats(w, &stats);
	CHECK_NUMBER(fake.writers[1].received + fake.writers[1].missing, stats.attempted);
	CHECK_NUMBER(fake.writers[1].missing, stats.lost);
	CHECK_NUMBER(fake_count(&fake, TB_REC_SIMPLE) + stats.lost, own + handled);
	for (i = 0; i < fake.nr_got; i++) {
		const struct got *got = &fake.got[i];

		CHECK(!got->missing || got->cause == TB_LOST_SIGNAL);
		if (got->record.type != TB_REC_SIMPLE)
			continue;
		if (got->words[0] >> 32) {
			CHECK(got->words[0] > last);
			last = got->words[0];
		} else {
			CHECK(got->words[0] > last_own);
			last_own = got->words[0];
		}
	}
	close_fake();
}

static const struct test tests[] = {
	{ "records of all kinds", records },
	{ "flows and arguments", flows_and_arguments },
	{ "times are of the provider's clock", times },
	{ "a name is told once", told_once },
	{ "a name is told in each chunk where chunks are overwritten", told_in_each_chunk },
	{ "more names than a writer remembers", many_names },
	{ "names that share a slot of the table", names_that_collide },
	{ "names of any length", long_name },
	{ "texts of arguments, more than the table has room for", many_argument_texts },
	{ "categories are what the kernel says", categories },
	{ "categories are asked about when they are used", categories_by_use },
	{ "startup writers want all categories", categories_of_startup },
	{ "the end of a slice is recorded if its beginning was", ends },
	{ "a category that is a parameter", category_parameter },
	{ "a handler records between records, not within one", signals },
	{ "handlers anywhere", signals_anywhere },
	/* last: it fills the table of texts */
	{ "too many texts", too_many_texts },
};

TEST_MAIN(tests)
