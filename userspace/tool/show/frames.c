// SPDX-License-Identifier: GPL-2.0-only
/*
 * Names for the addresses of user stacks; see frames.h.
 *
 * Functions that a program has generated have names in the trace.  For all others:
 *
 * A file is used only if it has the build ID of the file that ran.  libdwfl of elfutils finds
 * symbols and debug information, also in separate files; libiberty demangles names.  Addresses are
 * looked up as offsets in files, so the process need not exist any more.
 */
#include <dwarf.h>
#include <elfutils/libdw.h>
#include <elfutils/libdwelf.h>
#include <elfutils/libdwfl.h>
#include <errno.h>
#include <fcntl.h>
#include <gelf.h>
#include <inttypes.h>
#include <libiberty/demangle.h>
#include <limits.h>
#include <search.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>
#include "frames.h"
#include "lib/utf8.h"
#include "tool/command/plain_file.h"

#define INLINED_MAX 32
#define BUILD_ID_MAX 64
#define NAME_MAX_BYTES 1024

enum trouble { FINE = 0, NO_FILE, OTHER_BUILD, NO_ID, NO_SYMBOLS };

/* A file with code */
struct code_file {
	char    *path;
	unsigned char build_id[BUILD_ID_MAX];
	size_t   build_id_bytes;
	Dwfl    *dwfl;
	Dwfl_Module *module;
	enum trouble trouble;
	uint64_t unnamed;		/* number of places without a name */
};

/* An offset in a file, or in a generated function, that was looked up */
struct place {
	const struct code_file *file;
	const char *generated;		/* name of the function; NULL: in a file */
	uint64_t offset;
	unsigned int count;
	struct frame *frames;
};

static void *files, *places, *names;	/* trees */
static const char *debug_dir;
static char *debug_path;

/* ---- finding files ---- */

void frames_debug_dir(const char *folder)
{
	debug_dir = folder;
	free(debug_path);
	/* search as gdb: beside the file, below /usr/lib/debug, and in @folder */
	if (asprintf(&debug_path, ":.debug:/usr/lib/debug:%s", folder) < 0)
		debug_path = NULL;
}

/* True if @fd has the build ID of @file, or if neither has one */
static bool is_build(int fd, const struct code_file *file)
{
	Elf *elf = elf_begin(fd, ELF_C_READ_MMAP, NULL);
	const void *bits;
	ssize_t bytes;
	bool same;

	if (!elf)
		return false;
	bytes = dwelf_elf_gnu_build_id(elf, &bits);
	same = bytes > 0 ? (size_t)bytes == file->build_id_bytes &&
			   !memcmp(bits, file->build_id, (size_t)bytes) :
	       !file->build_id_bytes && elf_kind(elf) == ELF_K_ELF;
	elf_end(elf);
	return same;
}

/* Open @path if it is the file that ran; else return -1 and set file->trouble */
static int open_build(struct code_file *file, const char *path)
{
	int fd = plain_file_open(AT_FDCWD, path, 0);

	if (fd < 0)
		return -1;
	if (is_build(fd, file)) {
		file->trouble = FINE;
		return fd;
	}
	file->trouble = file->build_id_bytes ? OTHER_BUILD : NO_ID;
	close(fd);
	return -1;
}

static int open_in(struct code_file *file, const char *folder)
{
	char path[PATH_MAX], id[2 * BUILD_ID_MAX + 1];
	size_t i;
	int fd = -1;

	for (i = 0; i < file->build_id_bytes; i++)
		sprintf(id + 2 * i, "%02x", file->build_id[i]);
	if (file->build_id_bytes > 1 &&
	    snprintf(path, sizeof(path), "%s/.build-id/%.2s/%s", folder, id, id + 2) <
	    (int)sizeof(path))
		fd = open_build(file, path);
	if (fd < 0 && snprintf(path, sizeof(path), "%s/%s", folder, file->path) < (int)sizeof(path))
		fd = open_build(file, path);
	return fd;
}

static const Dwfl_Callbacks callbacks = {
	.find_elf = dwfl_build_id_find_elf,
	.find_debuginfo = dwfl_standard_find_debuginfo,
	.section_address = dwfl_offline_section_address,
	.debuginfo_path = &debug_path,
};

static void open_file(struct code_file *file)
{
	int fd = -1;

	elf_version(EV_CURRENT);
	file->trouble = NO_FILE;
	if (debug_dir)
		fd = open_in(file, debug_dir);
	if (fd < 0 && file->path[0] == '/')
		fd = open_build(file, file->path);
	if (fd < 0)
		fd = open_in(file, "/usr/lib/debug");
	if (fd < 0)
		return;
	file->dwfl = dwfl_begin(&callbacks);
	if (file->dwfl)
		file->module = dwfl_report_offline(file->dwfl, file->path, file->path, fd);
	if (!file->module)
		close(fd);		/* otherwise libdwfl owns it */
	if (file->dwfl)
		dwfl_report_end(file->dwfl, NULL, NULL);
	file->trouble = file->module ? FINE : NO_SYMBOLS;
}

static int compare_files(const void *a, const void *b)
{
	const struct code_file *first = a, *second = b;
	int order = strcmp(first->path, second->path);

	if (order)
		return order;
	if (first->build_id_bytes != second->build_id_bytes)
		return first->build_id_bytes < second->build_id_bytes ? -1 : 1;
	return memcmp(first->build_id, second->build_id, first->build_id_bytes);
}

/* NULL: no memory */
static struct code_file *file_of(const struct tb_code *code)
{
	struct code_file wanted = { .build_id_bytes = code->build_id_bytes }, *file;
	void *node;

	if (wanted.build_id_bytes > BUILD_ID_MAX)
		wanted.build_id_bytes = 0;
	memcpy(wanted.build_id, code->build_id, wanted.build_id_bytes);
	wanted.path = strndup(code->path, code->length);
	if (!wanted.path)
		return NULL;
	utf8_plain(wanted.path, strlen(wanted.path));
	node = tfind(&wanted, &files, compare_files);
	file = node ? NULL : malloc(sizeof(*file));
	if (!file) {
		free(wanted.path);
		return node ? *(struct code_file **)node : NULL;
	}
	*file = wanted;
	if (!tsearch(file, &files, compare_files)) {
		free(file->path);
		free(file);
		return NULL;
	}
	open_file(file);
	return file;
}

/* ---- looking up ---- */

/* Convert @offset in the file to libdwfl's address */
static bool address_of(Dwfl_Module *module, uint64_t offset, Dwarf_Addr *address)
{
	GElf_Addr bias;
	Elf *elf = dwfl_module_getelf(module, &bias);
	GElf_Phdr segment;
	size_t count, i;

	if (!elf || elf_getphdrnum(elf, &count))
		return false;
	for (i = 0; i < count && i < INT_MAX; i++) {
		if (!gelf_getphdr(elf, (int)i, &segment) || segment.p_type != PT_LOAD ||
		    offset < segment.p_offset || offset - segment.p_offset >= segment.p_filesz)
			continue;
		*address = offset - segment.p_offset + segment.p_vaddr + bias;
		return true;
	}
	return false;
}

/* True if the instruction before @offset is a system call, to which the kernel returns */
static bool after_syscall(Dwfl_Module *module, uint64_t offset)
{
	static const unsigned char amd64[] = { 0x0f, 0x05 }, arm64[] = { 0x01, 0x00, 0x00, 0xd4 };
	GElf_Addr bias;
	Elf *elf = dwfl_module_getelf(module, &bias);
	const unsigned char *code;
	GElf_Ehdr head;
	Elf_Data *data;
	size_t bytes;

	if (!elf || !gelf_getehdr(elf, &head))
		return false;
	code = head.e_machine == EM_AARCH64 ? arm64 : amd64;
	bytes = head.e_machine == EM_AARCH64 ? sizeof(arm64) : sizeof(amd64);
	if ((head.e_machine != EM_AARCH64 && head.e_machine != EM_X86_64) || offset < bytes)
		return false;
	data = elf_getdata_rawchunk(elf, (int64_t)(offset - bytes), bytes, ELF_T_BYTE);
	return data && data->d_size == bytes && !memcmp(data->d_buf, code, bytes);
}

static int compare_names(const void *a, const void *b)
{
	return strcmp(a, b);
}

/* Demangle @name; return one line of UTF-8, the same pointer for equal names; NULL: no memory */
static const char *demangle_name(const char *name)
{
	char *plain = cplus_demangle(name, DMGL_NO_OPTS | DMGL_AUTO);
	void *node;

	if (!plain)
		plain = strndup(name, NAME_MAX_BYTES);
	else if (strlen(plain) > NAME_MAX_BYTES)
		plain[NAME_MAX_BYTES] = 0;
	if (!plain)
		return NULL;
	utf8_plain(plain, strlen(plain));
	node = tsearch(plain, &names, compare_names);
	if (!node || *(char **)node != plain)
		free(plain);
	return node ? *(char **)node : NULL;
}

static const char *die_name(Dwarf_Die *die)
{
	Dwarf_Attribute attribute;

	if (dwarf_attr_integrate(die, DW_AT_linkage_name, &attribute) ||
	    dwarf_attr_integrate(die, DW_AT_MIPS_linkage_name, &attribute))
		return dwarf_formstring(&attribute);
	return dwarf_attr_integrate(die, DW_AT_name, &attribute) ?
	       dwarf_formstring(&attribute) : NULL;
}

/* Find functions inlined at @address, innermost first, as eu-stack(1) does; return the number */
static unsigned int inlined_at(Dwfl_Module *module, Dwarf_Addr address, struct frame *frames)
{
	Dwarf_Die *unit, *scopes = NULL, *chain = NULL;
	unsigned int used = 0;
	Dwarf_Addr bias;
	int count, i;

	unit = dwfl_module_addrdie(module, address, &bias);
	if (!unit || dwarf_getscopes(unit, address - bias, &scopes) <= 0)
		return 0;
	count = dwarf_getscopes_die(&scopes[0], &chain);
	for (i = 0; i < count && used < INLINED_MAX; i++) {
		const char *name;

		if (dwarf_tag(&chain[i]) == DW_TAG_subprogram)
			break;
		if (dwarf_tag(&chain[i]) != DW_TAG_inlined_subroutine)
			continue;
		name = die_name(&chain[i]);
		frames[used].name = name ? demangle_name(name) : NULL;
		if (!frames[used].name)
			continue;
		frames[used].inlined = frames[used].named = true;
		used++;
	}
	free(chain);
	free(scopes);
	return used;
}

static const char *base_name(const char *path)
{
	const char *slash = strrchr(path, '/');

	return slash && slash[1] && path[0] == '/' && path[1] != '/' ? slash + 1 : path;
}

/* Fill in up to INLINED_MAX + 1 @frames; return the number */
static unsigned int look_up(struct code_file *file, uint64_t offset, struct frame *frames)
{
	const char *name = NULL;
	unsigned int used = 0, i;
	Dwarf_Addr address;
	GElf_Off into = 0;
	GElf_Sym symbol;
	char *text;

	if (file->module && address_of(file->module, offset, &address)) {
		used = inlined_at(file->module, address, frames);
		name = dwfl_module_addrinfo(file->module, address, &into, &symbol, NULL, NULL, NULL);
		/* without a symbol that contains the address libdwfl returns the one before it */
		if (name && (!*name || (symbol.st_size && into >= symbol.st_size)))
			name = NULL;
	}
	frames[used] = (struct frame){ .named = name, .offset = name ? into : 0 };
	if (name)
		frames[used].name = demangle_name(name);
	else if (asprintf(&text, "%s+0x%" PRIx64, base_name(file->path), offset) >= 0)
		frames[used].name = text;
	file->unnamed += !name;
	for (i = 0; i <= used; i++)
		frames[i].file = file->path;
	return used + 1;
}

static int compare_places(const void *a, const void *b)
{
	const struct place *first = a, *second = b;

	if (first->file != second->file)
		return first->file < second->file ? -1 : 1;
	if (first->generated != second->generated)
		return first->generated < second->generated ? -1 : 1;
	return first->offset == second->offset ? 0 : first->offset < second->offset ? -1 : 1;
}

static const struct place *place_of(struct code_file *file, const char *generated, uint64_t offset)
{
	struct frame frames[INLINED_MAX + 1] = { {
		.name = generated, .file = file->path, .offset = offset, .named = true,
	} };
	struct place wanted = {
		.file = file, .generated = generated, .offset = offset, .count = 1,
	}, *place;
	void *node = tfind(&wanted, &places, compare_places);

	if (node)
		return *(struct place **)node;
	if (!generated)
		wanted.count = look_up(file, offset, frames);
	place = malloc(sizeof(*place));
	if (!place)
		return NULL;
	*place = wanted;
	place->frames = calloc(wanted.count, sizeof(*place->frames));
	if (!place->frames || !frames[wanted.count - 1].name ||
	    !tsearch(place, &places, compare_places)) {
		free(place->frames);
		free(place);
		return NULL;
	}
	memcpy(place->frames, frames, wanted.count * sizeof(*frames));
	return place;
}

/* Name of the generated function at @address, and with it @offset there; NULL: none */
static const char *generated_at(const struct tb_trace *trace, uint32_t pid, uint64_t ns,
				uint64_t address, uint64_t *offset)
{
	char text[NAME_MAX_BYTES];
	uint64_t within;
	const char *name;
	size_t length;

	if (tb_trace_generated(trace, pid, ns, address, &name, &length, &within))
		return NULL;
	if (length >= sizeof(text))
		length = sizeof(text) - 1;
	memcpy(text, name, length);
	text[length] = 0;
	name = demangle_name(text);
	if (name)
		*offset = within;
	return name;
}

unsigned int frames_of(const struct tb_trace *trace, const struct tb_view *view, uint32_t index,
		       const struct frame **frames, uint32_t *behind)
{
	static struct frame bare;
	static char text[24];
	uint32_t pid = view->task && view->task->tgid ? view->task->tgid : view->tid;
	/* all addresses but the innermost are return addresses: look up the call before them */
	uint64_t address = view->user_stack[index] - (index > 0);
	const struct place *place = NULL;
	uint32_t back = index > 0;
	const char *generated;
	struct code_file *file;
	struct tb_code code;

	if (!tb_trace_code(trace, pid, view->ns, address, &code)) {
		file = file_of(&code);
		if (file && !index && file->module && after_syscall(file->module, code.offset)) {
			code.offset--;
			back = 1;
		}
		generated = generated_at(trace, pid, view->ns, address, &code.offset);
		place = file ? place_of(file, generated, code.offset) : NULL;
	}
	if (behind)
		*behind = back;
	if (place) {
		*frames = place->frames;
		return place->count;
	}
	snprintf(text, sizeof(text), "0x%" PRIx64, view->user_stack[index]);
	bare = (struct frame){ .name = text };
	*frames = &bare;
	return 1;
}

/* ---- remarks ---- */

static FILE *remarks_out;
static bool remarks_begun;

static void remark(const void *node, VISIT when, int depth)
{
	const struct code_file *file = *(struct code_file *const *)node;
	static const char *const reasons[] = {
		[FINE] = "it has no symbols there", [NO_FILE] = "there is no such file here",
		[OTHER_BUILD] = "the file here is of another build",
		[NO_ID] = "its build ID was not recorded, so the file here may be another one",
		[NO_SYMBOLS] = "it cannot be read",
	};

	bool anonymous = !strncmp(file->path, "//anon", 6) || !strncmp(file->path, "[anon", 5);

	(void)depth;
	if ((when != preorder && when != leaf) || !file->unnamed ||
	    (!anonymous && (file->path[0] != '/' || file->path[1] == '/')))
		return;
	if (!remarks_begun)
		fputs("addresses of programs without a name (--debug-dir names a folder with the files that ran):\n",
		      remarks_out);
	remarks_begun = true;
	fprintf(remarks_out, "  %s: %" PRIu64 ": %s\n", file->path, file->unnamed,
		anonymous ? "generated code that the program did not list in /tmp/perf-PID.map" :
		reasons[file->trouble]);
}

void frames_remarks(FILE *out)
{
	remarks_out = out;
	remarks_begun = false;
	twalk(files, remark);
}
