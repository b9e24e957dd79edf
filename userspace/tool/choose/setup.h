/* SPDX-License-Identifier: GPL-2.0-only */
/*
 * The configuration of a provider, as options give it.
 */
#ifndef TRACEBUF_SETUP_H
#define TRACEBUF_SETUP_H

#include <stdbool.h>
#include <stddef.h>
#include "sizes.h"
#include "tracebuf.h"
#include "tool/command/command.h"
#include "tool/command/number.h"

/**
 * struct setup - a provider's configuration as the command line gives it
 * @config: zero: the default
 * @cpus: a bit for each CPU to record, where @cpu_list is given
 * @cpu_list: as typed, or NULL: all
 * @given: any of it was
 * @sized: the machine decides on the sizes
 * @purpose: for what
 * @sizes: what it gives, once applied; @wanted: what was tried first
 * @rings: how many the device has, with this configuration; 0: it has not been applied
 */
struct setup {
	struct tb_config config;
	struct cpu_bits cpus;
	const char *cpu_list;
	bool        given;
	bool        sized;
	struct sizes_for purpose;
	struct sizes sizes, wanted;
	unsigned int rings;
};

/* Options for struct setup that record, start and provider create share */
#define SETUP_SHORT "b:B:m:w:c:"
#define SETUP_LONG \
	{ "buffers",   required_argument, NULL, 'b' }, \
	{ "elements",  required_argument, NULL, 'B' }, \
	{ "mode",      required_argument, NULL, 'm' }, \
	{ "watermark", required_argument, NULL, 'w' }, \
	{ "cpu",       required_argument, NULL, 'c' }, \
	{ "policy",    required_argument, NULL, 0x100 }, \
	{ "clock",     required_argument, NULL, 0x101 }, \
	{ "durable",   required_argument, NULL, 0x102 }, \
	{ "flush-ms",  required_argument, NULL, 0x103 }, \
	{ "durable-max",  required_argument, NULL, 0x104 }, \
	{ "durable-stop", no_argument,       NULL, 0x105 }
#define SETUP_SIZES_HELP \
	"  -b, --buffers N       buffers per CPU, 2..4096 (32); oneshot: from 1 on\n" \
	"  -B, --elements N      elements of 16 bytes per buffer, a power of two,\n" \
	"                        64..65536 (1024)\n"
#define SETUP_MARK_HELP \
	"  -w, --watermark N     wake the reader at this fill level, percent (70)\n"
#define SETUP_MODE_HELP \
	"  -m, --mode MODE       streaming (default); circular: overwrite until it is\n" \
	"                        stopped; oneshot: until the buffers are full\n" \
	"      --policy POLICY   when the reader is behind: overwrite the oldest\n" \
	"                        (default) or drop the newest\n"
#define SETUP_REST_HELP \
	"  -c, --cpu LIST        record on these CPUs, as in 0-3,7 (all)\n" \
	"      --clock CLOCK     auto (default), tsc, arch, mono\n" \
	"      --durable KIB     size of the durable buffer, 64..65536 (1024)\n" \
	"      --durable-max KIB it may grow to this (16 times its size)\n" \
	"      --durable-stop    stop when it is full instead\n" \
	"      --flush-ms N      hand over half-full buffers this often (never)\n"
#define SETUP_HELP SETUP_SIZES_HELP SETUP_MODE_HELP SETUP_MARK_HELP SETUP_REST_HELP
/* Of commands that call setup_size() */
#define SETUP_SIZED_HELP \
	"                        (without -b, -B and -w: 4 MiB per CPU, less if all of it\n" \
	"                        were more than 1/64 of the memory, in buffers of up to\n" \
	"                        128 KiB, and the reader is woken when one is full; with\n" \
	"                        any of them the others are what is said here)\n"
#define SETUP_MACHINE_HELP \
	SETUP_SIZES_HELP SETUP_MODE_HELP SETUP_MARK_HELP SETUP_SIZED_HELP SETUP_REST_HELP

/* Returns 1 if @option was one of these, 0 if not, -1 after complaining */
int setup_option(const struct command *command, int option, const char *value,
		 struct setup *setup);

/* Do they go together?  Complains; EXIT_FINE or EXIT_USAGE */
int setup_check(const struct command *command, const struct setup *setup);

/* Unless the command line has any of them, sizes and mark are what the machine gives for
 * @purpose, of which streaming and CPUs are filled in */
void setup_size(struct tb_device *device, struct setup *setup, struct sizes_for purpose);

/* Configure the device's provider, or complain; EXIT_* */
int setup_apply(struct tb_device *device, struct setup *setup);

/* How much memory the rings take, and why not more */
void setup_show(const struct setup *setup, const struct tb_query *query);

#endif /* TRACEBUF_SETUP_H */
