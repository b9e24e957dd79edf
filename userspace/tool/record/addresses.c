// SPDX-License-Identifier: GPL-2.0-only
/*
 * Names for the addresses in a trace; see addresses.h.
 *
 * A hash table has the addresses in stacks, and the addresses of code in the fields of events, such
 * as the function of a timer and the call site of an allocation.  At the end of a file with kernel
 * addresses the recorder reads /proc/kallsyms, and writes the functions that contain an address into
 * notes.
 */
#include <errno.h>
#include <stdbool.h>
#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include "addresses.h"
#include "lib/array.h"
#include "lib/function_field.h"
#include "lib/hash.h"
#include "mappings.h"
#include "notes.h"
#include "lib/bisect.h"
#include "tool/command/command.h"
#include "tracebuf.h"

#ifndef KALLSYMS
#define KALLSYMS "/proc/kallsyms"	/* another one in tests */
#endif

#define FUNCTION_MAX (4u << 20)		/* longer: the end of the function is not known */
#define CODE_MAX     (1u << 18)		/* addresses in events that get names: 4 MiB at most */
/* Addresses of programs, which can invent any: 64 MiB */
#ifndef USER_MAX
#define USER_MAX     (1u << 22)
#endif

struct set {
	uint64_t *slots;		/* open addressing; 0: free */
	size_t   nr_slots, used;
	struct tb_secret secret;
};

/* @code: how many of @kernel come from fields of events */
struct addresses {
	struct set kernel, user;
	size_t code;
	uint16_t provider;
};

/* Fields of an event with addresses of code that get names; more have none */
#define FIELDS_MAX 4

/*
 * For each event number: 1 + the offsets of its addresses of code, up to the first 0.
 * Descriptions in durable blocks fill this table.  It is atomic and common to all threads, because
 * the descriptions may be read by another thread than the events.
 */
static uint16_t function_fields[1 << 16][FIELDS_MAX];
static bool some_functions;		/* the table has an event */

/* ---- events with addresses of code ---- */

static void learn_function_fields(const struct tb_walk *walk)
{
	const struct tb_event_desc *desc = walk->payload;
	const struct tb_field *field;
	uint32_t i, found = 0;
	const char *strings;
	uint16_t *offsets;

	if (walk->bytes < sizeof(*desc) ||
	    walk->bytes - sizeof(*desc) < desc->nr_fields * sizeof(*field) + desc->strings ||
	    !desc->strings || desc->print >= desc->strings)
		return;
	field = (const struct tb_field *)(desc + 1);
	strings = (const char *)(field + desc->nr_fields);
	if (strings[desc->strings - 1])
		return;
	offsets = function_fields[desc->id];
	for (i = 0; i < desc->nr_fields && found < FIELDS_MAX; i++, field++)
		if (field->size == sizeof(uint64_t) && !field->count &&
		    !(field->flags & TB_FIELD_BITS) && field->name < desc->strings &&
		    field->offset < UINT16_MAX &&
		    is_function_field(strings + desc->print, strings + field->name))
			__atomic_store_n(&offsets[found++], (uint16_t)(field->offset + 1),
					 __ATOMIC_RELAXED);
	if (found)
		__atomic_store_n(&some_functions, true, __ATOMIC_RELAXED);
	if (found < FIELDS_MAX)
		__atomic_store_n(&offsets[found], 0, __ATOMIC_RELAXED);
}

/* Store the addresses of the kernel's code in the event to @to; return their number */
static unsigned int functions_in(const struct tb_walk *walk, uint64_t to[FIELDS_MAX])
{
	const uint16_t *offsets = function_fields[walk->id];
	unsigned int i, count = 0;
	uint32_t at;

	for (i = 0; i < FIELDS_MAX; i++) {
		at = __atomic_load_n(&offsets[i], __ATOMIC_RELAXED);
		if (!at)
			break;
		if (walk->bytes < at - 1 + sizeof(to[0]))
			continue;
		memcpy(&to[count], (const char *)walk->payload + at - 1, sizeof(to[0]));
		/* a page fault has addresses of a program: as many as it has pages */
		count += to[count] >> 63;
	}
	return count;
}

/* ---- collecting ---- */

static bool insert(struct set *set, uint64_t address)
{
	size_t slot = tb_hash_slot(&set->secret, address, set->nr_slots);

	while (set->slots[slot] && set->slots[slot] != address)
		slot = (slot + 1) & (set->nr_slots - 1);
	if (set->slots[slot])
		return false;
	set->slots[slot] = address;
	return true;
}

static bool grow(struct set *set)
{
	struct set larger = {
		.nr_slots = set->nr_slots ? set->nr_slots * 2 : 1024,
		.used = set->used, .secret = tb_secret(),
	};
	size_t i;

	larger.slots = calloc(larger.nr_slots, sizeof(*larger.slots));
	if (!larger.slots)
		return false;
	for (i = 0; i < set->nr_slots; i++)
		if (set->slots[i])
			insert(&larger, set->slots[i]);
	free(set->slots);
	*set = larger;
	return true;
}

static bool add(struct set *set, uint64_t address)
{
	if (set->used * 2 >= set->nr_slots && !grow(set))
		return false;
	if (address)
		set->used += insert(set, address);
	return true;
}

static void collect(struct addresses *addresses, const struct tb_walk *walk)
{
	const struct tb_stack *stack = walk->payload;
	struct set *set;
	uint32_t i;

	if (walk->bytes < sizeof(*stack) ||
	    stack->count > (walk->bytes - sizeof(*stack)) / sizeof(stack->ip[0]) ||
	    (stack->kind != TB_STACK_KERNEL && stack->kind != TB_STACK_USER))
		return;
	set = stack->kind == TB_STACK_USER ? &addresses->user : &addresses->kernel;
	for (i = 0; i < stack->count; i++)
		if ((set == &addresses->user && set->used >= USER_MAX) ||
		    !add(set, stack->ip[i]))
			return;
}

void addresses_block(struct addresses **addresses, const struct tb_block *block, bool stacks)
{
	bool durable = block->kind == TB_BLOCK_DURABLE, stack;
	uint64_t functions[FIELDS_MAX];
	unsigned int count, i;
	size_t used;
	struct tb_walk walk;
	int step;

	if (block->kind != TB_BLOCK_ROLLING && !durable)
		return;
	if (!durable && !stacks && !__atomic_load_n(&some_functions, __ATOMIC_RELAXED))
		return;
	tb_walk_start(&walk, block);
	while ((step = tb_walk_next(&walk)) == 1 || step == -EAGAIN) {
		if (step != 1 || walk.structure != TB_STRUCT_COMPOSITE)
			continue;
		if (durable) {
			if (walk.id == TB_EV_EVENT)
				learn_function_fields(&walk);
			continue;
		}
		stack = walk.id == TB_EV_STACK;
		count = stack ? 0 : functions_in(&walk, functions);
		if (!stack && !count)
			continue;
		if (!*addresses)
			*addresses = calloc(1, sizeof(**addresses));
		if (!*addresses)
			return;
		(*addresses)->provider = block->provider;
		if (stack)
			collect(*addresses, &walk);
		/* make_notes() subtracts 1, for return addresses; print shows these as they are */
		for (i = 0; i < count && (*addresses)->code < CODE_MAX; i++) {
			used = (*addresses)->kernel.used;
			add(&(*addresses)->kernel, functions[i] + 1);
			(*addresses)->code += (*addresses)->kernel.used - used;
		}
	}
}

void addresses_free(struct addresses *addresses)
{
	if (!addresses)
		return;
	free(addresses->kernel.slots);
	free(addresses->user.slots);
	free(addresses);
}

/* ---- the kernel's functions ---- */

struct function {
	uint64_t start;
	const char *name;	/* "schedule" or "tb_open\t[tracebuf]"; ends at a newline */
};

struct functions {
	char   *text;
	struct function *list;
	size_t  count, room;
};

static void functions_free(struct functions *functions)
{
	free(functions->text);
	free(functions->list);
}

static int read_text(const char *path, char **text)
{
	size_t room = 1 << 20, used = 0, got;
	FILE *file = fopen(path, "re");
	char *grown;

	if (!file)
		return -errno;
	for (*text = NULL; ; room *= 2) {
		grown = realloc(*text, room);
		if (!grown)
			break;
		*text = grown;
		got = fread(*text + used, 1, room - 1 - used, file);
		used += got;
		(*text)[used] = 0;
		if (used < room - 1)
			break;
	}
	fclose(file);
	return grown ? 0 : -ENOMEM;
}

static int compare(const void *a, const void *b)
{
	const struct function *first = a, *second = b;

	if (first->start != second->start)
		return first->start < second->start ? -1 : 1;
	/* of several names of an address take the first in the file */
	return first->name < second->name ? -1 : first->name > second->name;
}

/* "ffffffff81000000 T name" and for modules "\t[module]" */
static int functions_read(struct functions *functions)
{
	uint64_t start;
	char *line, *next, *end;
	int result;

	memset(functions, 0, sizeof(*functions));
	result = read_text(KALLSYMS, &functions->text);
	for (line = functions->text; !result && line && *line; line = next) {
		next = line + strcspn(line, "\n");
		next += *next == '\n';
		start = strtoull(line, &end, 16);
		/* the kernel shows address 0 to users who may not see addresses */
		if (!start || end[0] != ' ' || !end[1] ||
		    !strchr("tTwW", end[1]) || end[2] != ' ')
			continue;
		if (tb_array_grow(&functions->list, &functions->room, functions->count,
				  sizeof(*functions->list)))
			return -ENOMEM;
		functions->list[functions->count].start = start;
		functions->list[functions->count++].name = end + 3;
	}
	if (result)
		return result;
	if (!functions->count)
		return -ENODATA;
	qsort(functions->list, functions->count, sizeof(*functions->list),
	      compare);
	return 0;
}

/* Find the function that contains @address; @end: out: its end.  NULL: none */
static const struct function *function_at(const struct functions *functions,
					  uint64_t address, uint64_t *end)
{
	size_t low = 0, next;

	BISECT(low, functions->count, i, functions->list[i].start <= address);
	if (!low)
		return NULL;
	next = low--;
	*end = next < functions->count ? functions->list[next].start :
	       functions->list[low].start + 4096;
	while (low && functions->list[low - 1].start == functions->list[low].start)
		low--;
	return *end - functions->list[low].start > FUNCTION_MAX ||
	       address >= *end ? NULL : &functions->list[low];
}

/* ---- notes ---- */

/* "name [module]" */
static size_t put_name(char *to, const char *from, size_t size)
{
	size_t length = strcspn(from, "\n"), i;

	if (length > size)
		length = size;
	for (i = 0; i < length; i++)
		to[i] = from[i] == '\t' ? ' ' : from[i];
	return length;
}

static int add_symbol(struct notes *notes, const struct function *function,
		      uint64_t end)
{
	struct {
		struct tb_symbol symbol;
		char name[512];
	} said = {
		.symbol = {
			.start = function->start,
			.size = end - function->start,
		},
	};
	size_t length = put_name(said.name, function->name, sizeof(said.name));

	return notes_add(notes, TB_EV_SYMBOL, &said, sizeof(said.symbol) + length);
}

static int compare_addresses(const void *a, const void *b)
{
	uint64_t first = *(const uint64_t *)a, second = *(const uint64_t *)b;

	return first < second ? -1 : first > second;
}

static int make_notes(const struct functions *functions,
		      const uint64_t *addresses, size_t count,
		      struct notes *notes)
{
	const struct function *function, *before = NULL;
	uint64_t end;
	size_t i;
	int result;

	for (i = 0; i < count; i++) {
		/* a return address is behind the call: look up the byte before */
		function = function_at(functions, addresses[i] - 1, &end);
		if (!function || function == before)
			continue;
		before = function;
		result = add_symbol(notes, function, end);
		if (result)
			return result;
	}
	return 0;
}

/* A sorted array, which the caller frees; NULL: no memory */
static uint64_t *sort_set(const struct set *set)
{
	uint64_t *list = malloc((set->used + 1) * sizeof(*list));
	size_t i, count = 0;

	if (!list)
		return NULL;
	for (i = 0; i < set->nr_slots; i++)
		if (set->slots[i])
			list[count++] = set->slots[i];
	qsort(list, count, sizeof(*list), compare_addresses);
	return list;
}

bool addresses_user(const struct addresses *addresses)
{
	return addresses && addresses->user.used;
}

static int end_notes(struct notes *notes, int result, void **data, size_t *bytes)
{
	*data = NULL;
	*bytes = 0;
	if (result) {
		free(notes->data);
		return result;
	}
	*data = notes->data;
	*bytes = notes_bytes(notes);
	return 0;
}

int addresses_notes(const struct addresses *addresses, uint64_t first, void **data,
		    size_t *bytes)
{
	struct notes notes = { .first = first, .provider = addresses->provider };
	uint64_t *list = sort_set(&addresses->kernel);
	struct functions functions = { 0 };
	int result = list ? 0 : -ENOMEM;

	if (!result && addresses->kernel.used)
		result = functions_read(&functions);
	if (!result)
		result = make_notes(&functions, list, addresses->kernel.used, &notes);
	functions_free(&functions);
	free(list);
	return end_notes(&notes, result, data, bytes);
}

int addresses_mappings(const struct addresses *addresses, struct mappings *mappings,
		       uint64_t first, void **data, size_t *bytes)
{
	struct notes notes = { .first = first, .provider = addresses->provider };
	uint64_t *list = sort_set(&addresses->user);
	int result;

	if (addresses->user.used >= USER_MAX)
		note("the stacks of programs have more than %u addresses: later ones may have no names",
		     USER_MAX);
	result = list ? mappings_notes(mappings, list, addresses->user.used, &notes) : -ENOMEM;

	free(list);
	return end_notes(&notes, result, data, bytes);
}
