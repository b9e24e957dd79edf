// SPDX-License-Identifier: GPL-2.0-only
/*
 * For tests of the trace clock: let the processor's counter restart when the machine sleeps, and
 * count the reads with a workaround. It is only in a module that is built for the torture test
 * (make torture).
 */
#include <linux/compiler.h>
#include <linux/export.h>
#include <linux/moduleparam.h>

#include "module/machine/clock.h"

u64 tb_clock_back;
EXPORT_SYMBOL_GPL(tb_clock_back);

static bool clock_anew;
module_param(clock_anew, bool, 0644);
MODULE_PARM_DESC(clock_anew, "let the counter restart whenever the machine sleeps");

static ulong clock_care;
module_param(clock_care, ulong, 0444);
MODULE_PARM_DESC(clock_care, "number of reads of the counter with a workaround or a shift");

/**
 * tb_clock_test_slow() - count a read of the counter with a workaround or a shift
 *
 * Context: any, NMI included.
 */
notrace void tb_clock_test_slow(void)
{
	/* two CPUs that count at the same time may count one read only */
	data_race(clock_care++);
}

/**
 * tb_clock_test_sleep() - let the counter restart, because the machine has slept
 *
 * Context: process.
 */
void tb_clock_test_sleep(void)
{
	if (clock_anew)
		WRITE_ONCE(tb_clock_back, tb_clock_back + tb_clock_raw());
}
