// SPDX-License-Identifier: GPL-2.0-only
/*
 * Create the Babeltrace objects of a recording: trace, clock, and classes of streams.
 *
 * The clock counts ns of CLOCK_MONOTONIC, as `tracebuf print' does, with its offset to 1970.  It
 * does not count ticks of the trace clock: their length varies between clock records, but a clock
 * class has one frequency.
 */
#include <inttypes.h>
#include <search.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include "source.h"

#define NS_PER_SECOND 1000000000

/* ---- clock ---- */

/*
 * The first clock record has the offset to CLOCK_REALTIME.  Without a clock record, as in a damaged
 * file, the offset is 0, and the clock still claims the origin 1970: Babeltrace refuses to mix
 * clocks with and without that origin, so it would show nothing of a file with two recordings.
 */
static bool create_clock_class(struct bs_model *model, bt_self_component *component,
			       const struct tb_trace *trace)
{
	const struct tb_init *init = tb_trace_init(trace);
	const struct tb_clock_sync *syncs;
	int64_t offset, seconds;
	size_t count;

	model->clock_class = bt_clock_class_create(component);
	if (!model->clock_class ||
	    bt_clock_class_set_name(model->clock_class, "monotonic") ||
	    bt_clock_class_set_description(model->clock_class,
					   "CLOCK_MONOTONIC of the machine that was recorded"))
		return false;
	bt_clock_class_set_frequency(model->clock_class, NS_PER_SECOND);
	if (init)
		bt_clock_class_set_uuid(model->clock_class, init->load_id);
	syncs = tb_trace_syncs(trace, &count);
	bt_clock_class_set_origin_is_unix_epoch(model->clock_class, BT_TRUE);
	if (!syncs)
		return true;
	offset = (int64_t)(syncs->realtime - syncs->monotonic);
	seconds = offset / NS_PER_SECOND;
	offset %= NS_PER_SECOND;
	if (offset < 0) {
		offset += NS_PER_SECOND;
		seconds--;
	}
	bt_clock_class_set_offset(model->clock_class, seconds, (uint64_t)offset);
	if (init && init->frequency)
		bt_clock_class_set_precision(model->clock_class,
			(uint64_t)syncs->uncertainty * NS_PER_SECOND /
			init->frequency);
	return true;
}

/* ---- streams ---- */

/* Interrupt contexts are TB_CONTEXT_* >> 8, or this value in events without a context */
#define INTERRUPT_UNKNOWN 255

static bt_field_class *create_interrupt_class(bt_trace_class *trace_class)
{
	struct bs_label labels[] = {
		{ 0, "no" }, { 1, "softirq" }, { 2, "hardirq" },
		{ 3, "hardirq in softirq" }, { 4, "nmi" },
		{ 5, "nmi in softirq" }, { 6, "nmi in hardirq" },
		{ 7, "nmi in hardirq in softirq" },
		{ INTERRUPT_UNKNOWN, "unknown" },
	};

	return bs_enumeration_class_create(trace_class, false, 8, labels,
					   sizeof(labels) / sizeof(labels[0]));
}

static bool add_number_member(bt_trace_class *trace_class, bt_field_class *structure,
			      const char *name, unsigned int bits)
{
	return bs_member_add(structure, name,
			     bs_integer_class_create(trace_class, false, bits, false));
}

static bool set_event_context(bt_trace_class *trace_class,
			      bt_stream_class *stream_class, enum bs_kind kind)
{
	bt_field_class *context = bt_field_class_structure_create(trace_class);
	bool fine;

	if (!context)
		return false;
	fine = add_number_member(trace_class, context, "tid", 32) &&
	       add_number_member(trace_class, context, "pid", 32) &&
	       bs_member_add(context, "comm",
			     bt_field_class_string_create(trace_class));
	if (fine && kind == BS_PROGRAMS)
		fine = add_number_member(trace_class, context, "uid", 32) &&
		       add_number_member(trace_class, context, "producer", 32) &&
		       add_number_member(trace_class, context, "writer", 32);
	else if (fine)
		fine = bs_member_add(context, "interrupt",
				     create_interrupt_class(trace_class)) &&
		       add_number_member(trace_class, context, "preempt_depth", 8);
	if (fine)
		fine = !bt_stream_class_set_event_common_context_field_class(
				stream_class, context);
	bt_field_class_put_ref(context);
	return fine;
}

/* Put the CPU into the context of packets, as LTTng does */
static bool set_packet_context(bt_trace_class *trace_class,
			       bt_stream_class *stream_class, enum bs_kind kind)
{
	bt_field_class *context;
	bool fine;

	bt_stream_class_set_supports_packets(stream_class, BT_TRUE, BT_TRUE,
					     BT_TRUE);
	bt_stream_class_set_supports_discarded_events(stream_class, BT_TRUE,
						      BT_TRUE);
	if (kind != BS_CPU)
		return true;
	context = bt_field_class_structure_create(trace_class);
	if (!context)
		return false;
	fine = add_number_member(trace_class, context, "cpu_id", 32) &&
	       !bt_stream_class_set_packet_context_field_class(stream_class,
							       context);
	bt_field_class_put_ref(context);
	return fine;
}

static const char *const stream_names[BS_KINDS] = {
	[BS_CPU] = "cpu", [BS_STATE] = "state", [BS_PROGRAMS] = "programs",
};

static bool create_stream_class(struct bs_model *model, enum bs_kind kind)
{
	bt_stream_class *class;

	class = bt_stream_class_create(model->trace_class);
	model->stream_classes[kind] = class;
	if (!class)
		return false;
	/* the stream of a CPU has the CPU's number */
	bt_stream_class_set_assigns_automatic_stream_id(class, BT_FALSE);
	return !bt_stream_class_set_name(class, stream_names[kind]) &&
	       !bt_stream_class_set_default_clock_class(class,
							model->clock_class) &&
	       set_packet_context(model->trace_class, class, kind) &&
	       set_event_context(model->trace_class, class, kind);
}

bt_stream *bs_model_create_stream(struct bs_model *model, enum bs_kind kind,
				  uint32_t cpu)
{
	bt_stream *stream;
	char name[32];

	if (kind == BS_CPU)
		snprintf(name, sizeof(name), "cpu%" PRIu32, cpu);
	else
		snprintf(name, sizeof(name), "%s", stream_names[kind]);
	stream = bt_stream_create_with_id(model->stream_classes[kind],
					  model->trace, cpu);
	if (stream && bt_stream_set_name(stream, name)) {
		bt_stream_put_ref(stream);
		return NULL;
	}
	return stream;
}

bool bs_context_fill(enum bs_kind kind, const struct tb_view *view,
		     bt_event *event)
{
	bt_field *context = bt_event_borrow_common_context_field(event);
	uint32_t pid = view->task ? view->task->tgid : 0;
	uint64_t values[BS_WRITER + 1] = { 0 };
	enum bs_context i, end;

	if (kind == BS_PROGRAMS) {
		pid = view->user->pid;
		values[BS_UID] = view->user->uid;
		values[BS_PRODUCER] = view->user->producer;
		values[BS_WRITER] = view->user->writer_id;
		end = BS_WRITER;
	} else {
		values[BS_INTERRUPT] = INTERRUPT_UNKNOWN;
		if (view->structure == TB_STRUCT_COMPOSITE) {
			values[BS_INTERRUPT] = view->context >> 8 & 7;
			values[BS_PREEMPT_DEPTH] = view->context &
						   TB_CONTEXT_PREEMPT_MASK;
		}
		end = BS_PREEMPT_DEPTH;
	}
	values[BS_TID] = view->tid;
	values[BS_PID] = pid;
	for (i = 0; i <= end; i++)
		if (i != BS_COMM)
			bt_field_integer_unsigned_set_value(
				bt_field_structure_borrow_member_field_by_index(
					context, i), values[i]);
	return bs_text_set(bt_field_structure_borrow_member_field_by_index(
				context, BS_COMM), view->comm,
			   strlen(view->comm));
}

/* ---- the trace ---- */

static bool set_env_text(bt_trace *trace, const char *name, const char *value)
{
	return !bt_trace_set_environment_entry_string(trace, name, value);
}

static bool set_env_number(bt_trace *trace, const char *name, uint64_t value)
{
	return !bt_trace_set_environment_entry_integer(trace, name,
						       (int64_t)value);
}

/*
 * Set a UUID that no other recording has: the load_id of the module is random, and generation and
 * provider distinguish the recordings of a load.
 */
static void set_uuid(bt_trace *trace, const struct tb_init *init)
{
	uint8_t uuid[16];
	unsigned int i;

	memcpy(uuid, init->load_id, sizeof(uuid));
	for (i = 0; i < 8; i++)
		uuid[i] ^= (uint8_t)(init->generation >> 8 * i);
	for (i = 0; i < sizeof(init->provider) && init->provider[i]; i++)
		uuid[8 + i % 8] ^= (uint8_t)init->provider[i];
	bt_trace_set_uuid(trace, uuid);
}

/* Use the names of LTTng and perf, which analyses look for */
static bool set_environment(bt_trace *bt, const struct tb_trace *trace,
			    uint64_t uncommitted)
{
	const struct tb_init *init = tb_trace_init(trace);

	if (!set_env_text(bt, "domain", "kernel") ||
	    !set_env_text(bt, "sysname", "Linux") ||
	    !set_env_text(bt, "tracer_name", "tracebuf") ||
	    !set_env_text(bt, "tracer_version", tb_version()) ||
	    (uncommitted && !set_env_number(bt, "unfinished_events", uncommitted)))
		return false;
	if (!init)
		return true;
	set_uuid(bt, init);
	return !bt_trace_set_name(bt, init->provider) &&
	       set_env_text(bt, "hostname", init->nodename) &&
	       set_env_text(bt, "kernel_release", init->release) &&
	       set_env_text(bt, "kernel_version", init->version) &&
	       set_env_text(bt, "architecture", init->machine) &&
	       set_env_text(bt, "provider", init->provider) &&
	       set_env_text(bt, "mode", tb_mode_name(init->mode)) &&
	       set_env_text(bt, "policy", tb_policy_name(init->policy)) &&
	       set_env_text(bt, "trace_clock", tb_clock_name(init->clock)) &&
	       set_env_number(bt, "trace_clock_frequency", init->frequency) &&
	       set_env_number(bt, "recording", init->generation);
}

struct bs_model *bs_model_create(bt_self_component *component,
				 const struct tb_trace *trace,
				 uint64_t uncommitted)
{
	struct bs_model *model = calloc(1, sizeof(*model));
	enum bs_kind kind;
	bool fine;

	if (!model)
		return NULL;
	model->by_format = calloc(BS_EVENT_IDS, sizeof(*model->by_format));
	model->values = bs_values_alloc();
	model->trace_class = bt_trace_class_create(component);
	fine = model->by_format && model->values && model->trace_class &&
	       create_clock_class(model, component, trace);
	for (kind = 0; fine && kind < BS_KINDS; kind++)
		fine = create_stream_class(model, kind);
	if (fine) {
		model->trace = bt_trace_create(model->trace_class);
		fine = model->trace && set_environment(model->trace, trace,
						       uncommitted);
	}
	if (fine)
		return model;
	bs_model_free(model);
	return NULL;
}

void bs_model_free(struct bs_model *model)
{
	enum bs_kind kind;

	if (!model)
		return;
	tdestroy(model->classes, bs_class_free);
	bt_trace_put_ref(model->trace);
	for (kind = 0; kind < BS_KINDS; kind++)
		bt_stream_class_put_ref(model->stream_classes[kind]);
	bt_clock_class_put_ref(model->clock_class);
	bt_trace_class_put_ref(model->trace_class);
	free(model->values);
	free(model->by_format);
	free(model);
}
