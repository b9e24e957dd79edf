// SPDX-License-Identifier: GPL-2.0-only
/*
 * tracebuf export - the packets of a Perfetto trace.
 *
 * A trace is a sequence of TracePackets, each with tag and length, as fields of one message Trace.
 * Most bytes are bundles of events, which are encoded already; protobuf-c packs all other packets.
 */
#include <errno.h>
#include <stdlib.h>
#include "perfetto.h"
#include "tool/command/number.h"

/* Numbers of fields, as in perfetto.proto */
enum {
	TRACE_PACKET = 1,
	PACKET_FTRACE_EVENTS = 1,
};

/* Bytes of the fields of a TracePacket around a bundle */
#define HEADER_MAX 128

/* Threads in one packet */
#define TASKS_MAX 256

static void write_data(struct pf_out *out, const void *data, size_t size)
{
	if (out->error || !size)
		return;
	errno = 0;
	if (fwrite(data, 1, size, out->file) != size)
		out->error = errno ? -errno : -EIO;
}

void pf_flush(struct pf_out *out)
{
	errno = 0;
	if (!out->error && fflush(out->file))
		out->error = errno ? -errno : -EIO;
}

static void write_length(struct pf_out *out, uint32_t field, size_t size)
{
	uint8_t head[2 * PF_VARINT_MAX], *at;

	at = pf_put_tag(head, field, PF_BYTES);
	at = pf_put_varint(at, size);
	write_data(out, head, (size_t)(at - head));
}

static void in_sequence(struct pf_out *out, unsigned int sequence,
			Perfetto__Protos__TracePacket *packet)
{
	PF_SET(packet, trusted_packet_sequence_id, sequence);
	packet->has_first_packet_on_sequence = !out->begun[sequence];
	packet->first_packet_on_sequence = !out->begun[sequence];
	/* numbers of names are those of the sequence, from its first packet on */
	if (sequence != PF_SEQUENCE_SYSTEM && !packet->has_sequence_flags)
		PF_SET(packet, sequence_flags, PF_NEEDED | (out->begun[sequence] ? 0 : PF_CLEARED));
	out->begun[sequence] = true;
}

void pf_write_packet(struct pf_out *out, unsigned int sequence,
		     Perfetto__Protos__TracePacket *packet)
{
	uint8_t *data;
	size_t size;

	in_sequence(out, sequence, packet);
	size = perfetto__protos__trace_packet__get_packed_size(packet);
	data = malloc(size + 1);
	if (!data) {
		out->error = out->error ? out->error : -ENOMEM;
		return;
	}
	perfetto__protos__trace_packet__pack(packet, data);
	write_length(out, TRACE_PACKET, size);
	write_data(out, data, size);
	free(data);
}

void pf_string(Perfetto__Protos__InternedString *string, uint64_t iid, const char *text)
{
	perfetto__protos__interned_string__init(string);
	PF_SET(string, iid, iid);
	string->has_str = 1;
	string->str.data = (uint8_t *)(uintptr_t)text;
	string->str.len = strlen(text);
}

void pf_write_track(struct pf_out *out, Perfetto__Protos__TrackDescriptor *track,
		    uint64_t uuid, uint64_t parent, uint64_t ns)
{
	Perfetto__Protos__TracePacket packet = PERFETTO__PROTOS__TRACE_PACKET__INIT;

	PF_SET(track, uuid, uuid);
	track->has_parent_uuid = parent != 0;
	track->parent_uuid = parent;
	packet.has_timestamp = ns != 0;
	packet.timestamp = ns;
	packet.data_case = PERFETTO__PROTOS__TRACE_PACKET__DATA_TRACK_DESCRIPTOR;
	packet.track_descriptor = track;
	pf_write_packet(out, PF_SEQUENCE_SYSTEM, &packet);
}

void pf_write_track_event(struct pf_out *out, unsigned int sequence,
			  Perfetto__Protos__TrackEvent *event,
			  Perfetto__Protos__TrackEvent__Type type, uint64_t track, uint64_t ns,
			  Perfetto__Protos__InternedData *names)
{
	Perfetto__Protos__TracePacket packet = PERFETTO__PROTOS__TRACE_PACKET__INIT;

	PF_SET(event, type, type);
	PF_SET(event, track_uuid, track);
	PF_SET(&packet, timestamp, ns);
	packet.interned_data = names;
	packet.data_case = PERFETTO__PROTOS__TRACE_PACKET__DATA_TRACK_EVENT;
	packet.track_event = event;
	pf_write_packet(out, sequence, &packet);
}

Perfetto__Protos__DebugAnnotation *pf_note(Perfetto__Protos__TrackEvent *event,
					   Perfetto__Protos__DebugAnnotation *notes,
					   const char *name)
{
	Perfetto__Protos__DebugAnnotation *note = &notes[event->n_debug_annotations];

	perfetto__protos__debug_annotation__init(note);
	note->name_field_case = PERFETTO__PROTOS__DEBUG_ANNOTATION__NAME_FIELD_NAME;
	note->name = (char *)name;
	event->debug_annotations[event->n_debug_annotations++] = note;
	return note;
}

void pf_note_number(Perfetto__Protos__TrackEvent *event, Perfetto__Protos__DebugAnnotation *notes,
		    const char *name, uint64_t number)
{
	Perfetto__Protos__DebugAnnotation *note = pf_note(event, notes, name);

	note->value_case = PERFETTO__PROTOS__DEBUG_ANNOTATION__VALUE_UINT_VALUE;
	note->uint_value = number;
}

void pf_note_text(Perfetto__Protos__TrackEvent *event, Perfetto__Protos__DebugAnnotation *notes,
		  const char *name, const char *text)
{
	Perfetto__Protos__DebugAnnotation *note = pf_note(event, notes, name);

	note->value_case = PERFETTO__PROTOS__DEBUG_ANNOTATION__VALUE_STRING_VALUE;
	note->string_value = (char *)text;
}

/*
 * The packet is the one that protobuf-c would pack, but with the events last: the fields of a
 * message may be in any order.
 */
void pf_write_bundle(struct pf_out *out,
		     const Perfetto__Protos__FtraceEventBundle *bundle,
		     const void *events, size_t size)
{
	Perfetto__Protos__TracePacket packet = PERFETTO__PROTOS__TRACE_PACKET__INIT;
	uint8_t start[HEADER_MAX], *head, *at;
	size_t head_size, start_size;

	head_size = perfetto__protos__ftrace_event_bundle__get_packed_size(bundle);
	head = malloc(head_size + 1);
	if (!head) {
		out->error = out->error ? out->error : -ENOMEM;
		return;
	}
	perfetto__protos__ftrace_event_bundle__pack(bundle, head);
	in_sequence(out, PF_SEQUENCE_EVENTS, &packet);
	start_size = perfetto__protos__trace_packet__pack(&packet, start);
	at = pf_put_tag(start + start_size, PACKET_FTRACE_EVENTS, PF_BYTES);
	at = pf_put_varint(at, head_size + size);
	start_size = (size_t)(at - start);

	write_length(out, TRACE_PACKET, start_size + head_size + size);
	write_data(out, start, start_size);
	write_data(out, head, head_size);
	write_data(out, events, size);
	free(head);
}

/* ---- machine and clocks ---- */

#define COPY_TEXT(to, from) snprintf(to, sizeof(to), "%.*s", \
				     (int)sizeof(from), from)

void pf_write_system(struct pf_out *out, const struct tb_trace *trace)
{
	Perfetto__Protos__TracePacket packet = PERFETTO__PROTOS__TRACE_PACKET__INIT;
	Perfetto__Protos__SystemInfo info = PERFETTO__PROTOS__SYSTEM_INFO__INIT;
	Perfetto__Protos__Utsname names = PERFETTO__PROTOS__UTSNAME__INIT;
	const struct tb_init *init = tb_trace_init(trace);
	char release[sizeof(init->release) + 1], version[sizeof(init->version) + 1];
	char machine[sizeof(init->machine) + 1], service[64], sysname[] = "Linux";

	snprintf(service, sizeof(service), "tracebuf %s", tb_version());
	info.tracing_service_version = service;
	PF_SET(&info, num_cpus, tb_trace_nr_cpus(trace));
	if (init) {
		if (init->nr_cpus > info.num_cpus)
			info.num_cpus = init->nr_cpus;
		COPY_TEXT(release, init->release);
		COPY_TEXT(version, init->version);
		COPY_TEXT(machine, init->machine);
		names.sysname = sysname;
		names.release = release;
		names.version = version;
		names.machine = machine;
		info.utsname = &names;
		PF_SET(&info, page_size, init->page_size);
	}
	packet.data_case = PERFETTO__PROTOS__TRACE_PACKET__DATA_SYSTEM_INFO;
	packet.system_info = &info;
	pf_write_packet(out, PF_SEQUENCE_SYSTEM, &packet);
}

void pf_write_clocks(struct pf_out *out, const struct tb_clock_sync *sync)
{
	Perfetto__Protos__TracePacket packet = PERFETTO__PROTOS__TRACE_PACKET__INIT;
	Perfetto__Protos__ClockSnapshot snapshot =
		PERFETTO__PROTOS__CLOCK_SNAPSHOT__INIT;
	Perfetto__Protos__ClockSnapshot__Clock clocks[3], *list[3];
	const uint64_t times[3] = {
		sync->boottime, sync->monotonic, sync->realtime,
	};
	static const uint32_t ids[3] = {
		PERFETTO__PROTOS__BUILTIN_CLOCK__BUILTIN_CLOCK_BOOTTIME,
		PERFETTO__PROTOS__BUILTIN_CLOCK__BUILTIN_CLOCK_MONOTONIC,
		PERFETTO__PROTOS__BUILTIN_CLOCK__BUILTIN_CLOCK_REALTIME,
	};
	size_t i;

	for (i = 0; i < 3; i++) {
		perfetto__protos__clock_snapshot__clock__init(&clocks[i]);
		PF_SET(&clocks[i], clock_id, ids[i]);
		PF_SET(&clocks[i], timestamp, times[i]);
		list[i] = &clocks[i];
	}
	snapshot.n_clocks = 3;
	snapshot.clocks = list;
	snapshot.has_primary_trace_clock = 1;
	snapshot.primary_trace_clock =
		PERFETTO__PROTOS__BUILTIN_CLOCK__BUILTIN_CLOCK_BOOTTIME;
	PF_SET(&packet, timestamp, sync->boottime);
	packet.data_case = PERFETTO__PROTOS__TRACE_PACKET__DATA_CLOCK_SNAPSHOT;
	packet.clock_snapshot = &snapshot;
	pf_write_packet(out, PF_SEQUENCE_SYSTEM, &packet);
}

/* ---- processes and threads ---- */

/* A process tree that is being filled */
struct tree {
	struct pf_out *out;
	uint64_t ns;
	size_t nr_threads, nr_processes;
	Perfetto__Protos__ProcessTree__Thread threads[TASKS_MAX];
	Perfetto__Protos__ProcessTree__Thread *thread_list[TASKS_MAX];
	Perfetto__Protos__ProcessTree__Process processes[TASKS_MAX];
	Perfetto__Protos__ProcessTree__Process *process_list[TASKS_MAX];
	char *names[TASKS_MAX];		/* the only item of each cmdline */
};

static void tree_write(struct tree *tree)
{
	Perfetto__Protos__TracePacket packet = PERFETTO__PROTOS__TRACE_PACKET__INIT;
	Perfetto__Protos__ProcessTree message = PERFETTO__PROTOS__PROCESS_TREE__INIT;

	if (!tree->nr_threads)
		return;
	message.n_processes = tree->nr_processes;
	message.processes = tree->process_list;
	message.n_threads = tree->nr_threads;
	message.threads = tree->thread_list;
	PF_SET(&message, collection_end_timestamp, tree->ns);
	PF_SET(&packet, timestamp, tree->ns);
	packet.data_case = PERFETTO__PROTOS__TRACE_PACKET__DATA_PROCESS_TREE;
	packet.process_tree = &message;
	pf_write_packet(tree->out, PF_SEQUENCE_SYSTEM, &packet);
	tree->nr_threads = 0;
	tree->nr_processes = 0;
}

static void tree_process(struct tree *tree, const struct tb_task *task)
{
	Perfetto__Protos__ProcessTree__Process *process;

	process = &tree->processes[tree->nr_processes];
	perfetto__protos__process_tree__process__init(process);
	PF_SET(process, pid, (int32_t)task->tid);
	PF_SET(process, ppid, (int32_t)task->parent);
	if (task->comm[0]) {
		tree->names[tree->nr_processes] = (char *)task->comm;
		process->n_cmdline = 1;
		process->cmdline = &tree->names[tree->nr_processes];
		PF_SET(process, cmdline_is_comm, 1);
	}
	if (task->flags & TB_TASK_LISTED)
		PF_SET(process, uid, (int32_t)task->uid);
	if (task->flags & TB_THREAD_KERNEL)
		PF_SET(process, is_kthread, 1);
	tree->process_list[tree->nr_processes++] = process;
}

/* tb_cursor_each_task(): add a thread.  Perfetto knows idle threads itself */
static int tree_add(const struct tb_task *task, void *context)
{
	Perfetto__Protos__ProcessTree__Thread *thread;
	struct tree *tree = context;

	if (!task->tid || !task->tgid)
		return 0;
	if (task->tgid == task->tid)
		tree_process(tree, task);
	thread = &tree->threads[tree->nr_threads];
	perfetto__protos__process_tree__thread__init(thread);
	PF_SET(thread, tid, (int32_t)task->tid);
	PF_SET(thread, tgid, (int32_t)task->tgid);
	if (task->comm[0])
		thread->name = (char *)task->comm;
	tree->thread_list[tree->nr_threads++] = thread;
	if (tree->nr_threads == TASKS_MAX)
		tree_write(tree);
	return tree->out->error;
}

int pf_write_tasks(struct pf_out *out, const struct tb_cursor *cursor,
		   uint64_t ns)
{
	struct tree *tree = calloc(1, sizeof(*tree));
	int result;

	if (!tree)
		return -ENOMEM;
	tree->out = out;
	tree->ns = ns;
	result = tb_cursor_each_task(cursor, tree_add, tree);
	tree_write(tree);
	free(tree);
	return result;
}

void pf_write_task(struct pf_out *out, const struct tb_task *task, uint64_t ns)
{
	struct tree tree;

	tree.out = out;
	tree.ns = ns;
	tree.nr_threads = 0;
	tree.nr_processes = 0;
	tree_add(task, &tree);
	tree_write(&tree);
}

/* ---- losses ---- */

int pf_write_accounting(struct pf_out *out, const struct pf_accounting *accounting,
		   unsigned int nr_cpus, bool end)
{
	Perfetto__Protos__TracePacket packet = PERFETTO__PROTOS__TRACE_PACKET__INIT;
	Perfetto__Protos__FtraceStats stats = PERFETTO__PROTOS__FTRACE_STATS__INIT;
	Perfetto__Protos__FtraceCpuStats *cpus, **list;
	unsigned int i;

	cpus = calloc(nr_cpus + 1, sizeof(*cpus));
	list = calloc(nr_cpus + 1, sizeof(*list));
	if (!cpus || !list) {
		free(cpus);
		free(list);
		return -ENOMEM;
	}
	for (i = 0; i < nr_cpus; i++) {
		perfetto__protos__ftrace_cpu_stats__init(&cpus[i]);
		PF_SET(&cpus[i], cpu, i);
		cpus[i].has_entries = 1;
		cpus[i].has_overrun = 1;
		cpus[i].has_commit_overrun = 1;
		cpus[i].has_dropped_events = 1;
		cpus[i].has_read_events = 1;
		if (end) {
			cpus[i].overrun = accounting[i].overwritten;
			cpus[i].dropped_events = accounting[i].dropped;
			cpus[i].read_events = accounting[i].written;
		}
		list[i] = &cpus[i];
	}
	PF_SET(&stats, phase, end ? PERFETTO__PROTOS__FTRACE_STATS__PHASE__END_OF_TRACE :
				    PERFETTO__PROTOS__FTRACE_STATS__PHASE__START_OF_TRACE);
	stats.n_cpu_stats = nr_cpus;
	stats.cpu_stats = list;
	packet.data_case = PERFETTO__PROTOS__TRACE_PACKET__DATA_FTRACE_STATS;
	packet.ftrace_stats = &stats;
	pf_write_packet(out, PF_SEQUENCE_SYSTEM, &packet);
	free(cpus);
	free(list);
	return 0;
}
