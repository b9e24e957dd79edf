// SPDX-License-Identifier: LGPL-2.1-or-later
/*
 * Holes that get their values after their chunk was completed.
 *
 * A thread that ends a slice queues a patch; a thread that commits applies it.  It fills in the
 * hole while the chunk is not answered.  A kernel that ignores tb_chunk.hole may have read the hole
 * before, so it gets the patch, too.  If the chunk is answered only the kernel gets the patch.
 */
#include "arbiter.h"

void tb_patches_make(struct tb_arbiter *arbiter)
{
	uint32_t i;

	for (i = 0; i < PATCHES; i++)
		arbiter->patches[i].next = i + 2 <= PATCHES ? i + 2 : 0;
	arbiter->patch_free = 1;
}

static struct patch *patch_new(struct tb_arbiter *arbiter)
{
	/* pairs with the release of the thread that freed it */
	uint64_t top = shared_get_acquire(&arbiter->patch_free);
	uint32_t next;

	do {
		if (!(uint32_t)top)
			return NULL;
		next = shared_get(&arbiter->patches[(uint32_t)top - 1].next);
	} while (!shared_cas(&arbiter->patch_free, &top, ((top >> 32) + 1) << 32 | next));
	return &arbiter->patches[(uint32_t)top - 1];
}

static void patch_free(struct tb_arbiter *arbiter, uint32_t index)
{
	uint64_t top = shared_get(&arbiter->patch_free);

	do {
		shared_set(&arbiter->patches[index].next, (uint32_t)top);
		/* release: the patch, to the thread that allocates it */
	} while (!shared_cas(&arbiter->patch_free, &top, ((top >> 32) + 1) << 32 | (index + 1)));
}

void tb_patch_add(struct tb_arbiter *arbiter, const struct patch *patch)
{
	struct patch *queued = patch_new(arbiter);
	uint32_t head;

	if (!queued && tb_commit_try(arbiter))
		queued = patch_new(arbiter);
	if (!queued) {
		shared_add(&arbiter->stats.patches_lost, 1);
		return;
	}
	queued->handle = patch->handle;
	queued->owner = patch->owner;
	queued->value = patch->value;
	queued->offset = patch->offset;
	queued->listed = 0;
	head = shared_get(&arbiter->patch_queue);
	do {
		shared_set(&queued->next, head);
		/* release: the patch, to the thread that takes the queue */
	} while (!shared_cas(&arbiter->patch_queue, &head,
			     (uint32_t)(queued - arbiter->patches) + 1));
}

/* Add queued patches to the pending ones, and fill in the holes of chunks that are not answered */
void tb_patches_apply(struct tb_arbiter *arbiter)
{
	/* pairs with the release of the threads that queued them; never more than PATCHES */
	uint32_t next = shared_swap(&arbiter->patch_queue, 0), i, left = 0;

	for (; next; next = shared_get(&arbiter->patches[next - 1].next))
		arbiter->pending[arbiter->nr_pending++] = next - 1;
	for (i = 0; i < arbiter->nr_pending; i++) {
		struct patch *patch = &arbiter->patches[arbiter->pending[i]];
		struct tb_chunk *chunk = chunk_of(arbiter, patch->handle);
		bool direct = arbiter->direct_patch || HANDLE_POOL(patch->handle) == POOL_OWN;

		if (shared_get(&note_of(arbiter, patch->handle)->owner) == patch->owner &&
		    TB_CHUNK_STATE(shared_get_acquire(&chunk->state)) == TB_CHUNK_COMPLETE) {
			uint32_t at = patch->offset - note_of(arbiter, patch->handle)->shift;

			shared_set((uint64_t *)((unsigned char *)(chunk + 1) + at), patch->value);
			if (direct) {
				uint32_t first = shared_get(&chunk->hole);

				if (first)
					tb_chunk_rehole(chunk, first - 1);
				patch_free(arbiter, arbiter->pending[i]);
				continue;
			}
		}
		arbiter->pending[left++] = arbiter->pending[i];
	}
	arbiter->nr_pending = left;
}

/*
 * List the pending patches of answered chunks, with the numbers that the kernel knows.
 */
uint32_t tb_patches_list(struct tb_arbiter *arbiter, struct tb_patch *list)
{
	uint32_t i, count = 0, left = 0;

	for (i = 0; i < arbiter->nr_pending; i++) {
		struct patch *patch = &arbiter->patches[arbiter->pending[i]];
		struct writer *w = arbiter->writers[OWNER_WRITER(patch->owner)];
		uint32_t serial = OWNER_SERIAL(patch->owner), id = serial, shift = 0;
		bool known = w && w->kernel_knows;

		arbiter->pending[left++] = arbiter->pending[i];
		if (shared_get(&note_of(arbiter, patch->handle)->owner) == patch->owner)
			continue;
		if (known && HANDLE_POOL(patch->handle) == POOL_OWN) {
			const struct sent_note *sent = &w->sent[serial % SENT_NOTES];

			known = sent->serial == serial;
			id = sent->id;
			shift = sent->shift;
		}
		if (!known || patch->offset < shift) {
			shared_add(&arbiter->stats.patches_lost, 1);
			patch_free(arbiter, arbiter->pending[--left]);
			continue;
		}
		patch->listed = 1;
		list[count++] = (struct tb_patch) {
			.writer = (uint16_t)w->id,
			.offset = (uint16_t)(patch->offset - shift),
			.chunk = id,
			.value = patch->value,
		};
	}
	arbiter->nr_pending = left;
	return count;
}

/* The kernel has received the listed patches: free them */
void tb_patches_sent(struct tb_arbiter *arbiter)
{
	uint32_t i, left = 0;

	for (i = 0; i < arbiter->nr_pending; i++) {
		if (arbiter->patches[arbiter->pending[i]].listed) {
			patch_free(arbiter, arbiter->pending[i]);
			shared_add(&arbiter->stats.patches, 1);
		} else {
			arbiter->pending[left++] = arbiter->pending[i];
		}
	}
	arbiter->nr_pending = left;
}
