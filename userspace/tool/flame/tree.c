// SPDX-License-Identifier: GPL-2.0-only
/*
 * Stacks merged into a tree.  Nodes and names are in growing arrays; maps find a node by parent and
 * frame, and a frame by name.
 */
#include <errno.h>
#include <stdlib.h>
#include <string.h>
#include "tree.h"
#include "lib/array.h"

#define COUNT_MAX (UINT32_MAX / 2)	/* of nodes, and of names */

static int64_t add_node(struct flame_tree *tree, uint32_t parent, uint32_t frame)
{
	if (tree->nr_nodes == COUNT_MAX ||
	    tb_array_grow(&tree->nodes, &tree->room, tree->nr_nodes, sizeof(*tree->nodes)))
		return -ENOMEM;
	tree->nodes[tree->nr_nodes] = (struct flame_node){
		.frame = frame,
		.parent = parent,
	};
	return tree->nr_nodes++;
}

int flame_tree_start(struct flame_tree *tree)
{
	int64_t frame = flame_frame(tree, "all", FLAME_ROOT);

	if (frame < 0)
		return (int)frame;
	return add_node(tree, 0, (uint32_t)frame) < 0 ? -ENOMEM : 0;
}

void flame_tree_free(struct flame_tree *tree)
{
	uint32_t i;

	for (i = 0; i < tree->nr_frames; i++)
		free(tree->frames[i].name);
	free(tree->frames);
	free(tree->nodes);
	map_free(&tree->children, NULL);
	map_free(&tree->names, NULL);
	memset(tree, 0, sizeof(*tree));
}

/* ---- names ---- */

static int64_t add_frame(struct flame_tree *tree, const char *name,
			 enum flame_kind kind)
{
	char *copy;

	if (tree->nr_frames == COUNT_MAX ||
	    tb_array_grow(&tree->frames, &tree->frames_room, tree->nr_frames,
			  sizeof(*tree->frames)))
		return -ENOMEM;
	copy = strdup(name);
	if (!copy)
		return -ENOMEM;
	tree->frames[tree->nr_frames].name = copy;
	tree->frames[tree->nr_frames].kind = kind;
	return tree->nr_frames++;
}

int64_t flame_frame(struct flame_tree *tree, const char *name,
		    enum flame_kind kind)
{
	uint64_t key = map_key(&tree->names, name, strlen(name)) + kind;
	const struct flame_frame *frame;
	int64_t number;
	void **slot;

	/* names with the same key take the next free keys */
	while ((slot = map_at(&tree->names, key)) && *slot) {
		frame = &tree->frames[(uintptr_t)*slot - 1];
		if (frame->kind == kind && !strcmp(frame->name, name))
			return (int64_t)(uintptr_t)*slot - 1;
		key++;
	}
	if (!slot)
		return -ENOMEM;
	number = add_frame(tree, name, kind);
	if (number >= 0)
		*slot = (void *)(uintptr_t)(number + 1);
	return number;
}

/* ---- nodes ---- */

int64_t flame_child(struct flame_tree *tree, uint32_t parent, uint32_t frame)
{
	void **slot = map_at(&tree->children, (uint64_t)parent << 32 | frame);
	int64_t node;

	if (!slot)
		return -ENOMEM;
	/* the root (0) is no child, so 0 means that there is none yet */
	if (*slot)
		return (int64_t)(uintptr_t)*slot;
	node = add_node(tree, parent, frame);
	if (node < 0)
		return node;
	*slot = (void *)(uintptr_t)node;
	tree->nodes[node].next = tree->nodes[parent].first;
	tree->nodes[parent].first = (uint32_t)node;
	return node;
}

bool flame_add(struct flame_tree *tree, uint32_t node, uint64_t weight)
{
	/* the root has the largest total */
	if (weight > UINT64_MAX - tree->nodes[0].total)
		return false;
	tree->nodes[node].self += weight;
	for (; node; node = tree->nodes[node].parent)
		tree->nodes[node].total += weight;
	tree->nodes[0].total += weight;
	return true;
}

/* ---- order ---- */

static int before(const struct flame_tree *tree, uint32_t a, uint32_t b)
{
	const struct flame_frame *x = flame_frame_of(tree, a);
	const struct flame_frame *y = flame_frame_of(tree, b);
	int order = strcmp(x->name, y->name);

	return order ? order < 0 : x->kind < y->kind;
}

static uint32_t merge(struct flame_tree *tree, uint32_t a, uint32_t b)
{
	uint32_t first = 0, *at = &first;

	while (a && b) {
		uint32_t *from = before(tree, b, a) ? &b : &a;

		*at = *from;
		at = &tree->nodes[*from].next;
		*from = *at;
	}
	*at = a ? a : b;
	return first;
}

/* Merge sort of a list of siblings: @waiting has sorted lists of 1, 2, 4 ... nodes */
static uint32_t sort_list(struct flame_tree *tree, uint32_t list)
{
	uint32_t waiting[32] = { 0 }, node;
	unsigned int i;

	while (list) {
		node = list;
		list = tree->nodes[node].next;
		tree->nodes[node].next = 0;
		for (i = 0; waiting[i]; i++) {
			node = merge(tree, waiting[i], node);
			waiting[i] = 0;
		}
		waiting[i] = node;
	}
	for (i = 0, node = 0; i < 32; i++)
		node = merge(tree, waiting[i], node);
	return node;
}

void flame_sort(struct flame_tree *tree)
{
	uint32_t i;

	for (i = 0; i < tree->nr_nodes; i++)
		tree->nodes[i].first = sort_list(tree, tree->nodes[i].first);
}
