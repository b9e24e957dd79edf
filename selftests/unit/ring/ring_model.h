/* SPDX-License-Identifier: GPL-2.0-only */
/*
 * A ring under test and what must be true of it: events with contents that
 * check themselves, a reader that verifies every block it takes, and the counts
 * kept by counting, to be compared with those of the ring.
 */
#ifndef RING_MODEL_H
#define RING_MODEL_H

#include "../../../module/ring/hooks.h"

#define MODEL_HELD	64	/* blocks the reader may have at once */
#define MODEL_PROVIDER	3
#define MODEL_CPU	5
#define MODEL_TID	77

enum model_fate {
	FATE_OPEN,		/* being recorded */
	FATE_RECORDED,		/* its commit was called */
	FATE_DROPPED,
	FATE_DELIVERED,
};

/* one attempted event; its number is its index */
struct model_event {
	u64 seq;		/* block it was put in */
	u64 before, after;	/* the clock around the attempt */
	u64 stamp;		/* its last reading while reserving */
	u32 index;		/* element it starts at */
	u32 buffer;
	u32 length;
	bool simple;		/* by tb_ring_simple(), else composite */
	bool lost_told;		/* overwritten, and a block after it told */
	enum model_fate fate;
};

/* what a gap slot said */
struct model_gap {
	u64 overwritten, dropped, oversize, first, last;
};

struct model_held {
	u32 index;		/* buffer */
	u32 events;
	u64 seq;
	u64 last_before;	/* model.last_time when it was acquired */
	struct model_gap gap;
	void *copy;		/* of the block, to see that nobody writes to it */
};

struct model {
	struct tb_cpu_ring r;
	void *memory;
	u64 clock;		/* next reading */
	u64 step;		/* from one reading to the next */
	bool wakes;		/* tb_ring_simple() finds it halted, tb_ring_simple_slow() going */

	struct model_event *events;
	u32 nr_events, max_events;
	u32 *drops;		/* the dropped ones in the order in which they were counted */
	u32 nr_drops;
	u64 committed;			/* events */
	int current;		/* event being recorded, innermost; -1: none */

	/* the reader's side */
	struct model_held held[MODEL_HELD];
	int nr_held;
	u64 drops_told;		/* of @drops, by the blocks handed over */
	u64 next_seq;		/* nothing below it may be handed over */
	u64 last_time;		/* of the last event handed over */
	u64 overwritten_told;	/* by the blocks handed over */
	u32 unsettled;		/* tb_rd.unsettled after the last of them */
	u64 blocks;		/* handed over and released */
	u64 delivered;
	struct model_gap told;	/* sums over the released blocks */
	struct model_gap last_gap;
	u64 gap_blocks;		/* released blocks with TB_BLOCK_GAP */
	u32 last_events;	/* events of the block acquired last */
	u32 last_data;
	u8 last_flags;

	u64 notified;		/* calls of tb_ring_notify() */
	u64 damaged;		/* calls of tb_ring_damaged() */
	u32 unacquired;		/* blocks put back: order of overwriting is no longer that of age */
	const char *error;	/* the first thing that was wrong */
	char error_text[256];
};

/* the model that clock, tid and notifications belong to */
extern struct model *model;

/* what a new model's ring reads: the processor's counter, the fast way, or the kernel's clock */
extern bool model_raw_clock;

/* how often the ring's rare paths were taken */
extern unsigned long model_paths[TB_PATHS];

struct model *model_new(u32 nr, u32 capacity, bool overwrite);
void model_reset(struct model *m);
void model_free(struct model *m);
void model_fail(struct model *m, const char *fmt, ...) __attribute__((format(printf, 2, 3)));

/*
 * Records the next event with @n elements, a simple one if that is one, as probe.h does; true
 * if there was room.
 */
bool model_write(struct model *m, u32 n);
bool model_simple(struct model *m);
bool model_composite(struct model *m, u32 n);
bool model_flush(struct model *m);

/* what tb_changed_hook is to call */
void model_changed(const volatile void *p, u64 old, u64 new);

/* a composite event in two steps; @s for model_commit() */
int model_reserve(struct model *m, u32 n, struct tb_slot *s);
void model_commit(struct model *m, int event, struct tb_slot *s);

/* What is wrong with event @id, which is to be at @e in block @seq?  NULL: nothing. */
const char *model_wrong(struct model *m, u32 id, const struct tb_element *e, u64 seq);

bool model_acquire(struct model *m);		/* false if there was nothing */
void model_release(struct model *m, int which);	/* @which: of the held, 0 the oldest */
void model_unacquire(struct model *m);		/* the latest */
void model_check_held(struct model *m);
/* what whoever looks at the memory alone would take for valid must be whole */
void model_check_memory(struct model *m);

/* releases, flushes and reads everything, with one event to make the last losses known */
void model_drain(struct model *m);
void model_check_accounting(struct model *m, bool drained);

#endif /* RING_MODEL_H */
