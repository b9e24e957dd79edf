// SPDX-License-Identifier: GPL-2.0-only
/*
 * Any function of the kernel as a source of events: a kprobe where it begins, a kretprobe where
 * it returns.
 *
 *	insmod tb_kprobe.ko symbol=vfs_read
 *	tracebuf record -e kprobe -d 1 && tracebuf print
 *
 * Its arguments are recorded as words, as the calling convention has them; how many there are and
 * what they mean the reader has to know.
 */
#include <linux/kprobes.h>
#include <linux/module.h>
#include <linux/ptrace.h>
#include <linux/timekeeping.h>
#include <linux/tracebuf_event.h>

#define KPROBE_ARGS	4
#define KPROBE_SYMBOL	48

TRACEBUF_EVENT_PRINT(kprobe, entry,
		     TRACEBUF_PRINT("%s(%#llx, %#llx, %#llx, %#llx) ip=%p", REC->symbol,
				    REC->args[0], REC->args[1], REC->args[2], REC->args[3],
				    REC->ip),
		     (const void *, ip), (u64, args[KPROBE_ARGS]), (char, symbol[KPROBE_SYMBOL]));

TRACEBUF_EVENT_PRINT(kprobe, return,
		     TRACEBUF_PRINT("%s = %lld, %llu ns", REC->symbol, REC->value,
				    REC->duration),
		     (const void *, ip), (s64, value), (u64, duration),
		     (char, symbol[KPROBE_SYMBOL]));

TRACEBUF_GROUP(kprobe_events, (kprobe, entry), (kprobe, return));

static char *symbol = "vfs_read";
module_param(symbol, charp, 0444);
MODULE_PARM_DESC(symbol, "the function (default vfs_read)");

static unsigned long entries, returns;
module_param(entries, ulong, 0444);
MODULE_PARM_DESC(entries, "calls seen, roughly: CPUs do not count in turn");
module_param(returns, ulong, 0444);
MODULE_PARM_DESC(returns, "returns seen, likewise");

/* when a call began */
struct kprobe_call {
	u64 since;
};

static int __kprobes kprobe_entry(struct kprobe *kp, struct pt_regs *regs)
{
	struct tracebuf_kprobe_entry *e;
	struct tracebuf_slot slot;
	unsigned int i;

	entries++;
	e = tracebuf_reserve(kprobe, entry, &slot, 0);
	if (!e)
		return 0;
	e->ip = kp->addr;
	for (i = 0; i < KPROBE_ARGS; i++)
		e->args[i] = regs_get_kernel_argument(regs, i);
	strscpy(e->symbol, symbol, sizeof(e->symbol));
	tracebuf_commit(&slot);
	return 0;
}

static int __kprobes kprobe_call(struct kretprobe_instance *ri, struct pt_regs *regs)
{
	struct kprobe_call *call = (struct kprobe_call *)ri->data;

	call->since = ktime_get_mono_fast_ns();
	return 0;
}

static int __kprobes kprobe_return(struct kretprobe_instance *ri, struct pt_regs *regs)
{
	struct kprobe_call *call = (struct kprobe_call *)ri->data;
	const struct kretprobe *probe = get_kretprobe(ri);
	u64 now = ktime_get_mono_fast_ns();
	struct tracebuf_kprobe_return *e;
	struct tracebuf_slot slot;

	returns++;
	e = tracebuf_reserve(kprobe, return, &slot, 0);
	if (!e)
		return 0;
	/* none if it is just being unregistered */
	e->ip = probe ? probe->kp.addr : NULL;
	e->value = regs_return_value(regs);
	e->duration = now - call->since;
	strscpy(e->symbol, symbol, sizeof(e->symbol));
	tracebuf_commit(&slot);
	return 0;
}

static struct kprobe kprobe_at_entry = {
	.pre_handler = kprobe_entry,
};

static struct kretprobe kprobe_at_return = {
	.entry_handler = kprobe_call,
	.handler = kprobe_return,
	.data_size = sizeof(struct kprobe_call),
	/* threads that may be in it at a time */
	.maxactive = 256,
};

static int __init kprobe_init(void)
{
	int err = tracebuf_register(&kprobe_events);

	if (err)
		return err;
	kprobe_at_entry.symbol_name = symbol;
	kprobe_at_return.kp.symbol_name = symbol;
	err = register_kprobe(&kprobe_at_entry);
	if (err)
		goto unregister;
	err = register_kretprobe(&kprobe_at_return);
	if (err)
		goto unregister_entry;
	return 0;

unregister_entry:
	unregister_kprobe(&kprobe_at_entry);
unregister:
	pr_err("tb_kprobe: cannot probe %s: error %d\n", symbol, err);
	tracebuf_unregister(&kprobe_events);
	return err;
}

static void __exit kprobe_exit(void)
{
	/* these wait for who is in a handler */
	unregister_kretprobe(&kprobe_at_return);
	unregister_kprobe(&kprobe_at_entry);
	if (kprobe_at_return.nmissed)
		pr_info("tb_kprobe: %d returns were not seen: too many calls at a time\n",
			kprobe_at_return.nmissed);
	tracebuf_unregister(&kprobe_events);
}

module_init(kprobe_init);
module_exit(kprobe_exit);

MODULE_LICENSE("GPL");
MODULE_DESCRIPTION("Sample: any function of the kernel as a source of events");
MODULE_AUTHOR("The tracebuf authors");
