// SPDX-License-Identifier: GPL-2.0-only
/*
 * Whatever interrupts the ring's code at whatever access, the ring loses no event without a count,
 * and doubles or tears none. If this fails, a trace has a false event or hides a loss, too rarely
 * for other tests to find it. The test enumerates all interleavings on tiny rings.
 *
 * Before each access to shared memory (TB_POINT) the explorer chooses: nothing, a nested writer or
 * a flush (an interrupt that runs to its end), or the reader, a fiber that runs on for some
 * accesses and may be left in the middle of its work. The choices of an execution form a word; the
 * explorer enumerates the words depth first: it runs the scenario again with the beginning of the
 * word and takes the next choice at its end. A scenario limits its operations, the interventions in
 * an execution and the depth of nesting; time limits nothing. Each execution ends with a drained
 * ring, and ring_model.c checks all counts and contents. In each execution:
 *
 *   - an operation takes at most a fixed number of accesses of its own for each context that came
 *     in between, and repeats a reservation at most once for each (wait-freedom);
 *   - a writer drops no event while head says that there is room;
 *   - no context overwrites a block after head has moved on since it looked;
 *   - the span of a gap covers the lost events;
 *   - memory never shows a half-written event or header, at any moment;
 *   - the reader changes none of the writers' words, and writers none of the reader's.
 *
 * test_ring_weak is this program with TB_RING_WEAK: the reader is on another CPU, with the weak
 * memory of ring_weak.c, where a load may see an older value; the scenario says how often.
 *
 *	test_ring_explore [-v] [-x] [-b N] [-s WORD] [-w N]
 *
 * -v: executions and seconds of each scenario; -b N: at most N interventions; -x: stop at the first
 * failure, and try all scenarios with one intervention first, then with two and so on (for
 * mutants); -s WORD: only scenarios with WORD in their name; -w N: N more loads may see older
 * values.
 */
#include <stdlib.h>
#include <time.h>
#include <unistd.h>
#include "ring_fiber.h"
#include "ring_ktap.h"
#include "ring_model.h"
#include "ring_paths.h"

#define MAX_DEPTH	4
#define MAX_WORD	4096

/*
 * Operations: '1' a simple event, '2'..'9' a composite one of so many elements, 'c' one of a single
 * element, 'w' events that fill more buffers than there are, 'f' flush, 'e' the clock's upper half
 * changes, 'i' an event of three elements is begun, 'I' and committed;
 * reader: 'a' acquire, 'r' release the oldest held block, 'l' the latest, 'u' put the latest back,
 * 's' statistics, 't' the end of the ring after the last block, 'm' look at blocks that are being
 * written.
 */
struct scenario {
	const char *name;
	u32 nr;
	bool overwrite;
	const char *before;	/* done undisturbed */
	const char *root;	/* explored */
	const char *nested;	/* operations that may interrupt it, one at a time */
	const char *reader;	/* operations of the fiber, NULL: no reader */
	int depth;		/* of nesting, root is 0 */
	int budget;		/* interventions in an execution */
	u64 step;		/* of the clock */
	int old;		/* loads in an execution that see older values */
};

/* a writer at work */
struct context {
	u32 points;		/* accesses of its own */
	u32 nested;		/* contexts that came in between */
	u32 retries;		/* reservations repeated */
	u32 nested_at;		/* @points when the last of them came */
	u32 head_at;		/* @points when the writer last looked at head */
	bool head_fresh;	/* no context has come since it looked at head */
};

static const struct scenario *sc;
static struct model *m;
static struct context contexts[MAX_DEPTH + 1], reader_context;
static int depth;		/* -1: no writer */
static int budget, max_budget = 100;
static bool exploring, in_reader;
static u32 most_points, most_retries, deepest;
static int old_left, more_old;
static struct tb_slot begun_slot;
static int begun = -1;

static struct {
	u8 choice[MAX_WORD], of[MAX_WORD];
	int length, at;
} word;

/* ---- choices ---------------------------------------------------------- */

static int choose(int of)
{
	if (word.at == word.length) {
		if (word.length == MAX_WORD) {
			printf("Bail out! word too long\n");
			exit(1);
		}
		word.choice[word.length] = 0;
		word.of[word.length++] = of;
	}
	if (word.of[word.at] != of) {
		printf("Bail out! not reproducible: %s\n", sc->name);
		exit(1);
	}
	return word.choice[word.at++];
}

/* Advance to the next word; false: that was the last */
static bool next_word(void)
{
	while (word.length && word.choice[word.length - 1] + 1 == word.of[word.length - 1])
		word.length--;
	if (!word.length)
		return false;
	word.choice[word.length - 1]++;
	return true;
}

/* ---- the reader ------------------------------------------------------- */

static bool fiber_done;
static const char *fiber_at;

#include "ring_look.h"

/* At any moment: delivered and overwritten events were recorded, recorded ones committed */
static void check_stats(void)
{
	struct tb_ring_stats st;

	tb_ring_stats(&m->r, &st);
	if (st.delivered + st.overwritten > st.recorded)
		model_fail(m, "%llu delivered and %llu overwritten of %llu recorded",
			   (unsigned long long)st.delivered, (unsigned long long)st.overwritten,
			   (unsigned long long)st.recorded);
	if (st.recorded > m->committed)
		model_fail(m, "%llu recorded of %llu committed", (unsigned long long)st.recorded,
			   (unsigned long long)m->committed);
}

/* If a ring that refuses events has drops that no block reports, it says since when. */
static void check_end(void)
{
	struct tb_ring_end end;

	tb_ring_end(&m->r, &end);
	/* the header of an incomplete block may not have its counts yet */
	if (!end.open && end.counted && end.dropped > ring_told(end.blocks) && !end.first)
		model_fail(m, "%llu dropped, nobody knows when", (unsigned long long)end.dropped);
	if (!end.open && end.counted && end.overwritten > end.recorded)
		model_fail(m, "%llu overwritten of %llu", (unsigned long long)end.overwritten,
			   (unsigned long long)end.recorded);
}

static void do_reader(char op)
{
	switch (op) {
	case 't':
		check_end();
		break;
	case 'm':
		look();
		break;
	case 's':
		check_stats();
		break;
	case 'a':
		model_acquire(m);
		break;
	case 'r':
		if (m->nr_held)
			model_release(m, 0);
		break;
	case 'l':
		if (m->nr_held)
			model_release(m, m->nr_held - 1);
		break;
	case 'u':
		if (m->nr_held)
			model_unacquire(m);
		break;
	}
}

static void fiber_main(void)
{
	fiber_entered();
	for (;;) {
		while (*fiber_at) {
			memset(&reader_context, 0, sizeof(reader_context));
			do_reader(*fiber_at++);
		}
		fiber_done = true;
		fiber_pause();
	}
}

/*
 * Compare the words that only writers change, and those that only the reader changes: between two
 * calls only one of the sides runs.
 */
#define WRITERS		offsetof(struct tb_cpu_ring, releases)
#define BUF_WRITERS	offsetof(struct tb_buf, state)
#define MAX_BUFS	4

static struct {
	char ring[sizeof(struct tb_cpu_ring)];
	char writers[MAX_BUFS][BUF_WRITERS];
	struct tb_rd rd[MAX_BUFS];
} before;

static void remember(void)
{
	u32 i;

	memcpy(before.ring, &m->r, sizeof(m->r));
	for (i = 0; i < m->r.nr; i++) {
		memcpy(before.writers[i], &m->r.bufs[i], BUF_WRITERS);
		before.rd[i] = m->r.bufs[i].rd;
	}
}

static void check_writers_words(void)
{
	u32 i;

	if (memcmp(before.ring, &m->r, WRITERS))
		model_fail(m, "the reader changed what is the writers' in the ring");
	for (i = 0; i < m->r.nr; i++) {
		if (memcmp(before.writers[i], &m->r.bufs[i], BUF_WRITERS))
			model_fail(m, "the reader changed what is the writers' in a buffer");
	}
}

static void check_readers_words(void)
{
	u32 i;

	if (memcmp(before.ring + WRITERS, &m->r.releases, sizeof(m->r) - WRITERS))
		model_fail(m, "a writer changed what is the reader's in the ring");
	for (i = 0; i < m->r.nr; i++) {
		if (memcmp(&before.rd[i], &m->r.bufs[i].rd, sizeof(before.rd[i])))
			model_fail(m, "a writer changed what is the reader's in a buffer");
	}
	model_check_held(m);
}

/* Let the reader run until it pauses or ends */
static void fiber_run(void)
{
	check_readers_words();
	remember();
	in_reader = true;
	fiber_resume();
	in_reader = false;
	check_writers_words();
	remember();
}

/* ---- writers ------------------------------------------------------------ */

static void do_op(char op)
{
	struct context *c = &contexts[++depth];
	u32 bound = (52 + 12 * m->r.nr) * (op == 'w' ? m->r.nr + 1 : 1);
	u32 i;

	memset(c, 0, sizeof(*c));
	if ((u32)depth > deepest)
		deepest = depth;
	if (op == 'f')
		model_flush(m);
	else if (op == 'e')
		m->clock += 1ull << 32;
	else if (op == 'c')
		model_composite(m, 1);
	else if (op == 'i')
		begun = model_reserve(m, 3, &begun_slot);
	else if (op == 'I')
		model_commit(m, begun, &begun_slot);
	else if (op == 'w')
		for (i = 0; i <= m->r.nr; i++)
			model_write(m, 8);
	else
		model_write(m, op - '0');
	if (c->points > bound * (1 + c->nested))
		model_fail(m, "'%c' took %u accesses, %u nested", op, c->points, c->nested);
	if (c->retries > c->nested)
		model_fail(m, "'%c' repeated %u times, %u nested", op, c->retries, c->nested);
	if (op != 'w' && c->points / (1 + c->nested) > most_points)
		most_points = c->points / (1 + c->nested);
	if (c->retries > most_retries)
		most_retries = c->retries;
	depth--;
}

static void point(const volatile void *p)
{
	int nested = 0, of, choice;
	struct context *c;

	if (depth < 0 && !in_reader)
		return;
	c = in_reader ? &reader_context : &contexts[depth];
	if (++c->points > 100000) {
		printf("not ok %d %s\nBail out! an operation does not end\n", ktap_count + 1,
		       sc->name);
		exit(1);
	}
	if (in_reader) {
		/* a pause costs an intervention */
		if (exploring && budget > 0 && choose(2)) {
			budget--;
			fiber_pause();
			in_reader = true;
		}
		return;
	}
	while (exploring && budget > 0) {
		if (depth < sc->depth)
			nested = strlen(sc->nested);
		of = 1 + nested + (sc->reader && !fiber_done);
		choice = of > 1 ? choose(of) : 0;
		if (!choice)
			break;
		budget--;
		model_check_memory(m);
		if (choice <= nested) {
			int i;

			for (i = 0; i <= depth; i++) {
				contexts[i].nested++;
				contexts[i].nested_at = contexts[i].points;
				contexts[i].head_fresh = false;
			}
			do_op(sc->nested[choice - 1]);
		} else {
			fiber_run();
		}
	}
	if (p == &m->r.head) {
		c->head_fresh = true;
		c->head_at = c->points;
	}
}

/* A dropped event: head must show that there was no room, or have moved just now. */
static void check_drop(struct context *c)
{
	u32 n = m->events[m->current].length;

	/* accesses from the last look at head to the count, two more for each repetition */
	if (!c->head_fresh && c->nested_at - c->head_at <= 6 + 2 * (c->nested - 1))
		return;
	if (n <= m->r.max && n <= m->r.capacity - (m->r.head & TB_HEAD_INDEX_MASK))
		model_fail(m, "dropped %u elements, head %llx", n, (unsigned long long)m->r.head);
}

static void changed(const volatile void *p, u64 old, u64 new)
{
	struct context *c = &contexts[depth < 0 ? 0 : depth];
	u32 i;

	model_changed(p, old, new);
	if (p == &m->r.dropped && depth >= 0 && !in_reader)
		check_drop(c);
	if (p == &m->r.retries && depth >= 0 && !in_reader)
		c->retries++;
	for (i = 0; i < m->r.nr && p != &m->r.bufs[i].state; i++)
		;
	if (i == m->r.nr)
		return;
	if (in_reader || depth < 0)
		return;
	if (TB_BUF_STATE(old) == TB_BUF_HELD)
		model_fail(m, "a held buffer was changed");
	if (TB_BUF_STATE(old) != TB_BUF_READY || TB_BUF_STATE(new) != TB_BUF_CLAIMED)
		return;
	if (!m->r.overwrite)
		model_fail(m, "overwritten in spite of the policy");
	/* the claim was made for this head, or head has moved just now */
	if ((c->head_fresh || c->points - c->nested_at > 1) &&
	    ((TB_BUF_SEQ(new) - 1) ^ m->r.head >> TB_HEAD_SEQ_SHIFT) & TB_HEAD_SEQ_MASK)
		model_fail(m, "block %llu overwritten for %llu, head is in %llu",
			   (unsigned long long)TB_BUF_SEQ(old), (unsigned long long)TB_BUF_SEQ(new),
			   (unsigned long long)(m->r.head >> TB_HEAD_SEQ_SHIFT & TB_HEAD_SEQ_MASK));
}

/* ---- executions --------------------------------------------------------- */

static void do_ops(const char *ops)
{
	for (; *ops; ops++) {
		if (strchr("arlustm", *ops)) {
			do_reader(*ops);
		} else {
			memset(contexts, 0, sizeof(contexts));
			do_op(*ops);
		}
	}
}

/* No word may be left that makes a writer believe that the ring is full */
static void check_usable(void)
{
	u32 i;

	for (i = 0; i < m->r.nr; i++) {
		enum tb_buf_state s = TB_BUF_STATE(m->r.bufs[i].state);

		if (s == TB_BUF_FREE || s == TB_BUF_CLAIMED)
			break;
	}
	if (i < m->r.nr && !model_write(m, 8))
		model_fail(m, "no room, but buffer %u is in state %llx", i,
			   (unsigned long long)m->r.bufs[i].state);
}

static void execute(void)
{
	m->clock = 1000;
	model_reset(m);
	depth = -1;
	exploring = false;
	fiber_done = true;
	do_ops(sc->before);
	budget = sc->budget < max_budget ? sc->budget : max_budget;
	old_left = sc->old + more_old;
	look_sync();
	word.at = 0;
	remember();
	if (sc->reader) {
		fiber_done = false;
		fiber_at = sc->reader;
	}
	exploring = true;
	do_ops(sc->root);
	exploring = false;
	while (!fiber_done)
		fiber_run();
	look_sync();
	model_check_accounting(m, false);
	if (!sc->overwrite)
		check_usable();
	model_drain(m);
	model_check_accounting(m, true);
}

static void show_word(void)
{
	int i, zeros = 0;

	printf("# %u buffers, %s, %s clock, before \"%s\" root \"%s\" nested \"%s\" reader \"%s\"\n"
	       "# choices (+accesses:choice):",
	       sc->nr, sc->overwrite ? "overwrite" : "drop",
	       m->r.raw_clock ? "processor's" : "kernel's", sc->before, sc->root, sc->nested,
	       sc->reader ? sc->reader : "");
	for (i = 0; i < word.at; i++) {
		if (!word.choice[i]) {
			zeros++;
			continue;
		}
		printf(" +%d:%d", zeros, word.choice[i]);
		zeros = 0;
	}
	printf("\n");
}

static unsigned long explore(const struct scenario *s, bool raw)
{
	unsigned long executions = 0;
	char name[128];

	sc = s;
	model_raw_clock = raw;
	m = model_new(s->nr, 16, s->overwrite);
	tb_changed_hook = changed;
	m->r.watermark = 12;
	m->step = s->step ? s->step : 1;
	look_share();
	word.length = 0;
	do {
		execute();
		executions++;
	} while (!m->error && next_word());
	if (m->error)
		show_word();
	snprintf(name, sizeof(name), "%s%s", s->name, raw ? "" : ", kernel's clock");
	ktap_result(name, m->error);
	model_free(m);
	return executions;
}

#ifdef TB_RING_WEAK
#include "ring_scenarios_weak.h"
#else
#include "ring_scenarios.h"
#endif

#define SCENARIOS	((int)(sizeof(scenarios) / sizeof(scenarios[0])))

/* the kernel's clock matters only for simple events */
static bool has_simple(const struct scenario *s)
{
	return strchr(s->root, '1') || strchr(s->nested, '1');
}

static const char *only;

/* Explore all scenarios; return the number of executions */
static unsigned long explore_all(bool verbose, bool stop)
{
	unsigned long executions = 0, one;
	struct timespec t0, t1;
	int i, raw;

	for (i = 0; i < SCENARIOS; i++) {
		if (only && !strstr(scenarios[i].name, only))
			continue;
		for (raw = 1; raw >= !has_simple(&scenarios[i]); raw--) {
			clock_gettime(CLOCK_MONOTONIC, &t0);
			one = explore(&scenarios[i], raw);
			executions += one;
			clock_gettime(CLOCK_MONOTONIC, &t1);
			if (verbose)
				printf("#   %lu executions, %.2f s\n", one,
				       (t1.tv_sec - t0.tv_sec) +
				       (t1.tv_nsec - t0.tv_nsec) / 1e9);
			if (ktap_failed && stop)
				return executions;
		}
	}
	return executions;
}

/* A result for each rare path of the ring: was it taken? */
static void report_paths(void)
{
	char name[96];
	int i;

	for (i = 0; i < TB_PATHS; i++) {
		printf("# taken %lu times:\n", model_paths[i]);
		snprintf(name, sizeof(name), "path: %s", ring_path_names[i]);
		ktap_result(name, model_paths[i] ? NULL : "never taken");
	}
}
int main(int argc, char **argv)
{
	bool verbose = false, stop = false, reduced;
	int n = 0, i, opt, most = 0;
	unsigned long executions;

	while ((opt = getopt(argc, argv, "vxb:s:w:")) != -1) {
		switch (opt) {
		case 'v':
			verbose = true;
			break;
		case 'x':
			stop = true;
			break;
		case 'b':
			max_budget = atoi(optarg);
			break;
		case 's':
			only = optarg;
			break;
		case 'w':
			more_old = atoi(optarg);
			break;
		default:
			fprintf(stderr, "usage: %s [-v] [-x] [-b N] [-s WORD] [-w N]\n", argv[0]);
			return 2;
		}
	}
	tb_point_hook = point;
	depth = -1;
	fiber_init(fiber_main);
	for (i = 0; i < SCENARIOS; i++) {
		if (!only || strstr(scenarios[i].name, only))
			n += 1 + has_simple(&scenarios[i]);
		if (scenarios[i].budget > most)
			most = scenarios[i].budget;
	}
	reduced = only || most > max_budget || LOOK_WEAK;
	if (most > max_budget)
		most = max_budget;
	if (stop) {
		int full = max_budget;

		/* few interventions: with weak memory try all at once */
		max_budget = LOOK_WEAK ? most : 1;
		for (; !ktap_failed && max_budget <= most; max_budget++)
			explore_all(verbose, true);
		max_budget = full;
		return ktap_end();
	}
	ktap_start(n + (reduced ? 0 : TB_PATHS));
	executions = explore_all(verbose, false);
	if (!reduced)
		report_paths();
	printf("# %lu executions explored: every scenario to its end, none cut off by time\n",
	       executions);
	printf("# bound: up to %d interventions (nested writers, reader's runs and pauses) at any\n"
	       "# access, writers %u deep below the first, events of 1 to 9 elements\n"
	       "# at most %u accesses and %u repetitions for each context that came between\n",
	       most, deepest, most_points, most_retries);
	return ktap_end();
}
