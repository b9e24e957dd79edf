// SPDX-License-Identifier: GPL-2.0-only
/*
 * Show the picture on a terminal, and handle keys.
 *
 * Signals only set a flag, so that one place restores the terminal.  After a signal that cannot be
 * caught, the guard restores it.
 */
#include <errno.h>
#include <fcntl.h>
#include <poll.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>
#include "top.h"
#include "tool/command/command.h"
#include "tool/command/number.h"
/* last: it defines macros with common names */
#include <curses.h>

#define LOOK_NS 100000000ull		/* interval of checks for keys */
#define INTERVAL_LEAST 0.1
#define INTERVAL_MOST 3600.0

enum prompt { PROMPT_NONE, PROMPT_FILTER, PROMPT_INTERVAL, PROMPT_SORT };

/**
 * struct screen - the screen
 * @message: shown on the last line until the next key
 * @prompt: the question that the user answers by typing into @typed
 * @help: show the help instead of the picture
 * @drawn: the picture has been sampled at least once
 * @last: the picture shows the last interval of an input that has ended
 */
struct screen {
	struct top_source *source;
	struct top_look *look;
	struct top_sampler sampler;
	struct top_picture picture;
	char message[128];
	enum prompt prompt;
	char typed[TOP_NAME];
	bool help, drawn, last, quit;
	size_t passing;
	FILE *keys;
};

static const char *const help[] = {
	"q, Ctrl-C     quit",
	"1 2 3 4 5 6   tasks, events, irqs, system calls, latency, CPUs",
	"Tab           the next of these",
	"< >           sort by the previous, next column        o   sort by a named column",
	"P T W N       tasks by CPU, time, waiting, number      R   reverse the order",
	"f /           filter by part of a name, or a number    Esc show all again",
	"a             also show rows without activity in the interval",
	"space p       pause the picture; the recording goes on",
	"+ -           double, halve the interval               d   enter the interval",
	"arrows, PgUp, PgDn, Home, End   scroll",
	"",
	"%CPU: percent of one CPU.  RUN, PRE, MIG: times a second that the task was switched",
	"to, was preempted, moved to another CPU.  WAIT: mean us from wake-up to running.",
	"MAX, TIME, ALL: since the start.  CPUs: % busy, i: in interrupts, s: in softirqs,",
	"'?': unknown.",
	"Lost events are counted above the CPUs.  tracebuf itself is among the tasks.",
	NULL,
};

/* ---- drawing ---- */

static void put_line(void *context, enum top_line kind, const char *text)
{
	static const attr_t attributes[] = {
		[TOP_PLAIN] = A_NORMAL, [TOP_TITLE] = A_BOLD,
		[TOP_WARN] = A_BOLD | A_REVERSE, [TOP_HEAD] = A_REVERSE,
		[TOP_DIM] = A_DIM,
	};
	int *row = context, column;

	if (*row >= LINES - 1)
		return;
	attrset((int)attributes[kind]);
	mvaddnstr(*row, 0, text, COLS);
	for (column = (int)strlen(text); kind == TOP_HEAD && column < COLS; column++)
		mvaddch(*row, column, ' ');
	attrset(A_NORMAL);
	++*row;
}

static void draw_help(void)
{
	int row = 0, i;

	put_line(&row, TOP_TITLE, "tracebuf top: keys");
	for (i = 0; help[i]; i++)
		put_line(&row, TOP_PLAIN, help[i]);
}

static void draw_last_line(const struct screen *screen)
{
	static const char *const asked[] = {
		[PROMPT_FILTER] = "filter: ", [PROMPT_INTERVAL] = "seconds: ",
		[PROMPT_SORT] = "column: ",
	};
	char text[256], views[128] = "";
	unsigned int i;

	if (screen->prompt) {
		snprintf(text, sizeof(text), "%s%s_", asked[screen->prompt], screen->typed);
	} else if (screen->message[0]) {
		snprintf(text, sizeof(text), "%s", screen->message);
	} else if (screen->help) {
		snprintf(text, sizeof(text), "any key: back");
	} else {
		for (i = 0; i < TOP_VIEWS; i++)
			snprintf(views + strlen(views), sizeof(views) - strlen(views),
				 i == screen->look->view ? "[%u %s] " : "%u %s ", i + 1,
				 top_view_name(i));
		snprintf(text, sizeof(text), "%s h help, q quit", views);
	}
	attrset(A_BOLD);
	mvaddnstr(LINES - 1, 0, text, COLS - 1);
	attrset(A_NORMAL);
}

static void draw(struct screen *screen)
{
	int row = 0;
	const struct top_lines lines = {
		.width = (unsigned int)(COLS > 0 ? COLS : 80),
		.height = (unsigned int)(LINES > 1 ? LINES : 2),
		.put = put_line,
		.context = &row,
	};

	erase();
	if (screen->help)
		draw_help();
	else if (screen->drawn)
		screen->passing = top_show(&screen->picture, screen->look,
					   screen->source->called, &lines);
	else
		mvaddnstr(0, 0, "tracebuf top: the first interval ...", COLS);
	draw_last_line(screen);
	refresh();
}

/* ---- keys ---- */

static void set_message(struct screen *screen, const char *text, const char *what)
{
	snprintf(screen->message, sizeof(screen->message), text, what);
}

static void set_interval(struct screen *screen, double seconds)
{
	if (seconds < INTERVAL_LEAST)
		seconds = INTERVAL_LEAST;
	if (seconds > INTERVAL_MOST)
		seconds = INTERVAL_MOST;
	screen->look->interval = seconds;
}

static void take_answer(struct screen *screen)
{
	double seconds;

	switch (screen->prompt) {
	case PROMPT_FILTER:
		memcpy(screen->look->filter[screen->look->view], screen->typed,
		       sizeof(screen->typed));
		screen->look->first = 0;
		break;
	case PROMPT_INTERVAL:
		if (parse_seconds(screen->typed, &seconds))
			set_message(screen, "'%s' is not a time: seconds, or with ms", screen->typed);
		else
			set_interval(screen, seconds);
		break;
	case PROMPT_SORT:
		if (!screen->typed[0] || !top_sort_by(screen->look, screen->typed))
			set_message(screen, "there is no column '%s'", screen->typed);
		break;
	default:
		break;
	}
	screen->prompt = PROMPT_NONE;
}

static void typed_key(struct screen *screen, int key)
{
	size_t length = strlen(screen->typed);

	switch (key) {
	case '\n':
	case '\r':
	case KEY_ENTER:
		take_answer(screen);
		break;
	case 27:
		screen->prompt = PROMPT_NONE;
		break;
	case KEY_BACKSPACE:
	case 127:
	case 8:
		if (length)
			screen->typed[length - 1] = 0;
		break;
	default:
		if (key >= 0x20 && key < 0x7f && length < sizeof(screen->typed) - 1) {
			screen->typed[length] = (char)key;
			screen->typed[length + 1] = 0;
		}
	}
}

static void ask(struct screen *screen, enum prompt prompt)
{
	screen->prompt = prompt;
	screen->typed[0] = 0;
}

static void go_to(struct screen *screen, enum top_view view)
{
	screen->look->view = view;
	screen->look->first = 0;
}

static bool scrolled(struct screen *screen, int key)
{
	size_t page = LINES > 10 ? (size_t)LINES - 10 : 1, *first = &screen->look->first;

	switch (key) {
	case KEY_DOWN:
		++*first;
		break;
	case KEY_UP:
		*first -= *first > 0;
		break;
	case KEY_NPAGE:
		*first += page;
		break;
	case KEY_PPAGE:
		*first -= *first < page ? *first : page;
		break;
	case KEY_HOME:
		*first = 0;
		break;
	case KEY_END:
		*first = screen->passing;
		break;
	default:
		return false;
	}
	return true;
}

static void sort_tasks(struct screen *screen, const char *column)
{
	go_to(screen, TOP_TASKS);
	top_sort_by(screen->look, column);
	screen->look->reverse[TOP_TASKS] = false;
}

static void plain_key(struct screen *screen, int key)
{
	struct top_look *look = screen->look;

	if (scrolled(screen, key))
		return;
	if (key >= '1' && key < '1' + TOP_VIEWS) {
		go_to(screen, (enum top_view)(key - '1'));
		return;
	}
	switch (key) {
	case 'q':
	case 'Q':
		screen->quit = true;
		break;
	case 'h':
	case '?':
		screen->help = true;
		break;
	case '\t':
		go_to(screen, (look->view + 1) % TOP_VIEWS);
		break;
	case KEY_BTAB:
		go_to(screen, (look->view + TOP_VIEWS - 1) % TOP_VIEWS);
		break;
	case '<':
	case KEY_LEFT:
		top_sort_step(look, -1);
		break;
	case '>':
	case KEY_RIGHT:
		top_sort_step(look, 1);
		break;
	case 'R':
	case 'r':
		look->reverse[look->view] = !look->reverse[look->view];
		break;
	case 'P':
		sort_tasks(screen, "%CPU");
		break;
	case 'T':
		sort_tasks(screen, "TIME");
		break;
	case 'W':
		sort_tasks(screen, "WAIT");
		break;
	case 'N':
		sort_tasks(screen, "TID");
		break;
	case 'o':
		ask(screen, PROMPT_SORT);
		break;
	case 'f':
	case '/':
		ask(screen, PROMPT_FILTER);
		break;
	case 27:
		look->filter[look->view][0] = 0;
		break;
	case 'a':
		look->quiet = !look->quiet;
		break;
	case ' ':
	case 'p':
		look->paused = !look->paused;
		break;
	case '+':
		set_interval(screen, look->interval * 2);
		break;
	case '-':
		set_interval(screen, look->interval / 2);
		break;
	case 'd':
		ask(screen, PROMPT_INTERVAL);
		break;
	case KEY_RESIZE:
		break;
	default:
		set_message(screen, "%s", "h shows the keys");
	}
}

/* Handle all keys that were pressed; true: draw again */
static bool handle_keys(struct screen *screen)
{
	bool some = false;
	int key;

	while (!screen->quit && (key = getch()) != ERR) {
		some = true;
		screen->message[0] = 0;
		if (screen->help)
			screen->help = key == KEY_RESIZE;
		else if (screen->prompt && key != KEY_RESIZE)
			typed_key(screen, key);
		else
			plain_key(screen, key);
	}
	return some;
}

/* Wait for a key, or until the terminal is closed.  True: it is closed */
static bool hung_up(const struct screen *screen, int timeout_ms)
{
	struct pollfd input = { .fd = fileno(screen->keys), .events = POLLIN };

	return poll(&input, 1, timeout_ms) > 0 &&
	       input.revents & (POLLHUP | POLLERR | POLLNVAL);
}

/* ---- the loop ---- */

/* True if there is something to sample at the end of an interval */
static bool worth_sampling(const struct screen *screen)
{
	const struct top_source *source = screen->source;

	/* do not sample the last interval while the picture is paused */
	if (source->ended)
		return !screen->last && !(screen->look->paused && screen->drawn);
	/* a file that does not grow keeps its picture */
	return !source->regular || (source->fresh && !source->more);
}

static int sample(struct screen *screen)
{
	bool paused = screen->look->paused && screen->drawn;
	int result = 0;

	/* an input that ends without another event keeps its picture */
	if (screen->source->fresh || !screen->source->ended || !screen->drawn)
		result = top_sample(&screen->sampler, screen->source,
				    paused ? NULL : &screen->picture);
	screen->source->fresh = false;
	screen->drawn |= screen->sampler.begun && screen->picture.ns;
	screen->last = screen->source->ended;
	if (screen->last)
		set_message(screen, "%s has ended: this is its last interval, q quits",
			    screen->source->called);
	return result;
}

static int watch(struct screen *screen, uint32_t rounds)
{
	uint64_t begun = monotonic_ns(), now, due, until;
	uint32_t shown = 0;
	int result = 0;

	draw(screen);
	while (!result && !screen->quit && !top_stop_signal &&
	       !(screen->source->ended && !screen->source->input) &&
	       !hung_up(screen, screen->source->ended ? LOOK_NS / 1000000 : 0)) {
		due = begun + (uint64_t)(screen->look->interval * 1e9);
		now = monotonic_ns();
		/* an interval that is over lasts until there is something to sample */
		until = due > now && due < now + LOOK_NS ? due : now + LOOK_NS;
		result = top_source_read(screen->source, until);
		if (result < 0)
			break;
		if (handle_keys(screen))
			draw(screen);
		now = monotonic_ns();
		due = begun + (uint64_t)(screen->look->interval * 1e9);
		if ((now < due && !screen->source->ended) || !worth_sampling(screen))
			continue;
		begun = now;
		result = sample(screen);
		draw(screen);
		if (rounds && screen->drawn && (++shown >= rounds || screen->last))
			break;
	}
	return result;
}

/*
 * Keys come from standard input if it is a terminal and not the stream; otherwise from the terminal
 * of standard output, the modes of which curses sets.  If that has no name, try /dev/tty.
 */
static FILE *open_keys(const struct top_source *source)
{
	const char *name = ttyname(STDOUT_FILENO);
	int fd = -1;

	if (!(source->input && !strcmp(source->input, "-")) && isatty(STDIN_FILENO))
		return stdin;
	if (name)
		fd = open(name, O_RDONLY | O_NOCTTY | O_CLOEXEC);
	if (fd < 0)
		fd = open("/dev/tty", O_RDONLY | O_NOCTTY | O_CLOEXEC);
	return fd < 0 ? NULL : fdopen(fd, "r");
}

int top_screen(struct top_source *source, struct top_look *look, uint32_t rounds)
{
	struct screen screen = { .source = source, .look = look, .keys = open_keys(source) };
	const char *type = getenv("TERM");
	SCREEN *terminal;
	int result;

	if (!screen.keys)
		return complain("there is no terminal for keys: use --batch, which needs none");
	result = top_sampler_start(&screen.sampler);
	if (!result)
		result = top_sample(&screen.sampler, source, NULL);
	top_guard_screen(&source->guard, true);
	terminal = result ? NULL : newterm(NULL, stdout, screen.keys);
	if (terminal) {
		cbreak();
		noecho();
		nonl();
		keypad(stdscr, TRUE);
		nodelay(stdscr, TRUE);
		set_escdelay(25);
		curs_set(0);
		result = watch(&screen, rounds);
		endwin();
		delscreen(terminal);
	}
	top_guard_screen(&source->guard, false);
	top_sampler_free(&screen.sampler);
	top_picture_free(&screen.picture);
	if (screen.keys != stdin)
		fclose(screen.keys);
	if (result)
		return complain("%s: %s", source->called, strerror(-result));
	if (!terminal)
		return complain("nothing is known of terminals of type '%s' (TERM): use --batch, which needs no terminal",
				type ? type : "");
	return EXIT_FINE;
}
