// SPDX-License-Identifier: LGPL-2.1-or-later
/*
 * Categories and names.
 *
 * The number of a name is valid in the whole process, for ever.  It belongs to the place in the
 * program where the name is, or to its text (tb_intern()).  A child process continues the numbers;
 * its writers are new, so they record all names again.
 *
 * The switch of a category is a word of the page that the kernel writes; until the library has
 * asked the kernel which word, it is one that is always on.  Startup writers want all categories:
 * while an arbiter has some, its categories have open gates, and tb_category_wanted() decides.
 *
 * The table of texts uses open addressing without deletion.  Entries are published by compare-and-
 * exchange and never change, so the table needs no lock, and signal handlers may use it.
 */
#include <errno.h>
#include "arbiter.h"

const uint32_t tb_category_unknown = ~0u;

/* gate of categories used while there was neither a module nor an arbiter */
static uint32_t no_arbiter;

static const uint32_t everything = ~0u;
static const uint32_t nothing;

/* each use of a text that is not interned takes a number */
#define LAST_ID_MAX	0xf0000000u

static uint32_t last_id;

static uint32_t give_id(uint32_t *id)
{
	uint32_t none = 0, was = shared_get(id);

	if (was)
		return was;
	/* if another thread is faster, this number is not used */
	was = shared_add(&last_id, 1);
	return shared_cas(id, &none, was) ? was : none;
}

uint32_t tb_name_id(struct tb_name *name)
{
	return give_id(&name->id);
}

struct tb_name *tb_name_of(struct tb_name *place, struct tb_category *category)
{
	struct tb_category *none = NULL;

	if (shared_cas(&place->category, &none, category) || none == category)
		return place;
	return tb_intern(place->text, category, place->kind);
}

/* ---- categories ---- */

bool tb_category_is_unknown(const struct tb_category *category)
{
	const uint32_t *gate = shared_get(&category->gate);

	return gate == &tb_category_unknown || gate == &no_arbiter;
}

/* Close the gate, unless there is or was an arbiter */
void tb_category_close(struct tb_category *category)
{
	const uint32_t *gate = &tb_category_unknown;

	if (!shared_get(&no_arbiter))
		shared_cas(&category->gate, &gate, &no_arbiter);
}

void tb_categories_open(void)
{
	shared_set(&no_arbiter, ~0u);
}

static void link_category(struct tb_arbiter *arbiter, struct tb_category *category,
			  const uint32_t *wanted)
{
	const uint32_t *gate = wanted;
	size_t i;

	for (i = 0; i < TB_TARGETS_MAX; i++)
		if (arbiter->reservations[i].state == RESERVATION_OPEN ||
		    arbiter->reservations[i].state == RESERVATION_NAMED)
			gate = &everything;
	shared_set(&category->wanted, wanted);
	shared_set(&category->gate, gate);
}

/* Ask the kernel, and link the category with its answer; @control is held */
static int ask_kernel(struct tb_arbiter *arbiter, struct tb_category *category)
{
	struct tb_category_req request = { .index = 0 };
	int result = -EINVAL;

	if (!arbiter->bound) {
		link_category(arbiter, category, &everything);
		return 0;
	}
	if (strlen(category->name) < sizeof(request.name)) {
		strcpy(request.name, category->name);
		result = arbiter->endpoint->ops->category(arbiter->endpoint, &request);
	}
	if (result >= 0 && request.index >= TB_CATEGORIES_MAX)
		result = -EPROTO;
	link_category(arbiter, category,
		      result < 0 ? &nothing : &arbiter->page->categories[request.index]);
	return result < 0 ? result : 0;
}

int tb_category_attach(struct tb_arbiter *arbiter, struct tb_category *category)
{
	int result = 0;

	if (!tb_futex_lock_acquire(&arbiter->control))
		return -EDEADLK;
	if (!category->arbiter) {
		give_id(&category->id);
		category->arbiter = arbiter;
		category->next = arbiter->categories;
		arbiter->categories = category;
		result = ask_kernel(arbiter, category);
	}
	tb_futex_lock_release(&arbiter->control);
	return result;
}

int tb_arbiter_category(struct tb_arbiter *arbiter, struct tb_category *category)
{
	return tb_category_attach(arbiter, category);
}

void tb_categories_link(struct tb_arbiter *arbiter)
{
	struct tb_category *category;

	for (category = arbiter->categories; category; category = category->next)
		ask_kernel(arbiter, category);
}

void tb_categories_drop(struct tb_arbiter *arbiter)
{
	struct tb_category *category;

	while ((category = arbiter->categories)) {
		arbiter->categories = category->next;
		category->next = NULL;
		category->arbiter = NULL;
		shared_set(&category->wanted, &tb_category_unknown);
		shared_set(&category->gate, &tb_category_unknown);
	}
}

/* ---- texts ---- */

struct entry {
	struct tb_name name;
	struct tb_category category;	/* used in categories[] */
	char text[];
};

#define CATEGORY_SLOTS	1024
#define ARENA_BYTES	(64u << 10)

/* powers of two; at most half of the slots are used */
static struct entry *names[2 * TB_INTERN_MAX];
static struct entry *categories[CATEGORY_SLOTS];
static uint32_t nr_names, nr_categories;

/* Memory of entries: taken from one piece until that is full */
struct arena {
	uint32_t used;
	unsigned char room[] __attribute__((aligned(16)));
};

static struct arena *arena;

static struct entry *entry_new(const char *text, size_t length)
{
	size_t bytes = (sizeof(struct entry) + length + 1 + 15) & ~(size_t)15;
	/* pairs with the release of the thread that created it */
	struct arena *now = shared_get_acquire(&arena), *next;
	struct entry *entry;
	uint32_t at;

	for (;;) {
		at = now ? shared_add(&now->used, (uint32_t)bytes) : ARENA_BYTES;
		if (now && at <= ARENA_BYTES - sizeof(*now))
			break;
		next = tb_map(ARENA_BYTES);
		if (!next)
			return NULL;
		/* the rest of the old one stays unused; the slower thread uses the faster one's */
		if (shared_cas(&arena, &now, next))
			now = next;
		else
			tb_unmap(next, ARENA_BYTES);
	}
	entry = (struct entry *)(now->room + at - bytes);
	memcpy(entry->text, text, length);
	entry->text[length] = 0;
	return entry;
}

static uint32_t hash_of(const char *text, size_t length, uint32_t seed)
{
	uint32_t hash = 2166136261u ^ seed;	/* FNV-1a */

	while (length--)
		hash = (hash ^ (unsigned char)*text++) * 16777619u;
	return hash;
}

/* The entry; or NULL, with *@slot where it belongs, or NULL there if the table is full */
static struct entry *find_entry(struct entry **table, uint32_t slots, uint32_t hash,
				const char *text, size_t length, uint32_t kind,
				struct tb_category *category, struct entry ***slot)
{
	uint32_t i;

	for (i = 0; i < slots; i++) {
		/* pairs with the release of the thread that published it */
		struct entry *entry = shared_get_acquire(&table[(hash + i) % slots]);

		*slot = &table[(hash + i) % slots];
		if (!entry)
			return NULL;
		if (entry->name.kind == kind && entry->name.category == category &&
		    !strncmp(entry->text, text, length) && !entry->text[length])
			return entry;
	}
	*slot = NULL;
	return NULL;
}

/* @most: limit of *@count */
static struct entry *intern_entry(struct entry **table, uint32_t slots, uint32_t *count,
				  uint32_t most, const char *text, uint32_t kind,
				  struct tb_category *category)
{
	size_t length = strnlen(text, 255);
	uint32_t hash = hash_of(text, length, kind);
	struct entry *entry, *mine = NULL, *none;
	struct entry **slot;

	for (;;) {
		entry = find_entry(table, slots, hash, text, length, kind, category, &slot);
		if (entry || !slot)
			return entry;
		if (!mine) {
			if (shared_add(count, 1) > most) {
				__atomic_fetch_sub(count, 1, __ATOMIC_RELAXED);
				return NULL;
			}
			mine = entry_new(text, length);
			if (!mine)
				return NULL;
			mine->name = (struct tb_name){ mine->text, category, 0, kind };
			mine->category =
				(struct tb_category)TB_CATEGORY_INIT(mine->text);
		}
		none = NULL;
		/* release: the entry's contents.  Another thread may publish this text first */
		if (shared_cas(slot, &none, mine))
			return mine;
	}
}

static struct tb_name others = TB_NAME_INIT("(too many names)", NULL);

struct tb_name *tb_intern(const char *text, struct tb_category *category,
			  enum tb_name_kind kind)
{
	struct entry *entry = intern_entry(names, 2 * TB_INTERN_MAX, &nr_names, TB_INTERN_MAX,
					   text, kind, category);

	return entry ? &entry->name : &others;
}

struct tb_name *tb_text_name(const char *text, enum tb_name_kind kind,
			     struct tb_category *category, struct tb_name *own)
{
	uint32_t most = kind == TB_NAME_TEXT ? TB_INTERN_MAX / 2 : TB_INTERN_MAX;
	struct entry *entry = intern_entry(names, 2 * TB_INTERN_MAX, &nr_names, most, text, kind,
					   category);

	if (entry)
		return &entry->name;
	/* numbers must never be given twice */
	if (shared_get(&last_id) >= LAST_ID_MAX)
		return &others;
	*own = (struct tb_name){ text, category, 0, kind };
	return own;
}

/* NULL: no category, so always record; also if there are too many */
struct tb_category *tb_category_intern(const char *text)
{
	struct entry *entry;

	if (!text || !*text)
		return NULL;
	entry = intern_entry(categories, CATEGORY_SLOTS, &nr_categories, TB_CATEGORIES_MAX, text,
			     TB_NAME_CATEGORY, NULL);
	return entry ? &entry->category : NULL;
}
