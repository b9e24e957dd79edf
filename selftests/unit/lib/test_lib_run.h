/* SPDX-License-Identifier: GPL-2.0-only */
/* Runs the tool $TRACEBUF, "tracebuf" by default, on traces made by hand; needs no module. */
#ifndef TEST_LIB_RUN_H
#define TEST_LIB_RUN_H

#include <sys/wait.h>
#include <unistd.h>
#include "test_lib_fixture.h"

static char file[] = "/tmp/test_lib.XXXXXX";
static char output[65536];

static inline void save(const void *data, size_t size)
{
	FILE *out = fopen(file, "wb");

	assert(out && fwrite(data, 1, size, out) == size);
	assert(fclose(out) == 0);
}

/* Run the tool; output[] gets both streams; return the exit status */
static inline int run(const char *arguments)
{
	const char *tool = getenv("TRACEBUF");
	char command[1024];
	size_t used = 0, got;
	FILE *pipe;
	int status;

	snprintf(command, sizeof(command), "%s %s 2>&1",
		 tool ? tool : "tracebuf", arguments);
	fflush(stdout);
	pipe = popen(command, "r");
	assert(pipe);
	while (used < sizeof(output) - 1 &&
	       (got = fread(output + used, 1, sizeof(output) - 1 - used, pipe)))
		used += got;
	output[used] = 0;
	status = pclose(pipe);
	return WIFEXITED(status) ? WEXITSTATUS(status) : -1;
}

static inline int run_on(const char *command, const char *options)
{
	char arguments[512];

	snprintf(arguments, sizeof(arguments), "%s %s %s", command, options,
		 file);
	return run(arguments);
}

static inline int lines(void)
{
	int count = 0;
	char *at;

	for (at = output; *at; at++)
		count += *at == '\n';
	return count;
}

#define CHECK_HAS(text) \
	do { \
		if (!strstr(output, (text))) { \
			printf("# %s:%d: \"%s\" is not in:\n", __FILE__, \
			       __LINE__, (text)); \
			printf("# %.2000s\n", output); \
			test_failures++; \
		} \
	} while (0)

static inline int run_main(const struct test *tests, size_t count)
{
	int fd = mkstemp(file), result;

	assert(fd >= 0);
	close(fd);
	result = test_main(tests, count);
	unlink(file);
	return result;
}

#define RUN_MAIN(tests) \
	int main(void) \
	{ \
		return run_main(tests, sizeof(tests) / sizeof(tests[0])); \
	}

#endif /* TEST_LIB_RUN_H */
