// SPDX-License-Identifier: LGPL-2.1-or-later
/*
 * /dev/tracebuf: the ioctls of linux/tracebuf.h as functions, and error texts that say what is
 * missing when the device cannot be opened.
 */
#include <errno.h>
#include <fcntl.h>
#include <stdio.h>
#include <stdlib.h>
#include <sys/ioctl.h>
#include <sys/mman.h>
#include <sys/stat.h>
#include <sys/uio.h>
#include <unistd.h>
#include "helper.h"
#include "lib/read/internal.h"

struct tb_device {
	int    fd;
	void  *map;
	size_t map_size;
	bool   borrowed;		/* @map belongs to another struct tb_device */
	struct tb_query query;		/* the layout when it was mapped */
};

static int device_ioctl(const struct tb_device *device, unsigned long command,
			void *argument)
{
	int result;

	do
		result = ioctl(device->fd, command, argument);
	while (result < 0 && errno == EINTR);
	return result < 0 ? -errno : result;
}

/* ---- structures that grow ---- */

/* Copy what fits to the caller's structure of @size bytes, and zero the rest of it */
static void copy_out(void *to, size_t size, const void *from, size_t bytes)
{
	size_t common = size < bytes ? size : bytes;

	memcpy(to, from, common);
	memset((unsigned char *)to + common, 0, size - common);
}

/* Copy the caller's structure to ours; -E2BIG: it has members that the library does not know */
static int copy_in(void *to, size_t bytes, const void *from, size_t size)
{
	const unsigned char *rest = from;
	size_t i;

	for (i = bytes; i < size; i++)
		if (rest[i])
			return -E2BIG;
	memset(to, 0, bytes);
	memcpy(to, from, size < bytes ? size : bytes);
	return 0;
}

/*
 * Functions for programs compiled with the first release: they use the sizes that the structures
 * had then, which must not change here.
 */
#define FIRST(type, bytes) \
	_Static_assert(sizeof(struct type) >= (bytes), "it only grows"); \
	enum { type##_first = (bytes) }

FIRST(tb_query, 216);
FIRST(tb_config, 72);
FIRST(tb_provider_info, 72);
FIRST(tb_stats, 144);
FIRST(tb_event_info, 168);
FIRST(tb_producer_info, 112);
FIRST(tb_suppressed, 48);
FIRST(tb_trigger_info, 232);
FIRST(tb_rule, 96);

int (tb_device_query)(struct tb_device *device, struct tb_query *query)
{
	return tb_device_query_sized(device, query, tb_query_first);
}

int (tb_device_configure)(struct tb_device *device, const struct tb_config *config)
{
	return tb_device_configure_sized(device, config, tb_config_first);
}

int (tb_device_provider)(struct tb_device *device, unsigned int index,
			 struct tb_provider_info *info)
{
	return tb_device_provider_sized(device, index, info, tb_provider_info_first);
}

int (tb_device_stats)(struct tb_device *device, unsigned int cpu, struct tb_stats *stats)
{
	return tb_device_stats_sized(device, cpu, stats, tb_stats_first);
}

int (tb_device_event)(struct tb_device *device, unsigned int index, struct tb_event_info *info)
{
	return tb_device_event_sized(device, index, info, tb_event_info_first);
}

int (tb_device_producer)(struct tb_device *device, unsigned int index,
			 struct tb_producer_info *info)
{
	return tb_device_producer_sized(device, index, info, tb_producer_info_first);
}

int (tb_device_suppressed)(struct tb_device *device, uint32_t index,
			   struct tb_suppressed *suppressed)
{
	return tb_device_suppressed_sized(device, index, suppressed, tb_suppressed_first);
}

int (tb_device_trigger)(struct tb_device *device, struct tb_trigger_info *info)
{
	return tb_device_trigger_sized(device, info, tb_trigger_info_first);
}

int (tb_device_rule)(struct tb_device *device, struct tb_rule *rule)
{
	return tb_device_rule_sized(device, rule, tb_rule_first);
}

/* Return true if the kernel is locked down at @level: "integrity" or "confidentiality". */
static bool locked_down(const char *level)
{
	int fd = open("/sys/kernel/security/lockdown", O_RDONLY | O_CLOEXEC);
	char text[128] = "", chosen[32];
	bool locked;

	if (fd < 0)
		return false;
	snprintf(chosen, sizeof(chosen), "[%s]", level);
	locked = read(fd, text, sizeof(text) - 1) > 0 && strstr(text, chosen);
	close(fd);
	return locked;
}

#define DKMS_KEY "/var/lib/dkms/mok.pub"

/*
 * A locked-down kernel loads only modules that are signed with a key that it knows.  It does not
 * know the key of DKMS until a user enrolls it.
 */
static const char *key_hint(void)
{
	if (access(DKMS_KEY, F_OK) || !(locked_down("integrity") || locked_down("confidentiality")))
		return "";
	return "; if modprobe says 'Key was rejected', run 'mokutil --import " DKMS_KEY
		"' and reboot";
}

static int open_error(const char *path, int code, struct tb_error *error)
{
	struct stat status;

	switch (code) {
	case -ENOENT:
		return tb_error_set(error, code, TB_OFFSET_NONE,
			"%s does not exist: the module is not loaded; load it with 'modprobe tracebuf' or 'insmod tracebuf.ko' as root%s",
			path, key_hint());
	case -ENXIO:
	case -ENODEV:
		return tb_error_set(error, code, TB_OFFSET_NONE,
			"%s has nothing behind it: the module is not loaded; load it with 'modprobe tracebuf' or 'insmod tracebuf.ko' as root%s",
			path, key_hint());
	case -EACCES:
		if (!stat(path, &status))
			return tb_error_set(error, code, TB_OFFSET_NONE,
				"no permission to open %s (mode %04o, owner %u, group %u): run as root, or let the group of the node read and write it",
				path, (unsigned int)status.st_mode & 07777,
				(unsigned int)status.st_uid,
				(unsigned int)status.st_gid);
		return tb_error_set(error, code, TB_OFFSET_NONE,
			"no permission to reach %s: run as root", path);
	case -EPERM:
		if (locked_down("confidentiality"))
			return tb_error_set(error, code, TB_OFFSET_NONE,
				"the kernel refuses %s: it is locked down for confidentiality (/sys/kernel/security/lockdown), which allows no tracing until the next boot",
				path);
		return tb_error_set(error, code, TB_OFFSET_NONE,
			"the kernel refuses %s: kernel events need root or the capability CAP_PERFMON (or CAP_SYS_ADMIN)",
			path);
	case -EBUSY:
		return tb_error_set(error, code, TB_OFFSET_NONE,
			"%s is in use by another program", path);
	}
	return tb_error_set(error, code, TB_OFFSET_NONE, "%s: %s", path,
			    strerror(-code));
}

int tb_device_open(const char *path, unsigned int flags,
		   struct tb_device **out, struct tb_error *error)
{
	struct tb_device *device;
	int result, way = O_RDWR | O_CLOEXEC;

	*out = NULL;
	if (!path)
		path = TB_DEVICE_PATH;
	if (flags & TB_DEVICE_NONBLOCK)
		way |= O_NONBLOCK;
	device = calloc(1, sizeof(*device));
	if (!device)
		return tb_error_set(error, -ENOMEM, TB_OFFSET_NONE,
				    "out of memory");
	device->fd = open(path, way);
	result = device->fd < 0 ? -errno : 0;
	/* the helper opens the device for members of the group without the capability */
	if (result == -EPERM && !strcmp(path, TB_DEVICE_PATH))
		device->fd = tb_helper_open(flags & TB_DEVICE_NONBLOCK ? O_NONBLOCK : 0);
	if (device->fd < 0) {
		result = open_error(path, result, error);
		goto fail;
	}
	result = tb_device_query(device, &device->query);
	if (result == -ENOTTY) {
		tb_error_set(error, result, TB_OFFSET_NONE,
			     "%s is not a tracebuf device", path);
		goto fail;
	}
	if (result == -EPERM) {
		open_error(path, result, error);
		goto fail;
	}
	if (result < 0) {
		tb_error_set(error, result, TB_OFFSET_NONE,
			     "%s cannot be queried: %s", path, strerror(-result));
		goto fail;
	}
	if (device->query.abi != TB_ABI_VERSION) {
		result = tb_error_set(error, -EPROTO, TB_OFFSET_NONE,
			"the module speaks ABI version %u, this program %u: install module and tools of the same release",
			device->query.abi, TB_ABI_VERSION);
		goto fail;
	}
	*out = device;
	return 0;
fail:
	tb_device_close(device);
	return result;
}

void tb_device_close(struct tb_device *device)
{
	if (!device)
		return;
	if (device->map && !device->borrowed)
		munmap(device->map, device->map_size);
	if (device->fd >= 0)
		close(device->fd);
	free(device);
}

int tb_device_fd(const struct tb_device *device)
{
	return device->fd;
}

/* -EINVAL for names that do not fit; the kernel checks the others */
static int copy_name(char to[TB_PROVIDER_NAME_MAX], const char *name)
{
	size_t length = strlen(name);

	if (length >= TB_PROVIDER_NAME_MAX)
		return -EINVAL;
	memcpy(to, name, length);
	return 0;
}

int tb_device_attach(struct tb_device *device, const char *name)
{
	struct tb_attach attach = { 0 };
	int result = copy_name(attach.name, name);

	if (!result)
		result = device_ioctl(device, TB_IOC_ATTACH, &attach);
	return result < 0 ? result : tb_device_query(device, &device->query);
}

static int provider_request(struct tb_device *device, enum tb_provider_op op,
			    const char *name)
{
	struct tb_provider_req request = { .op = op };
	int result = copy_name(request.name, name);

	return result ? result :
	       device_ioctl(device, TB_IOC_PROVIDER, &request);
}

int tb_device_create(struct tb_device *device, const char *name)
{
	return provider_request(device, TB_PROVIDER_CREATE, name);
}

int tb_device_destroy(struct tb_device *device, const char *name)
{
	return provider_request(device, TB_PROVIDER_DESTROY, name);
}

int tb_device_provider_sized(struct tb_device *device, unsigned int index,
			     struct tb_provider_info *info, size_t size)
{
	struct tb_provider_info own = { .index = index };
	int result = device_ioctl(device, TB_IOC_PROVIDERS, &own);

	copy_out(info, size, &own, sizeof(own));
	return result;
}

int tb_device_query_sized(struct tb_device *device, struct tb_query *query, size_t size)
{
	struct tb_query own = { 0 };
	int result = device_ioctl(device, TB_IOC_QUERY, &own);

	copy_out(query, size, &own, sizeof(own));
	return result;
}

int tb_device_configure_sized(struct tb_device *device, const struct tb_config *config,
			      size_t size)
{
	struct tb_config own;
	int result = copy_in(&own, sizeof(own), config, size);

	return result ? result : device_ioctl(device, TB_IOC_CONFIGURE, &own);
}

int tb_device_start(struct tb_device *device, uint32_t flags)
{
	struct tb_start start = { .flags = flags };

	return device_ioctl(device, TB_IOC_START, &start);
}

int tb_device_stop(struct tb_device *device)
{
	return device_ioctl(device, TB_IOC_STOP, NULL);
}

int tb_device_flush(struct tb_device *device, int cpu)
{
	struct tb_flush flush = { .cpu = cpu, .flags = cpu == -1 ? TB_FLUSH_ASK : 0 };
	int result = device_ioctl(device, TB_IOC_FLUSH, &flush);

	if (result != -EINVAL || !flush.flags)
		return result;
	/* an older module, without support for programs, rejects the flag */
	flush.flags = 0;
	return device_ioctl(device, TB_IOC_FLUSH, &flush);
}

int tb_device_stats_sized(struct tb_device *device, unsigned int cpu, struct tb_stats *stats,
			  size_t size)
{
	struct tb_stats own = { .cpu = cpu };
	int result = device_ioctl(device, TB_IOC_STATS, &own);

	copy_out(stats, size, &own, sizeof(own));
	return result;
}

int tb_device_select(struct tb_device *device, enum tb_select_op op,
		     enum tb_form form, const char *pattern)
{
	struct tb_select select = {
		.op = op,
		.form = op == TB_SELECT_DISABLE ? 0 : form,
		.pattern = (uint64_t)(uintptr_t)pattern,
	};
	size_t length = strlen(pattern);
	int result;

	if (!length || length > 255)
		return -EINVAL;
	select.length = (uint32_t)length;
	result = device_ioctl(device, TB_IOC_SELECT, &select);
	return result < 0 ? result : (int)select.matched;
}

int tb_device_event_sized(struct tb_device *device, unsigned int index,
			  struct tb_event_info *info, size_t size)
{
	struct tb_event_info own = { .index = index };
	int result = device_ioctl(device, TB_IOC_EVENT, &own);

	own.system[TB_NAME_MAX - 1] = 0;
	own.name[TB_NAME_MAX - 1] = 0;
	copy_out(info, size, &own, sizeof(own));
	return result < 0 ? result : 0;
}

int tb_device_format(struct tb_device *device, unsigned int index,
		     struct tb_format **format)
{
	struct tb_event_info info;
	const char *wrong;
	uint32_t room = 4096;
	void *desc;
	int result;

	*format = NULL;
	for (;;) {
		desc = calloc(1, room);
		if (!desc)
			return -ENOMEM;
		memset(&info, 0, sizeof(info));
		info.index = index;
		info.desc = (uint64_t)(uintptr_t)desc;
		info.desc_size = room;
		result = device_ioctl(device, TB_IOC_EVENT, &info);
		if (result < 0 || info.desc_size <= room)
			break;
		free(desc);
		room = info.desc_size;
	}
	if (result >= 0)
		result = tb_format_parse(desc, info.desc_size, format, &wrong);
	free(desc);
	return result;
}

int tb_device_rule_sized(struct tb_device *device, struct tb_rule *rule, size_t size)
{
	struct tb_rule own;
	int result = copy_in(&own, sizeof(own), rule, size);

	if (result)
		return result;
	result = device_ioctl(device, TB_IOC_RULE, &own);
	copy_out(rule, size, &own, sizeof(own));
	return result;
}

int tb_device_no_rules(struct tb_device *device)
{
	struct tb_rule rule = { .index = TB_RULE_ALL };

	return device_ioctl(device, TB_IOC_RULE, &rule);
}

int tb_device_suppressed_sized(struct tb_device *device, uint32_t index,
			       struct tb_suppressed *suppressed, size_t size)
{
	struct tb_suppressed_info info = { .index = index };
	int result = device_ioctl(device, TB_IOC_SUPPRESSED, &info);

	copy_out(suppressed, size, &info.suppressed, sizeof(info.suppressed));
	return result;
}

int tb_device_pids(struct tb_device *device, const uint32_t *pids,
		   unsigned int count, uint32_t flags, uint32_t *bad)
{
	struct tb_pids argument = {
		.pids = (uint64_t)(uintptr_t)(count ? pids : NULL),
		.count = count,
		.flags = flags,
	};
	int result = device_ioctl(device, TB_IOC_PIDS, &argument);

	if (bad)
		*bad = argument.bad;
	return result;
}

int tb_device_category(struct tb_device *device, enum tb_category_op op,
		       const char *pattern)
{
	struct tb_categories argument = { .op = op };

	if (pattern) {
		argument.length = (uint32_t)strlen(pattern);
		argument.pattern = (uint64_t)(uintptr_t)pattern;
	}
	return device_ioctl(device, TB_IOC_CATEGORIES, &argument);
}

int tb_device_producer_sized(struct tb_device *device, unsigned int index,
			     struct tb_producer_info *info, size_t size)
{
	struct tb_producer_info own = { .index = index };
	int result = device_ioctl(device, TB_IOC_PRODUCERS, &own);

	own.comm[TB_COMM_LEN - 1] = 0;
	copy_out(info, size, &own, sizeof(own));
	return result < 0 ? result : 0;
}

int tb_device_quota(struct tb_device *device, const struct tb_quota *quota)
{
	struct tb_quota own = *quota;

	return device_ioctl(device, TB_IOC_QUOTA, &own);
}

int tb_device_intake(struct tb_device *device, struct tb_intake_info *info)
{
	memset(info, 0, sizeof(*info));
	return device_ioctl(device, TB_IOC_INTAKE, info);
}

int tb_device_map(struct tb_device *device, const void **data, size_t *size)
{
	void *map;
	int result;

	if (!device->map) {
		result = tb_device_query(device, &device->query);
		if (result < 0)
			return result;
		map = mmap(NULL, device->query.map_bytes, PROT_READ,
			   MAP_SHARED, device->fd, 0);
		if (map == MAP_FAILED)
			return -errno;
		device->map = map;
		device->map_size = device->query.map_bytes;
	}
	if (data)
		*data = device->map;
	if (size)
		*size = device->map_size;
	return 0;
}

int tb_device_share_map(struct tb_device *device, const struct tb_device *other)
{
	if (device->map || !other->map)
		return -EINVAL;
	device->query = other->query;
	device->map = other->map;
	device->map_size = other->map_size;
	device->borrowed = true;
	return 0;
}

int tb_device_header(struct tb_device *device, unsigned int cpu,
		     struct tb_ring_header **out)
{
	struct tb_ring_header *header;
	struct iovec to, from;
	ssize_t copied;
	int result = tb_device_map(device, NULL, NULL);

	*out = NULL;
	if (result < 0)
		return result;
	if (cpu >= device->query.nr_cpus)
		return -EINVAL;
	to.iov_len = from.iov_len = device->query.ring_header;
	header = malloc(to.iov_len);
	if (!header)
		return -ENOMEM;
	to.iov_base = header;
	from.iov_base = (unsigned char *)device->map +
			cpu * device->query.ring_stride;
	/* a ring that is not recorded is a hole: this call fails, a load would kill the program */
	copied = process_vm_readv(getpid(), &to, 1, &from, 1, 0);
	if (copied < 0)
		result = errno == EFAULT ? -ENODATA : -errno;
	else if ((size_t)copied < to.iov_len)
		result = -ENODATA;
	else if (header->magic != TB_RING_MAGIC ||
		 header->version != TB_RING_VERSION ||
		 header->nr != device->query.buffers)
		result = -EPROTO;
	if (result < 0) {
		free(header);
		return result;
	}
	*out = header;
	return 0;
}

int tb_device_acquire(struct tb_device *device, struct tb_ref *refs,
		      unsigned int room, uint32_t flags)
{
	struct tb_batch batch = {
		.refs = (uint64_t)(uintptr_t)refs,
		.count = room,
		.flags = flags,
	};
	unsigned int i;
	int result;

	if (!device->map)
		return -EINVAL;
	result = device_ioctl(device, TB_IOC_ACQUIRE, &batch);
	if (result < 0)
		return result;
	for (i = 0; i < batch.count && i < room; i++)
		if (refs[i].offset > device->map_size ||
		    refs[i].bytes > device->map_size - refs[i].offset)
			return -EBADMSG;
	return (int)batch.count;
}

int tb_device_release(struct tb_device *device, const struct tb_ref *refs,
		      unsigned int count)
{
	struct tb_batch batch = {
		.refs = (uint64_t)(uintptr_t)refs,
		.count = count,
	};
	int result = device_ioctl(device, TB_IOC_RELEASE, &batch);

	return result < 0 ? result : (int)batch.count;
}

int tb_device_arm(struct tb_device *device, const char *patterns, uint32_t post)
{
	return tb_device_arm_rules(device, patterns, post, NULL, 0, NULL);
}

int tb_device_arm_rules(struct tb_device *device, const char *patterns,
			uint32_t post, const struct tb_rule *rules,
			unsigned int count, uint32_t *bad)
{
	return tb_device_arm_within(device, patterns, post, 0, rules, count,
				    bad);
}

int tb_device_arm_within(struct tb_device *device, const char *patterns,
			 uint32_t post, uint32_t post_ms,
			 const struct tb_rule *rules, unsigned int count,
			 uint32_t *bad)
{
	struct tb_arm arm = {
		.op = TB_ARM_SET,
		.post = post,
		.post_ms = post_ms,
		.pattern = (uint64_t)(uintptr_t)patterns,
		.length = (uint32_t)strlen(patterns),
		.rules = (uint64_t)(uintptr_t)(count ? rules : NULL),
		.nr_rules = count,
	};
	int result = device_ioctl(device, TB_IOC_ARM, &arm);

	if (bad)
		*bad = arm.bad;
	return result < 0 ? result : (int)arm.matched;
}

int tb_device_disarm(struct tb_device *device)
{
	struct tb_arm arm = { .op = TB_ARM_CLEAR };

	return device_ioctl(device, TB_IOC_ARM, &arm);
}

int tb_device_trigger_sized(struct tb_device *device, struct tb_trigger_info *info, size_t size)
{
	struct tb_trigger_info own = { 0 };
	int result = device_ioctl(device, TB_IOC_TRIGGER, &own);

	copy_out(info, size, &own, sizeof(own));
	return result;
}

const struct tb_block *tb_device_block(const struct tb_device *device,
				       const struct tb_ref *ref)
{
	return (const struct tb_block *)((const unsigned char *)device->map +
					 ref->offset);
}
