/* SPDX-License-Identifier: GPL-2.0-only */
/*
 * Numbers, times and lists of CPUs in options.
 */
#ifndef TRACEBUF_NUMBER_H
#define TRACEBUF_NUMBER_H

#include <stdbool.h>
#include <stdint.h>

/*
 * All numbers of options come through these: decimal digits alone, no leading blank or '+'.
 * The functions that return int want nothing behind the number and return -EINVAL.
 */

/* Digits of @base, 16 at most, with a value up to @max.  Return where they end, NULL if there
 * is no such number. */
const char *parse_number(const char *text, unsigned int base, uint64_t max, uint64_t *value);
int parse_u32(const char *text, uint32_t min, uint32_t max, uint32_t *value);
int parse_s32(const char *text, int32_t min, int32_t max, int32_t *value);
/* Digits with an optional fraction.  Return where they end, or NULL. */
const char *parse_decimal(const char *text, double *value);
/* A time: "5", "0.5s", "200ms", "10m", "1h" */
int parse_seconds(const char *text, double *seconds);

/* A bit for each CPU */
#define CPUS_MAX 8192u
struct cpu_bits {
	uint8_t bits[CPUS_MAX / 8];
};

static inline bool has_cpu(const struct cpu_bits *cpus, unsigned int cpu)
{
	return cpus->bits[cpu / 8] >> cpu % 8 & 1;
}

/* "0-3,7" into bits; -EINVAL.  @rest: where it ends, or NULL: at the end of @text */
int parse_cpus(const char *text, const char **rest, struct cpu_bits *cpus);

#endif /* TRACEBUF_NUMBER_H */
