// SPDX-License-Identifier: GPL-2.0-only
/*
 * source.tracebuf.input: read files, with an output port for each recording in them.
 */
#include <errno.h>
#include <inttypes.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include "plugin.h"
#include "lib/array.h"

struct input {
	struct bs_file **files;
	size_t nr_files, room_files;
	struct bs_port **ports;
	size_t nr_ports, room_ports;
};

static void free_input(struct input *input)
{
	size_t i;

	if (!input)
		return;
	for (i = 0; i < input->nr_ports; i++) {
		tb_trace_close(input->ports[i]->trace);
		free(input->ports[i]);
	}
	for (i = 0; i < input->nr_files; i++) {
		free(input->files[i]->name);
		free(input->files[i]);
	}
	free(input->ports);
	free(input->files);
	free(input);
}

static struct bs_file *add_file(struct input *input, const char *name)
{
	struct bs_file *file;

	if (tb_array_grow(&input->files, &input->room_files, input->nr_files, sizeof(file)))
		return NULL;
	file = calloc(1, sizeof(*file));
	if (!file)
		return NULL;
	file->name = strdup(name);
	if (!file->name) {
		free(file);
		return NULL;
	}
	input->files[input->nr_files++] = file;
	return file;
}

static void format_error(char *text, size_t size, const char *name,
			 const struct tb_error *error)
{
	if (error->offset == TB_OFFSET_NONE)
		snprintf(text, size, "%s: %s", name, error->text);
	else
		snprintf(text, size, "%s: at byte %" PRIu64 ": %s", name,
			 error->offset, error->text);
}

/* Add a port for each recording of the file.  0, or -errno and the reason in @text */
static int add_ports(struct input *input, const char *name, char *text,
		     size_t size)
{
	struct bs_file *file = add_file(input, name);
	unsigned int i, recordings = 1;
	struct bs_port *port;
	struct tb_error error;
	int result;

	if (!file)
		return -ENOMEM;
	for (i = 0; i < recordings; i++) {
		port = calloc(1, sizeof(*port));
		if (!port || tb_array_grow(&input->ports, &input->room_ports, input->nr_ports,
					   sizeof(port))) {
			free(port);
			return -ENOMEM;
		}
		port->file = file;
		input->ports[input->nr_ports++] = port;
		result = tb_trace_open(name, &port->trace, &error);
		if (result < 0) {
			format_error(text, size, name, &error);
			return result;
		}
		recordings = tb_trace_recordings(port->trace);
		result = tb_trace_select(port->trace, i);
		if (result < 0) {
			snprintf(text, size, "%s changed while tracebuf read it",
				 name);
			return result;
		}
	}
	return 0;
}

/* Open the files of the parameter 'inputs'.  0, or -errno and the reason in @text */
static int open_input(const bt_value *params, struct input **out, char *text,
		      size_t size)
{
	const bt_value *inputs, *one;
	struct input *input;
	int result = 0;
	uint64_t i;

	*out = NULL;
	snprintf(text, size, "out of memory");
	inputs = params ? bt_value_map_borrow_entry_value_const(params,
								"inputs") : NULL;
	if (!inputs || !bt_value_is_array(inputs) ||
	    bt_value_array_is_empty(inputs)) {
		snprintf(text, size, "the parameter 'inputs' must be an array of file names");
		return -EINVAL;
	}
	input = calloc(1, sizeof(*input));
	if (!input)
		return -ENOMEM;
	for (i = 0; !result && i < bt_value_array_get_length(inputs); i++) {
		one = bt_value_array_borrow_element_by_index_const(inputs, i);
		if (bt_value_is_string(one)) {
			result = add_ports(input, bt_value_string_get(one), text,
					   size);
		} else {
			snprintf(text, size, "each element of 'inputs' must be a file name");
			result = -EINVAL;
		}
	}
	if (result < 0)
		free_input(input);
	else
		*out = input;
	return result;
}

static void format_port_name(char name[32], size_t number)
{
	snprintf(name, 32, "recording%zu", number);
}

bt_component_class_initialize_method_status
input_initialize(bt_self_component_source *self,
		 bt_self_component_source_configuration *configuration,
		 const bt_value *params, void *data)
{
	bt_self_component *component =
		bt_self_component_source_as_self_component(self);
	struct input *input;
	char text[512], name[32];
	int result;
	size_t i;

	(void)configuration;
	(void)data;
	result = open_input(params, &input, text, sizeof(text));
	for (i = 0; !result && i < input->nr_ports; i++) {
		format_port_name(name, i);
		if (bt_self_component_source_add_output_port(self, name,
						input->ports[i], NULL)) {
			free_input(input);
			snprintf(text, sizeof(text), "cannot create an output port");
			result = -ENOMEM;
		}
	}
	if (!result) {
		bt_self_component_set_data(component, input);
		return BT_COMPONENT_CLASS_INITIALIZE_METHOD_STATUS_OK;
	}
	BT_CURRENT_THREAD_ERROR_APPEND_CAUSE_FROM_COMPONENT(component, "%s",
							    text);
	return result == -ENOMEM ?
	       BT_COMPONENT_CLASS_INITIALIZE_METHOD_STATUS_MEMORY_ERROR :
	       BT_COMPONENT_CLASS_INITIALIZE_METHOD_STATUS_ERROR;
}

void input_finalize(bt_self_component_source *self)
{
	free_input(bt_self_component_get_data(
			bt_self_component_source_as_self_component(self)));
}

/* ---- queries ---- */

static const char *get_text_param(const bt_value *params, const char *name)
{
	const bt_value *value = params && bt_value_is_map(params) ?
		bt_value_map_borrow_entry_value_const(params, name) : NULL;

	return value && bt_value_is_string(value) ? bt_value_string_get(value) :
	       NULL;
}

/* Return the weight with which the class claims the file in babeltrace.support-info */
static double rate_support(const bt_value *params)
{
	const char *type = get_text_param(params, "type");
	const char *path = get_text_param(params, "input");
	union {
		struct tb_block block;
		char bytes[64];
	} head = { .bytes = "" };
	struct tb_error error;
	int64_t size;
	size_t got;
	FILE *file;

	if (!type || !path || strcmp(type, "file"))
		return 0;
	file = fopen(path, "rbe");
	if (!file)
		return 0;
	got = fread(&head, 1, sizeof(head), file);
	fclose(file);
	if (got < sizeof(head))
		return 0;
	/* -ENODATA: the block is truncated; -EPROTO: unknown version; both are files of tracebuf */
	size = tb_block_check(&head, sizeof(head), &error);
	return size > 0 || size == -ENODATA || size == -EPROTO ? 0.9 : 0;
}

/* Add the time range of @stream, in ns from 1970.  false: no memory */
static bool add_stream_info(bt_value *list, const struct tb_trace *trace,
			    const struct bs_stream *stream, const char *port)
{
	bt_value *info, *range;
	const struct tb_clock_sync *syncs;
	uint64_t offset = 0;
	size_t count;

	syncs = tb_trace_syncs(trace, &count);
	if (syncs)
		offset = syncs->realtime - syncs->monotonic;
	return !bt_value_array_append_empty_map_element(list, &info) &&
	       !bt_value_map_insert_string_entry(info, "port-name", port) &&
	       !bt_value_map_insert_empty_map_entry(info, "range-ns", &range) &&
	       !bt_value_map_insert_signed_integer_entry(range, "begin",
				(int64_t)(stream->first + offset)) &&
	       !bt_value_map_insert_signed_integer_entry(range, "end",
				(int64_t)(stream->last + offset));
}

static bool add_trace_info(bt_value *result, struct tb_trace *trace,
			   const char *port)
{
	struct bs_streams streams = { 0 };
	bt_value *info, *list;
	bool fine;
	size_t i;

	fine = !bs_streams_scan(&streams, trace, 0, NULL, NULL) &&
	       !bt_value_array_append_empty_map_element(result, &info) &&
	       !bt_value_map_insert_empty_array_entry(info, "stream-infos",
						      &list);
	for (i = 0; fine && i < streams.count; i++)
		fine = add_stream_info(list, trace, &streams.list[i], port);
	bs_streams_free(&streams);
	return fine;
}

static bt_component_class_query_method_status
query_trace_infos(bt_self_component_class *class, const bt_value *params,
		  const bt_value **out)
{
	struct input *input;
	char text[512], name[32];
	bt_value *result;
	bool fine;
	size_t i;

	if (open_input(params, &input, text, sizeof(text)) < 0) {
		BT_CURRENT_THREAD_ERROR_APPEND_CAUSE_FROM_COMPONENT_CLASS(class,
			"%s", text);
		return BT_COMPONENT_CLASS_QUERY_METHOD_STATUS_ERROR;
	}
	result = bt_value_array_create();
	fine = result;
	for (i = 0; fine && i < input->nr_ports; i++) {
		format_port_name(name, i);
		fine = add_trace_info(result, input->ports[i]->trace, name);
	}
	free_input(input);
	if (!fine) {
		bt_value_put_ref(result);
		return BT_COMPONENT_CLASS_QUERY_METHOD_STATUS_MEMORY_ERROR;
	}
	*out = result;
	return BT_COMPONENT_CLASS_QUERY_METHOD_STATUS_OK;
}

bt_component_class_query_method_status
input_query(bt_self_component_class_source *self,
	    bt_private_query_executor *executor, const char *object,
	    const bt_value *params, void *data, const bt_value **result)
{
	(void)executor;
	(void)data;
	if (!strcmp(object, "babeltrace.trace-infos"))
		return query_trace_infos(
			bt_self_component_class_source_as_self_component_class(
				self), params, result);
	if (strcmp(object, "babeltrace.support-info"))
		return BT_COMPONENT_CLASS_QUERY_METHOD_STATUS_UNKNOWN_OBJECT;
	*result = bt_value_real_create_init(rate_support(params));
	return *result ? BT_COMPONENT_CLASS_QUERY_METHOD_STATUS_OK :
	       BT_COMPONENT_CLASS_QUERY_METHOD_STATUS_MEMORY_ERROR;
}
