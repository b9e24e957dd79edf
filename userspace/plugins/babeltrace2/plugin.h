/* SPDX-License-Identifier: GPL-2.0-only */
/*
 * The plugin's component classes: the methods that plugin.c names to Babeltrace.
 */
#ifndef TB_BABELTRACE_PLUGIN_H
#define TB_BABELTRACE_PLUGIN_H

#include "source.h"

/* ---- input.c: source.tracebuf.input; its iterators are those of iterator.c ---- */

bt_component_class_initialize_method_status
input_begin(bt_self_component_source *self,
	    bt_self_component_source_configuration *configuration,
	    const bt_value *params, void *data);
void input_end(bt_self_component_source *self);
bt_component_class_query_method_status
input_query(bt_self_component_class_source *self,
	    bt_private_query_executor *executor, const char *object,
	    const bt_value *params, void *data, const bt_value **result);

#endif /* TB_BABELTRACE_PLUGIN_H */
