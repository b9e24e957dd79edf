/* SPDX-License-Identifier: GPL-2.0-only */
/*
 * A recording as Babeltrace 2 messages: what the parts of it agree on.
 *
 *	model.c     the trace, its clock, its streams
 *	names.c     what fields may be called; values with names
 *	fields.c    events of the kernel: classes from formats, and filling them in
 *	values.c    everything else as a list of values: what programs write, losses ...
 *	losses.c    where packets must end so that losses are where they were
 *	messages.c  the messages, in order
 *	iterator.c  what Babeltrace calls to have them
 *	input.c     component class source.tracebuf.input: files
 *	live.c      component class source.tracebuf.live: the device; see live.h
 *	plugin.c    the plugin
 *	calls.c     libbabeltrace2, where it is not linked
 *
 * The tool has all but the component classes and the plugin, for `tracebuf export --format ctf';
 * the plugin has all but calls.c.
 */
#ifndef TB_BABELTRACE_SOURCE_H
#define TB_BABELTRACE_SOURCE_H

#include <errno.h>
#include <babeltrace2/babeltrace.h>
#include <stdbool.h>
#include "tracebuf.h"
#ifdef BS_LOAD_LIBRARY
#include "babeltrace2_functions.h"

/* Before anything else: 0, or -ENOENT and why */
int bs_library_load(char *error, size_t size);
#endif

/* ---- model.c ---- */

/* What streams there are; also the ids of their classes */
enum bs_kind {
	BS_CPU = 0,		/* a CPU's ring */
	BS_STATE,		/* what is in durable blocks and has a time */
	BS_PROGRAMS,		/* what programs write */
	BS_KINDS,
};

#define BS_EVENT_IDS	(TB_HEAD_ID(~0u) + 1)
#define BS_SIGNATURES	1024

/* Members of the context that all events have */
enum bs_context {
	BS_TID = 0,
	BS_PID,
	BS_COMM,
	BS_INTERRUPT,		/* BS_CPU, BS_STATE */
	BS_PREEMPT_DEPTH,
	BS_UID = BS_INTERRUPT,	/* BS_PROGRAMS */
	BS_PRODUCER,
	BS_WRITER,
};

/**
 * struct bs_model - what a recording is to Babeltrace
 * @by_format: classes of events of the kernel in rings, without stacks, by id
 * @classes: all classes of events
 * @by_signature: those of values, in chains
 * @signatures: how many of them are there because of arguments
 * @values: the values of the event that is being made
 */
struct bs_model {
	bt_trace_class  *trace_class;
	bt_clock_class  *clock_class;
	bt_trace        *trace;
	bt_stream_class *stream_classes[BS_KINDS];
	struct bs_class **by_format;
	struct bs_class *classes;
	struct bs_class *by_signature[BS_SIGNATURES];
	unsigned int     signatures;
	struct bs_values *values;
};

/* NULL: no memory.  @uncommitted: how many events had not been finished */
struct bs_model *bs_model_create(bt_self_component *component,
				 const struct tb_trace *trace,
				 uint64_t uncommitted);
void bs_model_free(struct bs_model *model);
/* A stream; NULL: no memory.  @cpu: of BS_CPU */
bt_stream *bs_model_create_stream(struct bs_model *model, enum bs_kind kind,
				  uint32_t cpu);
/* Fill in the context that all events of a stream have */
bool bs_context_fill(enum bs_kind kind, const struct tb_view *view,
		     bt_event *event);

/* ---- names.c ---- */

/* Append a member; @name is made one that CTF can have, and that is not there yet.  Takes @class */
bool bs_member_add(bt_field_class *structure, const char *name,
		   bt_field_class *class);
/* A dynamic array of @element, which is taken, and the member with its length before it */
bool bs_sequence_add(bt_trace_class *trace_class, bt_field_class *structure,
		     const char *name, bt_field_class *element);
/* Text that may have any bytes; those that are no UTF-8, and NUL, become \xNN */
bool bs_text_set(bt_field *field, const char *text, size_t length);

/* A number's name */
struct bs_label {
	int64_t value;
	char    text[64];
};

/* An integer of @bits that has names; the labels are put in order.  NULL: no memory */
bt_field_class *bs_enumeration_class_create(bt_trace_class *trace_class, bool is_signed,
					    unsigned int bits, struct bs_label *labels,
					    size_t count);
/* The names in a print format's __print_symbolic() of @field: how many, at most @room */
size_t bs_labels_parse(const char *print, const char *field,
		       struct bs_label *labels, size_t room);
bt_field_class *bs_integer_class_create(bt_trace_class *trace_class, bool is_signed,
					unsigned int bits, bool hex);

/* ---- fields.c, values.c ---- */

/**
 * struct bs_class - a class of events
 * @id, @extras: of a format: its id, and what goes with the event
 * @stacks: the first member of the payload that belongs to stacks
 * @needed: payload that all fields of fixed place fit into
 * @signature, @peer: of values
 */
struct bs_class {
	struct bs_class *next, *peer;
	bt_event_class  *class;
	enum bs_kind     kind;
	uint32_t         id;
	uint64_t         extras;
	uint32_t         stacks;
	char            *signature;
	uint32_t         needed;
	uint32_t         nr_fields;
	struct bs_field *fields;
};

/* struct bs_field - a field of the kernel's; the type and name are not used */
struct bs_field {
	struct tb_format_field field;
	uint32_t member;	/* of the payload; a sequence's length is before it */
};

/* Event of a format: its class; NULL: no memory */
const struct bs_class *bs_format_get_class(struct bs_model *model,
					   const struct tb_trace *trace,
					   enum bs_kind kind,
					   const struct tb_view *view);
bool bs_format_fill(const struct bs_class *class, const struct tb_view *view,
		    bt_event *event);
/* The payload has all that the format says */
bool bs_format_fits(const struct bs_class *class, const struct tb_view *view);

/* Everything else */
const struct bs_class *bs_values_get_class(struct bs_model *model,
					   const struct tb_trace *trace,
					   enum bs_kind kind,
					   const struct tb_view *view);
bool bs_values_fill(struct bs_model *model, bt_event *event);
struct bs_values *bs_values_alloc(void);

/* A new class, in the model's list */
struct bs_class *bs_class_create(struct bs_model *model, enum bs_kind kind,
				 const char *system, const char *name);

/* ---- losses.c ---- */

/* Events are missing from @first to @last, ns of CLOCK_MONOTONIC */
struct bs_loss {
	uint64_t first, last, count;
};

/**
 * struct bs_stream - a stream as the messages come by
 * @packet: the one that is open
 * @in_packet: events in it
 * @opened: its beginning message was sent
 * @losses: losses, in order, none beginning before the one before it ended
 * @at: the next of them; @inside: it has begun
 * @first, @last: times of its first and last event or loss
 */
struct bs_stream {
	enum bs_kind kind;
	uint32_t     cpu;
	bt_stream   *stream;
	bt_packet   *packet;
	uint32_t     in_packet;
	bool         begun;
	bool         in_loss;
	struct bs_loss *losses;
	size_t       nr_losses, room_losses, next_loss;
	uint64_t     first, last;
};

struct bs_streams {
	struct bs_stream *list;
	size_t   count, room;
	uint64_t uncommitted;
	uint64_t backwards;	/* events before the one before them */
};

/*
 * What brings a trace's events, as tb_cursor_next() does, or a part of them.  There are passes, in
 * each of which it brings the same; @cursor and @view are NULL where one begins.  NULL: all
 */
typedef int (*bs_event_reader)(void *context, struct tb_cursor *cursor,
			       struct tb_view *view);

static inline int bs_read_event(bs_event_reader next, void *context, struct tb_cursor *cursor,
				struct tb_view *view)
{
	int result = next ? next(context, cursor, view) : tb_cursor_next(cursor, view);

	/* damage ends it as its end does, and is told of by who opened the trace */
	return result == -EBADMSG ? 0 : result;
}

/* Is it shown at all? */
bool bs_is_shown(const struct tb_view *view);
enum bs_kind bs_kind_of(const struct tb_view *view);
/* The stream of an event; NULL: there is none yet */
struct bs_stream *bs_stream_find(struct bs_streams *streams, enum bs_kind kind,
				 uint32_t cpu);
/*
 * Pass over @trace: which streams there are, and their losses.  @now: nothing is before
 * Return: 0, -ENOMEM, what @next returned.
 */
int bs_streams_scan(struct bs_streams *streams, struct tb_trace *trace,
		    uint64_t now, bs_event_reader next, void *context);
/* As if nothing had been told yet */
void bs_streams_reset(struct bs_streams *streams);
void bs_streams_free(struct bs_streams *streams);

/* ---- messages.c ---- */

/**
 * struct bs_file - a file whose damage is an error, after all that could be read of it
 * @name: for errors
 * @left: iterators over its recordings that have not ended yet: the last one tells
 * @fault: what is wrong, if @faulty
 */
struct bs_file {
	char        *name;
	unsigned int open_iterators;
	bool         faulty;
	struct tb_error fault;
};

/**
 * struct bs_port - an output port: a recording
 * @trace: with the recording selected
 * @next, @context: which part of it
 * @file: NULL: damage is no error, whoever runs the graph asks for it
 * @fault: out: the damaged block met, if @faulty
 * @uncommitted, @backwards: out: events that were not finished; that were before the one before
 */
struct bs_port {
	struct tb_trace *trace;
	bs_event_reader  next;
	void            *context;
	struct bs_file  *file;
	struct tb_error  fault;
	bool             faulty;
	uint64_t         uncommitted, backwards;
};

struct bs_messages;

/* NULL: no memory */
struct bs_messages *bs_messages_create(bt_self_component *component,
				       bt_self_message_iterator *iterator);
void bs_messages_free(struct bs_messages *messages);
/* Go on with @trace, which stays until it is unloaded; 0, -ENOMEM, what @next returned */
int bs_messages_load(struct bs_messages *messages, struct tb_trace *trace,
		     bs_event_reader next, void *context);
void bs_messages_unload(struct bs_messages *messages);
/* What is loaded has been passed on, and nothing else was until @ns: the next message says so.
 * 0, -ENOMEM */
int bs_messages_add_inactivity(struct bs_messages *messages, uint64_t ns);
/* No more will be loaded: streams end after this one */
void bs_messages_finish(struct bs_messages *messages);
/* Begin anew with the next load */
void bs_messages_rewind(struct bs_messages *messages);
/* Return: 1: there are @count; 0: all of what is loaded; -ENOMEM, what @next returned */
int bs_messages_next(struct bs_messages *messages,
		     bt_message_array_const array, uint64_t capacity,
		     uint64_t *count);
/* What has come of it; the damaged block met, NULL if none */
const struct tb_error *bs_messages_result(const struct bs_messages *messages,
					  struct bs_port *port);

/* The methods of the iterators of ports whose data is a struct bs_port */
bt_message_iterator_class_initialize_method_status
bs_iterator_initialize(bt_self_message_iterator *iterator,
		       bt_self_message_iterator_configuration *configuration,
		       bt_self_component_port_output *port);
void bs_iterator_finalize(bt_self_message_iterator *iterator);
bt_message_iterator_class_next_method_status
bs_iterator_next(bt_self_message_iterator *iterator,
		 bt_message_array_const array, uint64_t capacity,
		 uint64_t *count);
bt_message_iterator_class_seek_beginning_method_status
bs_iterator_seek_beginning(bt_self_message_iterator *iterator);
bt_message_iterator_class_can_seek_beginning_method_status
bs_iterator_can_seek_beginning(bt_self_message_iterator *iterator, bt_bool *can);

#endif /* TB_BABELTRACE_SOURCE_H */
