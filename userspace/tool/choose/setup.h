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
 * struct setup - a provider's configuration, from the command line
 * @config: zero members have default values
 * @cpus: with @cpu_list, a bit for each CPU to record
 * @cpu_list: list of CPUs as typed; NULL: all
 * @given: an option of struct setup was given
 * @sized: setup_size() chose the sizes
 * @purpose: with @sized, the purpose of the recording
 * @sizes: with @sized, the sizes tried last
 * @wanted: with @sized, the sizes tried first
 * @rings: number of rings with this configuration; 0: not applied yet
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
#define SETUP_SIZES_HELP \
	"  -b, --buffers N       buffers per CPU, 2..4096 (32); oneshot: 1..4096\n" \
	"  -B, --elements N      elements of 16 bytes per buffer, a power of two,\n" \
	"                        64..65536 (1024)\n"
#define SETUP_MARK_HELP \
	"  -w, --watermark N     wake the reader when a buffer is filled to N percent (70)\n"
#define SETUP_MODE_HELP \
	"  -m, --mode MODE       streaming (default): a reader takes the buffers;\n" \
	"                        circular: overwrite the oldest until it is stopped;\n" \
	"                        oneshot: end when the buffers are full\n"
#define SETUP_REST_HELP \
	"      --policy POLICY   if the reader is late: overwrite the oldest events\n" \
	"                        (default), or drop the newest\n" \
	"  -c, --cpu LIST        record on these CPUs, as in 0-3,7 (all)\n" \
	"      --clock CLOCK     auto (default), tsc, arch, mono\n" \
	"      --durable KIB     size of the durable buffer, 64..65536 (1024)\n" \
	"      --durable-max KIB let it grow to this size (16 times KIB)\n" \
	"      --durable-stop    stop the recording when it is full instead\n" \
	"      --flush-ms N      hand over buffers that are not full every N ms (never)\n"
/* For commands that call setup_size() */
#define SETUP_SIZED_HELP \
	"                        Without -b, -B and -w the size follows the machine: 4 MiB\n" \
	"                        per CPU, less if that is more than 1/64 of the memory, in\n" \
	"                        buffers of up to 128 KiB; a full buffer wakes the reader.\n" \
	"                        With one of these options, the defaults above hold.\n"
#define SETUP_MACHINE_HELP SETUP_SIZES_HELP SETUP_MARK_HELP SETUP_SIZED_HELP

/* Parse an option of struct setup.  Returns 1; 0: another option; -1 after complaining */
int setup_option(const struct command *command, int option, const char *value,
		 struct setup *setup);

/* Check that the options fit together.  Complains; EXIT_FINE or EXIT_USAGE */
int setup_check(const struct command *command, const struct setup *setup);

/* Choose sizes and watermark for this machine and @purpose, unless the command line has one of
 * them.  This function sets streaming and CPUs of @purpose */
void setup_size(struct tb_device *device, struct setup *setup, struct sizes_for purpose);

/* Configure the device's provider, or complain; EXIT_* */
int setup_apply(struct tb_device *device, struct setup *setup);

/* Print how much memory the rings take, and why not more */
void setup_show(const struct setup *setup, const struct tb_query *query);

#endif /* TRACEBUF_SETUP_H */
