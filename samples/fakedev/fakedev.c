// SPDX-License-Identifier: GPL-2.0-only
/*
 * A device that is not there, with a driver that records what it does.
 *
 * A timer plays the interrupt: each time the device has finished a transfer on one of its
 * queues, and on every eighth it has sent a frame of another length besides.  Writing to the
 * parameter "submit" plays a user: it records from process context.
 *
 *	insmod tb_fakedev.ko period=1000 queues=4
 *	tracebuf record -e fakedev -d 1 && tracebuf print
 *
 * What has been recorded is counted, recorded or not, in the parameters "interrupts", "done",
 * "frames" and "submitted", so that a trace can be compared with it.
 */
#include <linux/hrtimer.h>
#include <linux/ktime.h>
#include <linux/module.h>
#include <linux/string.h>
#include <linux/time64.h>
#include <linux/tracebuf_event.h>

#define FAKEDEV_QUEUES	16
#define FAKEDEV_FRAME	64

/* An interrupt: one element of a ring. */
TRACEBUF_SIMPLE_EVENT(fakedev, irq, (u16, queue), (s16, error), (u32, sequence));

/* A transfer: numbers, a pointer, arrays, and how it is shown. */
TRACEBUF_EVENT_PRINT(fakedev, done,
		     TRACEBUF_PRINT("%s queue=%u sequence=%llu bytes=%u status=%s buffer=%p",
				    REC->unit, REC->queue, REC->sequence, REC->bytes,
				    __print_symbolic(REC->status, {0, "ok"}, {-5, "EIO"}),
				    REC->buffer),
		     (u64, sequence), (u32, queue), (u32, bytes), (int, status),
		     (const void *, buffer), (char, unit[16]), (u32, regs[4]));

/* A frame: fields of another length each time. */
TRACEBUF_EVENT(fakedev, frame,
	       (u32, queue), (u32, sequence), TRACEBUF_DYNAMIC(u8, data),
	       TRACEBUF_DYNAMIC(char, label));

/* What a user wants: happens in his thread. */
TRACEBUF_EVENT(fakedev, submit, (u32, number), (bool, urgent));

TRACEBUF_GROUP(fakedev_events, (fakedev, irq), (fakedev, done), (fakedev, frame),
	       (fakedev, submit));

static unsigned int period = 1000;
module_param(period, uint, 0444);
MODULE_PARM_DESC(period, "microseconds between two interrupts, from 50 (default 1000)");

static unsigned int queues = 4;
module_param(queues, uint, 0444);
MODULE_PARM_DESC(queues, "queues, 1 to 16 (default 4)");

static unsigned long interrupts, done, frames, submitted;
module_param(interrupts, ulong, 0444);
MODULE_PARM_DESC(interrupts, "how many there have been");
module_param(done, ulong, 0444);
MODULE_PARM_DESC(done, "transfers");
module_param(frames, ulong, 0444);
MODULE_PARM_DESC(frames, "frames");
module_param(submitted, ulong, 0444);
MODULE_PARM_DESC(submitted, "writes to submit");

static struct hrtimer fakedev_timer;
static u8 fakedev_memory[FAKEDEV_FRAME];

/* What a test can compute, too. */
static u32 fakedev_bytes(unsigned long sequence)
{
	return 64 + sequence % 1000;
}

static void fakedev_done(u32 queue, unsigned long sequence)
{
	done++;
	tracebuf_event(fakedev, done, .sequence = sequence, .queue = queue,
		       .bytes = fakedev_bytes(sequence), .status = sequence % 10 ? 0 : -5,
		       .buffer = fakedev_memory, .unit = "fake0",
		       .regs = { queue, sequence, ~sequence, 0x12345678 });
}

/* In the ring itself: what would have to be put together elsewhere first. */
static void fakedev_frame(u32 queue, unsigned long sequence)
{
	u32 bytes = sequence / 8 % (FAKEDEV_FRAME + 1);
	struct tracebuf_fakedev_frame *e;
	struct tracebuf_slot slot;
	const char *label = sequence % 16 ? "odd" : "even frame";

	frames++;
	e = tracebuf_reserve(fakedev, frame, &slot, bytes + strlen(label) + 1);
	if (!e)
		return;
	e->queue = queue;
	e->sequence = sequence;
	e->data = tracebuf_put_data(&slot, fakedev_memory, bytes);
	e->label = tracebuf_put_text(&slot, label);
	tracebuf_commit(&slot);
}

/* In an interrupt. */
static enum hrtimer_restart fakedev_interrupt(struct hrtimer *timer)
{
	unsigned long sequence = interrupts++;
	u32 queue = sequence % queues;

	tracebuf_event(fakedev, irq, .queue = queue, .error = sequence % 10 ? 0 : -5,
		       .sequence = sequence);
	fakedev_done(queue, sequence);
	if (sequence % 8 == 0)
		fakedev_frame(queue, sequence);
	hrtimer_forward_now(timer, ns_to_ktime(period * NSEC_PER_USEC));
	return HRTIMER_RESTART;
}

static int fakedev_submit(const char *value, const struct kernel_param *kp)
{
	unsigned int number;
	int err = kstrtouint(value, 0, &number);

	if (err)
		return err;
	submitted++;
	tracebuf_event(fakedev, submit, .number = number, .urgent = number % 2);
	return 0;
}

static const struct kernel_param_ops fakedev_submit_ops = {
	.set = fakedev_submit,
};
module_param_cb(submit, &fakedev_submit_ops, NULL, 0200);
MODULE_PARM_DESC(submit, "write a number: records fakedev:submit");

static int __init fakedev_init(void)
{
	int err;

	if (period < 50 || !queues || queues > FAKEDEV_QUEUES)
		return -EINVAL;
	memset(fakedev_memory, 0xa5, sizeof(fakedev_memory));
	err = tracebuf_register(&fakedev_events);
	if (err)
		return err;
#ifdef TB_HAVE_HRTIMER_SETUP
	hrtimer_setup(&fakedev_timer, fakedev_interrupt, CLOCK_MONOTONIC, HRTIMER_MODE_REL_HARD);
#else
	hrtimer_init(&fakedev_timer, CLOCK_MONOTONIC, HRTIMER_MODE_REL_HARD);
	fakedev_timer.function = fakedev_interrupt;
#endif
	hrtimer_start(&fakedev_timer, ns_to_ktime(period * NSEC_PER_USEC), HRTIMER_MODE_REL_HARD);
	return 0;
}

static void __exit fakedev_exit(void)
{
	/* first what records, then what it records with */
	hrtimer_cancel(&fakedev_timer);
	tracebuf_unregister(&fakedev_events);
}

module_init(fakedev_init);
module_exit(fakedev_exit);

MODULE_LICENSE("GPL");
MODULE_DESCRIPTION("Sample: a driver that records events with tracebuf");
MODULE_AUTHOR("The tracebuf authors");
