// SPDX-License-Identifier: GPL-2.0-only
/*
 * Reports and queries by container, on a trace with known runs.  If this breaks, a user takes one
 * container for the cause of a delay that another one causes.
 */
#include "test_lib_run.h"

static void add_note(struct fx *fx, struct fx_ring *notes, uint32_t kind, uint32_t key,
		     const char *text)
{
	struct { struct tb_string head; char text[112]; } string = { .head = { kind, key } };
	size_t length = strlen(text);

	memcpy(string.text, text, length);
	if (!notes->open)
		fx_begin(fx, notes, TB_BLOCK_NOTE, 12, 0, 0, 0);
	assert(fx_put_composite(fx, notes, TB_EV_STRING, 0, 0, 0, &string,
				sizeof(string.head) + length));
}

static void add_thread(struct fx *fx, uint32_t tid, uint32_t cgroup, const char *comm)
{
	struct tb_thread thread = {
		.tid = tid, .tgid = tid, .flags = TB_THREAD_DUMP, .cgroup = cgroup,
	};

	strncpy(thread.comm, comm, sizeof(thread.comm));
	fx_durable(fx, TB_EV_THREAD, &thread, sizeof(thread));
}

static void add_run(struct fx *fx, uint64_t time, int from, int to)
{
	struct fx_switch event = fx_switch("a", from, 0, "b", to);

	fx_composite(fx, 0, FX_SWITCH, time, (uint32_t)from, &event, sizeof(event));
}

/* Perfetto gets the container as a label of the process: fields 6 and 8 of ProcessDescriptor */
static void labels(void)
{
	char path[] = "/tmp/test_lib_containers.XXXXXX", options[64];
	static char data[65536];
	int made = mkstemp(path);
	size_t size;
	FILE *in;

	assert(made >= 0);
	close(made);
	snprintf(options, sizeof(options), "-q --format perfetto -o %s", path);
	CHECK_NUMBER(run_on("export", options), 0);
	in = fopen(path, "r");
	assert(in);
	size = fread(data, 1, sizeof(data), in);
	CHECK(memmem(data, size, "\x32\x05nginx\x42\x03web", 12));
	CHECK(memmem(data, size, "\x32\x03php\x42\x03web", 10));
	CHECK(!memmem(data, size, "\x32\x04sshd", 6));
	fclose(in);
	unlink(path);
}

/* report sums up CPU time by container, else by service; the cgroup of task 400 is not known */
static void containers(void)
{
	struct fx_ring notes = { 0 };
	struct fx fx;

	fx_init(&fx, 12, 1000);
	add_thread(&fx, 100, 7, "nginx");
	add_thread(&fx, 200, 7, "php");
	add_thread(&fx, 300, 8, "sshd");
	add_thread(&fx, 400, 9, "other");
	fx_sync(&fx, 0, 5000000000);
	fx_durable_end(&fx);
	fx_open(&fx, 0, 2000, 0, NULL);
	add_run(&fx, 2000, 0, 100);
	add_run(&fx, 3000, 100, 300);
	add_run(&fx, 3500, 300, 200);
	add_run(&fx, 5500, 200, 400);
	add_run(&fx, 5600, 400, 0);
	fx_close(&fx, 0);
	fx_totals(&fx, 0);
	fx_durable_end(&fx);
	add_note(&fx, &notes, TB_STRING_CGROUP, 7, "/system.slice/docker-0123456789abcdef"
		 "0123456789abcdef0123456789abcdef0123456789abcdef.scope");
	add_note(&fx, &notes, TB_STRING_CONTAINER, 7, "web");
	add_note(&fx, &notes, TB_STRING_CGROUP, 8, "/system.slice/ssh.service");
	fx_end(&fx, &notes);
	save(fx.data, fx.size);
	CHECK_NUMBER(run_on("report", "--json --section containers"), 0);
	CHECK_HAS("[\"web\",2,3000,833333,0,null,null]");
	CHECK_HAS("[\"ssh\",1,500,138888,0,null,null]");
	CHECK_HAS("The cgroup of tasks with 100 ns of CPU time is not known.");
	CHECK_NUMBER(run_on("query", "--csv --no-header"
			    " \"SELECT tid, container FROM threads\" -i"), 0);
	CHECK_HAS("100,web\n200,web\n300,\n400,\n");
	CHECK_NUMBER(run_on("print", "--containers"), 0);
	CHECK_HAS("a-100 web                  [000] ");
	CHECK_HAS("a-200 web                  [000] ");
	CHECK_HAS("a-300                      [000] ");
	CHECK_HAS("a-400                      [000] ");
	CHECK_NUMBER(run_on("print", "--containers --jsonl"), 2);
	CHECK_NUMBER(run_on("top", "--batch --view containers -i"), 0);
	CHECK_HAS("\n     2   83.3    0.00 ");
	CHECK_HAS(" web\n     1   13.9    0.00 ");
	CHECK_HAS(" ssh\n     1    2.8    0.00 ");
	CHECK_HAS(" cgroup 9\n");
	labels();
	fx_free(&fx);
}

/* top shows two containers whose names begin alike in two rows, by the ends of the names */
static void long_names(void)
{
	static const char pod[] = "monitoring-of-the-production-cluster/exporter-of-all-disks-7f9c";
	struct fx_ring notes = { 0 };
	char path[128], name[128];
	struct fx fx;
	unsigned int i;

	fx_init(&fx, 12, 1000);
	add_thread(&fx, 100, 7, "a");
	add_thread(&fx, 200, 8, "b");
	fx_sync(&fx, 0, 5000000000);
	fx_durable_end(&fx);
	fx_open(&fx, 0, 1000000, 0, NULL);
	add_run(&fx, 1000000, 0, 100);
	add_run(&fx, 4000000, 100, 200);
	add_run(&fx, 5000000, 200, 0);
	fx_close(&fx, 0);
	fx_totals(&fx, 0);
	fx_durable_end(&fx);
	for (i = 0; i < 2; i++) {
		snprintf(path, sizeof(path), "/docker/%064u", i + 1);
		snprintf(name, sizeof(name), "%s/web-%u", pod, i + 1);
		add_note(&fx, &notes, TB_STRING_CGROUP, 7 + i, path);
		add_note(&fx, &notes, TB_STRING_CONTAINER, 7 + i, name);
	}
	fx_end(&fx, &notes);
	save(fx.data, fx.size);
	CHECK_NUMBER(run_on("top", "--batch --view containers -i"), 0);
	CHECK_HAS("\n     1   75.0    0.00 ");
	CHECK_HAS("-7f9c/web-1\n     1   25.0    0.00 ");
	CHECK_HAS("-7f9c/web-2\n");
	fx_free(&fx);
}

/* query has columns of the cgroup, also beside many fields and fields of the same names */
static void columns(void)
{
	enum { ODD = 200, FIELDS = 70 };
	static struct fx_field fields[FIELDS];
	static char names[FIELDS][16];
	uint32_t values[FIELDS] = { 11, 22 };
	struct fx_ring notes = { 0 };
	struct fx fx;
	unsigned int i;

	for (i = 0; i < FIELDS; i++) {
		snprintf(names[i], sizeof(names[i]), "f%u", i);
		fields[i] = (struct fx_field){ names[i], "u32", (uint16_t)(4 * i), 4, 0, 0, 0, 0 };
	}
	strcpy(names[0], "_container");
	strcpy(names[1], "_CGroup");
	fx_init(&fx, 14, 1000);
	fx_describe(&fx, ODD, 0, "test", "odd", fields, FIELDS);
	add_thread(&fx, 100, 7, "nginx");
	add_thread(&fx, 300, 8, "sshd");
	fx_durable_end(&fx);
	fx_open(&fx, 0, 2000, 0, NULL);
	fx_composite(&fx, 0, ODD, 2000, 100, values, sizeof(values));
	fx_composite(&fx, 0, ODD, 2001, 300, values, sizeof(values));
	fx_composite(&fx, 0, ODD, 2002, 400, values, sizeof(values));
	fx_close(&fx, 0);
	add_note(&fx, &notes, TB_STRING_CGROUP, 7, "/docker/0123456789abcdef0123456789abcdef"
		 "0123456789abcdef0123456789abcdef");
	add_note(&fx, &notes, TB_STRING_CONTAINER, 7, "web");
	add_note(&fx, &notes, TB_STRING_CGROUP, 8, "/system.slice/ssh.service");
	fx_end(&fx, &notes);
	save(fx.data, fx.size);
	CHECK_NUMBER(run_on("query", "--csv --no-header \"SELECT _tid, _container, _cgroup, "
			    "_container_2, _CGroup_2 FROM odd\" -i"), 0);
	CHECK_HAS("100,web,/docker/0123456789abcdef0123456789abcdef"
		  "0123456789abcdef0123456789abcdef,11,22\n"
		  "300,,/system.slice/ssh.service,11,22\n400,,,11,22\n");
	CHECK_NUMBER(run_on("query", "--csv --no-header \"SELECT _tid FROM odd "
			    "WHERE _container = 'web'\" -i"), 0);
	CHECK_HAS("100\n");
	CHECK_NUMBER((unsigned int)lines(), 1);
	CHECK_NUMBER(run_on("query", "--csv --no-header \"SELECT _container_2, event FROM odd "
			    "JOIN events USING (_time, _container)\" -i"), 0);
	CHECK_HAS("11,odd\n");
	CHECK_NUMBER((unsigned int)lines(), 1);
	fx_free(&fx);
}

static const struct test tests[] = {
	{ "CPU time by container", containers },
	{ "containers with long names", long_names },
	{ "the cgroup and the container of an event's thread", columns },
};

RUN_MAIN(tests)
