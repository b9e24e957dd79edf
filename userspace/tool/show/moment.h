/* SPDX-License-Identifier: GPL-2.0-only */
/*
 * The times of --from and --to: parse them, and find their ticks in a recording.
 */
#ifndef TRACEBUF_MOMENT_H
#define TRACEBUF_MOMENT_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>
#include "tracebuf.h"
#include "tool/command/command.h"

enum moment_kind {
	MOMENT_CLOCK,		/* 12.5: on the clock of -T */
	MOMENT_AFTER_FIRST,	/* +200ms: after the recording's first event */
	MOMENT_BEFORE_LAST,	/* -2s: before the recording's last event */
	MOMENT_OF_DAY,		/* 14:03:05, local time */
	MOMENT_OF_DATE,		/* 2026-11-27 14:03:05, local time */
	MOMENT_MARK,		/* mark:TEXT */
};

/**
 * struct moment - a time of the command line
 * @ns: not for MOMENT_MARK; MOMENT_OF_DAY and MOMENT_OF_DATE: since midnight
 * @year, @month, @day: MOMENT_OF_DATE
 * @mark: MOMENT_MARK: its text
 * @text: the value of the option
 */
struct moment {
	bool given;
	enum moment_kind kind;
	uint64_t ns;
	unsigned int year, month, day;
	const char *mark, *text;
};

#define MOMENT_HELP \
	"      --from TIME       only events at TIME or later. TIME is 12.5 (seconds as print\n" \
	"                        shows them); +200ms (after the recording's first event) or\n" \
	"                        -2s (before its last event), in s, ms, us, ns or m (minutes);\n" \
	"                        14:03:05 or '2026-11-27 14:03:05' (local time); mark:TEXT\n" \
	"                        (the first mark of this text)\n" \
	"      --to TIME         only events before TIME; with mark:TEXT and 14:03:05 the\n" \
	"                        first such time after --from\n"

/* Complains, EXIT_FINE or EXIT_USAGE.  @moment may keep @text. */
int moment_parse(const struct command *command, const char *text, struct moment *moment);

/**
 * moment_ticks - find the tick of a moment in the selected recording
 * @base: the clock of MOMENT_CLOCK
 * @after: the least tick of marks and times of day
 * @ticks: out
 * @lack: out: the message to show after -ENODATA, @size bytes
 *
 * Return: 0, -ENOMEM; -ENODATA: the recording does not have that time.
 */
int moment_ticks(const struct moment *moment, struct tb_trace *trace, enum tb_timebase base,
		 uint64_t after, uint64_t *ticks, char *lack, size_t size);

/* Get the ticks of the first and the last event of the selected recording that is no control event.
 * 1: found, 0: it has none, -ENOMEM */
int moment_span(struct tb_trace *trace, uint64_t *first, uint64_t *last);

/* Return the first tick at which clock @base is at or after @ns.  If the clock is set back, later
 * ticks can have earlier times */
uint64_t ticks_at(const struct tb_trace *trace, enum tb_timebase base, uint64_t ns);
/* The same, faster, if clock_rises() */
uint64_t ticks_at_rising(const struct tb_trace *trace, enum tb_timebase base, uint64_t ns);

/* True if clock @base is not set back in the selected recording */
bool clock_rises(const struct tb_trace *trace, enum tb_timebase base);

/* Return a tick not after the last event of the selected recording, and usually near it */
uint64_t ticks_near_end(const struct tb_trace *trace);

#endif /* TRACEBUF_MOMENT_H */
