// SPDX-License-Identifier: GPL-2.0-only
/*
 * A module that uses tracebuf as drivers do (include/linux/tracebuf.h). Loading it creates a
 * provider, records into it and stops it; unloading it destroys the provider. A write to its
 * parameter "fire" records events of its own, and its handler keeps out the ones with odd numbers.
 * A write to "hold" records an event that takes long. test_api.sh checks the rest from outside.
 * Errors are in the log, and loading or writing fails.
 */
#include <linux/cpumask.h>
#include <linux/err.h>
#include <linux/kstrtox.h>
#include <linux/ktime.h>
#include <linux/limits.h>
#include <linux/module.h>
#include <linux/processor.h>
#include <linux/smp.h>
#include <linux/string.h>
#include <linux/tracebuf_event.h>
#include <linux/workqueue.h>

#define SIMPLE	10
#define BYTES	40

TRACEBUF_EVENT(apitest, types, (u8, a), (s8, b), (u16, c), (s16, d), (u32, e), (s32, f),
	       (u64, g), (s64, h), (bool, i), (void *, j), (char, k[5]), (s16, l[3]),
	       (u8, m[2][2]), (long, n), (unsigned char, o), (u64, p));
TRACEBUF_EVENT(apitest, outer, (u32, number), TRACEBUF_DYNAMIC(char, text),
	       TRACEBUF_DYNAMIC(u16, words), TRACEBUF_DYNAMIC(char, rest));
TRACEBUF_EVENT_PRINT(apitest, inner, TRACEBUF_PRINT("number=%u of \"%s\"", REC->number, "test"),
		     (u32, number));
TRACEBUF_SIMPLE_EVENT(apitest, simple, (u8, a), (s8, b), (s16, c), (u32, number));
TRACEBUF_SIMPLE_EVENT(apitest, word, (u64, number));
TRACEBUF_SIMPLE_EVENT(apitest, nested, (u32, number));
TRACEBUF_GROUP(events, (apitest, types), (apitest, outer), (apitest, inner), (apitest, simple),
	       (apitest, word), (apitest, nested));

/* an event with the name of one of the kernel's, in another system; and one that exists already */
TRACEBUF_SIMPLE_EVENT(apitest2, sched_switch, (u32, number));
TRACEBUF_GROUP(alike, (apitest2, sched_switch));
TRACEBUF_EVENT(sched, sched_switch, (u32, number));
TRACEBUF_GROUP(taken, (sched, sched_switch));
/* a type that the compiler takes for a number, but tracebuf does not */
TRACEBUF_EVENT(apitest2, large, (__int128, number));
TRACEBUF_GROUP(odd, (apitest2, large));

static struct tb_provider *own, *kernel;
static struct tracebuf_handler *handler;

static int wrong;

/* how often the handler was called */
static unsigned int seen;
module_param(seen, uint, 0644);

/* does this kernel count where preemption is off? */
static bool counts_preemption = IS_ENABLED(CONFIG_PREEMPT_COUNT);
module_param(counts_preemption, bool, 0444);

static bool tb_apitest_expect(bool so, int line, const char *what)
{
	if (!so)
		pr_err("tb_apitest: line %d: not so: %s\n", line, what);
	wrong += !so;
	return so;
}

#define EXPECT(cond)	tb_apitest_expect(cond, __LINE__, #cond)

static void tb_apitest_names(void)
{
	struct tb_config bad = { .elements = 100 };

	EXPECT(tracebuf_get("nobody") == ERR_PTR(-ENOENT));
	EXPECT(tracebuf_create("kernel", NULL) == ERR_PTR(-EEXIST));
	EXPECT(tracebuf_create("apitest", NULL) == ERR_PTR(-EEXIST));
	EXPECT(tracebuf_create("two words", NULL) == ERR_PTR(-EINVAL));
	EXPECT(tracebuf_create("", NULL) == ERR_PTR(-EINVAL));
	EXPECT(tracebuf_create("apitest2", &bad) == ERR_PTR(-EINVAL));
	/* the refused call has left nothing */
	EXPECT(tracebuf_get("apitest2") == ERR_PTR(-ENOENT));
}

static void tb_apitest_record(void)
{
	struct tracebuf_slot slot;
	u64 i;
	void *payload;

	for (i = 0; i < SIMPLE; i++)
		EXPECT(tracebuf_simple(own, TB_EV_USER, i));
	EXPECT(!tracebuf_simple(own, TB_EV_USER - 1, 0));
	EXPECT(!tracebuf_simple(own, TB_EV_USER_LAST + 1, 0));
	EXPECT(!tracebuf_begin(own, &slot, TB_EV_FIRST, 8));
	payload = tracebuf_begin(own, &slot, TB_EV_USER_LAST, BYTES);
	if (EXPECT(payload)) {
		memset(payload, 'x', BYTES);
		tracebuf_end(&slot);
	}
	EXPECT(tracebuf_write(own, TB_EV_USER + 1, "sixteen bytes..", 16));
	EXPECT(!tracebuf_write(own, TB_EV_FIRST, "", 0));
	/* larger than any event: counted */
	EXPECT(!tracebuf_begin(own, &slot, TB_EV_USER, 1 << 20));
	/* an error code that the caller passes as a size */
	EXPECT(!tracebuf_begin(own, &slot, TB_EV_USER, (u32)-EIO));
	EXPECT(tracebuf_flush(own));
}

static void tb_apitest_accounting(void)
{
	struct tb_stats sum = { }, st;
	struct tb_query q;
	unsigned int cpu;

	tracebuf_query(own, &q);
	EXPECT(q.state == TB_STATE_RUNNING && q.buffers == 4 && !strcmp(q.name, "apitest"));
	for_each_possible_cpu(cpu) {
		EXPECT(!tracebuf_stats(own, cpu, &st));
		sum.recorded += st.recorded;
		sum.oversize += st.oversize;
	}
	EXPECT(sum.recorded == SIMPLE + 2);
	EXPECT(sum.oversize == 2);
	EXPECT(tracebuf_stats(own, nr_cpu_ids, &st) == -EINVAL);
}

static bool tb_apitest_any(const struct tracebuf_view *view, void *data)
{
	return true;
}

/* Tracebuf does not call a handler for events that the handler itself records. */
static bool tb_apitest_want(const struct tracebuf_view *view, void *data)
{
	const struct tracebuf_apitest_word *e = view->payload;

	seen++;
	if (view->bytes != sizeof(*e) || strcmp(view->system, "apitest") ||
	    strcmp(view->name, "word") || !(view->id & 1) || data != &seen)
		wrong++;
	tracebuf_event(apitest, word, .number = 1000000 + e->number * 2 + 1);
	tracebuf_event(apitest, nested, .number = e->number);
	return !(e->number & 1);
}

static void tb_apitest_events(void)
{
	struct tracebuf_handler *h;
	struct tracebuf_place place;

	EXPECT(tracebuf_register(&events) == -EBUSY);
	EXPECT(tracebuf_register(&taken) == -EEXIST);
	tracebuf_unregister(&taken);
	EXPECT(tracebuf_register(&odd) == -EINVAL);
	EXPECT(!tracebuf_find("apitest", "types", "l", &place));
	EXPECT(place.offset == offsetof(struct tracebuf_apitest_types, l));
	EXPECT(place.size == 6 && place.count == 3);
	EXPECT(place.flags == (TB_FIELD_ARRAY | TB_FIELD_SIGNED));
	EXPECT(!tracebuf_find("sched", "sched_switch", "next_pid", &place));
	EXPECT(tracebuf_find("sched", "sched_switch", "nobody", &place) == -ENOENT);
	EXPECT(tracebuf_find("nobody", "sched_switch", "next_pid", &place) == -ENOENT);
	EXPECT(tracebuf_handle("", tb_apitest_any, NULL) == ERR_PTR(-EINVAL));
	h = tracebuf_handle("all", tb_apitest_any, NULL);
	if (EXPECT(!IS_ERR(h)))
		tracebuf_unhandle(h);
	/* no recording wants the event */
	EXPECT(!tracebuf_enabled(apitest, types));
	EXPECT(!tracebuf_enabled(apitest, simple));
}

static void tb_apitest_outer(u32 number)
{
	struct tracebuf_apitest_outer *e;
	struct tracebuf_slot slot;
	static const u16 words[] = { 1, 65535 };
	u32 word;

	e = tracebuf_reserve(apitest, outer, &slot, 6 + sizeof(words) + 4 + 7);
	if (!e)
		return;
	EXPECT(!e->number && !e->text && !e->words && !e->rest);
	e->number = number;
	e->text = tracebuf_put_text(&slot, "outer");
	e->words = tracebuf_put_data(&slot, words, sizeof(words));
	/* other events in the middle of this one */
	tracebuf_event(apitest, inner, .number = number);
	tracebuf_event(apitest, simple, .a = 255, .b = -128, .c = -32768, .number = number);
	EXPECT(!tracebuf_room(&slot, 12, &word) && !word);
	EXPECT(tracebuf_room(&slot, 7, &word) && word >> 16 == 7);
	/* "too long" does not fit */
	e->rest = tracebuf_put_text(&slot, "too long");
	EXPECT(!tracebuf_put_text(&slot, "none left"));
	tracebuf_commit(&slot);
	/* larger than any event: counted */
	EXPECT(!tracebuf_reserve(apitest, outer, &slot, U32_MAX));
}

static int tb_apitest_fire(const char *value, const struct kernel_param *kp)
{
	unsigned int number;
	int err = kstrtouint(value, 0, &number);

	if (err)
		return err;
	tracebuf_event(apitest, types, .a = U8_MAX, .b = S8_MIN, .c = U16_MAX, .d = S16_MIN,
		       .e = U32_MAX, .f = S32_MIN, .g = U64_MAX, .h = S64_MIN, .i = true,
		       .j = (void *)0x1234, .k = "abcde", .l = { 1, -2, 3 },
		       .m = { { 1, 2 }, { 3, 4 } }, .n = -1, .o = 7, .p = number);
	tb_apitest_outer(number);
	tracebuf_event(apitest, word, .number = number);
	return wrong ? -EIO : 0;
}

static const struct kernel_param_ops tb_apitest_fire_ops = {
	.set = tb_apitest_fire,
};
module_param_cb(fire, &tb_apitest_fire_ops, NULL, 0200);

/*
 * An event that ends @hold milliseconds after a program has read in "held" that it has begun. A
 * work on another CPU records it: while a parameter is written no other can be read, and a program
 * on this CPU could not run.
 */
static unsigned int hold;
static bool held, held_seen;

/* shorter than what makes the kernel complain */
#define HELD_UNSEEN_MS	8000

static int tb_apitest_get_held(char *buffer, const struct kernel_param *kp)
{
	int bytes = param_get_bool(buffer, kp);

	WRITE_ONCE(held_seen, *buffer == 'Y');
	return bytes;
}

static const struct kernel_param_ops tb_apitest_held_ops = {
	.get = tb_apitest_get_held,
};
module_param_cb(held, &tb_apitest_held_ops, &held, 0444);

static void tb_apitest_holder(struct work_struct *work)
{
	struct tracebuf_apitest_outer *e;
	struct tracebuf_slot slot;
	ktime_t until;

	e = tracebuf_reserve(apitest, outer, &slot, 0);
	if (!e)
		return;
	WRITE_ONCE(held, true);
	/* not mdelay(): its loops are badly measured on emulated processors */
	until = ktime_add_ms(ktime_get(), HELD_UNSEEN_MS);
	while (!READ_ONCE(held_seen) && ktime_before(ktime_get(), until))
		cpu_relax();
	until = ktime_add_ms(ktime_get(), hold);
	while (ktime_before(ktime_get(), until))
		cpu_relax();
	e->number = hold;
	WRITE_ONCE(held, false);
	tracebuf_commit(&slot);
}

static DECLARE_WORK(tb_apitest_hold_work, tb_apitest_holder);

static int tb_apitest_hold(const char *value, const struct kernel_param *kp)
{
	int cpu = cpumask_any_but(cpu_online_mask, raw_smp_processor_id());
	int err;

	if (cpu >= nr_cpu_ids)
		return -ENXIO;
	flush_work(&tb_apitest_hold_work);
	held_seen = false;
	err = kstrtouint(value, 0, &hold);
	if (!err)
		schedule_work_on(cpu, &tb_apitest_hold_work);
	return err;
}

static const struct kernel_param_ops tb_apitest_hold_ops = {
	.set = tb_apitest_hold,
};
module_param_cb(hold, &tb_apitest_hold_ops, NULL, 0200);

static void tb_apitest_run(void)
{
	tb_apitest_names();
	EXPECT(!tracebuf_simple(own, TB_EV_USER, 0));
	EXPECT(!tracebuf_flush(own));
	EXPECT(tracebuf_stop(own) == -EINVAL);
	EXPECT(!tracebuf_start(own));
	EXPECT(tracebuf_start(own) == -EBUSY);
	tb_apitest_record();
	tb_apitest_accounting();
	EXPECT(!tracebuf_stop(own));
	EXPECT(!tracebuf_simple(own, TB_EV_USER, 0));
}

static int __init tb_apitest_init(void)
{
	struct tb_config config = { .buffers = 4, .elements = 64 };
	int err;

	kernel = tracebuf_get("kernel");
	if (IS_ERR(kernel))
		return PTR_ERR(kernel);
	own = tracebuf_create("apitest", &config);
	err = PTR_ERR_OR_ZERO(own);
	if (err)
		goto put;
	err = tracebuf_register(&events);
	if (err)
		goto destroy;
	err = tracebuf_register(&alike);
	if (err)
		goto unregister;
	handler = tracebuf_handle("apitest:wor?", tb_apitest_want, &seen);
	err = PTR_ERR_OR_ZERO(handler);
	if (err)
		goto unregister;
	tb_apitest_run();
	tb_apitest_events();
	if (!wrong)
		return 0;
	err = -EIO;
	tracebuf_unhandle(handler);
unregister:
	tracebuf_unregister(&alike);
	tracebuf_unregister(&events);
destroy:
	tracebuf_destroy(own);
put:
	tracebuf_put(kernel);
	return err;
}

static void __exit tb_apitest_exit(void)
{
	flush_work(&tb_apitest_hold_work);
	tracebuf_unhandle(handler);
	tracebuf_unregister(&alike);
	tracebuf_unregister(&events);
	tracebuf_destroy(own);
	tracebuf_put(kernel);
}

module_init(tb_apitest_init);
module_exit(tb_apitest_exit);

MODULE_LICENSE("GPL");
MODULE_DESCRIPTION("Test of the API for other modules");
MODULE_AUTHOR("The tracebuf authors");
