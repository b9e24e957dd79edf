// SPDX-License-Identifier: GPL-2.0-only
/*
 * The module: parameters, init and exit.  With the parameters a user records without the tool:
 *
 *	insmod tracebuf.ko events=sched,irq
 *	cat /dev/tracebuf >file
 *
 * Callers: the kernel's module loader, in process context.  Takes no lock of its own.
 */
#include <linux/module.h>
#include <linux/slab.h>
#include <linux/suspend.h>

#include "events/catalog.h"
#include "crash/panic.h"
#include "devices/tracebuf.h"
#include "probe/pending.h"
#include "recording/recording.h"
#include "select/select.h"

static char *events;
module_param(events, charp, 0444);
MODULE_PARM_DESC(events, "events to record as soon as the module is loaded: system, system:event, event, * and ?, separated by commas; all for all");

static bool wide;
module_param(wide, bool, 0444);
MODULE_PARM_DESC(wide, "record the wide form of all events");

static char *mode = "streaming";
module_param(mode, charp, 0444);
MODULE_PARM_DESC(mode, "streaming (default), circular or oneshot");

static char *policy;
module_param(policy, charp, 0444);
MODULE_PARM_DESC(policy, "when the reader is behind: overwrite (default) or drop; oneshot always drops");

static uint buffers;
module_param(buffers, uint, 0444);
MODULE_PARM_DESC(buffers, "buffers per CPU, 2 to 4096, oneshot from 1 (default 32)");

static uint elements;
module_param(elements, uint, 0444);
MODULE_PARM_DESC(elements, "16-byte elements per buffer, a power of two from 64 to 65536 (default 1024)");

static uint watermark;
module_param(watermark, uint, 0444);
MODULE_PARM_DESC(watermark, "fill level of a buffer at which the reader is woken, in percent (default 70)");

static uint durable_kib;
module_param(durable_kib, uint, 0444);
MODULE_PARM_DESC(durable_kib, "size of the durable buffer in KiB, 64 to 65536 (default 1024)");

static uint flush_ms;
module_param(flush_ms, uint, 0444);
MODULE_PARM_DESC(flush_ms, "interval in ms at which the recorder closes all buffers while there is a reader; 0: never (default)");

/* _hw: a locked-down kernel refuses this parameter, because it may be a physical address */
static char *memory;
module_param_hw(memory, charp, iomem, 0444);
MODULE_PARM_DESC(memory, "reserved memory for the buffers, so that the next boot finds them: ADDRESS:SIZE (memmap=SIZE$ADDRESS) or NAME (reserve_mem=SIZE:ALIGN:NAME)");

static char *clock = "auto";
module_param(clock, charp, 0444);
MODULE_PARM_DESC(clock, "auto (default), tsc, arch or mono");

static bool state = true;
module_param(state, bool, 0444);
MODULE_PARM_DESC(state, "write the existing threads into the durable buffer at start (default)");

static char *writers;
module_param(writers, charp, 0444);
MODULE_PARM_DESC(writers, "categories of programs to record, with * and ?, separated by commas; opens the provider to programs, within a quota that follows the size of its rings (default: none, closed)");

static ushort producer_mode = 0600;
module_param(producer_mode, ushort, 0444);
MODULE_PARM_DESC(producer_mode, "permissions of /dev/tracebuf_producer, which user-space writers open (default 0600)");

static uint producers_per_user = 256;
module_param(producers_per_user, uint, 0444);
MODULE_PARM_DESC(producers_per_user, "limit of the channels of user-space writers for each user without CAP_SYS_ADMIN; 0: only the 1024 for all users (default 256)");

module_param_named(memory_percent, tb_memory_percent, uint, 0444);
MODULE_PARM_DESC(memory_percent, "limit of the buffers of all recordings, in percent of the machine's memory, 1 to 100 (default 50)");

static const char * const tb_modes[] = { "oneshot", "circular", "streaming" };
static const char * const tb_policies[] = { "overwrite", "drop" };
static const char * const tb_clocks[] = { "auto", "tsc", "arch", "mono" };

/* Set *@out to the index of @value in @choices plus @first. */
static int tb_param_choice(const char *name, const char *value, const char * const *choices, int n,
			   int first, u32 *out)
{
	int i = match_string(choices, n, value);
	char all[64] = "";

	if (i < 0) {
		for (i = 0; i < n; i++) {
			strlcat(all, " ", sizeof(all));
			strlcat(all, choices[i], sizeof(all));
		}
		pr_err("tracebuf: %s=%s: not one of%s\n", name, value, all);
		return -EINVAL;
	}
	*out = first + i;
	return 0;
}

static int tb_param_range(const char *name, u32 value, u32 min, u32 max)
{
	if (!value || (value >= min && value <= max))
		return 0;
	pr_err("tracebuf: %s=%u: not within %u..%u\n", name, value, min, max);
	return -EINVAL;
}

static int tb_params_configure(void)
{
	struct tb_config c = {
		.buffers = buffers,
		.elements = elements,
		.watermark = watermark,
		.durable_kib = durable_kib,
		.flush_ms = flush_ms,
	};
	int err;

	err = tb_param_choice("mode", mode, tb_modes, ARRAY_SIZE(tb_modes), TB_MODE_ONESHOT,
			      &c.mode);
	if (!err && policy)
		err = tb_param_choice("policy", policy, tb_policies, ARRAY_SIZE(tb_policies),
				      TB_POLICY_OVERWRITE, &c.policy);
	if (!err)
		err = tb_param_choice("clock", clock, tb_clocks, ARRAY_SIZE(tb_clocks),
				      TB_CLOCK_AUTO, &c.clock) ?:
		      tb_param_range("buffers", buffers,
				     c.mode == TB_MODE_ONESHOT ? 1 : TB_BUFFERS_MIN,
				     TB_BUFFERS_MAX) ?:
		      tb_param_range("elements", elements, TB_BUFFER_ELEMENTS_MIN,
				     TB_BUFFER_ELEMENTS_MAX);
	if (!err && elements & (elements - 1)) {
		pr_err("tracebuf: elements=%u: not a power of two\n", elements);
		err = -EINVAL;
	}
	if (!err)
		err = tb_param_range("watermark", watermark, 1, 100) ?:
		      tb_param_range("durable_kib", durable_kib, 64, 65536) ?:
		      tb_param_range("producers_per_user", producers_per_user, 1,
				     TB_PRODUCERS_MAX);
	if (!err && (!tb_memory_percent || tb_memory_percent > 100)) {
		pr_err("tracebuf: memory_percent=%u: not within 1..100\n", tb_memory_percent);
		err = -EINVAL;
	}
	if (!err) {
		err = tb_provider_configure(&tb_kernel_provider, &c, cpu_possible_mask);
		if (err == -EINVAL)
			pr_err("tracebuf: these parameters do not go together: mode=%s policy=%s clock=%s flush_ms=%u\n",
			       mode, policy ?: "default", clock, flush_ms);
	}
	return err;
}

/* Call @apply for each pattern of a list with commas, up to the first error. */
static int tb_param_list(const char *patterns, int (*apply)(const char *pattern))
{
	char *list = kstrdup(patterns, GFP_KERNEL), *rest = list, *pattern;
	int err = 0;

	if (!list)
		return -ENOMEM;
	while (!err && (pattern = strsep(&rest, ",")))
		if (*pattern)
			err = apply(pattern);
	kfree(list);
	return err;
}

static int tb_param_event(const char *pattern)
{
	int err = tb_provider_select(&tb_kernel_provider, pattern, TB_SELECT_ENABLE,
				     wide ? TB_FORM_WIDE : TB_FORM_DEFAULT, NULL);

	if (err != -ENOENT)
		return err;
	pr_err("tracebuf: events=%s: no event matches '%s'\n", events, pattern);
	/* insmod would report ENOENT as an unknown symbol */
	return -EINVAL;
}

static int tb_param_category(const char *pattern)
{
	int err = -EINVAL;

	if (strlen(pattern) < TB_NAME_MAX)
		err = tb_channels_set_categories(&tb_kernel_provider, TB_CATEGORY_ENABLE, pattern);
	if (!err)
		return 0;
	pr_err("tracebuf: writers=%s: '%s': %s\n", writers, pattern,
	       err == -ENOSPC ? "too many" : "too long");
	/* insmod would report ENOSPC as a full device */
	return -EINVAL;
}

/* Configure the provider "kernel".  Start a recording if the user has named events. */
static int tb_params_apply(void)
{
	static const struct tb_quota quota = { .flags = TB_QUOTA_DEFAULT };
	int err = tb_params_configure();

	if (!err && writers && *writers) {
		err = tb_param_list(writers, tb_param_category);
		if (!err)
			err = tb_channels_set_quota(&tb_kernel_provider, &quota);
	}
	if (err || !events || !*events)
		return err;
	err = tb_param_list(events, tb_param_event);
	return err ?: tb_provider_start(&tb_kernel_provider, state ? 0 : TB_START_NO_STATE, NULL);
}

static int __init tb_init(void)
{
	static const struct tb_events_hooks hooks = {
		.added = tb_handlers_new_event,
		.changed = tb_select_refresh,
	};
	int err;

	err = tb_events_init(&hooks);
	if (err)
		return err;
	err = tb_registry_init();
	if (err)
		goto events_exit;
	if (memory && *memory)
		err = tb_region_init(memory);
	if (!err && tb_region.address)
		err = tb_previous_init();
	if (err)
		goto registry_exit;
	err = register_pm_notifier(&tb_sleep_block);
	if (err)
		goto registry_exit;
	err = tb_params_apply();
	if (err)
		goto sleep_exit;
	err = tb_panic_init();
	if (err)
		goto sleep_exit;
	/* the devices last: see tb_producer_allow() */
	err = tb_producer_init(producer_mode, producers_per_user);
	if (err)
		goto last_exit;
	err = misc_register(&tb_misc);
	if (err)
		goto producer_exit;
	tb_producer_allow();
	return 0;

producer_exit:
	misc_deregister(&tb_producer_misc);
last_exit:
	tb_panic_exit();
sleep_exit:
	unregister_pm_notifier(&tb_sleep_block);
registry_exit:
	tb_registry_exit();
	tb_region_exit();
events_exit:
	tb_events_exit();
	tb_pending_free();
	return err;
}

static void __exit tb_exit(void)
{
	misc_deregister(&tb_misc);
	misc_deregister(&tb_producer_misc);
	tb_panic_exit();
	unregister_pm_notifier(&tb_sleep_block);
	tb_registry_exit();
	tb_region_exit();
	tb_events_exit();
	/* wait for the RCU callbacks that free rules: they are code of this module */
	rcu_barrier();
	tb_pending_free();
}

module_init(tb_init);
module_exit(tb_exit);

MODULE_LICENSE("GPL");
/*
 * tracebuf_events.ko has the events of all other headers: they take 2 MB, and most are never
 * recorded.  The dependency is soft, because tracebuf works without that module.
 */
MODULE_SOFTDEP("post: tracebuf_events");
MODULE_DESCRIPTION("Always-on event recorder with per-CPU rings of contiguous buffers");
MODULE_AUTHOR("The tracebuf authors");
MODULE_VERSION(TB_VERSION);
