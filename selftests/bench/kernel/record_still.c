// SPDX-License-Identifier: GPL-2.0-only
/*
 * record_still.c - record.c with a clock that costs only a load.
 */
#define bench_record			bench_record_still
#define bench_record_2			bench_record_2_still
#define bench_record_4			bench_record_4_still
#define bench_record_16			bench_record_16_still
#define bench_record_hollow		bench_record_hollow_still
#define bench_probe			bench_probe_still
#include "record.c"
