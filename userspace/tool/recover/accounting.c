// SPDX-License-Identifier: GPL-2.0-only
/*
 * Sort the blocks of an image into recordings, count what is missing, and write a trace.
 *
 * The counts of the trace must add up: for each CPU attempted = in the file + overwritten +
 * dropped.  Blocks in memory lack the number of events missing before them: the kernel fills it in
 * when a reader acquires the block.  But the kernel's state of the ring has the number of events in
 * complete blocks: those that are not found count as overwritten.  Their distribution over several
 * gaps is not known: each gap but the first says 1.  Events that were begun and never committed do
 * not count.  Without the kernel's state of the ring, the counts that the kernel wrote when it
 * stopped have the same number.
 */
#include <errno.h>
#include <stddef.h>
#include <stdlib.h>
#include <string.h>
#include "recover.h"
#include "lib/array.h"
#include "lib/bisect.h"
#include "lib/utf8.h"

#define ELEMENTS(bytes)	(1 + ((bytes) + TB_ELEMENT_SIZE - 1) / TB_ELEMENT_SIZE)
#define TOTALS_LOG2	14

/* ---- reading ---- */

static const struct tb_block *block_read(const struct image *image, const struct recover_block *block,
					 void *buffer)
{
	size_t size = (size_t)1 << block->log2;

	if (image_read(image, block->part, block->at, buffer, size) != size)
		return NULL;
	return block->opening && !recover_make_header(block, buffer) ? NULL : buffer;
}

/* Read the block, and put its valid part into @out; NULL: the image has changed since the scan */
static struct tb_block *block_get(const struct image *image, struct recover_block *found,
				  void *buffer, void *out)
{
	const struct image_part *part = &image->parts[found->part];
	const struct tb_block *block = block_read(image, found, buffer);
	struct recover_block again;

	if (!block || block->magic != TB_BLOCK_MAGIC ||
	    recover_header(block, (size_t)1 << found->log2, part->address + found->at) !=
	    1ll << found->log2 || !recover_check(block, &again) ||
	    again.recording != found->recording || again.kind != found->kind ||
	    again.cpu != found->cpu || again.sequence != found->sequence ||
	    again.state != found->state || again.dropped != found->dropped ||
	    !recover_extract(block, found, out))
		return NULL;
	return out;
}

/* ---- durable blocks ---- */

static int add_totals(struct recover_recording *recording, const struct tb_walk *walk)
{
	struct tb_totals totals = { 0 };

	/* records of older versions are shorter */
	memcpy(&totals, walk->payload, walk->bytes < sizeof(totals) ? walk->bytes : sizeof(totals));
	/* those of a snapshot have flags: the recording went on */
	if (totals.flags || totals.recorded > UINT64_MAX - totals.dropped ||
	    totals.attempted != totals.recorded + totals.dropped)
		return 0;
	if (tb_array_grow(&recording->totals, &recording->room_totals, recording->nr_totals,
			  sizeof(totals)))
		return -ENOMEM;
	recording->totals[recording->nr_totals++] = totals;
	return 0;
}

static int durable_event(struct recover_recording *recording, const struct tb_walk *walk)
{
	const struct tb_clock_sync *sync = walk->payload;

	if (walk->id == TB_EV_INIT && walk->bytes >= sizeof(recording->init)) {
		memcpy(&recording->init, walk->payload, sizeof(recording->init));
		utf8_plain_string(recording->init.provider, sizeof(recording->init.provider));
		utf8_plain_string(recording->init.release, sizeof(recording->init.release));
		utf8_plain_string(recording->init.nodename, sizeof(recording->init.nodename));
		recording->has_init = true;
	} else if (walk->id == TB_EV_CLOCK && walk->bytes >= sizeof(*sync)) {
		recording->realtime = sync->realtime;
	} else if (walk->id == TB_EV_TOTALS && walk->bytes >= offsetof(struct tb_totals, time)) {
		return add_totals(recording, walk);
	}
	return 0;
}

/*
 * Keep the durable blocks from the first state (TB_EV_INIT) on after which no block is missing.  If
 * blocks are missing after all states, keep them from the first state on; without a state, keep
 * all.
 */
static void durable_choose(struct recover_recording *recording)
{
	struct recover_block **list = recording->durable;
	size_t i, first = recording->nr_durable, earliest = 0;

	for (i = recording->nr_durable; i-- > 0; ) {
		if (i + 1 < recording->nr_durable &&
		    list[i + 1]->sequence != list[i]->sequence + 1)
			break;
		if (list[i]->init)
			first = i;
	}
	if (first == recording->nr_durable) {
		while (earliest < recording->nr_durable && !list[earliest]->init)
			earliest++;
		first = earliest < recording->nr_durable ? earliest : 0;
	}
	recording->nr_durable -= first;
	memmove(list, list + first, recording->nr_durable * sizeof(*list));
	for (i = 1; i < recording->nr_durable; i++)
		recording->durable_missing += list[i]->sequence - list[i - 1]->sequence - 1;
	if (recording->nr_durable && !list[0]->init)
		recording->durable_missing += list[0]->sequence ? list[0]->sequence : 1;
}

static int compare_totals(const void *a, const void *b)
{
	uint32_t first = ((const struct tb_totals *)a)->cpu;
	uint32_t second = ((const struct tb_totals *)b)->cpu;

	return first < second ? -1 : first > second;
}

static int durable_read(struct recover_recording *recording, const struct image *image,
			void *buffer, void *out)
{
	const struct tb_block *block;
	struct tb_walk walk;
	int result = 0;
	size_t i;

	durable_choose(recording);
	for (i = 0; i < recording->nr_durable && !result; i++) {
		block = block_get(image, recording->durable[i], buffer, out);
		if (!block)
			return -ESTALE;
		tb_walk_start(&walk, block);
		while (!result && tb_walk_next(&walk) == 1)
			result = durable_event(recording, &walk);
	}
	if (recording->nr_totals)
		qsort(recording->totals, recording->nr_totals, sizeof(*recording->totals),
		      compare_totals);
	return result;
}

/* ---- counts ---- */

static int compare_cpu(const void *key, const void *entry)
{
	uint32_t cpu = *(const uint32_t *)key, other = ((const struct recover_cpu *)entry)->cpu;

	return cpu < other ? -1 : cpu > other;
}

static struct recover_cpu *find_cpu(const struct recover_recording *recording, uint32_t cpu)
{
	return bsearch(&cpu, recording->cpus, recording->nr_cpus, sizeof(*recording->cpus),
		       compare_cpu);
}

uint64_t recover_current(const struct tb_ring_image *ring, uint64_t near)
{
	uint32_t mask = TB_RING_IMAGE_SEQ(~0ull);
	uint32_t ahead = (TB_RING_IMAGE_SEQ(ring->head) - (uint32_t)near) & mask;

	return ahead > mask / 2 ? near + ahead - mask - 1 : near + ahead;
}

static const struct tb_totals *find_totals(const struct recover_recording *recording, uint32_t cpu)
{
	const struct tb_totals key = { .cpu = cpu };

	return recording->nr_totals ? bsearch(&key, recording->totals, recording->nr_totals,
					      sizeof(key), compare_totals) : NULL;
}

static bool contradicts(const struct recover_recording *recording, const struct recover_block *block)
{
	return recording->has_init &&
	       (block->cpu >= recording->init.nr_cpus ||
		1ull << block->log2 != (uint64_t)recording->init.elements * TB_ELEMENT_SIZE);
}

/* Set the limit of each open block, by the ring's head: elements behind it are of an earlier lap */
static void limit_ring(struct recover_block **blocks, size_t count, const struct tb_ring_image *ring)
{
	uint64_t current = recover_current(ring, blocks[count - 1]->sequence);
	uint32_t elements;
	size_t i;

	for (i = 0; i < count; i++) {
		elements = (1u << blocks[i]->log2) / TB_ELEMENT_SIZE;
		if (ring->elements != elements || blocks[i]->sequence > current)
			continue;
		blocks[i]->limit = blocks[i]->sequence < current ? elements :
				   TB_RING_IMAGE_USED(ring->head);
	}
}

static int count_ring(struct recover_cpu *cpu, struct recover_block **blocks, size_t count,
		      const struct image *image, void *buffer, void *out)
{
	uint64_t complete = 0, next = 0, order = 0;
	size_t i;

	if (cpu->ring) {
		cpu->dropped = cpu->ring->dropped;
		cpu->missing = cpu->ring->recorded;
	} else if (cpu->totals) {
		cpu->dropped = cpu->totals->dropped;
		cpu->missing = cpu->totals->recorded;
	}
	if (cpu->ring && count)
		limit_ring(blocks, count, cpu->ring);
	for (i = 0; i < count; i++) {
		if (blocks[i]->state != RECOVER_WHOLE &&
		    !block_get(image, blocks[i], buffer, out))
			return -ESTALE;
		if (blocks[i]->state != RECOVER_OPEN || cpu->totals)
			complete += blocks[i]->events;
		if (blocks[i]->start > order)
			order = blocks[i]->start;
		blocks[i]->order = order;
		if (blocks[i]->sequence != next)
			cpu->gaps++;
		next = blocks[i]->sequence + 1;
		cpu->blocks++;
		cpu->events += blocks[i]->events;
		cpu->unfinished += blocks[i]->unfinished;
		cpu->damaged += blocks[i]->state == RECOVER_DAMAGED;
		cpu->dropped = blocks[i]->dropped > cpu->dropped ? blocks[i]->dropped : cpu->dropped;
		cpu->last = blocks[i]->sequence;
	}
	cpu->missing = cpu->missing > complete ? cpu->missing - complete : 0;
	if (cpu->missing < cpu->gaps)
		cpu->missing = cpu->gaps;
	return 0;
}

/* Index of the first ring of recording @id or a higher one */
static size_t rings_from(const struct recover *recover, uint64_t id)
{
	size_t low = 0;

	BISECT(low, recover->nr_rings, i, recover->rings[i].recording < id);
	return low;
}

static void drop_contradicting(struct recover_recording *recording)
{
	size_t i, kept = 0;

	for (i = 0; i < recording->nr_rolling; i++)
		if (contradicts(recording, recording->rolling[i]))
			recording->contradicting++;
		else
			recording->rolling[kept++] = recording->rolling[i];
	recording->nr_rolling = kept;
}

/* Count each CPU that has blocks or a ring; both lists are sorted by CPU */
static int count_all(struct recover_recording *recording, const struct recover *recover,
		     const struct image *image, void *buffer, void *out)
{
	size_t ring = rings_from(recover, recording->id), end = ring, from = 0, to;
	struct recover_block **rolling = recording->rolling;
	size_t count, kept = 0;
	struct recover_cpu *cpu;
	int result = 0;

	drop_contradicting(recording);
	while (end < recover->nr_rings && recover->rings[end].recording == recording->id &&
	       (!recording->has_init || recover->rings[end].cpu < recording->init.nr_cpus))
		end++;
	recording->cpus = calloc(end - ring + recording->nr_rolling + 1, sizeof(*cpu));
	if (!recording->cpus)
		return -ENOMEM;
	while (!result && (ring < end || from < recording->nr_rolling)) {
		cpu = &recording->cpus[recording->nr_cpus++];
		cpu->cpu = from < recording->nr_rolling ? rolling[from]->cpu : UINT32_MAX;
		if (ring < end && recover->rings[ring].cpu <= cpu->cpu) {
			cpu->cpu = recover->rings[ring].cpu;
			cpu->ring = &recover->rings[ring];
		}
		if (!cpu->ring)
			cpu->totals = find_totals(recording, cpu->cpu);
		for (to = from; to < recording->nr_rolling && rolling[to]->cpu == cpu->cpu; to++)
			;
		count = recover_openings(rolling + from, to - from, cpu->ring);
		memmove(rolling + kept, rolling + from, count * sizeof(*rolling));
		result = count_ring(cpu, rolling + kept, count, image, buffer, out);
		kept += count;
		from = to;
		/* skip copies of the ring's state: the newest comes first */
		while (ring < end && recover->rings[ring].cpu == cpu->cpu)
			ring++;
	}
	recording->nr_rolling = kept;
	return result;
}

/* ---- recordings ---- */

/* The provider that more than half of the blocks have (if there is one) */
static uint16_t majority_provider(const struct recover_block *blocks, size_t count)
{
	uint16_t provider = 0;
	size_t votes = 0, i;

	for (i = 0; i < count; i++) {
		if (!votes)
			provider = blocks[i].provider;
		if (blocks[i].provider == provider)
			votes++;
		else
			votes--;
	}
	return provider;
}

/* Make a recording of blocks @from up to @to; of several with a number, take the first and best */
static int recording_new(struct recover *recover, size_t from, size_t to,
			 struct recover_recording *recording)
{
	uint16_t provider = majority_provider(&recover->blocks[from], to - from);
	struct recover_block *block, *last = NULL;
	size_t i;

	memset(recording, 0, sizeof(*recording));
	recording->id = recover->blocks[from].recording;
	recording->durable = calloc(to - from, sizeof(*recording->durable));
	recording->rolling = calloc(to - from, sizeof(*recording->rolling));
	if (!recording->durable || !recording->rolling)
		return -ENOMEM;
	for (i = from; i < to; i++, last = block) {
		block = &recover->blocks[i];
		/* a recording has one provider */
		if (block->provider != provider) {
			recording->contradicting++;
			block = last;
			continue;
		}
		if (last && last->kind == block->kind && last->cpu == block->cpu &&
		    last->sequence == block->sequence) {
			block = last;
			continue;
		}
		if (block->kind == TB_BLOCK_DURABLE)
			recording->durable[recording->nr_durable++] = block;
		else
			recording->rolling[recording->nr_rolling++] = block;
	}
	return 0;
}

static int compare_recordings(const void *a, const void *b)
{
	const struct recover_recording *first = a, *second = b;

	if (first->has_init != second->has_init)
		return first->has_init ? 1 : -1;
	if (first->realtime != second->realtime)
		return first->realtime < second->realtime ? -1 : 1;
	return first->id < second->id ? -1 : first->id > second->id;
}

int recover_recordings(struct recover *recover, const struct image *image,
		       struct recover_recording **recordings, size_t *count)
{
	void *buffer = aligned_alloc(64, RECOVER_BLOCK_MAX);
	void *out = aligned_alloc(64, RECOVER_BLOCK_MAX);
	struct recover_recording *list = NULL;
	size_t i, from, n = 0, room = 0;
	int result = buffer && out ? 0 : -ENOMEM;

	for (from = i = 0; !result && i < recover->nr_blocks; i++) {
		if (i + 1 < recover->nr_blocks &&
		    recover->blocks[i + 1].recording == recover->blocks[from].recording)
			continue;
		result = tb_array_grow(&list, &room, n, sizeof(*list));
		if (result)
			break;
		result = recording_new(recover, from, i + 1, &list[n++]);
		if (!result)
			result = durable_read(&list[n - 1], image, buffer, out);
		if (!result)
			result = count_all(&list[n - 1], recover, image, buffer, out);
		from = i + 1;
	}
	if (n)
		qsort(list, n, sizeof(*list), compare_recordings);
	free(buffer);
	free(out);
	*recordings = list;
	*count = n;
	return result;
}

void recover_recordings_free(struct recover_recording *recordings, size_t count)
{
	size_t i;

	for (i = 0; i < count; i++) {
		free(recordings[i].durable);
		free(recordings[i].rolling);
		free(recordings[i].totals);
		free(recordings[i].cpus);
	}
	free(recordings);
}

/* ---- writing ---- */

/**
 * struct written - what has been written of a ring
 * @next: sequence number after the last block
 * @overwritten, @dropped: sums of all gap slots
 * @end: end time of the last block
 */
struct written {
	uint64_t next, overwritten, dropped, end;
};

/* Fill in the gap slot of @block: the events missing before it */
static void fill_gap(const struct recover_cpu *cpu, struct written *written, struct tb_block *block)
{
	struct tb_gap *gap = (void *)((struct tb_composite *)(block + 1) + 1);
	uint64_t missing = 0;

	if (block->sequence != written->next)
		missing = written->overwritten ? 1 : cpu->missing - (cpu->gaps - 1);
	gap->overwritten = missing;
	gap->dropped = block->dropped > written->dropped ? block->dropped - written->dropped : 0;
	gap->oversize = 0;
	gap->first = gap->last = 0;
	block->flags &= (uint8_t)~TB_BLOCK_GAP;
	written->overwritten += missing;
	written->dropped += gap->dropped;
	block->overwritten = written->overwritten;
	block->dropped = written->dropped;
	if (gap->overwritten || gap->dropped) {
		block->flags |= TB_BLOCK_GAP;
		gap->first = written->end < block->time_start ? written->end : block->time_start;
		gap->last = block->time_start;
	}
	written->next = block->sequence + 1;
	written->end = block->time_end;
}

static int write_block(const struct tb_block *block, FILE *out)
{
	size_t size = (size_t)1 << block->size_log2;

	return fwrite(block, 1, size, out) == size ? 0 : errno ? -errno : -EIO;
}

static int compare_order(const void *a, const void *b)
{
	const struct recover_block *first = *(struct recover_block *const *)a;
	const struct recover_block *second = *(struct recover_block *const *)b;

	if (first->order != second->order)
		return first->order < second->order ? -1 : 1;
	if (first->cpu != second->cpu)
		return first->cpu < second->cpu ? -1 : 1;
	return first->sequence < second->sequence ? -1 : first->sequence > second->sequence;
}

/* Add a control event */
static void put_event(struct tb_block *block, uint32_t id, const void *payload, uint32_t bytes)
{
	struct tb_composite *event = (struct tb_composite *)((char *)block + block->data);

	event->head = TB_HEAD(TB_STRUCT_COMPOSITE, id, ELEMENTS(bytes), block->sequence);
	event->time = (uint32_t)block->time_start;
	event->length = bytes;
	memcpy(event + 1, payload, bytes);
	block->data += ELEMENTS(bytes) * TB_ELEMENT_SIZE;
	block->events++;
}

/*
 * Write the totals that the kernel would have written at a stop.  Only the kernel knew what rules
 * and the choice of threads had kept out: a record without counts says that this is not known.
 */
static int write_totals(const struct recover_recording *recording, uint64_t time, void *buffer,
			FILE *out)
{
	const struct recover_block *last = recording->durable[recording->nr_durable - 1];
	const uint32_t room = ELEMENTS(sizeof(struct tb_totals)) * TB_ELEMENT_SIZE;
	const struct tb_suppressed unknown = { 0 };
	struct tb_block *block = buffer;
	uint64_t sequence = last->sequence;
	struct tb_totals totals;
	struct recover_cpu *cpu;
	uint64_t oversize;
	int result = 0;
	uint32_t i;

	memset(buffer, 0, 1u << TOTALS_LOG2);
	for (i = 0; i < recording->nr_cpus && !result; i++) {
		cpu = &recording->cpus[i];
		if (!cpu->ring && !cpu->totals)
			continue;
		oversize = cpu->ring ? cpu->ring->oversize : cpu->totals->oversize;
		if (!block->events || block->data + room > 1u << TOTALS_LOG2) {
			if (block->events)
				result = write_block(block, out);
			memset(buffer, 0, 1u << TOTALS_LOG2);
			*block = (struct tb_block) {
				.magic = TB_BLOCK_MAGIC, .version = TB_BLOCK_VERSION,
				.kind = TB_BLOCK_DURABLE, .size_log2 = TOTALS_LOG2,
				.flags = TB_BLOCK_COMPLETE, .provider = last->provider,
				.sequence = ++sequence, .time_start = time, .time_end = time,
				.data = sizeof(*block), .overwritten = recording->id,
			};
			if (sequence == last->sequence + 1)
				put_event(block, TB_EV_SUPPRESSED, &unknown, sizeof(unknown));
		}
		totals = (struct tb_totals) {
			.cpu = cpu->cpu,
			.recorded = cpu->events + cpu->missing,
			.attempted = cpu->events + cpu->missing + cpu->dropped,
			.overwritten = cpu->missing,
			.dropped = cpu->dropped,
			.oversize = oversize < cpu->dropped ? oversize : cpu->dropped,
			.time = time,
			.blocks = !cpu->ring ? cpu->totals->blocks :
				  cpu->blocks || cpu->ring->recorded ?
				  recover_current(cpu->ring, cpu->last) + 1 : 0,
		};
		put_event(block, TB_EV_TOTALS, &totals, sizeof(totals));
	}
	return !result && block->events ? write_block(block, out) : result;
}

int recover_write(const struct recover_recording *recording, const struct image *image, FILE *out)
{
	size_t size = recording->nr_rolling * sizeof(*recording->rolling), i;
	struct recover_block **order = malloc(size + 1);
	void *buffer = aligned_alloc(64, RECOVER_BLOCK_MAX);
	void *whole = aligned_alloc(64, RECOVER_BLOCK_MAX);
	struct written *written = calloc(recording->nr_cpus + 1, sizeof(*written));
	int result = order && buffer && whole && written ? 0 : -ENOMEM;
	struct recover_block found;
	struct recover_cpu *cpu;
	struct tb_block *block;
	uint64_t time = 0;

	for (i = 0; i < recording->nr_durable && !result; i++) {
		found = *recording->durable[i];
		block = block_get(image, &found, buffer, whole);
		result = block ? write_block(block, out) : -ESTALE;
		if (found.end > time)
			time = found.end;
	}
	if (!result && size) {
		memcpy(order, recording->rolling, size);
		qsort(order, recording->nr_rolling, sizeof(*order), compare_order);
	}
	for (i = 0; i < recording->nr_cpus && !result; i++)
		written[i].end = recording->cpus[i].ring ? recording->cpus[i].ring->start : 0;
	for (i = 0; i < recording->nr_rolling && !result; i++) {
		found = *order[i];
		block = block_get(image, &found, buffer, whole);
		if (!block || found.events != order[i]->events) {
			result = -ESTALE;
			break;
		}
		cpu = find_cpu(recording, found.cpu);
		fill_gap(cpu, &written[cpu - recording->cpus], block);
		result = write_block(block, out);
		if (found.end > time)
			time = found.end;
	}
	if (!result && recording->has_init)
		result = write_totals(recording, time, buffer, out);
	free(written);
	free(order);
	free(buffer);
	free(whole);
	return result;
}
