/* SPDX-License-Identifier: GPL-2.0-only */
/*
 * Reads traces with Babeltrace 2, for its tests: a graph of a source, the muxer and a sink. The
 * sink writes a line for each message and compares events with libtracebuf's. It renders a field
 * from Babeltrace's data alone, as tb_view_print() would.
 */
#ifndef TEST_BT_READ_H
#define TEST_BT_READ_H

#include <babeltrace2/babeltrace.h>
#include <inttypes.h>
#include "test_lib_run.h"

/**
 * struct reading - what the sink has seen
 * @text: a line for each event and loss
 * @error: why the graph failed; "" if it did not
 * @events, @lost: how many events, and how many discarded events
 * @idle: how many messages of inactivity
 * @packets: packets begun less packets ended
 * @again: how often to seek back to the beginning at the end
 * @trace, @cursor: compare with these; NULL: do not
 */
struct reading {
	char  *text;
	size_t used, room;
	char   error[1024];
	uint64_t events, lost, unequal;
	uint64_t idle;
	int64_t packets, last;
	unsigned int again;
	bt_message_iterator *iterator;
	struct tb_trace  *trace;
	struct tb_cursor *cursor;
	char   have[65536];
};

/* ---- text ---- */

struct out {
	char  *text;
	size_t used, size;
};

__attribute__((format(printf, 2, 3)))
static void put(struct out *out, const char *format, ...)
{
	va_list arguments;
	int length;

	va_start(arguments, format);
	length = vsnprintf(out->text + out->used, out->size - out->used, format,
			   arguments);
	va_end(arguments);
	assert(length >= 0 && (size_t)length < out->size - out->used);
	out->used += (size_t)length;
}

static void put_plain(struct out *out, const char *text)
{
	for (; *text; text++) {
		if (*text >= 0x20 && *text < 0x7f)
			put(out, "%c", *text);
		else
			put(out, "\\x%02x", (unsigned char)*text);
	}
}

static bool is_hex(const bt_field *field)
{
	return bt_field_class_integer_get_preferred_display_base(
			bt_field_borrow_class_const(field)) == 16;
}

static bool is_signed(const bt_field *field)
{
	return bt_field_class_type_is(bt_field_get_class_type(field),
				      BT_FIELD_CLASS_TYPE_SIGNED_INTEGER);
}

static uint64_t number_of(const bt_field *field)
{
	return is_signed(field) ?
	       (uint64_t)bt_field_integer_signed_get_value(field) :
	       bt_field_integer_unsigned_get_value(field);
}

/* The names of an enumeration's value; "" if there is none */
static const char *label_of(const bt_field *field)
{
	bt_field_class_enumeration_mapping_label_array labels;
	uint64_t count = 0;

	if (is_signed(field))
		assert(!bt_field_enumeration_signed_get_mapping_labels(field,
							&labels, &count));
	else
		assert(!bt_field_enumeration_unsigned_get_mapping_labels(field,
							&labels, &count));
	return count ? labels[0] : "";
}

static bool is_enumeration(const bt_field *field)
{
	return bt_field_class_type_is(bt_field_get_class_type(field),
				      BT_FIELD_CLASS_TYPE_ENUMERATION);
}

static void put_number(struct out *out, const bt_field *field)
{
	if (is_hex(field))
		put(out, "0x%" PRIx64, number_of(field));
	else if (is_signed(field))
		put(out, "%" PRId64, (int64_t)number_of(field));
	else
		put(out, "%" PRIu64, number_of(field));
}

static void put_any(struct out *out, const bt_field *field);

static void put_structure(struct out *out, const bt_field *field)
{
	const bt_field_class *class = bt_field_borrow_class_const(field);
	uint64_t i, count = bt_field_class_structure_get_member_count(class);

	for (i = 0; i < count; i++) {
		put(out, "%s%s=", i ? " " : "",
		    bt_field_class_structure_member_get_name(
			bt_field_class_structure_borrow_member_by_index_const(
				class, i)));
		put_any(out, bt_field_structure_borrow_member_field_by_index_const(
				field, i));
	}
}

static void put_any(struct out *out, const bt_field *field)
{
	bt_field_class_type type = bt_field_get_class_type(field);
	uint64_t i;

	if (bt_field_class_type_is(type, BT_FIELD_CLASS_TYPE_INTEGER)) {
		put_number(out, field);
		if (is_enumeration(field))
			put(out, "(%s)", label_of(field));
	} else if (type == BT_FIELD_CLASS_TYPE_STRING) {
		put_plain(out, bt_field_string_get_value(field));
	} else if (type == BT_FIELD_CLASS_TYPE_DOUBLE_PRECISION_REAL) {
		put(out, "%.17g", bt_field_real_double_precision_get_value(field));
	} else if (type == BT_FIELD_CLASS_TYPE_STRUCTURE) {
		put(out, "{");
		put_structure(out, field);
		put(out, "}");
	} else {
		assert(bt_field_class_type_is(type, BT_FIELD_CLASS_TYPE_ARRAY));
		put(out, "[");
		for (i = 0; i < bt_field_array_get_length(field); i++) {
			put(out, "%s", i ? "," : "");
			put_any(out, bt_field_array_borrow_element_field_by_index_const(
					field, i));
		}
		put(out, "]");
	}
}

static const bt_field *member(const bt_field *structure, const char *name)
{
	return bt_field_structure_borrow_member_field_by_name_const(structure,
								    name);
}

static uint64_t member_number(const bt_field *structure, const char *name)
{
	const bt_field *field = member(structure, name);

	return field ? number_of(field) : UINT64_MAX;
}

static const char *member_text(const bt_field *structure, const char *name)
{
	const bt_field *field = member(structure, name);

	return field ? bt_field_string_get_value(field) : "(none)";
}

/* ---- fields as tb_view_print() shows them ---- */

/* "0-3,7" of an array of ascending numbers */
static void put_ranges(struct out *out, const bt_field *field)
{
	uint64_t count = bt_field_array_get_length(field), i, first, last;

	for (i = 0; i < count; i++) {
		first = last = number_of(
			bt_field_array_borrow_element_field_by_index_const(field, i));
		while (i + 1 < count && number_of(
			bt_field_array_borrow_element_field_by_index_const(
				field, i + 1)) == last + 1) {
			last++;
			i++;
		}
		put(out, "%s%" PRIu64, out->text[out->used - 1] == '=' ? "" : ",",
		    first);
		if (last > first)
			put(out, "-%" PRIu64, last);
	}
}

static void put_bytes(struct out *out, const bt_field *field)
{
	uint64_t i;

	for (i = 0; i < bt_field_array_get_length(field); i++)
		put(out, "%02x", (unsigned int)number_of(
			bt_field_array_borrow_element_field_by_index_const(field,
									   i)));
}

static void put_field(struct out *out, const bt_field *field,
		      const struct tb_format_field *as)
{
	char state[24];

	if (!field) {
		put(out, "(none)");
	} else if (as->show == TB_SHOW_MASK) {
		put_ranges(out, field);
	} else if (as->show == TB_SHOW_BYTES) {
		put_bytes(out, field);
	} else if (as->show == TB_SHOW_STATE) {
		put(out, "%s", is_enumeration(field) && *label_of(field) ?
		    label_of(field) :
		    tb_task_state(number_of(field), state, sizeof(state)));
	} else if (as->show == TB_SHOW_SYSCALL || as->show == TB_SHOW_SOFTIRQ ||
		   as->show == TB_SHOW_SIGNAL) {
		put(out, "%" PRId64, (int64_t)number_of(field));
		if (is_enumeration(field) && *label_of(field))
			put(out, "(%s)", label_of(field));
	} else if (is_enumeration(field)) {
		put_number(out, field);		/* from a print format */
	} else {
		put_any(out, field);
	}
}

static void put_record(struct out *out, const bt_field *payload,
		       const char *type)
{
	const char *doubts = member(payload, "doubts") ?
			     member_text(payload, "doubts") : "";
	const bt_field *args = member(payload, "args");
	uint64_t flow = member_number(payload, "flow_end");
	size_t length;

	put(out, "%s", type);
	if (member(payload, "name") && *member_text(payload, "name")) {
		put(out, " ");
		put_plain(out, member_text(payload, "name"));
	}
	if (!strcmp(type, "counter")) {
		put(out, "=");
		put_any(out, member(payload, "value"));
	} else if (!strcmp(type, "simple")) {
		put(out, " value=%" PRIu64, member_number(payload, "value"));
	} else if (!strcmp(type, "event")) {
		put(out, " data=");
		put_bytes(out, member(payload, "data"));
	} else if (!strcmp(type, "mark")) {
		put(out, " ");
		put_plain(out, member_text(payload, "text"));
	} else if (!strcmp(type, "slice")) {
		if (member_number(payload, "ended"))
			put(out, " duration=%" PRIu64 ".%09" PRIu64,
			    member_number(payload, "duration") / 1000000000,
			    member_number(payload, "duration") % 1000000000);
		else
			put(out, " not ended");
	}
	if (flow != UINT64_MAX)
		put(out, flow ? " flow_end=%" PRIu64 : " flow=%" PRIu64,
		    member_number(payload, "flow"));
	if (args) {
		put(out, " ");
		put_structure(out, args);
	}
	while (*doubts) {
		length = strcspn(doubts, ",");
		put(out, " <%.*s>", (int)length, doubts);
		doubts += length + (doubts[length] ? 2 : 0);
	}
}

static void as_printed(struct out *out, const struct tb_view *view,
		       const bt_field *payload, const char *name)
{
	uint32_t i;

	if (view->kind == TB_VIEW_USER) {
		put_record(out, payload, strchr(name, ':') + 1);
	} else if (view->id == TB_EV_MARK) {
		put_plain(out, member_text(payload, "text"));
	} else if (!view->format && member(payload, "payload")) {
		put(out, "payload=");
		put_bytes(out, member(payload, "payload"));
	} else if (!view->format) {
		put_structure(out, payload);
	} else {
		for (i = 0; i < view->format->nr_fields; i++) {
			const struct tb_format_field *field =
				&view->format->fields[i];

			put(out, "%s%s=", i ? " " : "", field->name);
			put_field(out, member(payload, field->name), field);
		}
	}
}

/* ---- comparing ---- */

/* The name of a stream; in CTF it is the path of the stream's file */
static const char *stream_name(const bt_stream *stream)
{
	const char *name = bt_stream_get_name(stream);
	const char *base = strrchr(name, '/');

	return base ? base + 1 : name;
}

static bool differs(struct reading *reading, const char *what, const char *have,
		    const char *want)
{
	if (!strcmp(have, want))
		return false;
	if (++reading->unequal <= 5)
		printf("# event %" PRIu64 ": %s: have \"%s\"\n# want \"%s\"\n",
		       reading->events, what, have, want);
	test_failures++;
	return true;
}

static bool differ(struct reading *reading, const char *what, uint64_t have,
		   uint64_t want)
{
	char texts[2][24];

	snprintf(texts[0], sizeof(texts[0]), "%" PRIu64, have);
	snprintf(texts[1], sizeof(texts[1]), "%" PRIu64, want);
	return differs(reading, what, texts[0], texts[1]);
}

static void compare_stacks(struct reading *reading, const struct tb_view *view,
			   const bt_event *event)
{
	const bt_field *context =
		bt_event_borrow_specific_context_field_const(event), *stack;
	const char *name;
	uint32_t number, i;
	uint64_t value;

	if (view->nr_stack) {
		stack = member(bt_event_borrow_payload_field_const(event),
			       "callstack_kernel");
		if (differ(reading, "stack", stack ?
			   bt_field_array_get_length(stack) : 0, view->nr_stack))
			return;
		for (i = 0; i < view->nr_stack; i++)
			differ(reading, "address", number_of(
				bt_field_array_borrow_element_field_by_index_const(
					stack, i)), view->stack[i]);
	}
	for (i = 0; tb_view_counter(view, i, &number, &value) > 0; i++) {
		name = tb_trace_string(reading->trace, TB_STRING_COUNTER, number);
		differ(reading, "counter", context && name ?
		       member_number(context, name) : UINT64_MAX, value);
	}
}

/* Compare an event of Babeltrace with the next event of the cursor */
static void compare(struct reading *reading, const bt_event *event, uint64_t ns,
		    const char *name)
{
	const bt_stream *stream = bt_event_borrow_stream_const(event);
	const bt_field *context = bt_event_borrow_common_context_field_const(event);
	const bt_field *payload = bt_event_borrow_payload_field_const(event);
	const bt_field *packet = bt_packet_borrow_context_field_const(
		bt_event_borrow_packet_const(event));
	char text[65536], want[2 * TB_NAME_MAX + 2], spare[24];
	struct out out = { reading->have, 0, sizeof(reading->have) };
	struct tb_view view;
	int result;

	do {
		result = tb_cursor_next(reading->cursor, &view);
	} while (result > 0 && view.kind == TB_VIEW_EVENT &&
		 (view.id == TB_EV_CHUNK || view.id == TB_EV_PATCH));
	if (differ(reading, "there are more", (uint64_t)result, 1))
		return;
	snprintf(want, sizeof(want), "%s:%s", tb_view_system(&view),
		 view.kind == TB_VIEW_USER ? tb_record_type_name(view.user->type) :
		 tb_view_name(&view, spare));
	differs(reading, "name", name, want);
	differ(reading, "time", ns, view.ns);
	differ(reading, "tid", member_number(context, "tid"), view.tid);
	differ(reading, "pid", member_number(context, "pid"),
	       view.user ? view.user->pid : view.task ? view.task->tgid : 0);
	differs(reading, "comm", member_text(context, "comm"), view.comm);
	if (view.cpu == TB_RING_DURABLE || view.cpu == TB_RING_USER) {
		differs(reading, "stream", stream_name(stream),
			view.cpu == TB_RING_USER ? "programs" : "state");
	} else {
		snprintf(want, sizeof(want), "cpu%u", view.cpu);
		differs(reading, "stream", stream_name(stream), want);
		differ(reading, "CPU", member_number(packet, "cpu_id"), view.cpu);
	}
	if (view.kind == TB_VIEW_USER)
		differs(reading, "category", member_text(payload, "category"),
			view.user->category);
	if (view.kind == TB_VIEW_LOST) {
		differ(reading, "overwritten",
		       member_number(payload, "overwritten"),
		       view.lost.overwritten);
		differ(reading, "dropped", member_number(payload, "dropped"),
		       view.lost.dropped);
	} else if (view.kind == TB_VIEW_USER_LOST) {
		differ(reading, "lost", member_number(payload, "records"),
		       view.user->lost);
	} else {
		assert(tb_view_print(reading->trace, &view, text, sizeof(text)) <
		       (int)sizeof(text));
		as_printed(&out, &view, payload, name);
		differs(reading, "text", reading->have, text);
		compare_stacks(reading, &view, event);
	}
}

/* ---- the sink ---- */

static uint64_t snapshot_ns(const bt_clock_snapshot *snapshot)
{
	return bt_clock_snapshot_get_value(snapshot);
}

/* Times must not go back, over all streams */
static void in_order(struct reading *reading, const bt_clock_snapshot *snapshot)
{
	int64_t ns;

	assert(!bt_clock_snapshot_get_ns_from_origin(snapshot, &ns));
	CHECK(ns >= reading->last);
	reading->last = ns;
}

static void add_line(struct reading *reading, const char *text, size_t length)
{
	if (reading->used + length + 2 > reading->room) {
		reading->room = 2 * (reading->used + length + 2);
		reading->text = realloc(reading->text, reading->room);
		assert(reading->text);
	}
	memcpy(reading->text + reading->used, text, length);
	reading->used += length;
	reading->text[reading->used++] = '\n';
	reading->text[reading->used] = 0;
}

static void take_event(struct reading *reading, const bt_message *message)
{
	const bt_clock_snapshot *snapshot =
		bt_message_event_borrow_default_clock_snapshot_const(message);
	const bt_event *event = bt_message_event_borrow_event_const(message);
	const char *name = bt_event_class_get_name(
				bt_event_borrow_class_const(event));
	const bt_field *context;
	static char line[131072];
	struct out out = { line, 0, sizeof(line) };

	in_order(reading, snapshot);
	put(&out, "%" PRIu64 " %s %s ", snapshot_ns(snapshot),
	    stream_name(bt_event_borrow_stream_const(event)), name);
	put_structure(&out, bt_event_borrow_common_context_field_const(event));
	put(&out, " | ");
	context = bt_event_borrow_specific_context_field_const(event);
	if (context) {
		put_structure(&out, context);
		put(&out, " | ");
	}
	put_structure(&out, bt_event_borrow_payload_field_const(event));
	add_line(reading, line, out.used);
	if (reading->cursor)
		compare(reading, event, snapshot_ns(snapshot), name);
	reading->events++;
}

static void take_loss(struct reading *reading, const bt_message *message)
{
	const bt_clock_snapshot *first =
		bt_message_discarded_events_borrow_beginning_default_clock_snapshot_const(
			message);
	char line[256];
	uint64_t count;
	int length;

	in_order(reading, first);
	CHECK(bt_message_discarded_events_get_count(message, &count) ==
	      BT_PROPERTY_AVAILABILITY_AVAILABLE);
	reading->lost += count;
	length = snprintf(line, sizeof(line), "LOST %s %" PRIu64 "-%" PRIu64 " %"
			  PRIu64, stream_name(
				bt_message_discarded_events_borrow_stream_const(
					message)), snapshot_ns(first),
			  snapshot_ns(
		bt_message_discarded_events_borrow_end_default_clock_snapshot_const(
			message)), count);
	add_line(reading, line, (size_t)length);
}

static void take_message(struct reading *reading, const bt_message *message)
{
	switch (bt_message_get_type(message)) {
	case BT_MESSAGE_TYPE_EVENT:
		take_event(reading, message);
		break;
	case BT_MESSAGE_TYPE_DISCARDED_EVENTS:
		take_loss(reading, message);
		break;
	case BT_MESSAGE_TYPE_PACKET_BEGINNING:
		in_order(reading,
			bt_message_packet_beginning_borrow_default_clock_snapshot_const(
				message));
		reading->packets++;
		break;
	case BT_MESSAGE_TYPE_PACKET_END:
		in_order(reading,
			bt_message_packet_end_borrow_default_clock_snapshot_const(
				message));
		reading->packets--;
		break;
	case BT_MESSAGE_TYPE_MESSAGE_ITERATOR_INACTIVITY:
		in_order(reading,
			bt_message_message_iterator_inactivity_borrow_clock_snapshot_const(
				message));
		reading->idle++;
		break;
	default:
		break;
	}
	bt_message_put_ref(message);
}

static bt_graph_simple_sink_component_initialize_func_status
sink_begin(bt_message_iterator *iterator, void *data)
{
	((struct reading *)data)->iterator = iterator;
	return BT_GRAPH_SIMPLE_SINK_COMPONENT_INITIALIZE_FUNC_STATUS_OK;
}

static bt_graph_simple_sink_component_consume_func_status
sink_take(bt_message_iterator *iterator, void *data)
{
	struct reading *reading = data;
	bt_message_iterator_next_status status;
	bt_message_array_const messages;
	uint64_t count, i;
	bt_bool can;

	status = bt_message_iterator_next(iterator, &messages, &count);
	if (status == BT_MESSAGE_ITERATOR_NEXT_STATUS_END && reading->again) {
		reading->again--;
		reading->last = INT64_MIN;
		add_line(reading, "again", 5);
		assert(!bt_message_iterator_can_seek_beginning(iterator, &can));
		CHECK(can);
		CHECK(!bt_message_iterator_seek_beginning(iterator));
		return BT_GRAPH_SIMPLE_SINK_COMPONENT_CONSUME_FUNC_STATUS_OK;
	}
	if (status)
		return (bt_graph_simple_sink_component_consume_func_status)status;
	for (i = 0; i < count; i++)
		take_message(reading, messages[i]);
	return BT_GRAPH_SIMPLE_SINK_COMPONENT_CONSUME_FUNC_STATUS_OK;
}

/* ---- the graph ---- */

/* The plugin of this tree or one of Babeltrace's; the caller calls bt_plugin_put_ref() */
static const bt_plugin *find_plugin(const char *name)
{
	const char *path = getenv("TRACEBUF_BT2_PLUGIN");
	const bt_plugin_set *set;
	const bt_plugin *plugin;

	if (strcmp(name, "tracebuf")) {
		assert(!bt_plugin_find(name, BT_FALSE, BT_FALSE, BT_TRUE, BT_FALSE,
				       BT_TRUE, &plugin));
		return plugin;
	}
	assert(path);
	assert(!bt_plugin_find_all_from_file(path, BT_TRUE, &set));
	plugin = bt_plugin_set_borrow_plugin_by_index_const(set, 0);
	bt_plugin_get_ref(plugin);
	bt_plugin_set_put_ref(set);
	return plugin;
}

static bt_value *inputs_of(const char *path)
{
	bt_value *params = bt_value_map_create(), *inputs;

	assert(params);
	assert(!bt_value_map_insert_empty_array_entry(params, "inputs", &inputs));
	assert(!bt_value_array_append_string_element(inputs, path));
	return params;
}

static void remember_error(struct reading *reading)
{
	const bt_error *error = bt_current_thread_take_error();
	uint64_t i, used = 0;

	for (i = 0; error && i < bt_error_get_cause_count(error) &&
		    used < sizeof(reading->error); i++)
		used += (uint64_t)snprintf(reading->error + used,
			sizeof(reading->error) - used, "%s; ",
			bt_error_cause_get_message(
				bt_error_borrow_cause_by_index(error, i)));
	if (!used)
		strcpy(reading->error, "no reason given");
	if (error)
		bt_error_release(error);
}

/* Connect all ports of the source to the muxer, and the muxer to the sink */
static void connect_all(bt_graph *graph, const bt_component_source *source,
			const bt_component_filter *muxer,
			const bt_component_sink *sink)
{
	uint64_t i, count;

	count = bt_component_source_get_output_port_count(source);
	for (i = 0; i < count; i++)
		assert(!bt_graph_connect_ports(graph,
			bt_component_source_borrow_output_port_by_index_const(
				source, i),
			bt_component_filter_borrow_input_port_by_index_const(
				muxer, i), NULL));
	assert(!bt_graph_connect_ports(graph,
		bt_component_filter_borrow_output_port_by_index_const(muxer, 0),
		bt_component_sink_borrow_input_port_by_index_const(sink, 0), NULL));
}

/* Read @path with source.@plugin_name.@class. @from: compare with this file's first recording */
static void read_with(struct reading *reading, const char *plugin_name,
		      const char *class, const char *path, const char *from)
{
	const bt_plugin *plugin = find_plugin(plugin_name);
	const bt_plugin *utils = find_plugin("utils");
	bt_graph *graph = bt_graph_create(0);
	bt_value *params = inputs_of(path);
	const bt_component_source *source;
	const bt_component_filter *muxer;
	const bt_component_sink *sink;

	assert(graph);
	reading->last = INT64_MIN;
	if (from) {
		assert(!tb_trace_open(from, &reading->trace, NULL));
		assert(!tb_cursor_open(reading->trace, &reading->cursor));
	}
	assert(!bt_graph_add_filter_component(graph,
		bt_plugin_borrow_filter_component_class_by_name_const(utils,
			"muxer"), "muxer", NULL, BT_LOGGING_LEVEL_NONE, &muxer));
	assert(!bt_graph_add_simple_sink_component(graph, "sink", sink_begin,
						   sink_take, NULL, reading, &sink));
	if (bt_graph_add_source_component(graph,
		bt_plugin_borrow_source_component_class_by_name_const(plugin,
			class), "source", params, BT_LOGGING_LEVEL_NONE, &source)) {
		remember_error(reading);
	} else {
		connect_all(graph, source, muxer, sink);
		if (bt_graph_run(graph))
			remember_error(reading);
		else
			CHECK_NUMBER((uint64_t)reading->packets, 0);
	}
	if (reading->unequal > 5)
		printf("# and %" PRIu64 " more\n", reading->unequal - 5);
	bt_graph_put_ref(graph);
	bt_value_put_ref(params);
	bt_plugin_put_ref(utils);
	bt_plugin_put_ref(plugin);
	if (from) {
		struct tb_view view;

		while (!*reading->error &&
		       tb_cursor_next(reading->cursor, &view) > 0)
			CHECK(view.kind == TB_VIEW_EVENT &&
			      (view.id == TB_EV_CHUNK || view.id == TB_EV_PATCH));
		tb_cursor_close(reading->cursor);
		tb_trace_close(reading->trace);
	}
}

static void forget(struct reading *reading)
{
	free(reading->text);
	memset(reading, 0, sizeof(*reading));
}

#endif /* TEST_BT_READ_H */
