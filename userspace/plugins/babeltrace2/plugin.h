/* SPDX-License-Identifier: GPL-2.0-only */
/*
 * The methods of the plugin's component classes, which plugin.c registers in Babeltrace.
 */
#ifndef TB_BABELTRACE_PLUGIN_H
#define TB_BABELTRACE_PLUGIN_H

#include "source.h"

/* ---- input.c: source.tracebuf.input; its iterators are those of iterator.c ---- */

bt_component_class_initialize_method_status
input_initialize(bt_self_component_source *self,
		 bt_self_component_source_configuration *configuration,
		 const bt_value *params, void *data);
void input_finalize(bt_self_component_source *self);
bt_component_class_query_method_status
input_query(bt_self_component_class_source *self,
	    bt_private_query_executor *executor, const char *object,
	    const bt_value *params, void *data, const bt_value **result);

/* ---- live.c: source.tracebuf.live ---- */

bt_component_class_initialize_method_status
live_initialize(bt_self_component_source *self,
		bt_self_component_source_configuration *configuration,
		const bt_value *params, void *data);
void live_finalize(bt_self_component_source *self);
bt_message_iterator_class_initialize_method_status
live_iterator_initialize(bt_self_message_iterator *self,
			 bt_self_message_iterator_configuration *configuration,
			 bt_self_component_port_output *port);
void live_iterator_finalize(bt_self_message_iterator *self);
bt_message_iterator_class_next_method_status
live_iterator_next(bt_self_message_iterator *self,
		   bt_message_array_const array, uint64_t capacity,
		   uint64_t *count);

#endif /* TB_BABELTRACE_PLUGIN_H */
