// SPDX-License-Identifier: GPL-2.0-only
/*
 * An image of a machine's memory; see image.h.
 *
 * It may be larger than any memory, be full of holes and come from a device, so it is read
 * with pread(), a window at a time.  What the table of an ELF core says is believed no
 * further than the file goes.
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
/* of an ELF core; more would be no table of memory */
#define IMAGE_PARTS_MAX	(1u << 20)

/* Formats of dumps that are compressed, and must be unpacked first */
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

/* The whole of @bytes at @offset, or not */
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

/* How many segments: more than fit into the header's field are in the first section's */
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

/* The part that segment @head describes, as far as it is in the file; false: none */
static bool elf_part(const Elf64_Phdr *head, uint64_t size, struct image_part *part)
{
	if (head->p_type != PT_LOAD || !head->p_filesz || head->p_offset >= size)
		return false;
	part->offset = head->p_offset;
	part->bytes = head->p_filesz;
	if (part->bytes > size - part->offset)
		part->bytes = size - part->offset;
	/* of virtual memory, where the physical address is not known: by itself */
	part->address = head->p_paddr;
	return part->address + part->bytes > part->address;
}

static int elf_parts(struct image *image, const char *name, const Elf64_Ehdr *head, uint64_t size)
{
	uint64_t count, i;
	Elf64_Phdr segment;

	if (head->e_ident[EI_CLASS] != ELFCLASS64 || head->e_ident[EI_DATA] != ELFDATA2LSB)
		return complain("%s: an ELF core, but not of 64 bits, little-endian: no image of a machine that tracebuf runs on", name);
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
		return complain("%s: it has %" PRIu64 " bytes, --range begins at %" PRIu64,
				name, size, range->start);
	part->offset = range->start;
	part->bytes = size - range->start;
	if (range->bytes && range->bytes < part->bytes)
		part->bytes = range->bytes;
	part->address = range->base;
	if (part->address + part->bytes < part->address)
		return complain("--base 0x%" PRIx64 ": no memory is there", range->base);
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
		return complain("%s: not a file that can be read from anywhere; put the image into one", name);
	size = (uint64_t)end;
	if (!size && S_ISCHR(st.st_mode)) {
		if (!range || !range->bytes)
			return complain("%s: which memory? /proc/iomem lists it (\"System RAM\"): --range START:BYTES", name);
		size = range->start + range->bytes;
		if (size < range->start)
			return complain("--range: 0x%" PRIx64 " bytes at 0x%" PRIx64 " are beyond all memory",
					range->bytes, range->start);
	}
	if (!size)
		return complain("%s: it is empty", name);
	if (!range && read_whole(image->fd, &head, sizeof(head), 0)) {
		for (i = 0; i < sizeof(compressed) / sizeof(compressed[0]); i++)
			if (!memcmp(head.text, compressed[i].magic, strlen(compressed[i].magic)))
				return complain("%s: %s", name, compressed[i].what);
	}
	/* memory may begin with a program, but not with a core */
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
		/* the next one may be a part of the same memory that lies elsewhere in the file */
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
		/* whole pages, so that what is looked at stays where it would be */
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
		/* a page of a device that nobody may read, or has no memory behind it */
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
