// SPDX-License-Identifier: GPL-2.0-only
/*
 * A file that a user has mapped cannot hold up the recorder, nor does reading it trigger anything.
 * If this fails, a recorder of user stacks waits forever for a user's file system (FUSE), or reads
 * on a user's behalf what only root may read. The test itself serves a file system that answers
 * everything but reads.
 */
#include <errno.h>
#include <fcntl.h>
#include <limits.h>
#include <linux/fuse.h>
#include <sched.h>
#include <signal.h>
#include <sys/mman.h>
#include <sys/mount.h>
#include <sys/stat.h>
#include <sys/wait.h>
#include <unistd.h>
#include "test_lib_fixture.h"
#include "tool/command/plain_file.h"
#include "tool/record/build_ids.h"

#define FILE_BYTES 8192

static int notes;

/* In place of the tool's */
void note(const char *format, ...);
void note(const char *format, ...)
{
	(void)format;
	notes++;
}

/* ---- a file system that does not answer reads ---- */

static void reply(int fd, uint64_t unique, int error, const void *data, size_t bytes)
{
	struct { struct fuse_out_header head; char data[256]; } out = { .head = {
		.len = (uint32_t)(sizeof(out.head) + bytes), .error = error, .unique = unique,
	} };

	assert(bytes <= sizeof(out.data));
	if (bytes)
		memcpy(out.data, data, bytes);
	assert(write(fd, &out, out.head.len) == out.head.len || errno == ENOENT);
}

static void set_attr(struct fuse_attr *attr, uint64_t node)
{
	attr->ino = node;
	attr->mode = node == 1 ? S_IFDIR | 0755 : S_IFREG | 0755;
	attr->nlink = 1;
	attr->size = node == 1 ? 0 : FILE_BYTES;
}

static void serve(int fd)
{
	static char buffer[1 << 17];
	const struct fuse_in_header *in = (const void *)buffer;
	struct fuse_init_out init = { .major = 7, .minor = 31, .max_write = 4096 };
	struct fuse_entry_out entry = { .nodeid = 2, .attr_valid = 1000, .entry_valid = 1000 };
	struct fuse_attr_out attr = { .attr_valid = 1000 };
	struct fuse_open_out opened = { .fh = 1 };
	struct fuse_statfs_out where = { .st = { .bsize = 4096 } };

	while (read(fd, buffer, sizeof(buffer)) > 0) {
		switch (in->opcode) {
		case FUSE_INIT:
			reply(fd, in->unique, 0, &init, sizeof(init));
			break;
		case FUSE_LOOKUP:
			set_attr(&entry.attr, 2);
			reply(fd, in->unique, 0, &entry, sizeof(entry));
			break;
		case FUSE_GETATTR:
			set_attr(&attr.attr, in->nodeid);
			reply(fd, in->unique, 0, &attr, sizeof(attr));
			break;
		case FUSE_OPEN:
			reply(fd, in->unique, 0, &opened, sizeof(opened));
			break;
		case FUSE_STATFS:
			reply(fd, in->unique, 0, &where, sizeof(where));
			break;
		case FUSE_READ:
			break;
		default:
			if (in->opcode != FUSE_FORGET && in->opcode != FUSE_INTERRUPT)
				reply(fd, in->unique, -ENOSYS, NULL, 0);
		}
	}
	_exit(0);
}

/* ---- tests ---- */

/* The build ID of this program, as readelf shows it */
static size_t own_id(unsigned char *id)
{
	FILE *pipe = popen("readelf -n /proc/$PPID/exe | sed -n 's/.*Build ID: //p'", "r");
	unsigned int byte;
	size_t bytes = 0;

	assert(pipe);
	while (bytes < BUILD_ID_MAX && fscanf(pipe, "%2x", &byte) == 1)
		id[bytes++] = (unsigned char)byte;
	pclose(pipe);
	return bytes;
}

static void by_mapping_or_path(void)
{
	unsigned char id[BUILD_ID_MAX], expected[BUILD_ID_MAX];
	struct build_ids ids = { 0 };
	char self[PATH_MAX], range[40];
	size_t bytes = own_id(expected);
	unsigned long start, end;
	FILE *maps = fopen("/proc/self/maps", "r");

	assert(maps && fscanf(maps, "%lx-%lx", &start, &end) == 2);
	fclose(maps);
	assert(realpath("/proc/self/exe", self));
	snprintf(range, sizeof(range), "%lx-%lx", start, end);
	CHECK(bytes);
	CHECK_NUMBER(build_ids_read(&ids, (unsigned int)getpid(), range, self, id), bytes);
	CHECK(!memcmp(id, expected, bytes));
	CHECK_NUMBER(build_ids_read(&ids, (unsigned int)getpid(), "0-0", self, id), bytes);
	CHECK(!memcmp(id, expected, bytes));
	CHECK_NUMBER(build_ids_read(&ids, (unsigned int)getpid(), "0-0", "/gone", id), 0);
	/* the same file by a path that leads out of the root directory */
	CHECK_NUMBER(build_ids_read(&ids, (unsigned int)getpid(), "0-0", "/proc/self/exe", id), 0);
	build_ids_close(&ids);
	CHECK_NUMBER(ids.late, 0);
}

static void plain_files_only(void)
{
	char folder[] = "/tmp/test_lib_build_ids.XXXXXX", fifo[64];
	int fd = plain_file_open(AT_FDCWD, "/proc/self/exe", 0);

	CHECK(fd >= 0);
	close(fd);
	CHECK_NUMBER(plain_file_open(AT_FDCWD, "/proc/version", 0), -1);
	CHECK_NUMBER(plain_file_open(AT_FDCWD, "/sys/kernel/notes", 0), -1);
	CHECK_NUMBER(plain_file_open(AT_FDCWD, "/dev/null", 0), -1);
	CHECK_NUMBER(plain_file_open(AT_FDCWD, "/tmp", 0), -1);
	assert(mkdtemp(folder));
	snprintf(fifo, sizeof(fifo), "%s/fifo", folder);
	assert(!mkfifo(fifo, 0600));
	CHECK_NUMBER(plain_file_open(AT_FDCWD, fifo, 0), -1);
	unlink(fifo);
	rmdir(folder);
}

static void reads_not_answered(void)
{
	char folder[] = "/tmp/test_lib_build_ids.XXXXXX", name[64], range[40], options[64];
	unsigned char id[BUILD_ID_MAX];
	struct build_ids ids = { 0 };
	int fuse = open("/dev/fuse", O_RDWR | O_CLOEXEC), fd, i;
	unsigned int self = (unsigned int)getpid();
	pid_t server;
	char *mapped;

	assert(mkdtemp(folder));
	snprintf(options, sizeof(options), "fd=%d,rootmode=40000,user_id=0,group_id=0", fuse);
	/* mounts disappear with this process */
	if (unshare(CLONE_NEWNS) || mount("none", "/", NULL, MS_REC | MS_PRIVATE, NULL) ||
	    fuse < 0 || mount("test", folder, "fuse", MS_NOSUID | MS_NODEV, options)) {
		printf("# skipped: cannot mount a file system of our own: %s\n", strerror(errno));
		rmdir(folder);
		return;
	}
	server = fork();
	if (!server)
		serve(fuse);
	snprintf(name, sizeof(name), "%s/file", folder);
	fd = open(name, O_RDONLY);
	assert(fd >= 0);
	mapped = mmap(NULL, FILE_BYTES, PROT_READ | PROT_EXEC, MAP_PRIVATE, fd, 0);
	assert(mapped != MAP_FAILED);
	snprintf(range, sizeof(range), "%lx-%lx", (unsigned long)mapped,
		 (unsigned long)mapped + FILE_BYTES);
	/* a test that hangs fails */
	alarm(60);
	for (i = 1; i <= 3; i++) {
		CHECK_NUMBER(build_ids_read(&ids, self, range, name, id), 0);
		CHECK_NUMBER(ids.late, i);
		CHECK_NUMBER(notes, i);
		/* other files still get their ID, until too many reads hang */
		CHECK(!build_ids_read(&ids, self, "0-0", "/proc/self/exe", id));
		CHECK_NUMBER(ids.late, i);
	}
	CHECK_NUMBER(build_ids_read(&ids, self, range, name, id), 0);
	CHECK_NUMBER(notes, 3);
	build_ids_close(&ids);
	alarm(0);
	munmap(mapped, FILE_BYTES);
	kill(server, SIGKILL);
	waitpid(server, NULL, 0);
	close(fuse);
	umount2(folder, MNT_FORCE | MNT_DETACH);
	close(fd);
	rmdir(folder);
}

static const struct test tests[] = {
	{ "build IDs: by the mapping, or by the path", by_mapping_or_path },
	{ "build IDs: only of regular files", plain_files_only },
	{ "build IDs: a file system that does not answer reads", reads_not_answered },
};

int main(void)
{
	return test_main(tests, sizeof(tests) / sizeof(tests[0]));
}
