/* SPDX-License-Identifier: GPL-2.0-only */
/*
 * The interfaces between the files that turn a recording into Babeltrace 2 messages.
 *
 *	model.c           the trace, its clock, its streams and their classes
 *	field_classes.c   classes of fields with names that CTF allows; texts
 *	format_events.c   events that a format of the kernel describes: classes and fields
 *	value_events.c    all other events, as lists of values: records of programs, losses, ...
 *	streams.c         the streams of a recording and the losses in them
 *	messages.c        the messages in order of time
 *	iterator.c        the methods of message iterators over files
 *	input.c           component class source.tracebuf.input: files
 *	live.c            component class source.tracebuf.live: the device; see live.h
 *	plugin.c          the descriptors of the plugin
 *	libbabeltrace2.c  loads libbabeltrace2 for the tool, which is not linked with it
 *
 * `tracebuf export --format ctf' contains all files but input.c, live.c, live_recording.c and
 * plugin.c.  The plugin contains all files but libbabeltrace2.c.
 */
#ifndef TB_BABELTRACE_SOURCE_H
#define TB_BABELTRACE_SOURCE_H

#include <errno.h>
#include <babeltrace2/babeltrace.h>
#include <stdbool.h>
#include "tracebuf.h"
#ifdef BS_LOAD_LIBRARY
#include "babeltrace2_functions.h"

/* Callers call this before any function of Babeltrace.  0, or -ENOENT and the reason in @error */
int bs_library_load(char *error, size_t size);
#endif

/* ---- model.c ---- */

/* Kinds of streams; also the ids of the streams' classes */
enum bs_kind {
	BS_CPU = 0,		/* a CPU's ring */
	BS_STATE,		/* elements of durable blocks that have a time */
	BS_PROGRAMS,		/* records of programs */
	BS_KINDS,
};

#define BS_EVENT_IDS	(TB_HEAD_ID(~0u) + 1)
#define BS_SIGNATURES	1024

/* Indexes of the members of the events' common context */
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
 * struct bs_model - the Babeltrace objects of a recording
 * @by_format: the class that the last event of each format had, by the format's id
 * @classes: all classes of events: a tree, which no file can make slow
 * @signatures: number of classes of value events
 * @values: the values of the current event
 */
struct bs_model {
	bt_trace_class  *trace_class;
	bt_clock_class  *clock_class;
	bt_trace        *trace;
	bt_stream_class *stream_classes[BS_KINDS];
	struct bs_class **by_format;
	void            *classes;
	unsigned int     signatures;
	struct bs_values *values;
};

/* @uncommitted: number of unfinished events.  NULL: no memory */
struct bs_model *bs_model_create(bt_self_component *component,
				 const struct tb_trace *trace,
				 uint64_t uncommitted);
void bs_model_free(struct bs_model *model);
/* @cpu: the number of the CPU, or 0 if @kind is not BS_CPU.  NULL: no memory */
bt_stream *bs_model_create_stream(struct bs_model *model, enum bs_kind kind,
				  uint32_t cpu);
/* Set the common context of @event; false: no memory */
bool bs_context_fill(enum bs_kind kind, const struct tb_view *view,
		     bt_event *event);

/* ---- field_classes.c ---- */

/*
 * Append a member.  Its name is @name, changed to a C identifier that no other member has.
 * The function drops the caller's reference to @class, and fails if @class is NULL.
 */
bool bs_member_add(bt_field_class *structure, const char *name,
		   bt_field_class *class);
/*
 * Append a member with the length, then a dynamic array of @element.
 * The function drops the caller's reference to @element, and fails if @element is NULL.
 */
bool bs_sequence_add(bt_trace_class *trace_class, bt_field_class *structure,
		     const char *name, bt_field_class *element);
/* Set @field to @text.  NUL, and bytes that are not UTF-8, become \xNN.  false: no memory */
bool bs_text_set(bt_field *field, const char *text, size_t length);

/* The name of a number */
struct bs_label {
	int64_t value;
	char    text[64];
};

/*
 * Create an enumeration of @bits; a plain integer if @bits can hold no label's number.
 * The function sorts @labels.  NULL: no memory
 */
bt_field_class *bs_enumeration_class_create(bt_trace_class *trace_class, bool is_signed,
					    unsigned int bits, struct bs_label *labels,
					    size_t count);
/* Read the labels in the __print_symbolic() of @field in @print.  Return their number, or 0 */
size_t bs_labels_parse(const char *print, const char *field,
		       struct bs_label *labels, size_t room);
bt_field_class *bs_integer_class_create(bt_trace_class *trace_class, bool is_signed,
					unsigned int bits, bool hex);

/* ---- format_events.c, value_events.c ---- */

/**
 * struct bs_class - a class of events
 * @id, @extras: the format's id; counters and stacks of the event
 * @stacks: index of the first payload member of a stack
 * @needed: bytes of payload that hold all fields at fixed offsets
 * @signature: names and types of the values; NULL if a format describes the event
 */
struct bs_class {
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

/* struct bs_field - a field of the kernel's format; do not use its type and name */
struct bs_field {
	struct tb_format_field field;
	uint32_t member;	/* index in the payload, behind a sequence's length */
};

/* Return the class of an event with a format.  NULL: no memory */
const struct bs_class *bs_format_get_class(struct bs_model *model,
					   const struct tb_trace *trace,
					   enum bs_kind kind,
					   const struct tb_view *view);
bool bs_format_fill(const struct bs_class *class, const struct tb_view *view,
		    bt_event *event);
/* Return whether the payload contains all fields of the format */
bool bs_format_fits(const struct bs_class *class, const struct tb_view *view);

/* Return the class of any other event, and keep its values in the model.  NULL: no memory */
const struct bs_class *bs_values_get_class(struct bs_model *model,
					   const struct tb_trace *trace,
					   enum bs_kind kind,
					   const struct tb_view *view);
bool bs_values_fill(struct bs_model *model, bt_event *event);
struct bs_values *bs_values_alloc(void);

/* Create a class, for bs_class_keep().  NULL: no memory */
struct bs_class *bs_class_create(struct bs_model *model, enum bs_kind kind,
				 const char *system, const char *name);
/* Add @class to the model and return it; NULL, and free it: @complete is false, or no memory */
struct bs_class *bs_class_keep(struct bs_model *model, struct bs_class *class, bool complete);
/* The class with the signature of @like, or with its id, kind and extras; NULL: none */
struct bs_class *bs_class_find(const struct bs_model *model, const struct bs_class *like);
void bs_class_free(void *class);

/* ---- streams.c ---- */

/* @count events are missing from @first to @last, ns of CLOCK_MONOTONIC */
struct bs_loss {
	uint64_t first, last, count;
};

/**
 * struct bs_stream - a stream and its state between two messages
 * @packet: the open packet, or NULL
 * @in_packet: number of events in the open packet
 * @begun: the iterator has queued the stream beginning message
 * @in_loss: the next loss has begun
 * @losses: in order of time, without overlaps
 * @next_loss: index of the next loss
 * @first, @last: times of the stream's first and last event or loss
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
	uint64_t backwards;	/* events with a time before that of their predecessor */
};

/*
 * Read the next event of a trace, as tb_cursor_next() does; the reader may skip events.  At the
 * beginning of each pass, @cursor and @view are NULL.  All passes must return the same events.
 * A NULL reader stands for tb_cursor_next().
 */
typedef int (*bs_event_reader)(void *context, struct tb_cursor *cursor,
			       struct tb_view *view);

static inline int bs_read_event(bs_event_reader next, void *context, struct tb_cursor *cursor,
				struct tb_view *view)
{
	int result = next ? next(context, cursor, view) : tb_cursor_next(cursor, view);

	/* damage ends the pass like the end of the trace; the opener of the trace reports it */
	return result == -EBADMSG ? 0 : result;
}

/* Return whether the source shows @view */
bool bs_is_shown(const struct tb_view *view);
enum bs_kind bs_kind_of(const struct tb_view *view);
/* NULL: the stream does not exist yet */
struct bs_stream *bs_stream_find(struct bs_streams *streams, enum bs_kind kind,
				 uint32_t cpu);
/*
 * Read @trace once, to find its streams and their losses.  Times before @now count as @now.
 * Return: 0, -ENOMEM, or the error of @next.
 */
int bs_streams_scan(struct bs_streams *streams, struct tb_trace *trace,
		    uint64_t now, bs_event_reader next, void *context);
/* Forget losses and positions, but keep the streams */
void bs_streams_reset(struct bs_streams *streams);
void bs_streams_free(struct bs_streams *streams);

/* ---- messages.c ---- */

/**
 * struct bs_file - a file; its last iterator reports damage, after all readable events
 * @name: for error messages
 * @open_iterators: iterators over the file's recordings that have not reached their end
 * @fault: the first damage, if @faulty
 */
struct bs_file {
	char        *name;
	unsigned int open_iterators;
	bool         faulty;
	struct tb_error fault;
};

/**
 * struct bs_port - an output port, which passes on one recording
 * @trace: a trace with the recording selected
 * @next, @context: the reader of the recording's events
 * @file: if NULL, the iterator reports no damage; the caller of the graph reads @fault
 * @fault: out: the damaged block, if @faulty
 * @uncommitted: out: number of unfinished events
 * @backwards: out: number of events with a time before that of their predecessor
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
/*
 * Continue with the events of @trace.  The caller keeps @trace open until bs_messages_unload().
 * Return: 0, -ENOMEM, or the error of @next.
 */
int bs_messages_load(struct bs_messages *messages, struct tb_trace *trace,
		     bs_event_reader next, void *context);
void bs_messages_unload(struct bs_messages *messages);
/*
 * Queue a message that no more events come up to @ns.  The caller has passed on all events that
 * are loaded.  Return: 0, -ENOMEM.
 */
int bs_messages_add_inactivity(struct bs_messages *messages, uint64_t ns);
/* End the streams after the loaded trace: the caller loads no other */
void bs_messages_finish(struct bs_messages *messages);
/* Begin anew with the next bs_messages_load() */
void bs_messages_rewind(struct bs_messages *messages);
/*
 * Return: 1: @array has @count messages; 0: the loaded trace has ended; -ENOMEM, error of @next;
 * -ESTALE: an event of a stream that the scan has not seen, because the file has changed since.
 */
int bs_messages_next(struct bs_messages *messages,
		     bt_message_array_const array, uint64_t capacity,
		     uint64_t *count);
/* Set the results in @port.  Return the damage that ended the pass, or NULL */
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
