/* SPDX-License-Identifier: GPL-2.0-only */
/*
 * The units of module/events/, those in tracebuf.ko.  Included wherever a TB_UNIT() of
 * some meaning is wanted for each of them; hence no guard.  The order is that
 * of the event numbers.
 */
TB_UNIT(sched);
TB_UNIT(irq);
TB_UNIT(syscalls);
TB_UNIT(task);
TB_UNIT(timer);
TB_UNIT(workqueue);
TB_UNIT(power);
TB_UNIT(signal);
