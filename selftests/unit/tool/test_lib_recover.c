// SPDX-License-Identifier: GPL-2.0-only
/*
 * After a crash "tracebuf recover" gets all events of the memory image, and no others. If this
 * fails, the events before the crash are missing, or stale ones appear among them. In the images
 * blocks lie among other data in any order, some half-written over older events, copied, damaged,
 * forged, or of other recordings.
 */
#include <elf.h>
#include <errno.h>
#include <fcntl.h>
#include <signal.h>
#include <sys/resource.h>
#include <sys/stat.h>
#include "test_lib_image.h"

static void whole_and_half(void)
{
	struct fx fx;

	image_new();
	half_written(&fx, 2);
	image_ring(ID_A, 0, 2, TB_BLOCK_FIRST_ELEMENT + 2, 3, 0);
	CHECK_NUMBER(recover(""), 0);
	CHECK_HAS("recording 1111222233334441: kernel number 1");
	CHECK_RECOVERED("1 2 3 4 5 ");
	CHECK_HAS("exact");
	/* only the kernel knew what rules had kept out */
	CHECK_HAS("not recorded, as asked for: not all counts are known");
	fx_free(&fx);
}

/* After the ring's end lies an event with the right number and a later time: it is old */
static void stale_behind_the_end(void)
{
	struct tb_block *block;
	struct fx fx;

	image_new();
	block = half_written(&fx, 66);
	put_simple(block, TB_BLOCK_FIRST_ELEMENT + 2, 66, 4003, 66);
	image_ring(ID_A, 0, 66, TB_BLOCK_FIRST_ELEMENT + 2, 100, 0);
	CHECK_NUMBER(recover(""), 0);
	CHECK_HAS("           97");
	CHECK_RECOVERED("1 2 3 4 5 ");
	fx_free(&fx);
}

/*
 * A writer has reserved an event but not written its head: the head there is one of 64 blocks ago.
 * Events of an interrupt follow.
 */
static void hole(void)
{
	uint32_t at = TB_BLOCK_FIRST_ELEMENT + 2;
	struct tb_block *block;
	struct fx fx;

	image_new();
	block = half_written(&fx, 66);
	element(block, at)->head = TB_HEAD(TB_STRUCT_COMPOSITE, FX_SWITCH, 5, 66);
	element(block, at)->time = 900;
	put_simple(block, at + 3, 66, 4010, 6);
	put_simple(block, at + 4, 66, 4011, 7);
	/* an event with a head that says that it was begun */
	element(block, at + 5)->head = TB_HEAD(TB_STRUCT_RESERVED, 0, 2, 66);
	put_simple(block, at + 7, 66, 4012, 8);
	/* another one without a head; the event before it is reliable */
	put_simple(block, at + 8, 66, 950, 99);
	put_simple(block, at + 9, 66, 4013, 9);
	image_ring(ID_A, 0, 66, at + 10, 100, 0);
	CHECK_NUMBER(recover(""), 0);
	CHECK_HAS("         3\n");
	CHECK_RECOVERED("1 2 3 4 5 6 7 8 9 ");
	fx_free(&fx);
}

static void without_ring(void)
{
	struct tb_block *block;
	struct fx fx;

	image_new();
	block = half_written(&fx, 2);
	put_simple(block, TB_BLOCK_FIRST_ELEMENT + 2, 1, 4003, 66);
	CHECK_NUMBER(recover(""), 0);
	CHECK_HAS("ring not found");
	CHECK_RECOVERED("1 2 3 4 5 ");
	CHECK_HAS("open: no totals");
	fx_free(&fx);
}

/*
 * The recording was stopped: without the ring, the kernel's totals say how much is missing. With
 * @flags they are those of a snapshot, after which the recording went on.
 */
static void without_ring_with_totals(unsigned int flags)
{
	unsigned int i, cleared = 0;
	struct tb_block *block;
	struct fx fx;
	size_t at;

	image_new();
	begin(&fx);
	for (i = 0; i < 3; i++) {
		fx_open(&fx, 0, 2000 + 100 * i, 100, NULL);
		fx_simple(&fx, 0, FX_SOFTIRQ, 2001 + 100 * i, 2 * i + 1);
		fx_simple(&fx, 0, FX_SOFTIRQ, 2002 + 100 * i, 2 * i + 2);
		fx_close(&fx, 0);
	}
	fx_totals_at(&fx, 0, flags, 0, 0, 0);
	fx_durable_end(&fx);
	image_put(&fx, ID_A);
	for (at = 0; at < used; at += 1024) {
		block = (void *)(image + at);
		if (block->magic == TB_BLOCK_MAGIC && block->kind == TB_BLOCK_ROLLING &&
		    block->sequence == 1) {
			memset(block, 0, 1024);
			cleared++;
		}
	}
	CHECK_NUMBER(cleared, 1);
	CHECK_NUMBER(recover(""), 0);
	if (flags) {
		CHECK_HAS("ring not found");
	} else {
		CHECK(!strstr(output, "ring not found"));
		CHECK_RECOVERED("1 2 5 6 ");
		CHECK_HAS("    0        2            4            2          0            6"
			  "      1  exact");
	}
	fx_free(&fx);
}

static void stopped(void)
{
	without_ring_with_totals(0);
	without_ring_with_totals(TB_TOTALS_SNAPSHOT);
}

/* Two copies of a block: of one only the beginning is there */
static void copies(void)
{
	struct tb_block *block, *copy;
	struct fx fx;

	image_new();
	begin(&fx);
	fx_open(&fx, 0, 2000, 100, NULL);
	fx_simple(&fx, 0, FX_SOFTIRQ, 2001, 1);
	fx_simple(&fx, 0, FX_SOFTIRQ, 2002, 2);
	fx_close(&fx, 0);
	block = image_put(&fx, ID_A);
	copy = image_room(1024, 1024);
	memcpy(copy, block, 1024);
	copy = image_room(1024, 1024);
	memcpy(copy, block, 16 * (TB_BLOCK_FIRST_ELEMENT + 1));
	CHECK_NUMBER(recover(""), 0);
	CHECK_TEXT(numbers(), "1 2 ");
	/* only the damaged copy */
	memset(block, 0, 1024);
	memset((unsigned char *)copy - 2048, 0, 1024);
	memset((unsigned char *)copy - 1024, 0, 1024);
	CHECK_NUMBER(recover(""), 0);
	CHECK_HAS("1 blocks damaged");
	CHECK_TEXT(numbers(), "1 ");
	fx_free(&fx);
}

static void several_recordings(void)
{
	struct stat status;
	struct fx a, b;

	image_new();
	half_written(&a, 2);
	begin(&b);
	fx_open(&b, 1, 2000, 100, NULL);
	fx_simple(&b, 1, FX_SOFTIRQ, 2001, 7);
	fx_close(&b, 1);
	image_put(&b, ID_B);
	CHECK_NUMBER(recover("-r 5555666677778885"), 0);
	CHECK_TEXT(numbers(), "7 ");
	/* only its owner may read the file, as with record */
	CHECK(!stat(trace_name, &status) && (status.st_mode & 0777) == 0600);
	CHECK_NUMBER(recover("-r 1111222233334441"), 0);
	CHECK_TEXT(numbers(), "1 2 3 4 5 ");
	CHECK_NUMBER(recover("--list"), 0);
	CHECK_HAS("recording 5555666677778885");
	CHECK_HAS("recording 1111222233334441");
	CHECK_NUMBER((unsigned long long)access(trace_name, F_OK), (unsigned long long)-1);
	CHECK_NUMBER(recover("-p nobody"), 1);
	CHECK_HAS("no recording of provider 'nobody'");
	CHECK_NUMBER(recover("-r 1111222233334441 -p nobody"), 1);
	CHECK_HAS("no recording 1111222233334441 of provider 'nobody'");
	CHECK_NUMBER(recover("-r 1111222233334441 -p kernel"), 0);
	CHECK_NUMBER(run_on("recover", "--list -o -"), 0);
	CHECK_HAS("recording 1111222233334441");
	fx_free(&a);
	fx_free(&b);
}

/* Turn @block into a beginning of the recording of @real, but later, and with another name */
static void forge(struct tb_block *block, const struct tb_block *real)
{
	struct tb_composite *event = (struct tb_composite *)(block + 1);
	struct tb_init *init = (struct tb_init *)(event + 1);

	memcpy(block, real, 4096);
	CHECK_NUMBER(TB_HEAD_ID(event->head), TB_EV_INIT);
	block->size_log2 = 12;
	block->sequence++;
	block->events = 1;
	block->data = sizeof(*block) + TB_HEAD_LENGTH(event->head) * TB_ELEMENT_SIZE;
	block->time_end = real->time_start;
	event->head = TB_HEAD(TB_STRUCT_COMPOSITE, TB_EV_INIT, TB_HEAD_LENGTH(event->head),
			      block->sequence);
	strcpy(init->provider, "forged");
}

/*
 * A program has recorded bytes that look like a block of this very recording: in a complete block,
 * and in a half-written one.
 */
static void forged(void)
{
	static const unsigned char payload[15 << 10];
	const unsigned int log2 = 15;
	struct tb_block *block;
	unsigned int n;
	struct fx fx;

	for (n = 0; n < 2; n++) {
		image_new();
		fx_init(&fx, log2, 1000);
		fx_durable_end(&fx);
		fx_open(&fx, 0, 2000, 100, NULL);
		fx_simple(&fx, 0, FX_SOFTIRQ, 2001, 1);
		assert(fx_composite(&fx, 0, FX_SYS_ENTER, 2002, 1, payload, sizeof(payload)));
		fx_simple(&fx, 0, FX_SOFTIRQ, 2003, 2);
		if (!n)
			fx_close(&fx, 0);
		block = image_put(&fx, ID_A);
		forge((void *)((char *)block + 4096), durable_block());
		CHECK_NUMBER(recover(""), 0);
		CHECK_HAS("1 blocks in the events of others, left out");
		CHECK_HAS("recording 1111222233334441: kernel number 1");
		CHECK_RECOVERED("1 2 ");
		/* a forger who does not know the recording's number cannot hide a block */
		stamp(block, ID_B);
		CHECK_NUMBER(recover("-r 1111222233334441"), 0);
		CHECK_HAS("recording 1111222233334441: forged number 1");
		fx_free(&fx);
	}
}

/* A wrong header costs its own block */
static void headers(void)
{
	struct tb_block *block;
	struct fx fx;

	image_new();
	half_written(&fx, 2);
	durable_block()->provider = 7;
	CHECK_NUMBER(recover(""), 0);
	CHECK_HAS("1 blocks left out: they cannot be of this recording");
	CHECK_HAS("    0        3            5            0");
	fx_free(&fx);

	/* the first block of the ring has a later time than all others */
	image_new();
	half_written(&fx, 2);
	block = durable_block();
	do {
		block = (void *)((char *)block - 1024);
	} while (block->magic != TB_BLOCK_MAGIC || block->sequence);
	block->time_start |= 1ull << 40;
	CHECK_NUMBER(recover(""), 0);
	CHECK_RECOVERED("3 4 5 ");
	fx_free(&fx);
}

/* An ELF core with the memory in two parts, in the other order; a block crosses the border */
static void elf(void)
{
	const size_t cut = 600 * 1024, table = 4096 + 100;
	Elf64_Ehdr head = {
		.e_ident = { 0x7f, 'E', 'L', 'F', ELFCLASS64, ELFDATA2LSB, EV_CURRENT },
		.e_type = ET_CORE, .e_machine = EM_X86_64, .e_version = EV_CURRENT,
		.e_phoff = sizeof(head), .e_ehsize = sizeof(head),
		.e_phentsize = sizeof(Elf64_Phdr), .e_phnum = 2,
	};
	Elf64_Phdr part[2] = {
		{ .p_type = PT_LOAD, .p_offset = table + IMAGE_BYTES - cut, .p_paddr = 0x100000000,
		  .p_filesz = cut, .p_memsz = cut },
		{ .p_type = PT_LOAD, .p_offset = table, .p_paddr = 0x100000000 + cut,
		  .p_filesz = IMAGE_BYTES - cut, .p_memsz = IMAGE_BYTES - cut },
	};
	static unsigned char core[IMAGE_BYTES + 8192];
	char arguments[256];
	struct fx fx;

	image_new();
	used = cut - 16384 - 2048;
	begin(&fx);
	fx.log2 = 14;
	fx_open(&fx, 0, 2000, 100, NULL);
	fx_simple(&fx, 0, FX_SOFTIRQ, 2001, 1);
	fx_close(&fx, 0);
	((struct tb_init *)(fx.data + 80))->elements = 1024;
	image_put(&fx, ID_A);
	memcpy(core, &head, sizeof(head));
	memcpy(core + sizeof(head), part, sizeof(part));
	memcpy(core + table, image + cut, IMAGE_BYTES - cut);
	memcpy(core + table + IMAGE_BYTES - cut, image, cut);
	save(core, table + IMAGE_BYTES);
	snprintf(arguments, sizeof(arguments), "recover -o %s %s", trace_name, file);
	CHECK_NUMBER(run(arguments), 0);
	CHECK_TEXT(numbers(), "1 ");
	/* the table of segments is cut off, and claims too many */
	((Elf64_Ehdr *)core)->e_phnum = 60000;
	save(core, 8192);
	CHECK_NUMBER(run(arguments), 1);
	CHECK_HAS("table of segments is cut off");
	fx_free(&fx);
}

/* A part of the memory that begins at any address, and a file with holes */
static void raw(void)
{
	char arguments[256];
	struct fx fx;
	int fd;

	image_new();
	half_written(&fx, 2);
	save(image, sizeof(image));
	fd = open(file, O_RDWR);
	assert(fd >= 0 && ftruncate(fd, 64ll << 30) == 0);
	assert(pwrite(fd, image, sizeof(image), 63ll << 30) == (ssize_t)sizeof(image));
	assert(pwrite(fd, "", 1, 0) == 1);
	assert(ftruncate(fd, 0) == 0 && ftruncate(fd, 64ll << 30) == 0);
	assert(pwrite(fd, image, sizeof(image), 63ll << 30) == (ssize_t)sizeof(image));
	snprintf(arguments, sizeof(arguments), "recover -o %s %s", trace_name, file);
	CHECK_NUMBER(run(arguments), 0);
	CHECK_TEXT(numbers(), "1 2 3 4 5 ");
	snprintf(arguments, sizeof(arguments), "recover --range 63G:1M -o %s %s", trace_name, file);
	CHECK_NUMBER(run(arguments), 0);
	CHECK_TEXT(numbers(), "1 2 3 4 5 ");
	snprintf(arguments, sizeof(arguments), "recover --range 62G:1M -o %s %s", trace_name, file);
	CHECK_NUMBER(run(arguments), 1);
	CHECK_HAS("no recording found");
	close(fd);
	/* the image lacks the first 512 bytes */
	save(image + 512, sizeof(image) - 512);
	snprintf(arguments, sizeof(arguments), "recover -o %s %s", trace_name, file);
	CHECK_NUMBER(run(arguments), 1);
	CHECK_HAS("--base");
	snprintf(arguments, sizeof(arguments), "recover --base 512 -o %s %s", trace_name, file);
	CHECK_NUMBER(run(arguments), 0);
	CHECK_TEXT(numbers(), "1 2 3 4 5 ");
	fx_free(&fx);
}

static void durable_missing(void)
{
	struct fx fx;

	image_new();
	half_written(&fx, 2);
	/* as if the only durable block had been the second of two */
	memset(durable_block(), 0, 4096);
	CHECK_NUMBER(recover(""), 0);
	CHECK_HAS("the initialisation is not there");
	CHECK_NUMBER(on_trace("verify"), 1);
	fx_free(&fx);
}

static void wrong(void)
{
	char arguments[256];

	image_new();
	CHECK_NUMBER(recover(""), 1);
	CHECK_HAS("no recording found");
	CHECK_NUMBER((unsigned long long)access(trace_name, F_OK), (unsigned long long)-1);
	save("KDUMP   and so on, as makedumpfile writes it when it compresses: longer than this", 81);
	snprintf(arguments, sizeof(arguments), "recover -o %s %s", trace_name, file);
	CHECK_NUMBER(run(arguments), 1);
	CHECK_HAS("a compressed dump, which cannot be read: dump with 'makedumpfile -E'");
	save("", 0);
	CHECK_NUMBER(run(arguments), 1);
	CHECK_HAS("it is empty");
	CHECK_NUMBER(run("recover /"), 1);
	CHECK_NUMBER(run("recover"), 2);
	CHECK_NUMBER(run("recover --range 5 /dev/zero"), 2);
	CHECK_HAS("START:BYTES");
	CHECK_NUMBER(run("recover /dev/zero"), 1);
	CHECK_HAS("--range");
}

static void onto_itself(void)
{
	char arguments[256];
	struct fx fx;

	image_new();
	half_written(&fx, 2);
	save(image, sizeof(image));
	snprintf(arguments, sizeof(arguments), "recover -o %s %s", file, file);
	CHECK_NUMBER(run(arguments), 1);
	CHECK_HAS("that is the image");
	fx_free(&fx);
}

/* A recording that cannot be written leaves an older file as it is */
static void older_file_stays(void)
{
	struct rlimit none = { .rlim_cur = 1024, .rlim_max = RLIM_INFINITY }, before;
	char arguments[512], text[16] = "";
	struct fx fx;
	int fd;

	image_new();
	half_written(&fx, 2);
	image_ring(ID_A, 0, 2, TB_BLOCK_FIRST_ELEMENT + 2, 3, 0);
	CHECK_NUMBER(recover(""), 0);
	fd = open(trace_name, O_WRONLY | O_TRUNC);
	CHECK(fd >= 0 && write(fd, "older", 5) == 5 && !close(fd));
	snprintf(arguments, sizeof(arguments), "recover -o %s %s", trace_name, file);
	CHECK(!getrlimit(RLIMIT_FSIZE, &before));
	signal(SIGXFSZ, SIG_IGN);
	CHECK(!setrlimit(RLIMIT_FSIZE, &none));
	CHECK_NUMBER(run(arguments), 1);
	CHECK(!setrlimit(RLIMIT_FSIZE, &before));
	signal(SIGXFSZ, SIG_DFL);
	CHECK_HAS("File too large");
	fd = open(trace_name, O_RDONLY);
	CHECK(fd >= 0 && read(fd, text, sizeof(text)) == 5 && !close(fd));
	CHECK(!strcmp(text, "older"));
	fx_free(&fx);
}

static void damage(void)
{
	uint64_t seed = 1;
	size_t round, i, at;
	struct fx fx;
	int status;

	for (round = 0; round < FULL(60, 20); round++) {
		image_new();
		half_written(&fx, 66);
		image_ring(ID_A, 0, 66, TB_BLOCK_FIRST_ELEMENT + 2, 100, 0);
		for (i = 0; i < 20; i++) {
			seed = seed * 6364136223846793005ull + 1442695040888963407ull;
			at = 4096 + (seed >> 33) % (used - 4096);
			/* mostly in headers and heads */
			if (i % 4)
				at = at / 1024 * 1024 + at % 128;
			image[at] ^= (unsigned char)(1u << (seed >> 29 & 7));
		}
		status = recover("");
		CHECK(status == 0 || status == 1);
		if (!status) {
			status = on_trace("print");
			CHECK(status == 0 || status == 1);
		}
		fx_free(&fx);
	}
}

static const struct test tests[] = {
	{ "complete blocks, and one that was being written", whole_and_half },
	{ "old events are not taken for new ones", stale_behind_the_end },
	{ "reserved events, and events after them", hole },
	{ "without the ring's head", without_ring },
	{ "a stopped recording without the ring's head", stopped },
	{ "copies, whole and damaged", copies },
	{ "several recordings are distinguished", several_recordings },
	{ "recorded bytes are not taken for blocks", forged },
	{ "a wrong header", headers },
	{ "an ELF core", elf },
	{ "plain memory: ranges, holes, addresses", raw },
	{ "missing durable blocks are reported", durable_missing },
	{ "a file that is no image", wrong },
	{ "the image is not overwritten", onto_itself },
	{ "an older file stays when writing fails", older_file_stays },
	{ "damaged images", damage },
};

int main(void)
{
	return image_main(tests, sizeof(tests) / sizeof(tests[0]));
}
