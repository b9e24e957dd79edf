/* SPDX-License-Identifier: GPL-2.0-only */
/*
 * The device: open it for a provider; show what the provider is and does.
 */
#ifndef TRACEBUF_DEVICE_H
#define TRACEBUF_DEVICE_H

#include <stdbool.h>
#include <stdint.h>
#include <stdio.h>
#include "tracebuf.h"

/* What commands that talk to the device have in common; NULL: "kernel" */
#define PROVIDER_LONG { "provider", required_argument, NULL, 'p' }
#define PROVIDER_HELP \
	"  -p, --provider NAME   use this provider, not 'kernel' (see 'tracebuf provider')\n"

/* Open for @provider (NULL: "kernel") or complain; NULL */
struct tb_device *open_device(const char *provider, unsigned int flags);

/* "tracebuf stop -p NAME", for this device */
const char *stop_command(struct tb_device *device, char text[64]);

/* Somebody's recording is running: complain, and do not advise to end it.  EXIT_WRONG */
int recording_already(struct tb_device *device);

/* Why it did not start; returns EXIT_WRONG */
int start_failed(struct tb_device *device, int result);

/* "there are kernel, x and y", for messages */
const char *provider_names(struct tb_device *device, char *text, size_t size);

/* Is provider @name what reserved memory held when the module was loaded? */
bool is_previous(struct tb_device *device, const char *name);

/* What a provider is and does */
void show_query(const struct tb_query *query);
void show_enabled(struct tb_device *device);

/* Warns if the recording ended by itself, and says why; then returns true. Warns if names of threads
 * were lost */
bool warn_stopped(const struct tb_query *query);

/* Sum of the counts of all CPUs; @each may be NULL, room for nr_cpus */
int read_stats(struct tb_device *device, unsigned int nr_cpus,
	       struct tb_stats *each, struct tb_stats *sum);

/* Table per CPU; @full: all columns */
void print_table(FILE *out, const struct tb_stats *each, unsigned int nr_cpus,
		 const struct tb_stats *sum, bool full);

/* Warn when events are missing */
void warn_lost(const struct tb_stats *sum);

#endif /* TRACEBUF_DEVICE_H */
