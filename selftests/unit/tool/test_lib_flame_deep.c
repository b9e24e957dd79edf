// SPDX-License-Identifier: GPL-2.0-only
/*
 * Flame graphs of deep stacks.  A stack of 128 addresses can have thousands of frames, because each
 * address may be in many inlined functions.  If this breaks, such a recording crashes the tool.
 */
#include "test_lib_fixture.h"
#include "../../../userspace/tool/flame/flame.h"

#define DEPTH (64 + 64 * 33 + 1)	/* kernel, user with 32 inlined functions each, the thread */

static void collapsed(void)
{
	static char want[DEPTH * 8], line[DEPTH * 8 + 16];
	struct flame flame = { .weight = FLAME_ON_CPU };
	int64_t node = 0, frame;
	FILE *file = tmpfile();
	size_t used = 0;
	char name[16];
	int i;

	assert(file && !flame_tree_start(&flame.tree));
	for (i = 0; i < DEPTH; i++) {
		snprintf(name, sizeof(name), "f%d", i);
		frame = flame_frame(&flame.tree, name, i ? FLAME_USER : FLAME_TASK);
		assert(frame >= 0);
		node = flame_child(&flame.tree, (uint32_t)node, (uint32_t)frame);
		assert(node > 0);
		used += (size_t)sprintf(want + used, "%s%s", i ? ";" : "", name);
	}
	CHECK(flame_add(&flame.tree, (uint32_t)node, 7));
	sprintf(want + used, " 7\n");
	CHECK(!flame_collapsed(&flame, file));
	rewind(file);
	CHECK(fgets(line, sizeof(line), file));
	CHECK_TEXT(line, want);
	CHECK(!fgets(line, sizeof(line), file));
	fclose(file);
	flame_tree_free(&flame.tree);
}

static const struct test tests[] = {
	{ "a stack of more than 2,000 frames as text", collapsed },
};

TEST_MAIN(tests)
