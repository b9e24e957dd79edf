/* SPDX-License-Identifier: GPL-2.0-only */
/*
 * Numbers, times and lists of CPUs in options.
 */
#ifndef TRACEBUF_NUMBER_H
#define TRACEBUF_NUMBER_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

struct command;

/*
 * These functions parse the numbers in options: decimal digits only, without a leading blank or
 * '+'.  Functions that return int accept nothing behind the number; they return 0 or -EINVAL.
 */

/* Parse digits of @base (up to 16) with a value up to @max.  Return their end, or NULL. */
const char *parse_number(const char *text, unsigned int base, uint64_t max, uint64_t *value);
int parse_u32(const char *text, uint32_t min, uint32_t max, uint32_t *value);
int parse_s32(const char *text, int32_t min, int32_t max, int32_t *value);
/* Parse digits with an optional fraction.  Return their end, or NULL. */
const char *parse_decimal(const char *text, double *value);
/* A time: "5", "0.5s", "200ms", "10m", "1h" */
int parse_seconds(const char *text, double *seconds);

/**
 * struct number_list - numbers in ascending order, each once; zero: none
 */
#define NUMBERS_MAX 1024
struct number_list {
	size_t count;
	uint32_t list[NUMBERS_MAX];
};

/* Add the numbers in "12,345", the value of an option that takes numbers of a @what ("thread").
 * Complains, EXIT_* */
int number_option(const struct command *command, const char *value, uint32_t min, uint32_t max,
		  const char *what, struct number_list *numbers);
bool number_list_has(const struct number_list *numbers, uint32_t number);
/* Write "12,345", cut off if @size is too small; returns @text */
const char *number_list_text(const struct number_list *numbers, char *text, size_t size);

/* A bit for each CPU */
#define CPUS_MAX 8192u
struct cpu_bits {
	uint8_t bits[CPUS_MAX / 8];
};

static inline bool has_cpu(const struct cpu_bits *cpus, unsigned int cpu)
{
	return cpus->bits[cpu / 8] >> cpu % 8 & 1;
}

/* Parse "0-3,7" into bits; -EINVAL.  @rest: out: the end of the list; NULL: it must end with @text
 * */
int parse_cpus(const char *text, const char **rest, struct cpu_bits *cpus);

#endif /* TRACEBUF_NUMBER_H */
