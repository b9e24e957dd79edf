/* SPDX-License-Identifier: GPL-2.0-only */
/*
 * The units in tracebuf.ko.  No guard: files include this with different definitions of TB_UNIT().
 * The units are in the order of the event numbers.
 */
TB_UNIT(sched);
TB_UNIT(irq);
TB_UNIT(calls);
TB_UNIT(syscalls);
TB_UNIT(task);
TB_UNIT(timer);
TB_UNIT(workqueue);
TB_UNIT(power);
TB_UNIT(signal);
