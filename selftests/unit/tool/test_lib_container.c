// SPDX-License-Identifier: GPL-2.0-only
/*
 * A recording names containers as Kubernetes, Docker and Podman do, from the files that these
 * write. If this fails, names are missing, or belong to other containers.
 */
#include <sys/stat.h>
#include <unistd.h>
#include "test_lib_fixture.h"
#include "../../../userspace/tool/choose/container.h"

#define ID_A "0123456789abcdef0123456789abcdef0123456789abcdef0123456789abcdef"
#define ID_B "fedcba9876543210fedcba9876543210fedcba9876543210fedcba9876543210"
#define ID_C "00000000000000000000000000000000000000000000000000000000000000aa"
#define ID_D "00000000000000000000000000000000000000000000000000000000000000bb"

static char root[] = "/tmp/test_lib_container.XXXXXX";

/* Make the file @path below root, with its folders */
static void put(const char *path, const char *text)
{
	char name[512];
	char *slash;
	FILE *file;

	snprintf(name, sizeof(name), "%s%s", root, path);
	for (slash = name + strlen(root) + 1; (slash = strchr(slash, '/')); slash++) {
		*slash = 0;
		mkdir(name, 0700);
		*slash = '/';
	}
	file = fopen(name, "w");
	assert(file && fputs(text, file) >= 0 && !fclose(file));
}

/* The name of the container that the cgroup is of; "": it has none */
static const char *named_of(const char *path)
{
	static char name[CONTAINER_NAME_MAX];

	return container_name(root, path, name) ? name : "";
}

static const char *named(const char *id)
{
	char path[128];

	snprintf(path, sizeof(path), "/machine.slice/libpod-%s.scope", id);
	return named_of(path);
}

static void of_paths(void)
{
	const char *docker = "/system.slice/docker-" ID_A ".scope";
	const char *podman = "/machine.slice/libpod-" ID_B ".scope/container";
	const char *bare = "/kubepods/burstable/pod77/" ID_A;
	const char *two = "/docker/" ID_A "/docker/" ID_B "/init";

	CHECK(container_id(docker) == strstr(docker, ID_A));
	CHECK(container_id(podman) == strstr(podman, ID_B));
	CHECK(container_id(bare) == strstr(bare, ID_A));
	CHECK(container_id(two) == strstr(two, ID_B));
	CHECK(!container_id("/"));
	CHECK(!container_id(""));
	CHECK(!container_id("/system.slice/ssh.service"));
	CHECK(!container_id("/system.slice/docker-0123456789ab.scope"));
}

static void kubernetes(void)
{
	put("/var/log/containers/web-0_shop_nginx-" ID_A ".log", "");
	put("/var/log/containers/my-db_a-space_my-sql-" ID_B ".log", "");
	put("/var/log/containers/no-container-" ID_C ".log", "");
	put("/var/log/containers/short.log", "");
	CHECK_TEXT(named(ID_A), "shop/web-0/nginx");
	CHECK_TEXT(named(ID_B), "a-space/my-db/my-sql");
	CHECK_TEXT(named(ID_C), "");
}

#define DOCKER "/var/lib/docker/containers/"

static void docker(void)
{
	put(DOCKER ID_A "/config.v2.json", "{\"ID\":\"" ID_A "\",\"Config\":{\"Hostname\":\"x\","
	    "\"Labels\":{\"Name\":\"/other\",\"b\":\"\\\"}{\"}},"
	    "\"HostConfig\":{\"RestartPolicy\":{\"Name\":\"no\"}},\"Name\":\"/web_1.a\","
	    "\"MountPoints\":{\"/d\":{\"Name\":\"volume\"}}}");
	put(DOCKER ID_B "/config.v2.json", "{\"Name\":\"/bad\\nname\"}");
	put(DOCKER ID_C "/config.v2.json", "{\"Name\":\"/cut");
	CHECK_TEXT(named(ID_A), "web_1.a");
	CHECK_TEXT(named(ID_B), "");
	CHECK_TEXT(named(ID_C), "");
}

static void podman(void)
{
	put("/var/lib/containers/storage/overlay-containers/containers.json",
	    "[{\"id\":\"" ID_B "\",\"names\":[\"db\"],\"image\":\"i\"},"
	    "{\"id\":\"" ID_C "\",\"image\":\"i\"},"
	    "{\"id\":\"" ID_A "\",\"names\":[\"web\",\"other\"]}]");
	CHECK_TEXT(named(ID_A), "web");
	CHECK_TEXT(named(ID_B), "db");
	CHECK_TEXT(named(ID_C), "");
	/* podman run --rm; with --transient-store */
	put("/var/lib/containers/storage/overlay-containers/volatile-containers.json",
	    "[{\"id\":\"" ID_D "\",\"names\":[\"job\"]}]");
	put("/run/containers/storage/overlay-containers/volatile-containers.json",
	    "[{\"id\":\"" ID_C "\",\"names\":[\"cache\"]}]");
	CHECK_TEXT(named(ID_C), "cache");
	CHECK_TEXT(named(ID_D), "job");
}

/* A user's containers have names from the user's files, and no others have */
#define OF_USER(id) "/user.slice/user-1000.slice/user@1000.service/user.slice/libpod-" id ".scope"
#define STORAGE "/home/anna/.local/share/containers/storage/overlay-containers/"

static void rootless(void)
{
	char name[512], target[512];

	put("/etc/passwd", "root:x:0:0:root:/root:/bin/sh\nanna:x:1000:1000::/home/anna:/bin/sh\n");
	put(STORAGE "containers.json", "[{\"id\":\"" ID_A "\",\"names\":[\"web\"]}]");
	put("/run/user/1000/containers/overlay-containers/volatile-containers.json",
	    "[{\"id\":\"" ID_B "\",\"names\":[\"job\"]}]");
	put("/home/anna/.local/share/docker/containers/" ID_C "/config.v2.json",
	    "{\"Name\":\"/db\"}");
	CHECK_TEXT(named_of(OF_USER(ID_A)), "web");
	CHECK_TEXT(named_of(OF_USER(ID_B)), "job");
	CHECK_TEXT(named_of(OF_USER(ID_C)), "db");
	CHECK_TEXT(named(ID_A), "");
	CHECK_TEXT(named_of("/user.slice/user@1001.service/libpod-" ID_A ".scope"), "");
	/* the system's files do not name a user's containers, nor does what a user links to */
	put("/var/lib/containers/storage/overlay-containers/containers.json",
	    "[{\"id\":\"" ID_D "\",\"names\":[\"system\"]}]");
	CHECK_TEXT(named_of(OF_USER(ID_D)), "");
	CHECK_TEXT(named(ID_D), "system");
	snprintf(name, sizeof(name), "%s" STORAGE "volatile-containers.json", root);
	snprintf(target, sizeof(target),
		 "%s/var/lib/containers/storage/overlay-containers/containers.json", root);
	assert(!symlink(target, name));
	CHECK_TEXT(named_of(OF_USER(ID_D)), "");
}

/* A very long file, or a very long name, gives no name */
static void too_long(void)
{
	static char text[9 << 20];

	memset(text, 'a', sizeof(text) - 1);
	put(DOCKER ID_A "/config.v2.json", text);
	CHECK_TEXT(named(ID_A), "");
	memcpy(text, "{\"Name\":\"/", 10);
	memcpy(text + CONTAINER_NAME_MAX + 10, "\"", 2);
	put(DOCKER ID_A "/config.v2.json", text);
	CHECK_TEXT(named(ID_A), "");
	memcpy(text + CONTAINER_NAME_MAX + 9, "\"", 2);
	put(DOCKER ID_A "/config.v2.json", text);
	CHECK_NUMBER(strlen(named(ID_A)), CONTAINER_NAME_MAX - 1);
}

static void none(void)
{
	CHECK_TEXT(named(ID_A), "");
}

/* Each test begins with an empty root */
#define FRESH(test) \
	static void fresh_##test(void) \
	{ \
		char command[128]; \
		assert(mkdtemp(strcpy(root, "/tmp/test_lib_container.XXXXXX"))); \
		test(); \
		snprintf(command, sizeof(command), "rm -r %s", root); \
		CHECK(!system(command)); \
	}

FRESH(of_paths)
FRESH(kubernetes)
FRESH(docker)
FRESH(podman)
FRESH(rootless)
FRESH(too_long)
FRESH(none)

static const struct test tests[] = {
	{ "the ID in a path", fresh_of_paths },
	{ "Kubernetes", fresh_kubernetes },
	{ "Docker", fresh_docker },
	{ "Podman", fresh_podman },
	{ "containers of a user", fresh_rootless },
	{ "long files and names", fresh_too_long },
	{ "no container", fresh_none },
};

TEST_MAIN(tests)
