/* SPDX-License-Identifier: GPL-2.0-only */
/*
 * Stacks merged into a tree: stacks with the same first frames share the nodes of these.
 */
#ifndef TRACEBUF_FLAME_TREE_H
#define TRACEBUF_FLAME_TREE_H

#include <stdbool.h>
#include <stdint.h>
#include "analysis/map.h"

/* Bytes for the name of a frame; longer names are cut off */
#define FLAME_NAME_MAX 512

enum flame_kind {
	FLAME_ROOT = 0,
	FLAME_TASK,
	FLAME_USER,
	FLAME_KERNEL,
};

/**
 * struct flame_node - a frame, called by its parents in the tree
 * @frame: number of its name
 * @parent, @first, @next: parent, first child, next sibling; 0: none (node 0 is the root)
 * @self: weight of the stacks that end here
 * @total: weight of all stacks through this node
 */
struct flame_node {
	uint32_t frame;
	uint32_t parent, first, next;
	uint64_t self, total;
};

struct flame_frame {
	char *name;
	enum flame_kind kind;
};

/* Initialise with zeros */
struct flame_tree {
	struct flame_node *nodes;
	uint32_t nr_nodes;
	size_t room;
	struct flame_frame *frames;
	uint32_t nr_frames;
	size_t frames_room;
	struct map children;		/* parent and frame: node */
	struct map names;		/* frames by name and kind */
};

/* Make the root; 0, -ENOMEM */
int flame_tree_start(struct flame_tree *tree);
void flame_tree_free(struct flame_tree *tree);

/* Find or add the frame called @name (UTF-8); return its number, or -ENOMEM */
int64_t flame_frame(struct flame_tree *tree, const char *name,
		    enum flame_kind kind);

/* Find or add the child of @parent with this frame; return its node, or -ENOMEM */
int64_t flame_child(struct flame_tree *tree, uint32_t parent, uint32_t frame);

/* Add the weight of a stack that ends at @node; false: the sum would overflow */
bool flame_add(struct flame_tree *tree, uint32_t node, uint64_t weight);

/* Sort children by name, so that picture and text do not depend on the order of events */
void flame_sort(struct flame_tree *tree);

static inline const struct flame_frame *flame_frame_of(const struct flame_tree *tree,
						       uint32_t node)
{
	return &tree->frames[tree->nodes[node].frame];
}

#endif /* TRACEBUF_FLAME_TREE_H */
