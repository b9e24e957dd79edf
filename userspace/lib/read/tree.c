// SPDX-License-Identifier: LGPL-2.1-or-later
/*
 * A map from keys to numbers: a balanced tree.  A hostile file can choose keys that make look-ups
 * in a hash table slow, but not in a tree.
 */
#include <search.h>
#include <stdlib.h>
#include "internal.h"

#ifdef TB_STEPS
uint64_t tb_steps;
#endif

struct node {
	struct tb_key key;		/* first, because tfind() gets a key instead of a node */
	uint32_t number;
};

static int compare(const void *a, const void *b)
{
	const struct tb_key *first = a, *second = b;
	unsigned int i;

	TB_COUNT_STEP();
	for (i = 0; i < 3; i++)
		if (first->part[i] != second->part[i])
			break;
	return (first->part[i] > second->part[i]) - (first->part[i] < second->part[i]);
}

uint32_t *tb_tree_find(const struct tb_tree *tree, struct tb_key key)
{
	struct node **found = tfind(&key, &tree->root, compare);

	return found ? &(*found)->number : NULL;
}

uint32_t *tb_tree_place(struct tb_tree *tree, struct tb_key key, uint32_t number)
{
	uint32_t *known = tb_tree_find(tree, key);
	struct node *node;

	if (known)
		return known;
	node = malloc(sizeof(*node));
	if (!node)
		return NULL;
	node->key = key;
	node->number = number;
	if (tsearch(node, &tree->root, compare))
		return &node->number;
	free(node);
	return NULL;
}

void tb_tree_free(struct tb_tree *tree)
{
	tdestroy(tree->root, free);
	tree->root = NULL;
}
