// SPDX-License-Identifier: GPL-2.0-only
/*
 * An image of a machine's memory; see image.h.
 *
 * An image may be larger than memory, full of holes, or a device, so pread() reads it, a window at
 * a time.  Segments of an ELF core are cut at the end of the file.
 */
#include <elf.h>
#include <errno.h>
#include <fcntl.h>
#include <inttypes.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>
#include <unistd.h>
#include "image.h"
#include "tool/command/command.h"

#define IMAGE_PAGE	4096u
#define IMAGE_PARTS_MAX	(1u << 20)	/* more segments of an ELF core cannot be memory */

/* Formats of dumps that must be unpacked or converted first */
static const struct {
	const char *magic;
	const char *what;
} compressed[] = {
	{ "KDUMP   ", "a compressed dump, which cannot be read: dump with 'makedumpfile -E', which leaves an ELF core" },
	{ "DISKDUMP", "a compressed dump, which cannot be read: dump with 'makedumpfile -E', which leaves an ELF core" },
	{ "makedumpfile", "a flattened dump: put it together with 'makedumpfile -R'" },
	{ "\x28\xb5\x2f\xfd", "compressed with zstd: unpack it" },
	{ "\x1f\x8b", "compressed with gzip: unpack it" },
};

static int compare_parts(const void *a, const void *b)
{
	const struct image_part *first = a, *second = b;

	if (first->address != second->address)
		return first->address < second->address ? -1 : 1;
	return first->offset < second->offset ? -1 : first->offset > second->offset;
}

/* Read @bytes at @offset; false: not all of them can be read */
static bool read_whole(int fd, void *data, size_t bytes, uint64_t offset)
{
	ssize_t got;

	while (bytes) {
		got = pread(fd, data, bytes, (off_t)offset);
		if (got < 0 && errno == EINTR)
			continue;
		if (got <= 0)
			return false;
		data = (char *)data + got;
		bytes -= (size_t)got;
		offset += (uint64_t)got;
	}
	return true;
}

/* Get the number of segments; if it does not fit into the header, the first section has it */
static int elf_count(const struct image *image, const Elf64_Ehdr *head, uint64_t *count)
{
	Elf64_Shdr section;

	*count = head->e_phnum;
	if (head->e_phnum != PN_XNUM)
		return 0;
	if (!head->e_shoff || head->e_shentsize < sizeof(section) ||
	    !read_whole(image->fd, &section, sizeof(section), head->e_shoff))
		return -1;
	*count = section.sh_info;
	return 0;
}

/* Make a part of segment @head, cut at the end of the file; false: the segment has no memory */
static bool elf_part(const Elf64_Phdr *head, uint64_t size, struct image_part *part)
{
	if (head->p_type != PT_LOAD || !head->p_filesz || head->p_offset >= size)
		return false;
	part->offset = head->p_offset;
	part->bytes = head->p_filesz;
	if (part->bytes > size - part->offset)
		part->bytes = size - part->offset;
	part->address = head->p_paddr;
	return part->address + part->bytes > part->address;
}

static int elf_parts(struct image *image, const char *name, const Elf64_Ehdr *head, uint64_t size)
{
	uint64_t count, i;
	Elf64_Phdr segment;

	if (head->e_ident[EI_CLASS] != ELFCLASS64 || head->e_ident[EI_DATA] != ELFDATA2LSB)
		return complain("%s: an ELF core, but not of a 64-bit little-endian machine: tracebuf does not run on such machines", name);
	if (elf_count(image, head, &count) || count > IMAGE_PARTS_MAX ||
	    head->e_phentsize < sizeof(segment))
		return complain("%s: an ELF core with a damaged table of segments; --raw reads it as plain memory", name);
	image->parts = calloc(count + 1, sizeof(*image->parts));
	if (!image->parts)
		return complain("out of memory");
	for (i = 0; i < count; i++) {
		if (!read_whole(image->fd, &segment, sizeof(segment),
				head->e_phoff + i * head->e_phentsize))
			return complain("%s: the table of segments is cut off after %" PRIu64 " of %" PRIu64 "; --raw reads it as plain memory",
					name, i, count);
		if (elf_part(&segment, size, &image->parts[image->nr_parts]))
			image->nr_parts++;
	}
	qsort(image->parts, image->nr_parts, sizeof(*image->parts), compare_parts);
	return EXIT_FINE;
}

static int raw_part(struct image *image, const char *name, const struct image_range *range,
		    uint64_t size)
{
	struct image_part *part = calloc(1, sizeof(*part));

	if (!part)
		return complain("out of memory");
	image->parts = part;
	if (range->start >= size)
		return complain("%s: it has %" PRIu64 " bytes, but --range begins at %" PRIu64,
				name, size, range->start);
	part->offset = range->start;
	part->bytes = size - range->start;
	if (range->bytes && range->bytes < part->bytes)
		part->bytes = range->bytes;
	part->address = range->base;
	if (part->address + part->bytes < part->address)
		return complain("--base 0x%" PRIx64 ": the image would end beyond the highest address",
				range->base);
	image->nr_parts = 1;
	return EXIT_FINE;
}

int image_open(struct image *image, const char *name, const struct image_range *range)
{
	union {
		char text[64];
		Elf64_Ehdr elf;
	} head;
	int result = EXIT_FINE;
	struct stat st;
	uint64_t size;
	off_t end;
	size_t i;

	memset(image, 0, sizeof(*image));
	memset(&head, 0, sizeof(head));
	image->fd = open(name, O_RDONLY | O_CLOEXEC);
	if (image->fd < 0 || fstat(image->fd, &st))
		return complain("%s: %s", name, strerror(errno));
	end = lseek(image->fd, 0, SEEK_END);
	if (end < 0 && S_ISCHR(st.st_mode))
		end = 0;
	if (S_ISDIR(st.st_mode) || end < 0)
		return complain("%s: cannot be read at any offset; copy the image into a regular file", name);
	size = (uint64_t)end;
	if (!size && S_ISCHR(st.st_mode)) {
		if (!range || !range->bytes)
			return complain("%s: choose the memory with --range START:BYTES; /proc/iomem lists it (\"System RAM\")", name);
		size = range->start + range->bytes;
		if (size < range->start)
			return complain("--range: 0x%" PRIx64 " bytes at 0x%" PRIx64 " end beyond the highest address",
					range->bytes, range->start);
	}
	if (!size)
		return complain("%s: it is empty", name);
	if (!range && read_whole(image->fd, &head, sizeof(head), 0)) {
		for (i = 0; i < sizeof(compressed) / sizeof(compressed[0]); i++)
			if (!memcmp(head.text, compressed[i].magic, strlen(compressed[i].magic)))
				return complain("%s: %s", name, compressed[i].what);
	}
	/* plain memory may begin with an ELF program, but hardly with a core */
	if (!range && !memcmp(head.elf.e_ident, ELFMAG, SELFMAG) && head.elf.e_type == ET_CORE)
		result = elf_parts(image, name, &head.elf, size);
	else
		result = raw_part(image, name, range ? range : &(struct image_range){ 0 }, size);
	for (i = 0; i < image->nr_parts; i++)
		image->bytes += image->parts[i].bytes;
	return result;
}

void image_close(struct image *image)
{
	free(image->parts);
	if (image->fd >= 0)
		close(image->fd);
}

size_t image_read(const struct image *image, size_t part, uint64_t at, void *data, size_t bytes)
{
	const struct image_part *here = &image->parts[part];
	size_t done = 0, some;

	for (;;) {
		some = bytes - done;
		if (some > here->bytes - at)
			some = (size_t)(here->bytes - at);
		if (!read_whole(image->fd, (char *)data + done, some, here->offset + at))
			return done;
		done += some;
		/* adjacent memory may be elsewhere in the file: go on in the next part */
		if (done == bytes || part + 1 == image->nr_parts ||
		    here[1].address != here->address + here->bytes)
			return done;
		part++;
		here++;
		at = 0;
	}
}

size_t image_next(struct image *image, size_t part, uint64_t *at, void *data, size_t bytes)
{
	const struct image_part *here = &image->parts[part];
	uint64_t from;
	ssize_t got;
	off_t found;

	while (*at < here->bytes) {
		from = here->offset + *at;
		found = lseek(image->fd, (off_t)from, SEEK_DATA);
		if (found < 0 && errno == ENXIO)
			found = (off_t)(here->offset + here->bytes);
		/* skip whole pages, so that windows stay aligned */
		if (found > (off_t)from + (off_t)IMAGE_PAGE) {
			uint64_t skip = ((uint64_t)found - from) / IMAGE_PAGE * IMAGE_PAGE;

			if (skip >= here->bytes - *at)
				skip = here->bytes - *at;
			image->holes += skip;
			*at += skip;
			continue;
		}
		if (bytes > here->bytes - *at)
			bytes = (size_t)(here->bytes - *at);
		do {
			got = pread(image->fd, data, bytes, (off_t)from);
		} while (got < 0 && errno == EINTR);
		if (got > 0)
			return (size_t)got;
		/* the page may not be read, or has no memory: skip it */
		image->error = got < 0 ? -errno : -ENODATA;
		if (bytes > IMAGE_PAGE) {
			bytes = IMAGE_PAGE;
			continue;
		}
		from = IMAGE_PAGE - *at % IMAGE_PAGE;
		if (from > here->bytes - *at)
			from = here->bytes - *at;
		image->unreadable += from;
		*at += from;
	}
	return 0;
}
