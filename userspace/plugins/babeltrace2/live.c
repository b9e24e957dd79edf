// SPDX-License-Identifier: GPL-2.0-only
/*
 * source.tracebuf.live: read the recording of a provider while the provider records.
 *
 * Every EVERY_NS, the iterator reads the clock, then the number of events that writers have begun
 * in each ring.  It flushes and empties the rings.  If all these events have arrived or were lost,
 * it passes on all events up to that time, in order over all CPUs; later events wait for the next
 * pass.  A message iterator inactivity message follows, so that a muxer need not wait.
 *
 * libtracebuf reads files.  So the iterator keeps blocks as the image of a file, and opens the
 * image anew for each pass.  It keeps durable blocks back to a complete state, blocks with events
 * that it has not passed on, and a limited amount of blocks with chunks of programs: later records
 * refer to names and beginnings in them.
 */
#include <errno.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include "live.h"
#include "plugin.h"
#include "tracebuf_record.h"

#define BATCH		64
#define EVERY_NS	200000000u	/* between two flushes */
#define FETCH_BYTES	(128u << 20)	/* limit for one pass */

struct live_source {
	char *path;		/* of the device; NULL: the default */
	char *provider;		/* NULL: "kernel" */
};

struct live_iterator {
	struct tb_device *device;
	struct live_recording live;
	struct bs_messages *messages;
	struct tb_trace *trace;	/* of the current pass; NULL between passes */
	uint32_t clock;
	unsigned int nr_cpus;
	uint64_t next_ns;	/* time of the next flush */
	bool     ended;		/* the image has the end of the recording */
};

/* ---- the component ---- */

static void source_free(struct live_source *source)
{
	if (source) {
		free(source->path);
		free(source->provider);
	}
	free(source);
}

/* Set @text to a copy of the parameter, if there is one.  false: not a string, or no memory */
static bool read_text_param(const bt_value *params, const char *name, char **text)
{
	const bt_value *value = params ?
		bt_value_map_borrow_entry_value_const(params, name) : NULL;

	if (!value)
		return true;
	if (!bt_value_is_string(value))
		return false;
	*text = strdup(bt_value_string_get(value));
	return *text;
}

/* Open the device as reader of the provider.  NULL: failed, with the reason in @text */
static struct tb_device *open_device(const struct live_source *source,
				     char *text, size_t size)
{
	const char *name = source->provider ? source->provider : "kernel";
	struct tb_device *device;
	struct tb_query query;
	struct tb_error error;
	int result;

	if (tb_device_open(source->path, TB_DEVICE_NONBLOCK, &device,
			   &error) < 0) {
		snprintf(text, size, "%s", error.text);
		return NULL;
	}
	result = source->provider ? tb_device_attach(device, source->provider) : 0;
	if (result == -ENOENT || result == -EINVAL)
		snprintf(text, size,
			 "there is no provider '%s'; 'tracebuf provider list' lists them", name);
	else if (result < 0)
		snprintf(text, size, "provider '%s': %s", name,
			 strerror(-result));
	if (!result) {
		result = tb_device_query(device, &query);
		if (result < 0)
			snprintf(text, size, "provider '%s': %s", name,
				 strerror(-result));
	}
	if (!result && (query.state == TB_STATE_IDLE ||
			query.mode != TB_MODE_STREAMING)) {
		snprintf(text, size, "provider '%s' %s: record in streaming mode ('tracebuf start')",
			 name, query.state == TB_STATE_IDLE ?
			 "has recorded nothing yet" : "records in another mode");
		result = -EINVAL;
	}
	if (!result)
		return device;
	tb_device_close(device);
	return NULL;
}

bt_component_class_initialize_method_status
live_initialize(bt_self_component_source *self,
		bt_self_component_source_configuration *configuration,
		const bt_value *params, void *data)
{
	bt_self_component *component =
		bt_self_component_source_as_self_component(self);
	struct live_source *source = calloc(1, sizeof(*source));
	char text[512] = "the parameters 'device' and 'provider' must be strings";
	struct tb_device *device = NULL;
	bool fine;

	(void)configuration;
	(void)data;
	if (source && read_text_param(params, "device", &source->path) &&
	    read_text_param(params, "provider", &source->provider))
		device = open_device(source, text, sizeof(text));
	/* the component only tests the device; the iterator opens it again */
	fine = device;
	tb_device_close(device);
	if (fine && !bt_self_component_source_add_output_port(self, "live",
								source, NULL)) {
		bt_self_component_set_data(component, source);
		return BT_COMPONENT_CLASS_INITIALIZE_METHOD_STATUS_OK;
	}
	source_free(source);
	BT_CURRENT_THREAD_ERROR_APPEND_CAUSE_FROM_COMPONENT(component, "%s",
							    text);
	return BT_COMPONENT_CLASS_INITIALIZE_METHOD_STATUS_ERROR;
}

void live_finalize(bt_self_component_source *self)
{
	source_free(bt_self_component_get_data(
			bt_self_component_source_as_self_component(self)));
}

/* ---- the iterator ---- */

static void iterator_free(struct live_iterator *iterator)
{
	bs_messages_free(iterator->messages);
	tb_trace_close(iterator->trace);
	live_free(&iterator->live);
	tb_device_close(iterator->device);
	free(iterator);
}

/* Open the device and map its buffers.  0; -errno, with the reason in @text */
static int map_device(struct live_iterator *iterator,
		      const struct live_source *source, char *text, size_t size)
{
	struct tb_query query;
	int result;

	iterator->device = open_device(source, text, size);
	if (!iterator->device)
		return -EINVAL;
	result = tb_device_query(iterator->device, &query);
	if (!result)
		result = tb_device_map(iterator->device, NULL, NULL);
	if (!result)
		result = live_create_rings(&iterator->live, query.nr_cpus);
	if (result < 0) {
		snprintf(text, size, "cannot map the buffers: %s",
			 strerror(-result));
		return result;
	}
	iterator->clock = query.clock;
	iterator->nr_cpus = query.nr_cpus;
	return 0;
}

bt_message_iterator_class_initialize_method_status
live_iterator_initialize(bt_self_message_iterator *self,
			 bt_self_message_iterator_configuration *configuration,
			 bt_self_component_port_output *port)
{
	struct live_iterator *iterator = calloc(1, sizeof(*iterator));
	char text[512] = "out of memory";

	(void)configuration;
	if (iterator)
		iterator->messages = bs_messages_create(
			bt_self_message_iterator_borrow_component(self), self);
	if (iterator && iterator->messages &&
	    !map_device(iterator, bt_self_component_port_get_data(
			bt_self_component_port_output_as_self_component_port(
				port)), text, sizeof(text))) {
		bt_self_message_iterator_set_data(self, iterator);
		return BT_MESSAGE_ITERATOR_CLASS_INITIALIZE_METHOD_STATUS_OK;
	}
	if (iterator)
		iterator_free(iterator);
	BT_CURRENT_THREAD_ERROR_APPEND_CAUSE_FROM_MESSAGE_ITERATOR(self, "%s",
								   text);
	return BT_MESSAGE_ITERATOR_CLASS_INITIALIZE_METHOD_STATUS_ERROR;
}

void live_iterator_finalize(bt_self_message_iterator *self)
{
	iterator_free(bt_self_message_iterator_get_data(self));
}

/* ---- emptying the rings ---- */

/* Copy the blocks that are ready.  0; -ENODATA: the recording was stopped, and is empty; -errno */
static int acquire_blocks(struct live_iterator *iterator)
{
	struct tb_ref refs[BATCH];
	size_t begun = iterator->live.used;
	int count, result = 0, released, i;

	do {
		count = tb_device_acquire(iterator->device, refs, BATCH, 0);
		for (i = 0; i < count && !result; i++)
			result = live_add_block(&iterator->live,
						tb_device_block(iterator->device,
								&refs[i]));
		if (count > 0) {
			released = tb_device_release(iterator->device, refs,
						     (unsigned int)count);
			if (released < 0 && !result)
				result = released;
		}
	} while (count > 0 && !result &&
		 iterator->live.used - begun < FETCH_BYTES);
	return result ? result : count < 0 ? count : 0;
}

/* Store the number of events that writers of each ring have begun */
static int read_attempted(struct live_iterator *iterator)
{
	struct tb_stats stats;
	unsigned int cpu;
	int result;

	for (cpu = 0; cpu < iterator->nr_cpus; cpu++) {
		result = tb_device_stats(iterator->device, cpu, &stats);
		if (result < 0)
			return result;
		iterator->live.rings[cpu].attempted = stats.attempted;
	}
	return 0;
}

/* Return whether all these events have arrived or were lost; an interrupted writer delays some */
static bool has_attempted_events(struct live_iterator *iterator)
{
	struct tb_stats stats;
	unsigned int cpu;

	for (cpu = 0; cpu < iterator->nr_cpus; cpu++)
		if (tb_device_stats(iterator->device, cpu, &stats) < 0 ||
		    stats.delivered + stats.overwritten + stats.dropped <
		    iterator->live.rings[cpu].attempted)
			return false;
	return true;
}

/* Read the rings.  1: all events up to a later time have arrived; 0: not yet; -errno */
static int fetch_blocks(struct live_iterator *iterator)
{
	uint64_t until = tb_clock_read(iterator->clock);
	int result;

	result = read_attempted(iterator);
	if (result < 0)
		return result;
	/* flushing fails if the recording was stopped; acquire_blocks() then returns -ENODATA */
	tb_device_flush(iterator->device, -1);
	result = acquire_blocks(iterator);
	if (result == -ENODATA) {
		iterator->ended = true;
		iterator->live.until = UINT64_MAX;
		return 1;
	}
	if (result < 0)
		return result;
	if (!has_attempted_events(iterator))
		return 0;
	iterator->live.until = until;
	return 1;
}

/* ---- passing on ---- */

static void unload_trace(struct live_iterator *iterator)
{
	bs_messages_unload(iterator->messages);
	tb_trace_close(iterator->trace);
	iterator->trace = NULL;
	live_end_pass(&iterator->live);
}

static int load_trace(struct live_iterator *iterator)
{
	struct live_recording *live = &iterator->live;
	int result;

	if (!live->used)
		return 0;
	result = tb_trace_open_memory(live->image, live->used, &iterator->trace,
				      NULL);
	/* another recording has begun, so this one and its streams end */
	if (!result && tb_trace_recordings(iterator->trace) > 1) {
		iterator->ended = true;
		live->until = UINT64_MAX;
	}
	if (!result)
		result = bs_messages_load(iterator->messages, iterator->trace,
					  live_read_event, live);
	if (!result && iterator->ended)
		bs_messages_finish(iterator->messages);
	return result;
}

static bool is_flush_due(struct live_iterator *iterator)
{
	uint64_t now = tb_clock_monotonic();

	if (now < iterator->next_ns)
		return false;
	iterator->next_ns = now + EVERY_NS;
	return true;
}

bt_message_iterator_class_next_method_status
live_iterator_next(bt_self_message_iterator *self,
		   bt_message_array_const array, uint64_t capacity,
		   uint64_t *count)
{
	struct live_iterator *iterator = bt_self_message_iterator_get_data(self);
	int result = 0;

	for (;;) {
		if (iterator->trace) {
			result = bs_messages_next(iterator->messages, array,
						  capacity, count);
			if (result > 0)
				return BT_MESSAGE_ITERATOR_CLASS_NEXT_METHOD_STATUS_OK;
			if (!result && iterator->live.no_memory)
				result = -ENOMEM;
			if (!result)
				result = live_add_inactivity(&iterator->live, iterator->messages,
							     iterator->trace);
			if (result > 0)
				continue;
			unload_trace(iterator);
			if (result < 0)
				break;
		}
		if (iterator->ended)
			return BT_MESSAGE_ITERATOR_CLASS_NEXT_METHOD_STATUS_END;
		if (!is_flush_due(iterator))
			return BT_MESSAGE_ITERATOR_CLASS_NEXT_METHOD_STATUS_AGAIN;
		result = fetch_blocks(iterator);
		if (result > 0)
			result = load_trace(iterator);
		if (result < 0)
			break;
	}
	if (result == -ENOMEM)
		return BT_MESSAGE_ITERATOR_CLASS_NEXT_METHOD_STATUS_MEMORY_ERROR;
	BT_CURRENT_THREAD_ERROR_APPEND_CAUSE_FROM_MESSAGE_ITERATOR(self,
		"cannot read the recording: %s", result == -EBUSY ?
		"another program reads this provider's recording" :
		strerror(-result));
	return BT_MESSAGE_ITERATOR_CLASS_NEXT_METHOD_STATUS_ERROR;
}
