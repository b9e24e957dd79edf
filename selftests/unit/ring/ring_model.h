/* SPDX-License-Identifier: GPL-2.0-only */
/*
 * A ring under test and a model of it: events that contain their own check, a reader that checks
 * each block, and counts of the model for comparison with the ring's.
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

/* An attempted event; its number is its index */
struct model_event {
	u64 seq;		/* the block that it is in */
	u64 before, after;	/* the clock around the attempt */
	u64 stamp;		/* the last reading of the clock while reserving */
	u32 index;		/* element it starts at */
	u32 buffer;
	u32 length;
	bool simple;		/* by tb_ring_simple(), else composite */
	bool lost_told;		/* overwritten, and a later block has reported it */
	enum model_fate fate;
};

/* The contents of a gap slot */
struct model_gap {
	u64 overwritten, dropped, oversize, first, last;
};

struct model_held {
	u32 index;		/* buffer */
	u32 events;
	u64 seq;
	u64 last_before;	/* model.last_time when the reader acquired it */
	struct model_gap gap;
	void *copy;		/* of the block, to find writes to it */
};

struct model {
	struct tb_cpu_ring r;
	void *memory;
	u64 clock;		/* next reading */
	u64 step;		/* from one reading to the next */
	bool wakes;		/* the clock is halted in tb_ring_simple(), and runs afterwards */

	struct model_event *events;
	u32 nr_events, max_events;
	u32 *drops;		/* numbers of dropped events, in the order of their counts */
	u32 nr_drops;
	u64 committed;			/* events */
	int current;		/* event being recorded, innermost; -1: none */

	/* the reader's side */
	struct model_held held[MODEL_HELD];
	int nr_held;
	u64 drops_told;		/* how many of @drops the delivered blocks have reported */
	u64 next_seq;		/* the lowest block that may still come */
	u64 last_time;		/* of the last delivered event */
	u64 overwritten_told;	/* by delivered blocks */
	u32 unsettled;		/* tb_rd.unsettled after the last of them */
	u64 blocks;		/* delivered and released */
	u64 delivered;
	struct model_gap reported;	/* sums over the released blocks */
	struct model_gap last_gap;
	u64 gap_blocks;		/* released blocks with TB_BLOCK_GAP */
	u32 last_events;	/* events of the block acquired last */
	u32 last_data;
	u8 last_flags;

	u64 notified;		/* calls of tb_ring_notify() */
	u64 damaged;		/* calls of tb_ring_damaged() */
	u32 unacquired;		/* blocks put back: from then on newer blocks may go first */
	const char *error;	/* the first error */
	char error_text[256];
};

/* the ring uses the clock, tid and notifications of this model */
extern struct model *model;

/* the clock of new models: the processor's counter (the fast path), or the kernel's clock */
extern bool model_raw_clock;

/* how often each rare path of the ring was taken */
extern unsigned long model_paths[TB_PATHS];

struct model *model_new(u32 nr, u32 capacity, bool overwrite);
void model_reset(struct model *m);
void model_free(struct model *m);
void model_fail(struct model *m, const char *fmt, ...) __attribute__((format(printf, 2, 3)));

/*
 * Record the next event with @n elements as probe.h does, a simple one if @n is 1; true: there was
 * room.
 */
bool model_write(struct model *m, u32 n);
bool model_simple(struct model *m);
bool model_composite(struct model *m, u32 n);
bool model_flush(struct model *m);

/* for tb_changed_hook */
void model_changed(const volatile void *p, u64 old, u64 new);

/* a composite event in two steps; @s is for model_commit() */
int model_reserve(struct model *m, u32 n, struct tb_slot *s);
void model_commit(struct model *m, int event, struct tb_slot *s);

/* An error in event @id, which must be at @e in block @seq; NULL: none. */
const char *model_wrong(struct model *m, u32 id, const struct tb_element *e, u64 seq);

bool model_acquire(struct model *m);		/* false: there is no block */
void model_release(struct model *m, int which);	/* @which: of the held blocks, 0 the oldest */
void model_unacquire(struct model *m);		/* puts the latest back */
void model_check_held(struct model *m);
/* whatever looks valid in memory must be whole: a crash may come at any moment */
void model_check_memory(struct model *m);

/* Release, flush and read everything, with one more event that makes the last losses known */
void model_drain(struct model *m);
void model_check_accounting(struct model *m, bool drained);

#endif /* RING_MODEL_H */
