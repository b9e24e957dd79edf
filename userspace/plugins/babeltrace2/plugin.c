// SPDX-License-Identifier: GPL-2.0-only
/*
 * Describe the plugin `tracebuf' and its component classes to Babeltrace 2.
 */
#include "plugin.h"

BT_PLUGIN_MODULE();
BT_PLUGIN(tracebuf);
BT_PLUGIN_DESCRIPTION("Read recordings of tracebuf, from files and live");
BT_PLUGIN_LICENSE("GPL-2.0-only");

BT_PLUGIN_SOURCE_COMPONENT_CLASS(input, bs_iterator_next);
BT_PLUGIN_SOURCE_COMPONENT_CLASS_DESCRIPTION(input, "Read recordings of tracebuf from files");
BT_PLUGIN_SOURCE_COMPONENT_CLASS_HELP(input,
	"Parameters: inputs=[\"FILE\", ...]. Each recording in them has a port. See docs/babeltrace.md of tracebuf.");
BT_PLUGIN_SOURCE_COMPONENT_CLASS_INITIALIZE_METHOD(input, input_initialize);
BT_PLUGIN_SOURCE_COMPONENT_CLASS_FINALIZE_METHOD(input, input_finalize);
BT_PLUGIN_SOURCE_COMPONENT_CLASS_QUERY_METHOD(input, input_query);
BT_PLUGIN_SOURCE_COMPONENT_CLASS_MESSAGE_ITERATOR_CLASS_INITIALIZE_METHOD(input,
	bs_iterator_initialize);
BT_PLUGIN_SOURCE_COMPONENT_CLASS_MESSAGE_ITERATOR_CLASS_FINALIZE_METHOD(input,
	bs_iterator_finalize);
BT_PLUGIN_SOURCE_COMPONENT_CLASS_MESSAGE_ITERATOR_CLASS_SEEK_BEGINNING_METHODS(input,
	bs_iterator_seek_beginning, bs_iterator_can_seek_beginning);

BT_PLUGIN_SOURCE_COMPONENT_CLASS(live, live_iterator_next);
BT_PLUGIN_SOURCE_COMPONENT_CLASS_DESCRIPTION(live,
	"Read a recording of tracebuf on this machine while it grows");
BT_PLUGIN_SOURCE_COMPONENT_CLASS_HELP(live,
	"Parameters, both optional: device=\"/dev/tracebuf\", provider=\"kernel\". Ends when the recording stops. See docs/babeltrace.md of tracebuf.");
BT_PLUGIN_SOURCE_COMPONENT_CLASS_INITIALIZE_METHOD(live, live_initialize);
BT_PLUGIN_SOURCE_COMPONENT_CLASS_FINALIZE_METHOD(live, live_finalize);
BT_PLUGIN_SOURCE_COMPONENT_CLASS_MESSAGE_ITERATOR_CLASS_INITIALIZE_METHOD(live,
	live_iterator_initialize);
BT_PLUGIN_SOURCE_COMPONENT_CLASS_MESSAGE_ITERATOR_CLASS_FINALIZE_METHOD(live,
	live_iterator_finalize);
