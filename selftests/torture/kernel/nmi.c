// SPDX-License-Identifier: GPL-2.0-only
/*
 * Makes the NMIs of the torture module.
 *
 * Guests without KVM have no performance counters that overflow, and an NMI that a CPU sends to
 * itself always comes right after the sending instruction. So a timer of the HPET makes those of
 * the first CPU, through a pin of the I/O APIC that is set to NMI: they come between any two
 * instructions. Its handler and the hrtimers send NMIs to all CPUs, which do not expect them
 * either.
 *
 * The addresses are those of QEMU's machines. The module writes to the I/O APIC behind the kernel's
 * back, once, to a pin that the kernel does not use: for guests only.
 */
#include <linux/errno.h>
#include <linux/io.h>
#include <linux/irqflags.h>
#include <linux/printk.h>
#include <linux/smp.h>
#include <asm/apic.h>
#include <asm/hpet.h>
#include <asm/nmi.h>

#include "tb_torture.h"

#define TT_NAME			"tb_torture"

#define TT_HPET			0xfed00000ul
#define TT_HPET_BYTES		0x400
#define TT_TIMER		2	/* the first two may be the legacy ones */
#define TT_ROUTE_SHIFT		9	/* HPET_TN_ROUTE */
#define TT_TICK_NS		10

#define TT_IOAPIC		0xfec00000ul
#define TT_IOAPIC_BYTES		0x20
#define TT_IOAPIC_DATA		0x10
#define TT_IOAPIC_PINS		24
#define TT_PIN(pin)		(0x10 + 2 * (pin))
#define TT_PIN_MASKED		BIT(16)
#define TT_PIN_NMI		(4 << 8)

static void __iomem *tt_hpet;
static void __iomem *tt_ioapic;
static int tt_pin = -1;

/* ---- sending ---------------------------------------------------------- */

/**
 * tt_nmi_kick() - send an NMI to a CPU with active sources
 * @random: selects the CPU
 *
 * Context: any, preemption off.
 */
void tt_nmi_kick(u64 random)
{
	unsigned int cpu = (u32)random % nr_cpu_ids;

	if (cpu_online(cpu) && READ_ONCE(per_cpu(tt_cpus, cpu).active))
		apic->send_IPI(cpu, NMI_VECTOR);
}

/**
 * tt_nmi_arm() - set the timer that sends NMIs to the first CPU
 * @ns: from now
 *
 * Context: any, preemption off, on the first CPU.
 */
void tt_nmi_arm(u32 ns)
{
	if (tt_pin >= 0)
		writel(readl(tt_hpet + HPET_COUNTER) + ns / TT_TICK_NS,
		       tt_hpet + HPET_Tn_CMP(TT_TIMER));
}

static int tt_nmi(unsigned int cmd, struct pt_regs *regs)
{
	struct tt_cpu *c = this_cpu_ptr(&tt_cpus);
	u64 r;

	if (READ_ONCE(c->active)) {
		tt_burst(c, TT_NMI);
		r = tt_random(&c->accounting[TT_NMI].random);
		if (!(r & 7))
			irq_work_queue(&c->work);
		if (r & 8 && nr_cpu_ids > 1 && !c->cpu)
			tt_nmi_kick(1 + (r >> 4) % (nr_cpu_ids - 1));
		/* counted from now: otherwise a slow guest does nothing else */
		if (!c->cpu)
			tt_nmi_arm(tt_gap(r >> 16));
	}
	/* nothing else sends NMIs in a guest */
	return NMI_HANDLED;
}

/* ---- life ------------------------------------------------------------- */

static u32 tt_ioapic_read(u32 reg)
{
	writel(reg, tt_ioapic);
	return readl(tt_ioapic + TT_IOAPIC_DATA);
}

static void tt_ioapic_write(u32 reg, u32 value)
{
	writel(reg, tt_ioapic);
	writel(value, tt_ioapic + TT_IOAPIC_DATA);
}

/* Returns an unused pin to which the timer can be routed, or -1. */
static int tt_find_pin(void)
{
	u32 routes = readl(tt_hpet + HPET_Tn_CFG(TT_TIMER) + 4);
	int pin;

	for (pin = TT_IOAPIC_PINS - 1; pin > 15; pin--)
		if (routes & BIT(pin) && tt_ioapic_read(TT_PIN(pin)) & TT_PIN_MASKED)
			return pin;
	return -1;
}

static int tt_pin_init(void)
{
	unsigned long flags;
	int pin;

	tt_hpet = ioremap(TT_HPET, TT_HPET_BYTES);
	tt_ioapic = ioremap(TT_IOAPIC, TT_IOAPIC_BYTES);
	if (!tt_hpet || !tt_ioapic)
		return -ENOMEM;
	if ((readl(tt_hpet + HPET_ID) & HPET_ID_NUMBER) >> HPET_ID_NUMBER_SHIFT < TT_TIMER ||
	    readl(tt_hpet + HPET_ID) == ~0u)
		return -ENODEV;
	local_irq_save(flags);
	pin = tt_find_pin();
	if (pin >= 0) {
		tt_ioapic_write(TT_PIN(pin) + 1, 0);	/* to the first CPU */
		tt_ioapic_write(TT_PIN(pin), TT_PIN_NMI);
	}
	local_irq_restore(flags);
	if (pin < 0)
		return -EBUSY;
	writel(HPET_TN_ENABLE | HPET_TN_32BIT | pin << TT_ROUTE_SHIFT,
	       tt_hpet + HPET_Tn_CFG(TT_TIMER));
	writel(readl(tt_hpet + HPET_CFG) | HPET_CFG_ENABLE, tt_hpet + HPET_CFG);
	tt_pin = pin;
	return 0;
}

/**
 * tt_nmi_exit() - undo a complete or failed tt_nmi_init()
 *
 * Context: process, no source active.
 */
void tt_nmi_exit(void)
{
	unsigned long flags;

	if (tt_pin >= 0) {
		writel(0, tt_hpet + HPET_Tn_CFG(TT_TIMER));
		local_irq_save(flags);
		tt_ioapic_write(TT_PIN(tt_pin), TT_PIN_MASKED);
		local_irq_restore(flags);
		tt_pin = -1;
	}
	if (tt_ioapic)
		iounmap(tt_ioapic);
	if (tt_hpet)
		iounmap(tt_hpet);
	unregister_nmi_handler(NMI_LOCAL, TT_NAME);
}

/**
 * tt_nmi_init() - handle NMIs, and start the timer that makes them
 *
 * Context: process.
 * Return: 0 or -errno.
 */
int tt_nmi_init(void)
{
	int err = register_nmi_handler(NMI_LOCAL, tt_nmi, 0, TT_NAME);

	if (err)
		return err;
	err = tt_pin_init();
	if (err) {
		pr_err("tb_torture: no timer for NMIs here\n");
		tt_nmi_exit();
	}
	return err;
}
