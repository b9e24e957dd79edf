/* SPDX-License-Identifier: GPL-2.0-only */
/*
 * Stacks merged into a tree: what begins alike is the same node up to there.
 */
#ifndef TRACEBUF_FLAME_TREE_H
#define TRACEBUF_FLAME_TREE_H

#include <stdbool.h>
#include <stdint.h>
#include "analysis/map.h"

/* Room for a frame's name; longer ones are cut off */
#define FLAME_NAME_MAX 512

enum flame_kind {
	FLAME_ROOT = 0,
	FLAME_TASK,
	FLAME_USER,
	FLAME_KERNEL,
};

/**
 * struct flame_node - a frame, called by the frames above it in the tree
 * @frame: number of its name
 * @parent, @first, @next: nodes; 0: none (node 0 is the root)
 * @self: weight of the stacks that end here
 * @total: of all that come by
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

/* All zero: empty */
struct flame_tree {
	struct flame_node *nodes;
	uint32_t nr_nodes, room;
	struct flame_frame *frames;
	uint32_t nr_frames, frames_room;
	struct map children;		/* parent and frame: node */
	struct map names;		/* hash of name and kind: frame */
};

/* Make the root; 0, -ENOMEM */
int flame_tree_start(struct flame_tree *tree);
void flame_tree_free(struct flame_tree *tree);

/* The number of the frame called @name (of UTF-8); -ENOMEM */
int64_t flame_frame(struct flame_tree *tree, const char *name,
		    enum flame_kind kind);

/* The child of @parent that is @frame; -ENOMEM */
int64_t flame_child(struct flame_tree *tree, uint32_t parent, uint32_t frame);

/* A stack that ends at @node weighs @weight; false: all would weigh more than there are numbers for */
bool flame_add(struct flame_tree *tree, uint32_t node, uint64_t weight);

/* All children in order of their names: the picture and the text do not depend on what came first */
void flame_sort(struct flame_tree *tree);

static inline const struct flame_frame *flame_frame_of(const struct flame_tree *tree,
						       uint32_t node)
{
	return &tree->frames[tree->nodes[node].frame];
}

#endif /* TRACEBUF_FLAME_TREE_H */
