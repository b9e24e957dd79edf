// SPDX-License-Identifier: GPL-2.0-only
/*
 * Histograms: 16 buckets for each power of two, so that a percentile is exact to a sixteenth.
 */
#include "engine.h"

#define SUB (1u << ANALYSIS_SUB_BITS)

/* Values below SUB have a bucket each */
static unsigned int bucket_of(uint64_t value)
{
	unsigned int shift;

	if (value < SUB)
		return (unsigned int)value;
	shift = 63u - (unsigned int)__builtin_clzll(value) - ANALYSIS_SUB_BITS;
	return (shift << ANALYSIS_SUB_BITS) + (unsigned int)(value >> shift);
}

static uint64_t bucket_last(unsigned int bucket)
{
	unsigned int shift;

	if (bucket < 2 * SUB)
		return bucket;
	shift = (bucket >> ANALYSIS_SUB_BITS) - 1;
	return ((uint64_t)(bucket - (shift << ANALYSIS_SUB_BITS)) << shift) +
	       ((1ull << shift) - 1);
}

void histogram_add(struct analysis_histogram *histogram, uint64_t value)
{
	if (!histogram->count || value < histogram->min)
		histogram->min = value;
	if (value > histogram->max)
		histogram->max = value;
	histogram->count++;
	histogram->sum += value;
	histogram->buckets[bucket_of(value)]++;
}

void stat_add(struct analysis_stat *stat, uint64_t value)
{
	stat->count++;
	stat->sum += value;
	if (value > stat->max)
		stat->max = value;
}

uint64_t analysis_percentile(const struct analysis_histogram *histogram,
			     unsigned int permyriad)
{
	uint64_t rank, below = 0, last;
	unsigned int i;

	if (!histogram->count)
		return 0;
	rank = (uint64_t)(((unsigned __int128)histogram->count * permyriad + 9999) / 10000);
	for (i = 0; i < ANALYSIS_BUCKETS - 1; i++) {
		below += histogram->buckets[i];
		if (below >= rank && below)
			break;
	}
	last = bucket_last(i);
	return last < histogram->max ? last : histogram->max;
}

uint64_t analysis_log2(const struct analysis_histogram *histogram, unsigned int power)
{
	uint64_t count = 0;
	unsigned int i;

	if (power < ANALYSIS_SUB_BITS) {
		for (i = power ? 1u << power : 0; i < 2u << power; i++)
			count += histogram->buckets[i];
		return count;
	}
	for (i = 0; i < SUB; i++)
		count += histogram->buckets[((power - ANALYSIS_SUB_BITS + 1) <<
					     ANALYSIS_SUB_BITS) + i];
	return count;
}
