// SPDX-License-Identifier: GPL-2.0-only
/*
 * A library that another user wants a privileged program to load.  When it is loaded it adds a line
 * to the file LOG: its own name, the program, and the program's permitted, effective and ambient
 * capabilities.  hostile.sh makes the attempts.
 */
#define _GNU_SOURCE
#include <dlfcn.h>
#include <fcntl.h>
#include <stdio.h>
#include <string.h>
#include <unistd.h>

int bt_plugin_python_create_all_from_file(void);

static void read_status(const char *name, char *value)
{
	FILE *status = fopen("/proc/self/status", "r");
	size_t length = strlen(name);
	char line[256];

	while (status && fgets(line, sizeof(line), status))
		if (!strncmp(line, name, length))
			sscanf(line + length, " %16s", value);
	if (status)
		fclose(status);
}

__attribute__((constructor))
static void loaded(void)
{
	char permitted[17] = "?", effective[17] = "?", ambient[17] = "?", program[256], text[1024];
	/* append: programs in a pipe, and their children, write at the same time */
	int log = open(LOG, O_WRONLY | O_APPEND | O_CLOEXEC), length;
	ssize_t got = readlink("/proc/self/exe", program, sizeof(program) - 1);
	Dl_info self = { 0 };

	program[got < 0 ? 0 : got] = 0;
	dladdr(loaded, &self);
	read_status("CapPrm:", permitted);
	read_status("CapEff:", effective);
	read_status("CapAmb:", ambient);
	length = snprintf(text, sizeof(text), "%s %s %s %s %s\n", self.dli_fname, program,
			  permitted, effective, ambient);
	if (log < 0 || write(log, text, length) != length)
		fprintf(stderr, "%s cannot be written\n", LOG);
	close(log);
}

/* For Babeltrace, which wants this of the library that loads plugins in Python: none is found */
int bt_plugin_python_create_all_from_file(void)
{
	return 2;
}
