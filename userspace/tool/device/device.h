/* SPDX-License-Identifier: GPL-2.0-only */
/*
 * The device: open it for a provider, and show the provider's state and counts.
 */
#ifndef TRACEBUF_DEVICE_H
#define TRACEBUF_DEVICE_H

#include <stdbool.h>
#include <stdint.h>
#include <stdio.h>
#include "tracebuf.h"

/* The option of all commands that open the device */
#define PROVIDER_HELP \
	"  -p, --provider NAME   use this provider, not 'kernel' (see 'tracebuf provider')\n"

/* Open the device for @provider (NULL: "kernel"); NULL after complaining */
struct tb_device *open_device(const char *provider, unsigned int flags);

/* The command that stops the provider's recording: "tracebuf stop -p NAME" */
const char *stop_command(struct tb_device *device, char text[64]);

/* Complain that a recording runs already; it may be another user's.  Returns EXIT_WRONG */
int recording_already(struct tb_device *device);

/* Complain that the recording did not start, and why; returns EXIT_WRONG */
int start_failed(struct tb_device *device, int result);

/* The names of all providers, for messages: "kernel, x, y" */
const char *provider_names(struct tb_device *device, char *text, size_t size);

/* Is provider @name the recording of the previous boot, in reserved memory? */
bool is_previous(struct tb_device *device, const char *name);

/* Print the provider's state and configuration; its enabled events */
void show_query(const struct tb_query *query);
void show_enabled(struct tb_device *device);

/* Warn if the recording stopped by itself, and return true.  Also warn if records of threads were
 * lost */
bool warn_stopped(const struct tb_query *query);

/* Read the counts of all CPUs into @each (NULL, or room for @nr_cpus), and add them up; -errno */
int read_stats(struct tb_device *device, unsigned int nr_cpus,
	       struct tb_stats *each, struct tb_stats *sum);

/* Print a table of the counts, a row per CPU; @full: all columns */
void print_table(FILE *out, const struct tb_stats *each, unsigned int nr_cpus,
		 const struct tb_stats *sum, bool full);

/* Warn of CPUs without a ring */
void warn_missing(const struct tb_query *query);
void warn_lost(const struct tb_stats *sum);

#endif /* TRACEBUF_DEVICE_H */
