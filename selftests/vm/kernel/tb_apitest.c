// SPDX-License-Identifier: GPL-2.0-only
/*
 * A module that uses tracebuf as drivers do (include/linux/tracebuf.h): on loading it
 * makes a provider, records into it and stops it; it removes it when it is unloaded.
 * test_api.sh looks at the rest from outside.  What went wrong is in the log, and
 * loading fails.
 */
#include <linux/err.h>
#include <linux/module.h>
#include <linux/string.h>
#include <linux/tracebuf.h>

#define SIMPLE	10
#define BYTES	40

static struct tb_provider *own, *kernel;

static int wrong;

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
	/* and nothing is left of it */
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
	/* larger than any: counted */
	EXPECT(!tracebuf_begin(own, &slot, TB_EV_USER, 1 << 20));
	EXPECT(tracebuf_flush(own));
}

static void tb_apitest_run(void)
{
	tb_apitest_names();
	EXPECT(!tracebuf_simple(own, TB_EV_USER, 0));
	EXPECT(!tracebuf_flush(own));
	EXPECT(tracebuf_stop(own) == -EINVAL);
	EXPECT(!tracebuf_start(own));
	EXPECT(tracebuf_start(own) == -EBUSY);
	tb_apitest_record();
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
	if (!err) {
		tb_apitest_run();
		err = wrong ? -EIO : 0;
		if (err)
			tracebuf_destroy(own);
	}
	if (err)
		tracebuf_put(kernel);
	return err;
}

static void __exit tb_apitest_exit(void)
{
	tracebuf_destroy(own);
	tracebuf_put(kernel);
}

module_init(tb_apitest_init);
module_exit(tb_apitest_exit);

MODULE_LICENSE("GPL");
MODULE_DESCRIPTION("Test of the API for other modules");
MODULE_AUTHOR("The tracebuf authors");
