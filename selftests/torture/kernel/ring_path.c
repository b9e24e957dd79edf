// SPDX-License-Identifier: GPL-2.0-only
/*
 * Counts how often each rare path of the ring is taken. It is only in a module that is built for
 * the torture test (make torture).
 */
#include <linux/export.h>
#include <linux/percpu.h>

#include "module/ring/paths.h"

static DEFINE_PER_CPU(u64 [TB_PATHS], tb_paths);

/**
 * tb_ring_path() - count a path
 * @path: the path
 *
 * Context: any, NMI included.
 */
void tb_ring_path(enum tb_ring_path path)
{
	this_cpu_inc(tb_paths[path]);
}

/**
 * tb_ring_path_count() - how often a path has been taken since the module was loaded
 * @path: the path
 *
 * Context: any.
 * Return: the sum over all CPUs.
 */
u64 tb_ring_path_count(enum tb_ring_path path)
{
	unsigned int cpu;
	u64 n = 0;

	for_each_possible_cpu(cpu)
		n += READ_ONCE(per_cpu(tb_paths, cpu)[path]);
	return n;
}
EXPORT_SYMBOL_GPL(tb_ring_path_count);
