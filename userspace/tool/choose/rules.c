// SPDX-License-Identifier: GPL-2.0-only
/*
 * Enable the chosen events, with their rules (filters, sampling, stacks ...).
 *
 * All rules are compiled before the first is set, and all are set before the first event is
 * enabled: after a mistake in the command line nothing has changed.
 */
#include <errno.h>
#include <stdlib.h>
#include <string.h>
#include "choose.h"
#include "targets.h"
#include "tool/command/command.h"
#include "tool/command/nearest.h"

/* ---- filters ---- */

/* Complain about an error in a filter, and offer similar names of fields */
static int complain_filter(const struct tb_format *format, const char *filter,
			const struct tb_error *error)
{
	struct nearest nearest;
	char text[512] = "", word[TB_NAME_MAX];
	const char *name;
	size_t length;
	uint32_t i;

	if (error->code == -ENOENT && error->offset < strlen(filter)) {
		name = filter + error->offset;
		length = strspn(name, "abcdefghijklmnopqrstuvwxyz_0123456789"
				      "ABCDEFGHIJKLMNOPQRSTUVWXYZ");
		snprintf(word, sizeof(word), "%.*s", (int)length, name);
		nearest_start(&nearest, word);
		for (i = 0; i < format->nr_fields; i++)
			nearest_offer(&nearest, NULL, format->fields[i].name);
		for (i = 0; (name = tb_filter_common(i)); i++)
			nearest_offer(&nearest, NULL, name);
		nearest_text(&nearest, text, sizeof(text));
	}
	complain("filter '%s' for %s:%s: %s%s", filter, format->system,
		 format->name, error->text, text);
	return EXIT_WRONG;
}

/* Compile all filters, joined by &&; first each alone, so that errors have the right column */
static int compile_filters(const struct tb_format *format, const char *const *filters,
		   size_t count, struct tb_filter_code *code)
{
	struct tb_error error;
	size_t i, used = 0, room = 1;
	char *text;
	int status = EXIT_FINE;

	for (i = 0; i < count; i++) {
		if (tb_filter_compile(filters[i], format, code, &error))
			return complain_filter(format, filters[i], &error);
		room += strlen(filters[i]) + 6;
	}
	if (count < 2)
		return EXIT_FINE;
	text = malloc(room);
	if (!text)
		return complain("out of memory");
	for (i = 0; i < count; i++)
		used += (size_t)snprintf(text + used, room - used, "%s(%s)",
					 i ? " && " : "", filters[i]);
	if (tb_filter_compile(text, format, code, &error))
		status = complain_filter(format, text, &error);
	free(text);
	return status;
}

/* Compile the filters and system calls of @target; complains, EXIT_* */
static int make_tests(const struct choice *choice, const struct target *target,
		      const struct tb_format *format,
		      struct tb_filter_code *code)
{
	const unsigned char *bits = call_bits(target->calls, &target->info);
	const char *filters[2 * FILTERS_MAX];
	const struct item *item = target->item;
	size_t used, count = choice->nr_filters;
	struct tb_error error;
	int status;

	memset(code, 0, sizeof(*code));
	memcpy(filters, choice->filters, count * sizeof(*filters));
	memcpy(filters + count, item->filters,
	       item->nr_filters * sizeof(*filters));
	count += item->nr_filters;
	status = compile_filters(format, filters, count, code);
	if (status)
		return status;
	if (count && code->verdict == TB_FILTER_NEVER && !choice->checked)
		note("warning: the filter can never be true of %s:%s: no such event will be recorded",
		     format->system, format->name);
	used = bits ? syscall_set_size(bits) : 0;
	if (used && tb_filter_one_of(code, format, "id", bits, used, &error))
		return complain("%s:%s: %s", format->system, format->name,
				error.text);
	return EXIT_FINE;
}

static bool wants_tests(const struct choice *choice, const struct target *target)
{
	return choice->nr_filters || target->item->nr_filters ||
	       target->calls;
}

/* ---- rules ---- */

void compiled_rules_free(struct compiled_rules *compiled)
{
	size_t i;

	for (i = 0; i < compiled->count; i++)
		free(compiled->codes[i]);
	free(compiled->codes);
	free(compiled->rules);
	memset(compiled, 0, sizeof(*compiled));
}

static int add_rule(struct tb_device *device, const struct choice *choice,
		    const struct target *target, struct compiled_rules *compiled)
{
	const struct item *item = target->item;
	struct tb_rule *rule = &compiled->rules[compiled->count];
	struct tb_filter_code *code;
	struct tb_format *format;
	int result, status;

	*rule = (struct tb_rule){
		.index = target->index, .flags = item->flags,
		.sample = item->sample, .rate = item->rate,
		.counters = (uint64_t)(uintptr_t)(item->nr_counters ?
						  item->counters : NULL),
		.nr_counters = item->nr_counters,
	};
	code = calloc(1, sizeof(*code));
	if (!code)
		return complain("out of memory");
	compiled->codes[compiled->count++] = code;
	if (!wants_tests(choice, target))
		return EXIT_FINE;
	result = tb_device_format(device, target->index, &format);
	if (result < 0)
		return complain("%s:%s cannot be described: %s",
				target->info.system, target->info.name,
				strerror(-result));
	status = make_tests(choice, target, format, code);
	free(format);
	rule->nr_tests = code->nr_tests;
	rule->data_bytes = code->data_bytes;
	if (code->nr_tests)
		rule->tests = (uint64_t)(uintptr_t)code->tests;
	if (code->data_bytes)
		rule->data = (uint64_t)(uintptr_t)code->data;
	return status;
}

static bool wants_rule(const struct choice *choice, const struct target *target)
{
	const struct item *item = target->item;

	return wants_tests(choice, target) || item->flags || item->sample > 1 ||
	       item->rate || item->nr_counters;
}

static int make_rules(struct tb_device *device, const struct choice *choice,
		      const struct targets *targets, struct compiled_rules *compiled)
{
	const struct target *target;
	int status = EXIT_FINE;
	size_t i;

	memset(compiled, 0, sizeof(*compiled));
	compiled->rules = calloc(targets->count + 1, sizeof(*compiled->rules));
	compiled->codes = calloc(targets->count + 1, sizeof(*compiled->codes));
	if (!compiled->rules || !compiled->codes)
		return complain("out of memory");
	for (i = 0; i < targets->count && !status; i++) {
		target = &targets->list[i];
		if (target->item && wants_rule(choice, target))
			status = add_rule(device, choice, target, compiled);
	}
	return status;
}

static int rule_failed(const struct target *target, const struct tb_rule *rule,
		       int result)
{
	const char *system = target->info.system, *name = target->info.name;

	switch (-result) {
	case ENOTTY:
		return complain("the module has no filters, stacks and counters: install module and tools of the same release");
	case EOPNOTSUPP:
		if (rule->bad < rule->nr_counters)
			return complain("%s:%s: this machine has no counter '%s' (virtual machines often lack the processor's counters; all machines have page-faults, context-switches and the like)",
					system, name,
					target->item->counters[rule->bad].name);
		return complain("%s:%s: this kernel cannot record what was chosen with the event",
				system, name);
	case ENOSPC:
		return complain("%s:%s: all events together have more than %d different counters",
				system, name, TB_COUNTERS_MAX);
	case EINVAL:
		return complain("%s:%s: the module does not accept test %u of its filter",
				system, name, rule->bad + 1);
	}
	return complain("%s:%s: the rule cannot be set: %s", system, name,
			strerror(-result));
}

static const struct target *target_at(const struct targets *targets,
				      uint32_t index)
{
	size_t i;

	for (i = 0; i < targets->count && targets->list[i].index != index; i++)
		;
	return &targets->list[i];
}

static int set_rules(struct tb_device *device, const struct targets *targets,
		     struct compiled_rules *compiled)
{
	size_t i;
	int result;

	for (i = 0; i < compiled->count; i++) {
		result = tb_device_rule(device, &compiled->rules[i]);
		if (result < 0)
			return rule_failed(target_at(targets, compiled->rules[i].index),
					   &compiled->rules[i], result);
	}
	return EXIT_FINE;
}

/* Errors are ignored: a module that does not support rules has none */
static void clear_rule(struct tb_device *device, const struct target *target)
{
	struct tb_rule rule = { .index = target->index };

	tb_device_rule(device, &rule);
}

/* ---- enabling ---- */

static bool has_exclusions(const struct choice *choice)
{
	size_t i;

	for (i = 0; i < choice->count; i++)
		if (choice->items[i].exclude && !choice->items[i].users)
			return true;
	return false;
}

static int select_target(struct tb_device *device, const struct choice *choice,
			 const struct target *target, enum tb_select_op op)
{
	enum tb_form form = target->item->form ? target->item->form : choice->form;
	char full[2 * TB_NAME_MAX + 2];

	snprintf(full, sizeof(full), "%s:%s", target->info.system,
		 target->info.name);
	return pattern_select(device, full, op, form, false);
}

/*
 * Enable or disable all chosen events: with one call for each pattern, or if patterns do not
 * suffice ('!', system calls), one call for each event
 */
static int select_targets(struct tb_device *device, const struct choice *choice,
			  const struct targets *targets, enum tb_select_op op)
{
	bool by_name = has_exclusions(choice);
	const struct item *item;
	int status = EXIT_FINE;
	size_t i;

	for (i = 0; i < choice->count && !by_name && !status; i++) {
		item = &choice->items[i];
		if (!item->calls && !item->users)
			status = pattern_select(device, item->pattern, op,
						item->form ? item->form :
						choice->form, item->optional);
	}
	for (i = 0; i < targets->count && !status; i++)
		if (targets->list[i].item &&
		    (by_name || targets->list[i].item->calls))
			status = select_target(device, choice,
					       &targets->list[i], op);
	return status;
}

static int choice_prepare(struct tb_device *device, const struct choice *choice,
			  struct targets *targets, struct compiled_rules *compiled)
{
	int status = targets_read(device, targets);

	memset(compiled, 0, sizeof(*compiled));
	if (!status)
		status = targets_choose(device, targets, choice);
	if (!status)
		status = make_rules(device, choice, targets, compiled);
	return status;
}

int choice_check(struct tb_device *device, struct choice *choice)
{
	struct targets targets;
	struct compiled_rules compiled;
	int status = choice_prepare(device, choice, &targets, &compiled);

	choice->checked = true;
	compiled_rules_free(&compiled);
	targets_free(&targets);
	return status;
}

void choice_clear(struct tb_device *device)
{
	tb_device_select(device, TB_SELECT_DISABLE, TB_FORM_DEFAULT, "all");
	tb_device_no_rules(device);
	/* ignore errors: a module without categories has chosen none */
	tb_device_category(device, TB_CATEGORY_CLEAR, NULL);
	quota_close(device);
}

int choice_set(struct tb_device *device, const struct choice *choice)
{
	struct targets targets;
	struct compiled_rules compiled;
	int status = choice_prepare(device, choice, &targets, &compiled);

	if (!status) {
		tb_device_select(device, TB_SELECT_DISABLE, TB_FORM_DEFAULT,
				 "all");
		tb_device_no_rules(device);
		/* ignore errors: a module without categories has chosen none */
		tb_device_category(device, TB_CATEGORY_CLEAR, NULL);
		status = set_rules(device, &targets, &compiled);
		if (!status)
			status = select_targets(device, choice, &targets,
						TB_SELECT_ENABLE);
		if (!status)
			status = choice_categories(device, choice, true);
		if (!status)
			status = choice_quota(device, choice, true);
		if (status)
			choice_clear(device);
	}
	compiled_rules_free(&compiled);
	targets_free(&targets);
	return status;
}

int choice_enable(struct tb_device *device, const struct choice *choice)
{
	struct targets targets;
	struct compiled_rules compiled;
	int status = choice_prepare(device, choice, &targets, &compiled);
	bool unfinished = !status;
	size_t i;

	if (!status)
		status = set_rules(device, &targets, &compiled);
	for (i = 0; i < targets.count && !status; i++)
		if (targets.list[i].item && !wants_rule(choice, &targets.list[i]))
			clear_rule(device, &targets.list[i]);
	if (!status)
		status = select_targets(device, choice, &targets,
					TB_SELECT_ENABLE);
	if (!status)
		status = choice_categories(device, choice, true);
	if (!status)
		status = choice_quota(device, choice, false);
	/* after a failure remove the rules of events that are not enabled */
	for (i = 0; i < targets.count && unfinished && status; i++)
		if (targets.list[i].item &&
		    !(targets.list[i].info.flags & TB_INFO_ENABLED))
			clear_rule(device, &targets.list[i]);
	compiled_rules_free(&compiled);
	targets_free(&targets);
	return status;
}

int choice_disable(struct tb_device *device, const struct choice *choice)
{
	struct targets targets;
	int status = targets_read(device, &targets);
	size_t i;

	if (!status)
		status = targets_choose(device, &targets, choice);
	if (!status)
		status = select_targets(device, choice, &targets,
					TB_SELECT_DISABLE);
	if (!status)
		status = choice_categories(device, choice, false);
	for (i = 0; i < targets.count && !status; i++)
		if (targets.list[i].item)
			clear_rule(device, &targets.list[i]);
	targets_free(&targets);
	return status;
}

/* ---- triggers ---- */

static bool add_pattern(char *text, size_t size, const char *system,
			const char *name)
{
	size_t used = strlen(text);

	return used + (size_t)snprintf(text + used, size - used, "%s%s%s%s",
				       used ? "," : "", system,
				       *name ? ":" : "", name) < size;
}

static int trigger_patterns(const struct choice *choice,
			    const struct targets *targets, char *text,
			    size_t size)
{
	bool by_name = has_exclusions(choice), fits = true;
	const struct tb_event_info *info;
	size_t i;

	text[0] = 0;
	for (i = 0; i < choice->count && !by_name && fits; i++)
		if (!choice->items[i].calls)
			fits = add_pattern(text, size,
					   choice->items[i].pattern, "");
	for (i = 0; i < targets->count && fits; i++) {
		info = &targets->list[i].info;
		if (targets->list[i].item &&
		    (by_name || targets->list[i].item->calls))
			fits = add_pattern(text, size, info->system, info->name);
	}
	return fits ? EXIT_FINE :
	       complain("the names of the trigger's events have more than %zu characters: name fewer events, or leave none out ('!')",
			size - 1);
}

/* Drop rules without tests: events without a rule always trigger */
static void drop_empty(struct compiled_rules *compiled)
{
	size_t i, kept = 0;

	for (i = 0; i < compiled->count; i++) {
		if (compiled->rules[i].nr_tests) {
			compiled->rules[kept] = compiled->rules[i];
			compiled->codes[kept++] = compiled->codes[i];
		} else {
			free(compiled->codes[i]);
		}
	}
	compiled->count = kept;
}

int choice_trigger(struct tb_device *device, const struct command *command,
		   const struct choice *choice, char *text, size_t size,
		   struct compiled_rules *compiled)
{
	struct choice wide = *choice;
	struct targets targets;
	const struct item *item;
	size_t i;
	int status;

	memset(compiled, 0, sizeof(*compiled));
	for (i = 0; i < choice->count; i++) {
		item = &choice->items[i];
		if (item->users)
			return misused(command, "'user:%s': a trigger is an event of the kernel",
				       item->pattern);
		if (item->flags || item->sample || item->rate ||
		    item->nr_counters || item->form)
			return misused(command, "'%s': a trigger takes nothing but a filter",
				       item->pattern);
	}
	status = choice_prepare(device, &wide, &targets, compiled);
	drop_empty(compiled);
	if (!status)
		status = trigger_patterns(choice, &targets, text, size);
	targets_free(&targets);
	return status;
}
