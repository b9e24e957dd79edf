// SPDX-License-Identifier: GPL-2.0-only
/*
 * tracebuf export - a trace as CTF, which Babeltrace, Trace Compass and others read.
 *
 * Babeltrace writes it in a child process, the writer: the graph consists of the source of our
 * plugin (userspace/plugins/babeltrace2) and of Babeltrace's sink.ctf.fs.
 */
#include <dirent.h>
#include <errno.h>
#include <fcntl.h>
#include <inttypes.h>
#include <poll.h>
#include <signal.h>
#include <stdlib.h>
#include <string.h>
#include <sys/prctl.h>
#include <sys/resource.h>
#include <sys/stat.h>
#include <sys/statvfs.h>
#include <sys/wait.h>
#include <unistd.h>
#include "export.h"
#include "source.h"

/**
 * struct ctf - the export
 * @made: a new directory in the output directory: the sink refuses one that exists
 */
struct ctf {
	struct bs_port port;
	char *made;
	const struct tb_export_options *options;
};

static int fail(const struct ctf *ctf, int result, const char *format, ...)
	__attribute__((format(printf, 3, 4)));

static int fail(const struct ctf *ctf, int result, const char *format, ...)
{
	va_list arguments;

	va_start(arguments, format);
	vsnprintf(ctf->options->error, ctf->options->error_size, format,
		  arguments);
	va_end(arguments);
	return result;
}

/* ---- the files that the sink has written ---- */

static int move_all(const struct ctf *ctf, DIR *from, int to)
{
	struct dirent *entry;

	while ((entry = readdir(from)))
		if (strcmp(entry->d_name, ".") && strcmp(entry->d_name, "..") &&
		    renameat(dirfd(from), entry->d_name, to, entry->d_name) < 0)
			return -errno;
	return rmdir(ctf->made) < 0 ? -errno : 0;
}

/* Move the files from the sink's directory into the output directory */
static int move_output(struct ctf *ctf)
{
	int to = open(ctf->options->path, O_RDONLY | O_DIRECTORY | O_CLOEXEC), result;
	DIR *from = opendir(ctf->made);
	struct stat status;

	if (to < 0 || !from || fstatat(dirfd(from), "metadata", &status, 0) < 0 ||
	    !status.st_size)
		result = fail(ctf, -ENODATA, "nothing was written: no event matches the options, or the disk is full");
	else
		result = move_all(ctf, from, to);
	if (from)
		closedir(from);
	if (to >= 0)
		close(to);
	return result;
}

/* ---- the graph ---- */

static bt_component_class_initialize_method_status
source_begin(bt_self_component_source *self,
	     bt_self_component_source_configuration *configuration,
	     const bt_value *params, void *data)
{
	(void)configuration;
	(void)params;
	return bt_self_component_source_add_output_port(self, "recording", data,
							NULL) ?
	       BT_COMPONENT_CLASS_INITIALIZE_METHOD_STATUS_ERROR :
	       BT_COMPONENT_CLASS_INITIALIZE_METHOD_STATUS_OK;
}

static const bt_component_class_source *source_class(void)
{
	bt_component_class_source *class = NULL;
	bt_message_iterator_class *iterator;

	iterator = bt_message_iterator_class_create(bs_iterator_next);
	if (!iterator)
		return NULL;
	bt_message_iterator_class_set_initialize_method(iterator,
							bs_iterator_initialize);
	bt_message_iterator_class_set_finalize_method(iterator, bs_iterator_finalize);
	class = bt_component_class_source_create("tracebuf", iterator);
	if (class)
		bt_component_class_source_set_initialize_method(class,
								source_begin);
	bt_message_iterator_class_put_ref(iterator);
	return class;
}

static bool sink_params(const struct ctf *ctf, bt_value *params)
{
	return params &&
	       !bt_value_map_insert_string_entry(params, "path", ctf->made) &&
	       !bt_value_map_insert_bool_entry(params, "assume-single-trace",
					       BT_TRUE) &&
	       !bt_value_map_insert_bool_entry(params, "quiet", BT_TRUE);
}

/* Add both components to @graph and connect them */
static bool build(struct ctf *ctf, bt_graph *graph, const bt_plugin *plugin)
{
	const bt_component_class_source *class = source_class();
	const bt_component_class_sink *sink_class;
	const bt_component_source *source = NULL;
	const bt_component_sink *sink = NULL;
	bt_value *params = bt_value_map_create();
	bool fine;

	sink_class = bt_plugin_borrow_sink_component_class_by_name_const(plugin,
									 "fs");
	fine = class && sink_class && sink_params(ctf, params) &&
	       !bt_graph_add_source_component_with_initialize_method_data(graph,
			class, "tracebuf", NULL, &ctf->port,
			BT_LOGGING_LEVEL_NONE, &source) &&
	       !bt_graph_add_sink_component(graph, sink_class, "ctf", params,
					    BT_LOGGING_LEVEL_NONE, &sink) &&
	       !bt_graph_connect_ports(graph,
			bt_component_source_borrow_output_port_by_index_const(
				source, 0),
			bt_component_sink_borrow_input_port_by_index_const(sink,
									   0),
			NULL);
	bt_component_class_source_put_ref(class);
	bt_value_put_ref(params);
	return fine;
}

/* Set the error message from Babeltrace's, the first cause of which is the deepest */
static int fail_with_cause(const struct ctf *ctf)
{
	const bt_error *error = bt_current_thread_take_error();
	const char *cause = "no reason given";

	if (error && bt_error_get_cause_count(error))
		cause = bt_error_cause_get_message(
				bt_error_borrow_cause_by_index(error, 0));
	fail(ctf, -EIO, "Babeltrace cannot write it: %s", cause);
	if (error)
		bt_error_release(error);
	return -EIO;
}

static int run(struct ctf *ctf)
{
	const bt_plugin *plugin = NULL;
	bt_graph *graph = NULL;
	int result = 0;

	/* the system's, not those of $BABELTRACE_PLUGIN_PATH and $HOME: each would be loaded */
	if (bt_plugin_find("ctf", BT_FALSE, BT_FALSE, BT_TRUE, BT_TRUE, BT_FALSE,
			   &plugin)) {
		bt_current_thread_clear_error();
		return fail(ctf, -ENOENT, "Babeltrace's plugin 'ctf' is not installed (Debian: apt install libbabeltrace2-0)");
	}
	graph = bt_graph_create(0);
	if (!graph || !build(ctf, graph, plugin) || bt_graph_run(graph))
		result = fail_with_cause(ctf);
	/* the last reference: the sink writes the metadata */
	bt_graph_put_ref(graph);
	bt_plugin_put_ref(plugin);
	return result;
}

/* ---- the writer: a child process ---- */

/* What the writer sends to its parent */
struct report {
	int  result;
	char text[256];
	struct bs_port port;
	bool found;
};

/*
 * Run the graph in the writer.  If the disk is full, Babeltrace 2.0 frees memory twice and aborts:
 * it must not take the command with it.
 */
__attribute__((noreturn))
static void run_writer(struct ctf *ctf, int out)
{
	const struct rlimit no_core = { 0, 0 };
	struct report report = { 0 };
	struct tb_export_options options = {
		.error = report.text, .error_size = sizeof(report.text),
	};
	const bool *found = ctf->options->found;
	int nowhere = open("/dev/null", O_WRONLY | O_CLOEXEC);

	prctl(PR_SET_PDEATHSIG, SIGKILL);
	setrlimit(RLIMIT_CORE, &no_core);
	if (nowhere >= 0)
		dup2(nowhere, STDERR_FILENO);
	ctf->options = &options;
	/* else Babeltrace loads code from a directory that another variable names */
	setenv("LIBBABELTRACE2_DISABLE_PYTHON_PLUGINS", "1", 1);
	report.result = bs_library_load(report.text, sizeof(report.text));
	if (!report.result)
		report.result = run(ctf);
	report.port = ctf->port;
	report.found = *found;
	_exit(write(out, &report, sizeof(report)) != sizeof(report));
}

/* The writer ended without a report */
static int fail_without_report(const struct ctf *ctf, int status)
{
	struct statvfs room;

	if (!statvfs(ctf->options->path, &room) && room.f_bavail * room.f_frsize < 1 << 20)
		return fail(ctf, -ENOSPC, "the disk is full");
	return fail(ctf, -EIO, "Babeltrace, which writes it, was ended by signal %d",
		    WIFSIGNALED(status) ? WTERMSIG(status) : 0);
}

/* Wait until the writer reports or ends; false: a signal came first */
static bool wait_for_report(const struct ctf *ctf, int in)
{
	static const int signals[] = { SIGINT, SIGTERM, SIGHUP };
	struct pollfd poll = { .fd = in, .events = POLLIN };
	sigset_t caught, before;
	bool heard = false;
	size_t i;

	/* signals are delivered only in ppoll(), so none is lost between the test and the wait */
	sigemptyset(&caught);
	for (i = 0; i < sizeof(signals) / sizeof(signals[0]); i++)
		sigaddset(&caught, signals[i]);
	sigprocmask(SIG_BLOCK, &caught, &before);
	while (!heard && !(ctf->options->stop_signal && *ctf->options->stop_signal))
		heard = ppoll(&poll, 1, NULL, &before) > 0;
	sigprocmask(SIG_SETMASK, &before, NULL);
	return heard;
}

static int end_writer(struct ctf *ctf, pid_t child, int in)
{
	bool heard = wait_for_report(ctf, in);
	struct report report;
	ssize_t got = 0;
	int status = 0;

	if (!heard)
		kill(child, SIGKILL);
	while (heard && (got = read(in, &report, sizeof(report))) < 0 && errno == EINTR)
		;
	while (waitpid(child, &status, 0) < 0 && errno == EINTR)
		;
	if (!heard)
		return -EINTR;
	if (got != sizeof(report))
		return fail_without_report(ctf, status);
	ctf->port = report.port;
	*ctf->options->found = report.found;
	return report.result ? fail(ctf, report.result, "%s", report.text) : 0;
}

static int run_in_child(struct ctf *ctf)
{
	int ends[2], result;
	pid_t child;

	if (pipe2(ends, O_CLOEXEC) < 0)
		return -errno;
	fflush(NULL);
	child = fork();
	if (!child)
		run_writer(ctf, ends[1]);
	result = child < 0 ? -errno : 0;
	close(ends[1]);
	if (!result)
		result = end_writer(ctf, child, ends[0]);
	close(ends[0]);
	return result;
}

static void report_left_out(const struct ctf *ctf)
{
	if (ctf->port.uncommitted)
		fprintf(stderr, "%" PRIu64 " events were left out: they had not been finished when the trace was taken\n",
			ctf->port.uncommitted);
	if (ctf->port.backwards)
		fprintf(stderr, "%" PRIu64 " events were earlier than the event before: exported with the time of that event\n",
			ctf->port.backwards);
}

int tb_export_ctf(struct tb_trace *trace, FILE *out,
		  const struct tb_export_options *options)
{
	struct ctf ctf = {
		.port = { .trace = trace, .next = options->next, .context = options->context },
		.options = options,
	};
	int result;

	(void)out;
	if (asprintf(&ctf.made, "%s/ctf", options->path) < 0)
		return -ENOMEM;
	result = run_in_child(&ctf);
	if (!result)
		result = move_output(&ctf);
	if (!result && options->verbose)
		report_left_out(&ctf);
	if (!result && options->over)
		options->over(options->context, ctf.port.faulty ? &ctf.port.fault : NULL,
			      ctf.port.uncommitted);
	free(ctf.made);
	return result;
}
