// SPDX-License-Identifier: GPL-2.0-only
/*
 * tracebuf provider - list, create, show and destroy providers: recordings that run side by side,
 * each with its own name, events, buffers and mode.
 */
#include <errno.h>
#include <inttypes.h>
#include <signal.h>
#include <stdlib.h>
#include <string.h>
#include "cmd.h"
#include "tool/choose/choose.h"
#include "tool/choose/setup.h"
#include "tool/command/command.h"
#include "tool/device/device.h"

static int provider_run(int argc, char **argv);

const struct command cmd_provider = {
	.name  = "provider",
	.run   = provider_run,
	.brief = "list, create and destroy recordings that run side by side",
	.help  =
	"usage: tracebuf provider list\n"
	"       tracebuf provider create NAME [OPTIONS]\n"
	"       tracebuf provider destroy NAME\n"
	"       tracebuf provider show NAME\n"
	"\n"
	"A provider is a recording with its own events and its own buffers (elsewhere: a\n"
	"session). It is started, stopped and read independently of others. 'kernel'\n"
	"always exists. With -p NAME the other commands use provider NAME: 1 to 31 of\n"
	"A-Z a-z 0-9 _ - . and a letter first.\n"
	"\n"
	"destroy stops its recording and frees its buffers; unread events are lost.\n"
	"create makes the provider with all that it needs to start, or fails:\n"
	"\n"
	"  -e, --events LIST     enable these:\n"
	CHOICE_HELP
	WHO_HELP
	SETUP_MODE_HELP
	HELP_ENDS
	WHO_MORE_HELP
	WIDE_HELP
	WRITERS_HELP
	SETUP_SIZES_HELP
	SETUP_MARK_HELP
	SETUP_REST_HELP,
};

static bool name_legal(const char *name)
{
	static const char legal[] =
		"ABCDEFGHIJKLMNOPQRSTUVWXYZabcdefghijklmnopqrstuvwxyz"
		"0123456789_-.";
	size_t length = strlen(name);

	return length && length < TB_PROVIDER_NAME_MAX &&
	       strspn(name, legal) == length && memchr(legal, *name, 52);
}

/* ---- list ---- */

static int list_run(struct tb_device *device, const char *name)
{
	struct tb_provider_info info;
	unsigned int i, files;
	int result;

	(void)name;
	printf("%5s %-31s %-8s %5s  %s\n", "ID", "NAME", "STATE", "FILES", "");
	for (i = 0; !(result = tb_device_provider(device, i, &info)); i++) {
		/* do not count this program's own file, which is of the first provider */
		files = info.files - (i == 0);
		printf("%5u %-31s %-8s %5u  %s%s\n", info.id, info.name,
		       tb_state_name(info.state), files,
		       info.reason > TB_REASON_REQUEST ?
		       tb_reason_name(info.reason) : "",
		       info.flags & TB_PROVIDER_MODULE ? "of a module" :
		       info.flags & TB_PROVIDER_PREVIOUS ? "from before the boot, read-only" : "");
	}
	return result == -ENOENT ? EXIT_FINE :
	       complain("cannot list providers: %s", strerror(-result));
}

/* ---- destroy ---- */

static int complain_unknown(struct tb_device *device, const char *name)
{
	char names[1024];

	return complain("there is no provider '%s'; existing: %s", name,
			provider_names(device, names, sizeof(names)));
}

static int destroy_run(struct tb_device *device, const char *name)
{
	int result = tb_device_destroy(device, name);

	switch (-result) {
	case 0:
		return EXIT_FINE;
	case ENOENT:
	case EINVAL:
		return complain_unknown(device, name);
	case EPERM:
		return complain("'%s' always exists: only providers that were created can be removed",
				name);
	case EBUSY:
		return complain("another program or a module uses provider '%s': end it first",
				name);
	}
	return complain("provider '%s' cannot be removed: %s", name,
			strerror(-result));
}

/* ---- show ---- */

static int show_run(struct tb_device *device, const char *name)
{
	struct tb_stats *each = NULL, sum;
	struct tb_query query;
	int result = tb_device_attach(device, name);

	if (result == -ENOENT || result == -EINVAL)
		return complain_unknown(device, name);
	if (!result)
		result = tb_device_query(device, &query);
	if (!result) {
		show_query(&query);
		show_enabled(device);
		show_suppressed(device, &query, true);
		quota_show(device);
		each = calloc(query.nr_cpus + 1, sizeof(*each));
		result = each ? read_stats(device, query.nr_cpus, each, &sum) :
				-ENOMEM;
	}
	if (!result)
		print_table(stdout, each, query.nr_cpus, &sum, true);
	free(each);
	return result < 0 ? complain("provider '%s': %s", name,
				     strerror(-result)) : EXIT_FINE;
}

/* ---- create ---- */

struct create {
	const char *name;
	struct choice choice;
	struct target_threads target;
	struct setup setup;
};

static int create_failed(const char *name, int result)
{
	switch (-result) {
	case EEXIST:
		return complain("provider '%s' exists already: choose another name, or remove it with 'tracebuf provider destroy %s'",
				name, name);
	case ENOSPC:
		return complain("there are %d providers, the maximum: remove one with 'tracebuf provider destroy NAME'",
				TB_PROVIDERS_MAX);
	case ENOMEM:
		return complain("no memory for another provider");
	}
	return complain("provider '%s' cannot be made: %s", name,
			strerror(-result));
}

/* Configure the new provider, choose its events and threads; EXIT_* */
static int create_set_up(struct tb_device *device, struct create *create)
{
	int result = tb_device_attach(device, create->name);

	if (result < 0)
		return complain("provider '%s' cannot be used any more: %s",
				create->name, strerror(-result));
	if (setup_apply(device, &create->setup))
		return EXIT_WRONG;
	if (create->choice.count ? choice_set(device, &create->choice) :
	    choice_quota(device, &create->choice, false))
		return EXIT_WRONG;
	return create->target.given ? target_threads_apply(device, &create->target, 0) : EXIT_FINE;
}

static int create_device(struct create *create)
{
	struct tb_device *device;
	sigset_t all;
	int result, status;

	/* a signal must not leave a half-configured provider behind */
	sigfillset(&all);
	sigprocmask(SIG_BLOCK, &all, NULL);
	device = open_device(NULL, 0);
	if (!device)
		return EXIT_WRONG;
	result = tb_device_create(device, create->name);
	if (result < 0) {
		status = create_failed(create->name, result);
	} else {
		status = create_set_up(device, create);
		if (status != EXIT_FINE)
			tb_device_destroy(device, create->name);
	}
	tb_device_close(device);
	return status;
}

static int create_with(int argc, char **argv, struct create *create)
{
	int option, status;

	while ((option = next_option(&cmd_provider, "", argc, argv)) >= 0) {
		status = setup_option(&cmd_provider, option, optarg,
				      &create->setup);
		if (!status)
			status = choice_option(&cmd_provider, option, optarg,
					       &create->choice);
		if (!status)
			status = target_threads_option(&cmd_provider, option, optarg,
						       &create->target);
		if (status < 0)
			return EXIT_USAGE;
		if (!status)
			return show_help(&cmd_provider, option);
	}
	if (optind == argc)
		return misused(&cmd_provider, "create needs the name of a provider");
	if (optind + 1 < argc)
		return misused(&cmd_provider, "'%s' is too much",
			       argv[optind + 1]);
	create->name = argv[optind];
	if (!name_legal(create->name))
		return misused(&cmd_provider, "'%s' cannot be a name: it takes 1 to %d of A-Z a-z 0-9 _ - . and the first a letter",
			       create->name, TB_PROVIDER_NAME_MAX - 1);
	if (!create->choice.count &&
	    (create->choice.form || create->choice.nr_filters))
		return misused(&cmd_provider, "--wide and --filter go with events (-e)");
	if (setup_check(&cmd_provider, &create->setup) ||
	    target_threads_check(&cmd_provider, &create->target, false))
		return EXIT_USAGE;
	if (!create->choice.form)
		create->choice.form = TB_FORM_COMPACT;
	return create_device(create);
}

static int create_run(int argc, char **argv)
{
	struct create create = { 0 };
	int status = create_with(argc, argv, &create);

	choice_free(&create.choice);
	return status;
}

/* ---- the command line ---- */

static const struct {
	const char *name;
	int (*run)(struct tb_device *device, const char *name);
	bool named;
} actions[] = {
	{ "list",    list_run,    false },
	{ "destroy", destroy_run, true },
	{ "show",    show_run,    true },
};

#define NR_ACTIONS (sizeof(actions) / sizeof(actions[0]))

static int provider_run(int argc, char **argv)
{
	struct tb_device *device;
	int names, status;
	size_t i;

	if (argc < 2)
		return misused(&cmd_provider, "list, create, destroy or show?");
	if (!strcmp(argv[1], "-h") || !strcmp(argv[1], "--help"))
		return show_help(&cmd_provider, 'h');
	if (!strcmp(argv[1], "--help-all"))
		return show_help(&cmd_provider, OPTION_HELP_ALL);
	if (!strcmp(argv[1], "create"))
		return create_run(argc - 1, argv + 1);
	for (i = 0; i < NR_ACTIONS; i++)
		if (!strcmp(argv[1], actions[i].name))
			break;
	if (i == NR_ACTIONS)
		return misused(&cmd_provider, "'%s' is not list, create, destroy or show",
			       argv[1]);
	if (argc > 2 && (!strcmp(argv[2], "-h") || !strcmp(argv[2], "--help")))
		return show_help(&cmd_provider, 'h');
	names = argc - 2;
	if (names < actions[i].named)
		return misused(&cmd_provider, "%s needs the name of a provider", argv[1]);
	if (names > actions[i].named)
		return misused(&cmd_provider, "'%s' is too much",
			       argv[2 + actions[i].named]);
	device = open_device(NULL, 0);
	status = device ? actions[i].run(device, names ? argv[2] : NULL) :
			  EXIT_WRONG;
	tb_device_close(device);
	return status;
}
