// SPDX-License-Identifier: GPL-2.0-only
/*
 * tracebuf export - stacks and counters of events, as Perfetto's samples.
 *
 * Perfetto's messages for events have no place for stacks and counters.  So each event that has
 * them gets a sample as of perf: with the same time, thread and CPU.
 *
 * A sequence of packets declares its counters once, so each set of counters is a stream with its
 * own sequence.  The timebase is time: Perfetto makes no profile of other samples.  Frames and
 * callstacks get numbers; a stream that has many clears them all, to bound memory.
 */
#include <errno.h>
#include <inttypes.h>
#include <search.h>
#include <stdlib.h>
#include "perfetto.h"
#include "tool/command/number.h"
#include "tool/show/frames.h"

#define STACK_MAX	(4 * TB_STACK_MAX)	/* frames of a sample, with inlined ones */
#define KNOWN_MAX	32768	/* frames and callstacks of a stream */
#define COUNTERS_MAX	32
#define NEW_MAX		STACK_MAX

/* Mappings of files have the numbers that follow: iid of the struct known plus NR_MAPPINGS */
enum { MAPPING_KERNEL = 1, MAPPING_USER = 2, NR_MAPPINGS = 2, MAPPING_FILE = 3 };

/*
 * What a stream has a number for: a frame (key: the address, and the struct frame of a named
 * function), a file (key: address of the name), or a callstack (key: numbers of its frames).
 */
struct known {
	uint32_t kind;		/* MAPPING_KERNEL or _USER: a frame; MAPPING_FILE; 0: a callstack */
	uint32_t count;
	uint64_t iid;
	uint64_t key[];
};

struct stream {
	uint32_t mask;		/* set of counters */
	bool     begun;		/* has declared its counters since it was cleared */
	void    *tree;
	size_t   nr_known;
	uint64_t last_iid;
};

struct pf_samples {
	struct pf_out *out;
	const struct tb_trace *trace;
	unsigned int nr_streams;
	struct stream streams[PF_STREAMS_MAX];
	uint64_t left_out;

	/* the packet at hand */
	bool failed;
	Perfetto__Protos__InternedData names;
	Perfetto__Protos__Frame frames[NEW_MAX], *frame_list[NEW_MAX];
	Perfetto__Protos__InternedString functions[NEW_MAX], *function_list[NEW_MAX];
	char texts[NEW_MAX][128];
	Perfetto__Protos__Mapping mappings[NEW_MAX], *mapping_list[NEW_MAX];
	Perfetto__Protos__InternedString paths[NEW_MAX], *path_list[NEW_MAX];
	uint64_t path_numbers[NEW_MAX];
	uint64_t numbers[STACK_MAX];
};

struct pf_samples *pf_samples_open(struct pf_out *out, const struct tb_trace *trace)
{
	struct pf_samples *samples = calloc(1, sizeof(*samples));

	if (samples) {
		samples->out = out;
		samples->trace = trace;
	}
	return samples;
}

void pf_samples_close(struct pf_samples *samples)
{
	unsigned int i;

	if (!samples)
		return;
	for (i = 0; i < samples->nr_streams; i++)
		tdestroy(samples->streams[i].tree, free);
	free(samples);
}

void pf_samples_note(const struct pf_samples *samples)
{
	if (samples->left_out)
		fprintf(stderr, "%" PRIu64 " times stacks and counters were left out: there are more than %d sets of counters\n",
			samples->left_out, PF_STREAMS_MAX);
}

static struct stream *stream_of(struct pf_samples *samples, uint32_t mask)
{
	struct stream *stream;
	unsigned int i;

	for (i = 0; i < samples->nr_streams; i++)
		if (samples->streams[i].mask == mask)
			return &samples->streams[i];
	if (i == PF_STREAMS_MAX) {
		samples->left_out++;
		return NULL;
	}
	stream = &samples->streams[i];
	stream->mask = mask;
	samples->nr_streams++;
	return stream;
}

/* ---- frames and callstacks ---- */

static int compare(const void *a, const void *b)
{
	const struct known *first = a, *second = b;

	if (first->kind != second->kind)
		return first->kind < second->kind ? -1 : 1;
	if (first->count != second->count)
		return first->count < second->count ? -1 : 1;
	return memcmp(first->key, second->key, first->count * sizeof(first->key[0]));
}

/* Find or add; @fresh: it is new, and must be written.  NULL: no memory */
static const struct known *find(struct pf_samples *samples, struct stream *stream,
				uint32_t kind, const uint64_t *key, uint32_t count, bool *fresh)
{
	struct { struct known known; uint64_t key[STACK_MAX]; } wanted;
	size_t size = sizeof(struct known) + count * sizeof(*key);
	struct known *known, **found;

	wanted.known = (struct known){ .kind = kind, .count = count };
	memcpy(wanted.known.key, key, count * sizeof(*key));
	*fresh = false;
	found = tfind(&wanted.known, &stream->tree, compare);
	if (found)
		return *found;
	known = malloc(size);
	if (known) {
		memcpy(known, &wanted.known, size);
		known->iid = ++stream->last_iid;
		if (tsearch(known, &stream->tree, compare)) {
			stream->nr_known++;
			*fresh = true;
			return known;
		}
		free(known);
	}
	samples->failed = true;
	return NULL;
}

/* Return the mapping of the file that @from is in; describe it if it is new */
static uint64_t file_of(struct pf_samples *samples, struct stream *stream,
			const struct frame *from)
{
	uint64_t key = (uintptr_t)from->file;
	size_t count = samples->names.n_mappings;
	Perfetto__Protos__InternedString *path = &samples->paths[count];
	Perfetto__Protos__Mapping *mapping = &samples->mappings[count];
	const struct known *known;
	bool fresh;

	known = find(samples, stream, MAPPING_FILE, &key, 1, &fresh);
	if (!known || !fresh)
		return known ? known->iid + NR_MAPPINGS : MAPPING_USER;
	pf_string(path, known->iid + NR_MAPPINGS, from->file);
	perfetto__protos__mapping__init(mapping);
	PF_SET(mapping, iid, path->iid);
	samples->path_numbers[count] = path->iid;
	mapping->n_path_string_ids = 1;
	mapping->path_string_ids = &samples->path_numbers[count];
	samples->path_list[count] = path;
	samples->mapping_list[count] = mapping;
	samples->names.n_mapping_paths = ++samples->names.n_mappings;
	return path->iid;
}

/* Return the number of a frame; describe it if it is new.  @from: NULL in the kernel */
static uint64_t frame_of(struct pf_samples *samples, struct stream *stream,
			 uint64_t address, const struct frame *from)
{
	uint32_t kind = from ? MAPPING_USER : MAPPING_KERNEL;
	/* one address may be another function in another process */
	uint64_t key[2] = { address, from && from->file ? (uintptr_t)from : 0 };
	size_t count = samples->names.n_frames;
	Perfetto__Protos__InternedString *function = &samples->functions[count];
	Perfetto__Protos__Frame *frame = &samples->frames[count];
	const struct known *known;
	bool fresh;

	known = find(samples, stream, kind, key, 2, &fresh);
	if (!known || !fresh)
		return known ? known->iid : 0;
	if (from)
		snprintf(samples->texts[count], sizeof(samples->texts[count]), "%s", from->name);
	else if (export_frame(samples->trace, address, samples->texts[count],
			      sizeof(samples->texts[count])))
		snprintf(samples->texts[count], sizeof(samples->texts[count]),
			 "0x%" PRIx64, address);
	pf_string(function, known->iid, samples->texts[count]);
	perfetto__protos__frame__init(frame);
	PF_SET(frame, iid, known->iid);
	PF_SET(frame, function_name_id, known->iid);
	PF_SET(frame, mapping_id, from && from->file ? file_of(samples, stream, from) : kind);
	PF_SET(frame, rel_pc, address);
	samples->function_list[count] = function;
	samples->frame_list[count] = frame;
	samples->names.n_function_names = ++samples->names.n_frames;
	return known->iid;
}

/* Fill in samples->numbers, the outermost frame first: the program's, then the kernel's */
static uint32_t number_frames(struct pf_samples *samples, struct stream *stream,
			      const struct tb_view *view)
{
	uint32_t kernel = view->nr_stack, user = view->nr_user_stack, used = 0, i, j;
	uint32_t most = STACK_MAX - (kernel < STACK_MAX ? kernel : STACK_MAX);
	const struct frame *frames;

	for (i = user; i > 0; i--)
		for (j = frames_of(samples->trace, view, i - 1, &frames, NULL);
		     j > 0 && used < most; j--)
			samples->numbers[used++] = frame_of(samples, stream,
							    view->user_stack[i - 1], &frames[j - 1]);
	for (i = kernel; i > 0 && used < STACK_MAX; i--)
		samples->numbers[used++] = frame_of(samples, stream, view->stack[i - 1], NULL);
	return used;
}

/* ---- packets ---- */

static void write_packet(struct pf_samples *samples, struct stream *stream,
			 Perfetto__Protos__TracePacket *packet, uint64_t ns, uint32_t flags)
{
	PF_SET(packet, timestamp, ns);
	PF_SET(packet, sequence_flags, flags);
	pf_write_packet(samples->out, PF_SEQUENCE_SAMPLES +
			(unsigned int)(stream - samples->streams), packet);
}

/* Declare the counters and the mappings of the kernel and of programs */
static void begin(struct pf_samples *samples, struct stream *stream, uint64_t ns)
{
	static const char *const paths[NR_MAPPINGS] = { "kernel", "user" };
	Perfetto__Protos__TracePacket packet = PERFETTO__PROTOS__TRACE_PACKET__INIT;
	Perfetto__Protos__TracePacketDefaults defaults =
		PERFETTO__PROTOS__TRACE_PACKET_DEFAULTS__INIT;
	Perfetto__Protos__PerfSampleDefaults sample =
		PERFETTO__PROTOS__PERF_SAMPLE_DEFAULTS__INIT;
	Perfetto__Protos__PerfEvents__Timebase timebase =
		PERFETTO__PROTOS__PERF_EVENTS__TIMEBASE__INIT;
	Perfetto__Protos__FollowerEvent followers[COUNTERS_MAX], *follower_list[COUNTERS_MAX];
	Perfetto__Protos__InternedData names = PERFETTO__PROTOS__INTERNED_DATA__INIT;
	Perfetto__Protos__Mapping mappings[NR_MAPPINGS], *mapping_list[NR_MAPPINGS];
	Perfetto__Protos__InternedString strings[NR_MAPPINGS], *string_list[NR_MAPPINGS];
	char unnamed[COUNTERS_MAX][24], name[] = "tracebuf samples";
	uint64_t numbers[NR_MAPPINGS];
	const char *text;
	uint32_t i;

	for (i = 0; i < COUNTERS_MAX; i++) {
		if (!(stream->mask & 1u << i))
			continue;
		text = tb_trace_string(samples->trace, TB_STRING_COUNTER, i);
		snprintf(unnamed[i], sizeof(unnamed[i]), "counter %" PRIu32, i);
		perfetto__protos__follower_event__init(&followers[i]);
		followers[i].name = text ? (char *)text : unnamed[i];
		follower_list[sample.n_followers++] = &followers[i];
	}
	for (i = 0; i < NR_MAPPINGS; i++) {
		numbers[i] = i + 1;
		pf_string(&strings[i], i + 1, paths[i]);
		string_list[i] = &strings[i];
		perfetto__protos__mapping__init(&mappings[i]);
		PF_SET(&mappings[i], iid, i + 1);
		mappings[i].n_path_string_ids = 1;
		mappings[i].path_string_ids = &numbers[i];
		mapping_list[i] = &mappings[i];
	}
	names.n_mapping_paths = names.n_mappings = NR_MAPPINGS;
	names.mapping_paths = string_list;
	names.mappings = mapping_list;
	timebase.name = name;
	PF_SET(&timebase, counter, PERFETTO__PROTOS__PERF_EVENTS__COUNTER__SW_CPU_CLOCK);
	sample.timebase = &timebase;
	sample.followers = follower_list;
	defaults.perf_sample_defaults = &sample;
	packet.trace_packet_defaults = &defaults;
	packet.interned_data = &names;
	write_packet(samples, stream, &packet, ns, PF_CLEARED | PF_NEEDED);
	stream->begun = true;
}

static void set_callstack(struct pf_samples *samples, struct stream *stream,
			  const struct tb_view *view, Perfetto__Protos__PerfSample *sample,
			  Perfetto__Protos__Callstack *callstack)
{
	const struct known *known;
	uint32_t count;
	bool fresh;

	perfetto__protos__interned_data__init(&samples->names);
	count = number_frames(samples, stream, view);
	known = count ? find(samples, stream, 0, samples->numbers, count, &fresh) : NULL;
	if (!known)
		return;
	PF_SET(sample, callstack_iid, known->iid);
	if (!fresh)
		return;
	PF_SET(callstack, iid, known->iid);
	callstack->n_frame_ids = count;
	callstack->frame_ids = samples->numbers;
	samples->names.n_callstacks = 1;
}

static void forget(struct stream *stream)
{
	tdestroy(stream->tree, free);
	stream->tree = NULL;
	stream->nr_known = 0;
	stream->begun = false;
}

int pf_samples_write(struct pf_samples *samples, const struct tb_view *view, uint64_t ns,
		     uint32_t tid, uint32_t pid)
{
	Perfetto__Protos__TracePacket packet = PERFETTO__PROTOS__TRACE_PACKET__INIT;
	Perfetto__Protos__PerfSample sample = PERFETTO__PROTOS__PERF_SAMPLE__INIT;
	Perfetto__Protos__Callstack callstack = PERFETTO__PROTOS__CALLSTACK__INIT;
	Perfetto__Protos__Callstack *callstack_list = &callstack;
	uint64_t values[COUNTERS_MAX], value;
	struct stream *stream;
	unsigned int i;
	uint32_t number;

	samples->failed = false;
	stream = stream_of(samples, view->counter_mask);
	if (!stream)
		return 0;
	if (stream->nr_known > KNOWN_MAX)
		forget(stream);
	if (!stream->begun)
		begin(samples, stream, ns);
	for (i = 0; view->counter_mask && i < COUNTERS_MAX &&
	     tb_view_counter(view, i, &number, &value); i++)
		values[i] = value;
	sample.n_follower_counts = i;
	sample.follower_counts = values;
	sample.has_cpu = sample.has_pid = sample.has_tid = 1;
	sample.cpu = view->cpu;
	sample.pid = pid;
	sample.tid = tid;
	PF_SET(&sample, cpu_mode, PERFETTO__PROTOS__PROFILING__CPU_MODE__MODE_KERNEL);
	PF_SET(&sample, timebase_count, ns);
	set_callstack(samples, stream, view, &sample, &callstack);
	samples->names.frames = samples->frame_list;
	samples->names.function_names = samples->function_list;
	samples->names.mappings = samples->mapping_list;
	samples->names.mapping_paths = samples->path_list;
	samples->names.callstacks = &callstack_list;
	if (samples->names.n_callstacks || samples->names.n_frames)
		packet.interned_data = &samples->names;
	packet.data_case = PERFETTO__PROTOS__TRACE_PACKET__DATA_PERF_SAMPLE;
	packet.perf_sample = &sample;
	write_packet(samples, stream, &packet, ns, PF_NEEDED);
	return samples->failed ? -ENOMEM : samples->out->error;
}
