// SPDX-License-Identifier: LGPL-2.1-or-later
/*
 * The places of a trace's blocks, found from their headers alone.
 *
 * A header has the length of its block, so from any block the next one is found without reading the
 * contents.  The index keeps the places of some blocks ("marks") of the file, of each recording and
 * of each ring.  When the marks are full it drops every second one.  Readers step from header to
 * header between two marks.  So the index does not grow with the trace.
 *
 * The index lists all durable blocks and notes, which are few, and all blocks of rings that the
 * file does not have in order: those of recordings whose pieces were concatenated in another order.
 */
#include <errno.h>
#include <stdlib.h>
#include "internal.h"
#include "lib/utf8.h"

#define FILE_MARKS	4096
#define RING_MARKS	1024

/* ---- recordings ---- */

static struct tb_recording *recording_new(struct tb_trace *trace,
					  uint16_t provider)
{
	struct tb_recording *recording;

	if (tb_array_grow(&trace->recordings, &trace->room_recordings, trace->nr_recordings,
			  sizeof(*recording)))
		return NULL;
	recording = &trace->recordings[trace->nr_recordings++];
	memset(recording, 0, sizeof(*recording));
	recording->provider = provider;
	recording->durable.listed = recording->notes.listed = true;
	return recording;
}

/* Return the TB_EV_INIT at the start of a durable block; NULL: the block has none */
static const struct tb_init *block_init(const struct tb_trace *trace,
					const struct tb_block *block, size_t *size)
{
	struct tb_walk walk;

	if (block->kind != TB_BLOCK_DURABLE)
		return NULL;
	tb_walk_trace(&walk, trace, block);
	if (tb_walk_next(&walk) != 1 || walk.id != TB_EV_INIT ||
	    walk.structure != TB_STRUCT_COMPOSITE ||
	    walk.bytes < offsetof(struct tb_init, provider))
		return NULL;
	*size = walk.bytes;
	return walk.payload;
}

static void recording_set_init(struct tb_recording *recording,
			       const struct tb_init *init, size_t size)
{
	struct tb_init *own = &recording->init;

	memset(own, 0, sizeof(*own));
	memcpy(own, init, size < sizeof(*own) ? size : sizeof(*own));
	/* programs that do not know the file show these texts as they are */
	utf8_plain_string(own->provider, sizeof(own->provider));
	utf8_plain_string(own->release, sizeof(own->release));
	utf8_plain_string(own->version, sizeof(own->version));
	utf8_plain_string(own->machine, sizeof(own->machine));
	utf8_plain_string(own->nodename, sizeof(own->nodename));
	recording->has_init = true;
}

static bool same_recording(const struct tb_recording *recording,
			   const struct tb_block *block,
			   const struct tb_init *init)
{
	return recording->has_init && recording->provider == block->provider &&
	       recording->init.generation == init->generation &&
	       !memcmp(recording->init.load_id, init->load_id,
		       sizeof(init->load_id));
}

bool tb_index_belongs(const struct tb_trace *trace, struct tb_recording *recording,
		      const struct tb_block *block, bool first)
{
	const struct tb_init *init;
	size_t size;

	init = block_init(trace, block, &size);
	if (!init || same_recording(recording, block, init))
		return true;
	if (first)
		recording_set_init(recording, init, size);
	return first;
}

static int compare_turns(const void *a, const void *b)
{
	const struct tb_turn *first = a, *second = b;

	if (first->provider != second->provider)
		return first->provider < second->provider ? -1 : 1;
	return first->offset < second->offset ? -1 : first->offset > second->offset;
}

uint32_t tb_index_recording(const struct tb_trace *trace,
			    const struct tb_block *block, uint64_t offset)
{
	const struct tb_turn turn = { .offset = offset, .provider = block->provider };
	size_t low = 0;

	if (trace->nr_recordings == 1)
		return 0;
	/* count turns of lower providers, and of this one up to the block */
	BISECT(low, trace->nr_turns, i,
	       (TB_COUNT_STEP(), compare_turns(&trace->turns[i], &turn)) <= 0);
	/* none before it: the file has changed since the index was built */
	return low ? trace->turns[low - 1].recording : 0;
}

static struct tb_key provider_key(const struct tb_block *block)
{
	return (struct tb_key){ { block->provider } };
}

static struct tb_key init_key(const struct tb_block *block, const struct tb_init *init)
{
	struct tb_key key = { { block->provider, init->generation } };

	memcpy(&key.part[2], init->load_id, sizeof(init->load_id));
	return key;
}

/* From this block on, blocks of its provider belong to recording @number */
static int turn_to(struct tb_trace *trace, const struct tb_block *block, uint64_t offset,
		   uint32_t number)
{
	uint32_t *current = tb_tree_place(&trace->by_provider, provider_key(block), number);

	if (!current || tb_array_grow(&trace->turns, &trace->room_turns, trace->nr_turns,
				      sizeof(*trace->turns)))
		return -ENOMEM;
	*current = number;
	trace->turns[trace->nr_turns++] = (struct tb_turn){ offset, number, block->provider };
	return (int)number;
}

/* Return the number of the recording that the block belongs to, a new one if need be; -ENOMEM */
static int find_turn(struct tb_trace *trace, const struct tb_block *block, uint64_t offset)
{
	const uint32_t *current = tb_tree_find(&trace->by_provider, provider_key(block));
	uint32_t number = (uint32_t)trace->nr_recordings, *known;
	struct tb_recording *recording;
	const struct tb_init *init;
	size_t size;

	init = block_init(trace, block, &size);
	if (!init && current)
		return (int)*current;
	if (init) {
		known = tb_tree_place(&trace->by_init, init_key(block, init), number);
		if (!known)
			return -ENOMEM;
		if (current && *current == *known)
			return (int)*known;
		if (*known != number)
			return turn_to(trace, block, offset, *known);
	}
	recording = recording_new(trace, block->provider);
	if (!recording)
		return -ENOMEM;
	if (init)
		recording_set_init(recording, init, size);
	return turn_to(trace, block, offset, number);
}

/* ---- marks ---- */

/* Block number @number is at @offset: keep a mark if its number is a multiple of 1 << skip */
static int mark(struct tb_marks *marks, size_t most, uint64_t number,
		uint64_t offset, uint64_t key)
{
	size_t i;

	if (number & ((1ull << marks->skip) - 1))
		return 0;
	if (marks->count == most) {
		for (i = 0; i < most / 2; i++)
			marks->at[i] = marks->at[2 * i];
		marks->count = most / 2;
		marks->skip++;
		if (number & ((1ull << marks->skip) - 1))
			return 0;
	}
	if (tb_array_grow(&marks->at, &marks->room, marks->count,
			  sizeof(*marks->at)))
		return -ENOMEM;
	marks->at[marks->count].offset = offset;
	marks->at[marks->count++].key = key;
	return 0;
}

/* ---- rings ---- */

/* Index at which the ring of @cpu is, or belongs, in the recording */
static size_t ring_place(const struct tb_recording *recording, uint32_t cpu)
{
	size_t low = 0;

	BISECT(low, recording->nr_rings, i, recording->rings[i].cpu < cpu);
	return low;
}

struct tb_ring_index *tb_index_cpu(const struct tb_recording *recording, uint32_t cpu)
{
	size_t at = ring_place(recording, cpu);

	return at < recording->nr_rings && recording->rings[at].cpu == cpu ?
	       &recording->rings[at] : NULL;
}

struct tb_ring_index *tb_index_ring(const struct tb_recording *recording,
				    const struct tb_block *block)
{
	if (block->kind == TB_BLOCK_DURABLE)
		return (struct tb_ring_index *)&recording->durable;
	if (block->kind == TB_BLOCK_NOTE)
		return (struct tb_ring_index *)&recording->notes;
	return tb_index_cpu(recording, block->cpu);
}

static struct tb_ring_index *ring_new(struct tb_recording *recording,
				      uint32_t cpu)
{
	size_t at = ring_place(recording, cpu);
	struct tb_ring_index *rings;

	rings = realloc(recording->rings,
			(recording->nr_rings + 1) * sizeof(*rings));
	if (!rings)
		return NULL;
	recording->rings = rings;
	memmove(rings + at + 1, rings + at,
		(recording->nr_rings - at) * sizeof(*rings));
	recording->nr_rings++;
	memset(rings + at, 0, sizeof(*rings));
	rings[at].cpu = cpu;
	return &rings[at];
}

static int ring_list(struct tb_ring_index *ring, uint64_t offset)
{
	if (tb_array_grow(&ring->all, &ring->room_all, ring->nr_all,
			  sizeof(*ring->all)))
		return -ENOMEM;
	ring->all[ring->nr_all++] = offset;
	return 0;
}

static int add_block(struct tb_trace *trace, const struct tb_block *block,
		     uint64_t offset)
{
	struct tb_recording *recording;
	struct tb_ring_index *ring;
	int number = find_turn(trace, block, offset);

	if (number < 0)
		return number;
	recording = &trace->recordings[number];
	ring = tb_index_ring(recording, block);
	if (!ring)
		ring = ring_new(recording, block->cpu);
	if (!ring || mark(&trace->marks, FILE_MARKS, trace->nr_blocks, offset, 0) ||
	    mark(&recording->marks, RING_MARKS, recording->nr_blocks, offset, trace->nr_blocks))
		return -ENOMEM;
	if (!recording->nr_blocks)
		recording->first_block = trace->nr_blocks;
	trace->nr_blocks++;
	recording->nr_blocks++;
	recording->end_block = trace->nr_blocks;
	if (ring->count && block->sequence <= ring->sequence)
		ring->disordered = true;
	ring->sequence = block->sequence;
	if (!ring->count)
		ring->first = offset;
	if (ring->listed ? ring_list(ring, offset) :
	    mark(&ring->marks, RING_MARKS, ring->count, offset,
		 block->time_start))
		return -ENOMEM;
	ring->count++;
	if (block->kind == TB_BLOCK_ROLLING) {
		recording->overwrote |= block->overwritten != 0;
		if (block->flags & TB_BLOCK_COMPLETE &&
		    block->time_end > recording->end)
			recording->end = block->time_end;
	}
	return 0;
}

/* ---- rings out of order ---- */

/* Sort key of a block; a copy, because the file may change while blocks are sorted */
struct place {
	uint64_t sequence, time, offset;
};

static int compare_places(const void *a, const void *b)
{
	const struct place *x = a, *y = b;

	if (x->sequence != y->sequence)
		return x->sequence < y->sequence ? -1 : 1;
	return x->offset < y->offset ? -1 : x->offset > y->offset;
}

/* Sort the list, and drop blocks that the file has twice (files may be concatenated); -ENOMEM */
static int ring_sort(struct tb_trace *trace, struct tb_ring_index *ring)
{
	struct place *places;
	size_t i, kept = 0;

	ring->count = 0;
	if (!ring->nr_all)
		return 0;
	places = malloc(ring->nr_all * sizeof(*places));
	if (!places)
		return -ENOMEM;
	for (i = 0; i < ring->nr_all; i++) {
		const struct tb_block *block = tb_header_at(trace, ring->all[i]);

		places[i] = (struct place){ block->sequence, block->time_start, ring->all[i] };
	}
	qsort(places, ring->nr_all, sizeof(*places), compare_places);
	for (i = 0; i < ring->nr_all; i++) {
		if (kept && places[kept - 1].sequence == places[i].sequence &&
		    places[kept - 1].time == places[i].time)
			continue;
		ring->all[kept] = places[i].offset;
		places[kept++] = places[i];
	}
	ring->nr_all = kept;
	ring->count = kept;
	free(places);
	return 0;
}

/* List the blocks of all rings that are out of order, in one pass over the headers; -ENOMEM */
static int list_disordered(struct tb_trace *trace)
{
	struct tb_recording *recording;
	const struct tb_block *block;
	struct tb_ring_index *ring;
	uint64_t offset = 0, at;
	bool some = false;
	size_t i, j;

	for (i = 0; i < trace->nr_recordings; i++)
		for (j = 0; j < trace->recordings[i].nr_rings; j++)
			some |= trace->recordings[i].rings[j].disordered;
	while (some && (at = offset, block = tb_index_hop(trace, &offset))) {
		if (block->kind != TB_BLOCK_ROLLING)
			continue;
		recording = &trace->recordings[tb_index_recording(trace, block, at)];
		ring = tb_index_cpu(recording, block->cpu);
		if (ring && ring->disordered && ring_list(ring, at))
			return -ENOMEM;
	}
	for (i = 0; i < trace->nr_recordings; i++) {
		recording = &trace->recordings[i];
		if (recording->durable.disordered && ring_sort(trace, &recording->durable))
			return -ENOMEM;
		for (j = 0; j < recording->nr_rings; j++) {
			ring = &recording->rings[j];
			if (!ring->disordered)
				continue;
			ring->listed = true;
			free(ring->marks.at);
			memset(&ring->marks, 0, sizeof(ring->marks));
			if (ring_sort(trace, ring))
				return -ENOMEM;
		}
	}
	return 0;
}

/* ---- building the index ---- */

/* tb_block_check() for the block at @offset */
static int64_t check_at(const struct tb_trace *trace, uint64_t offset, struct tb_error *error)
{
	uint64_t room = trace->frames ? tb_frames_room(trace->frames, offset) : trace->size - offset;

	return tb_block_check(tb_header_at(trace, offset), room, error);
}

int tb_index_build(struct tb_trace *trace, struct tb_error *error)
{
	uint64_t offset = 0, forgotten = 0;
	const struct tb_block *block;
	struct tb_error fault;
	int64_t size;
	int result;

	if (!trace->size)
		return tb_error_set(error, -ENODATA, 0, "empty");
	while (offset < trace->size) {
		size = check_at(trace, offset, &fault);
		if (size < 0 && !offset) {
			if (size == -EINVAL && fault.offset == 0)
				return tb_error_set(error, -EINVAL, 0,
					"not a tracebuf trace: no block at its start");
			if (error)
				*error = fault;
			return (int)size;
		}
		if (size < 0) {
			fault.offset += offset;
			tb_trace_set_fault(trace, &fault);
			break;
		}
		block = tb_header_at(trace, offset);
		if (block->kind != TB_BLOCK_ROLLING)
			block = tb_block_at(trace, offset);
		result = add_block(trace, block, offset);
		if (result < 0)
			return tb_error_set(error, result, offset,
					    "out of memory");
		offset += (uint64_t)size;
		trace->end = offset;
		if (offset - forgotten >= TB_RESIDENT) {
			tb_trace_forget(trace, forgotten, offset);
			forgotten = offset;
		}
	}
	tb_tree_free(&trace->by_init);
	tb_tree_free(&trace->by_provider);
	if (trace->nr_turns)
		qsort(trace->turns, trace->nr_turns, sizeof(*trace->turns), compare_turns);
	if (list_disordered(trace))
		return tb_error_set(error, -ENOMEM, TB_OFFSET_NONE,
				    "out of memory");
	return 0;
}

static void ring_free(struct tb_ring_index *ring)
{
	free(ring->marks.at);
	free(ring->all);
}

void tb_index_free(struct tb_recording *recording)
{
	size_t i;

	for (i = 0; i < recording->nr_rings; i++)
		ring_free(&recording->rings[i]);
	free(recording->rings);
	ring_free(&recording->durable);
	ring_free(&recording->notes);
	free(recording->marks.at);
}

/* ---- from block to block ---- */

const struct tb_block *tb_index_hop(const struct tb_trace *trace,
				    uint64_t *offset)
{
	const struct tb_block *block;
	uint8_t size_log2;
	uint64_t size;

	TB_COUNT_STEP();
	if (trace->end - *offset < sizeof(*block))
		return NULL;
	block = tb_header_at(trace, *offset);
	if (!block)
		return NULL;
	/* the file may have been written to since this was checked */
	size_log2 = tb_once8(&block->size_log2);
	if (size_log2 < TB_BLOCK_LOG2_MIN || size_log2 > TB_BLOCK_LOG2_MAX)
		return NULL;
	size = 1ull << size_log2;
	if (size > trace->end - *offset)
		return NULL;
	*offset += size;
	return block;
}

bool tb_index_known(const struct tb_ring_index *ring, uint64_t number, uint64_t *offset)
{
	if (ring->listed ? number >= ring->nr_all :
	    ring->marks.skip || number >= ring->marks.count)
		return false;
	*offset = ring->listed ? ring->all[number] : ring->marks.at[number].offset;
	return true;
}

const struct tb_block *tb_index_next(const struct tb_trace *trace,
				     const struct tb_recording *recording, uint64_t number,
				     uint64_t *offset, uint64_t *at)
{
	const struct tb_marks *marks = &recording->marks;
	uint32_t own = (uint32_t)(recording - trace->recordings);
	const struct tb_block *block;

	if (number >= recording->nr_blocks)
		return NULL;
	/* skip blocks of other recordings */
	if (!(number & ((1ull << marks->skip) - 1)))
		*offset = marks->at[number >> marks->skip].offset;
	do {
		*at = *offset;
		block = tb_index_hop(trace, offset);
	} while (block && tb_index_recording(trace, block, *at) != own);
	return block;
}

uint64_t tb_index_seek(const struct tb_trace *trace,
		       const struct tb_ring_index *ring, uint64_t ticks,
		       uint64_t *number)
{
	size_t low = 0;

	/* count blocks that begin before @ticks; the last of them is the result */
	BISECT(low, ring->listed ? ring->nr_all : ring->marks.count, i,
	       (ring->listed ? tb_header_at(trace, ring->all[i])->time_start :
		ring->marks.at[i].key) < ticks);
	low -= low != 0;
	*number = ring->listed ? low : (uint64_t)low << ring->marks.skip;
	if (ring->listed)
		return ring->nr_all ? ring->all[low] : 0;
	return ring->marks.count ? ring->marks.at[low].offset : 0;
}

size_t tb_trace_blocks(const struct tb_trace *trace)
{
	return trace->nr_blocks;
}

/*
 * Number and place of the last block asked for, in one word, so that a caller that asks for one
 * block after another gets each at once.  Places are multiples of the smallest block size.
 */
#define HINT(index, offset) ((uint64_t)(index) << 32 | (offset) >> TB_BLOCK_LOG2_MIN)

/*
 * Step from block @number at @next to block @index.  Return its header, and in @place its place;
 * NULL: there is no such block.
 */
static const struct tb_block *step_to(const struct tb_trace *trace, size_t index, uint64_t number,
				      uint64_t next, uint64_t *place)
{
	const struct tb_block *block;
	uint64_t at, hint, before;

	hint = atomic_load_explicit(&trace->hint, memory_order_relaxed);
	if (hint >> 32 <= index && hint >> 32 > number) {
		number = hint >> 32;
		next = (hint & UINT32_MAX) << TB_BLOCK_LOG2_MIN;
	}
	do {
		at = next;
		block = tb_index_hop(trace, &next);
	} while (block && number++ < index);
	if (!block)
		return NULL;
	/* a caller that goes through all headers leaves pages behind */
	before = (hint & UINT32_MAX) << TB_BLOCK_LOG2_MIN;
	if (before / TB_RESIDENT != at / TB_RESIDENT)
		tb_trace_forget(trace, before - before % TB_RESIDENT,
				before - before % TB_RESIDENT + TB_RESIDENT);
	if (index <= UINT32_MAX && at >> TB_BLOCK_LOG2_MIN <= UINT32_MAX)
		atomic_store_explicit(&((struct tb_trace *)trace)->hint,
				      HINT(index, at), memory_order_relaxed);
	*place = at;
	return block;
}

const struct tb_block *tb_trace_header(const struct tb_trace *trace, size_t index,
				       uint64_t *offset, unsigned int *recording)
{
	const struct tb_marks *marks = &trace->marks;
	const struct tb_block *block;
	uint64_t at;

	if (index >= trace->nr_blocks)
		return NULL;
	block = step_to(trace, index, index >> marks->skip << marks->skip,
			marks->at[index >> marks->skip].offset, &at);
	if (!block)
		return NULL;
	if (offset)
		*offset = at;
	if (recording)
		*recording = tb_index_recording(trace, block, at);
	return block;
}

size_t tb_trace_range(const struct tb_trace *trace, unsigned int recording, size_t from,
		      size_t *end)
{
	const struct tb_recording *own = &trace->recordings[recording];
	const struct tb_marks *marks = &own->marks;
	unsigned int of;
	size_t low = 0;
	uint64_t at;

	*end = (size_t)own->end_block;
	BISECT(low, marks->count, i, (TB_COUNT_STEP(), marks->at[i].key) < from);
	/* go to the next mark at once if the recording has no blocks between @from and it */
	if (low < marks->count && (!marks->skip || !low)) {
		from = (size_t)marks->at[low].key;
		step_to(trace, from, from, marks->at[low].offset, &at);
	}
	while (from < *end && tb_trace_header(trace, from, NULL, &of) && of != recording)
		from++;
	return from < *end ? from : *end;
}

const struct tb_block *tb_trace_block(const struct tb_trace *trace, size_t index,
				      uint64_t *offset, unsigned int *recording)
{
	uint64_t at;

	if (!tb_trace_header(trace, index, &at, recording))
		return NULL;
	if (offset)
		*offset = at;
	/* if the frame cannot be unpacked the caller gets the header, and zeros */
	if (trace->frames)
		tb_frames_show(trace->frames, at);
	return tb_block_at(trace, at);
}
