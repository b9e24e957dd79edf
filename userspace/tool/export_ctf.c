// SPDX-License-Identifier: GPL-2.0-only
/*
 * tracebuf export - a trace as CTF, in which Babeltrace, Trace Compass and their like read.
 *
 * Babeltrace writes it: its graph here is the plugin's own source (userspace/plugins/babeltrace2)
 * and its sink.ctf.fs, in a process of its own.  What it writes goes into a directory beside the
 * one that is wanted and gets its name when it is complete.
 */
#include <dirent.h>
#include <errno.h>
#include <fcntl.h>
#include <ftw.h>
#include <inttypes.h>
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

struct ctf {
	struct bs_port port;
	char *path;		/* what is wanted, without slashes at its end */
	char *beside;		/* where it is made; NULL: not yet */
	char *made;		/* in there */
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

/* ---- directories ---- */

static int remove_one(const char *path, const struct stat *status, int type,
		      struct FTW *place)
{
	(void)status;
	(void)type;
	(void)place;
	return remove(path);
}

/* There is nothing at @path, or a directory with nothing in it */
static int check_path(const struct ctf *ctf)
{
	struct dirent *entry;
	bool empty = true;
	DIR *directory;

	directory = opendir(ctf->path);
	if (!directory && errno == ENOENT)
		return 0;
	if (!directory && errno == ENOTDIR)
		return fail(ctf, -ENOTDIR, "a CTF trace is a directory, and there is a file of that name");
	if (!directory)
		return fail(ctf, -errno, "cannot be looked into: %s",
			    strerror(errno));
	while (empty && (entry = readdir(directory)))
		empty = !strcmp(entry->d_name, ".") ||
			!strcmp(entry->d_name, "..");
	closedir(directory);
	return empty ? 0 : fail(ctf, -ENOTEMPTY, "a CTF trace is a directory of its own, and this one is not empty: name another, or remove it first");
}

static int make_beside(struct ctf *ctf)
{
	mode_t mask;

	if (asprintf(&ctf->beside, "%s.XXXXXX", ctf->path) < 0) {
		ctf->beside = NULL;
		return -ENOMEM;
	}
	if (!mkdtemp(ctf->beside)) {
		int result = -errno;

		free(ctf->beside);
		ctf->beside = NULL;
		return fail(ctf, result, "cannot be written: %s",
			    strerror(-result));
	}
	/* mkdtemp() keeps everybody else out */
	mask = umask(0);
	umask(mask);
	chmod(ctf->beside, 0777 & ~mask);
	if (asprintf(&ctf->made, "%s/ctf", ctf->beside) < 0) {
		ctf->made = NULL;
		return -ENOMEM;
	}
	return 0;
}

static void remove_beside(struct ctf *ctf)
{
	if (ctf->beside)
		nftw(ctf->beside, remove_one, 16, FTW_DEPTH | FTW_PHYS);
}

/* Sink and source are done: what they have made becomes what is wanted */
static int take_over(struct ctf *ctf)
{
	struct stat status;
	char *metadata;

	if (asprintf(&metadata, "%s/metadata", ctf->made) < 0)
		return -ENOMEM;
	if (stat(metadata, &status) < 0 || !status.st_size) {
		free(metadata);
		return fail(ctf, -ENODATA, "nothing was written: there is not one event in the recording, or no room");
	}
	free(metadata);
	if (rename(ctf->made, ctf->path) < 0)
		return fail(ctf, -errno, "cannot be made: %s", strerror(errno));
	return 0;
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
							bs_iterator_begin);
	bt_message_iterator_class_set_finalize_method(iterator, bs_iterator_end);
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

/* Both components, joined */
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

/* What Babeltrace says: its first cause is the deepest one */
static int failed(const struct ctf *ctf)
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

	if (bt_plugin_find("ctf", BT_TRUE, BT_TRUE, BT_TRUE, BT_TRUE, BT_FALSE,
			   &plugin)) {
		bt_current_thread_clear_error();
		return fail(ctf, -ENOENT, "Babeltrace's plugin 'ctf' is not here (Debian: apt install libbabeltrace2-0)");
	}
	graph = bt_graph_create(0);
	if (!graph || !build(ctf, graph, plugin) || bt_graph_run(graph))
		result = failed(ctf);
	/* the sink writes the metadata as it goes */
	bt_graph_put_ref(graph);
	bt_plugin_put_ref(plugin);
	return result;
}

/* ---- the writer: a process of its own ---- */

/* What it has to tell */
struct report {
	int  result;
	char text[256];
	struct bs_port port;
};

static volatile sig_atomic_t interrupted;

static void interrupt(int number)
{
	interrupted = number;
}

/*
 * Where it finds no room on the disk, Babeltrace 2.0 frees something twice, and the process is
 * ended. So it is one that nobody needs any more.
 */
__attribute__((noreturn))
static void write_all(struct ctf *ctf, int out)
{
	const struct rlimit no_core = { 0, 0 };
	struct report report = { 0 };
	struct tb_export_options options = {
		.error = report.text, .error_size = sizeof(report.text),
	};
	int nowhere = open("/dev/null", O_WRONLY | O_CLOEXEC);

	prctl(PR_SET_PDEATHSIG, SIGKILL);
	setrlimit(RLIMIT_CORE, &no_core);
	if (nowhere >= 0)
		dup2(nowhere, STDERR_FILENO);
	ctf->options = &options;
	report.result = bs_calls_load(report.text, sizeof(report.text));
	if (!report.result)
		report.result = run(ctf);
	report.port = ctf->port;
	_exit(write(out, &report, sizeof(report)) != sizeof(report));
}

/* It said nothing */
static int died(const struct ctf *ctf, int status)
{
	struct statvfs room;

	if (!statvfs(ctf->beside, &room) && room.f_bavail * room.f_frsize < 1 << 20)
		return fail(ctf, -ENOSPC, "there is no room left for it");
	return fail(ctf, -EIO, "Babeltrace, which writes it, was ended by signal %d",
		    WIFSIGNALED(status) ? WTERMSIG(status) : 0);
}

static int await(struct ctf *ctf, pid_t child, int in)
{
	struct report report;
	ssize_t got;
	int status;

	do {
		if (interrupted)
			kill(child, SIGKILL);
		got = read(in, &report, sizeof(report));
	} while (got < 0 && errno == EINTR);
	while (waitpid(child, &status, 0) < 0 && errno == EINTR)
		if (interrupted)
			kill(child, SIGKILL);
	if (interrupted)
		return fail(ctf, -EINTR, "interrupted: nothing is left of it");
	if (got != sizeof(report))
		return died(ctf, status);
	ctf->port = report.port;
	return report.result ? fail(ctf, report.result, "%s", report.text) : 0;
}

static int run_apart(struct ctf *ctf)
{
	int ends[2], result;
	pid_t child;

	if (pipe2(ends, O_CLOEXEC) < 0)
		return -errno;
	fflush(NULL);
	child = fork();
	if (!child)
		write_all(ctf, ends[1]);
	result = child < 0 ? -errno : 0;
	close(ends[1]);
	if (!result)
		result = await(ctf, child, ends[0]);
	close(ends[0]);
	return result;
}

/* ---- signals: what has been begun is removed ---- */

static const int signals[] = { SIGINT, SIGTERM, SIGHUP };

#define NR_SIGNALS (sizeof(signals) / sizeof(signals[0]))

static int run_guarded(struct ctf *ctf)
{
	struct sigaction action = { .sa_handler = interrupt };
	struct sigaction before[NR_SIGNALS];
	int result;
	size_t i;

	interrupted = 0;
	for (i = 0; i < NR_SIGNALS; i++) {
		sigaction(signals[i], NULL, &before[i]);
		if (before[i].sa_handler != SIG_IGN)
			sigaction(signals[i], &action, NULL);
	}
	result = make_beside(ctf);
	if (!result)
		result = run_apart(ctf);
	if (!result)
		result = take_over(ctf);
	remove_beside(ctf);
	for (i = 0; i < NR_SIGNALS; i++)
		sigaction(signals[i], &before[i], NULL);
	return result;
}

static void say(const struct ctf *ctf)
{
	if (ctf->port.uncommitted)
		fprintf(stderr, "%" PRIu64 " events had not been finished when the trace was taken: left out\n",
			ctf->port.uncommitted);
	if (ctf->port.backwards)
		fprintf(stderr, "%" PRIu64 " events were earlier than the one before them: they have its time\n",
			ctf->port.backwards);
}

int tb_export_ctf(struct tb_trace *trace, const char *path,
		  const struct tb_export_options *options)
{
	struct ctf ctf = { .port.trace = trace, .options = options };
	size_t length = strlen(path);
	int result;

	while (length > 1 && path[length - 1] == '/')
		length--;
	ctf.path = strndup(path, length);
	result = ctf.path ? check_path(&ctf) : -ENOMEM;
	if (!result)
		result = run_guarded(&ctf);
	if (!result && options->verbose)
		say(&ctf);
	/* a damaged block; what there is of the file is told by the caller */
	if (!result && ctf.port.faulty)
		result = fail(&ctf, -EBADMSG, "at byte %" PRIu64 " of the trace: %s; everything else has been written",
			      ctf.port.fault.offset, ctf.port.fault.text);
	free(ctf.made);
	free(ctf.beside);
	free(ctf.path);
	return result;
}
