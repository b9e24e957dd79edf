// SPDX-License-Identifier: GPL-2.0-only
/*
 * The methods of message iterators over the recordings of files.
 */
#include <errno.h>
#include <inttypes.h>
#include <stdlib.h>
#include "source.h"

/* struct iterator - @counted: port->file->open_iterators includes this iterator */
struct iterator {
	struct bs_port *port;
	struct bs_messages *messages;
	bool counted;
};

static void add_to_file(struct iterator *iterator)
{
	if (iterator->port->file && !iterator->counted)
		iterator->port->file->open_iterators++;
	iterator->counted = true;
}

static int load_recording(struct iterator *iterator)
{
	int result;

	result = bs_messages_load(iterator->messages, iterator->port->trace,
				  iterator->port->next, iterator->port->context);
	if (!result)
		bs_messages_finish(iterator->messages);
	return result;
}

bt_message_iterator_class_initialize_method_status
bs_iterator_initialize(bt_self_message_iterator *self,
		       bt_self_message_iterator_configuration *configuration,
		       bt_self_component_port_output *port)
{
	struct iterator *iterator = calloc(1, sizeof(*iterator));

	if (iterator)
		iterator->messages = bs_messages_create(
			bt_self_message_iterator_borrow_component(self), self);
	if (!iterator || !iterator->messages) {
		free(iterator);
		return BT_MESSAGE_ITERATOR_CLASS_INITIALIZE_METHOD_STATUS_MEMORY_ERROR;
	}
	iterator->port = bt_self_component_port_get_data(
		bt_self_component_port_output_as_self_component_port(port));
	if (load_recording(iterator) < 0) {
		bs_messages_free(iterator->messages);
		free(iterator);
		return BT_MESSAGE_ITERATOR_CLASS_INITIALIZE_METHOD_STATUS_MEMORY_ERROR;
	}
	add_to_file(iterator);
	bt_self_message_iterator_configuration_set_can_seek_forward(
		configuration, BT_TRUE);
	bt_self_message_iterator_set_data(self, iterator);
	return BT_MESSAGE_ITERATOR_CLASS_INITIALIZE_METHOD_STATUS_OK;
}

void bs_iterator_finalize(bt_self_message_iterator *self)
{
	struct iterator *iterator = bt_self_message_iterator_get_data(self);

	if (iterator->port->file && iterator->counted)
		iterator->port->file->open_iterators--;
	bs_messages_free(iterator->messages);
	free(iterator);
}

static void remember_fault(struct bs_file *file, const struct tb_error *fault)
{
	if (!fault || (file->faulty && file->fault.offset <= fault->offset))
		return;
	file->faulty = true;
	file->fault = *fault;
}

static void append_fault(const struct bs_file *file, bt_self_message_iterator *self)
{
	if (file->fault.offset == TB_OFFSET_NONE)
		BT_CURRENT_THREAD_ERROR_APPEND_CAUSE_FROM_MESSAGE_ITERATOR(self,
			"%s: %s", file->name, file->fault.text);
	else
		BT_CURRENT_THREAD_ERROR_APPEND_CAUSE_FROM_MESSAGE_ITERATOR(self,
			"%s: at byte %" PRIu64 ": %s; all readable events come before this error",
			file->name, file->fault.offset, file->fault.text);
}

/* Note that @iterator has ended.  true: it was the file's last one, and the file is damaged */
static bool remove_from_file(struct iterator *iterator)
{
	struct bs_port *port = iterator->port;
	struct bs_file *file = port->file;
	const struct tb_error *fault;

	fault = bs_messages_result(iterator->messages, port);
	if (!file || !iterator->counted)
		return false;
	remember_fault(file, fault);
	remember_fault(file, tb_trace_fault(port->trace));
	iterator->counted = false;
	return !--file->open_iterators && file->faulty;
}

bt_message_iterator_class_next_method_status
bs_iterator_next(bt_self_message_iterator *self, bt_message_array_const array,
		 uint64_t capacity, uint64_t *count)
{
	struct iterator *iterator = bt_self_message_iterator_get_data(self);
	const struct bs_file *file = iterator->port->file;
	int result;

	result = bs_messages_next(iterator->messages, array, capacity, count);
	if (result == -ESTALE) {
		BT_CURRENT_THREAD_ERROR_APPEND_CAUSE_FROM_MESSAGE_ITERATOR(self,
			"%s changed while tracebuf read it", file ? file->name : "the trace");
		return BT_MESSAGE_ITERATOR_CLASS_NEXT_METHOD_STATUS_ERROR;
	}
	if (result < 0)
		return BT_MESSAGE_ITERATOR_CLASS_NEXT_METHOD_STATUS_MEMORY_ERROR;
	if (result)
		return BT_MESSAGE_ITERATOR_CLASS_NEXT_METHOD_STATUS_OK;
	if (!remove_from_file(iterator))
		return BT_MESSAGE_ITERATOR_CLASS_NEXT_METHOD_STATUS_END;
	append_fault(file, self);
	return BT_MESSAGE_ITERATOR_CLASS_NEXT_METHOD_STATUS_ERROR;
}

bt_message_iterator_class_seek_beginning_method_status
bs_iterator_seek_beginning(bt_self_message_iterator *self)
{
	struct iterator *iterator = bt_self_message_iterator_get_data(self);

	bs_messages_rewind(iterator->messages);
	add_to_file(iterator);
	return load_recording(iterator) < 0 ?
	       BT_MESSAGE_ITERATOR_CLASS_SEEK_BEGINNING_METHOD_STATUS_MEMORY_ERROR :
	       BT_MESSAGE_ITERATOR_CLASS_SEEK_BEGINNING_METHOD_STATUS_OK;
}

bt_message_iterator_class_can_seek_beginning_method_status
bs_iterator_can_seek_beginning(bt_self_message_iterator *self, bt_bool *can)
{
	(void)self;
	*can = BT_TRUE;
	return BT_MESSAGE_ITERATOR_CLASS_CAN_SEEK_BEGINNING_METHOD_STATUS_OK;
}
