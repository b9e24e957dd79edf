// SPDX-License-Identifier: GPL-2.0-only
/*
 * Events read as the kernel's own print formats show them, or as fields where a format is unusable.
 * If this fails, print shows wrong values, flags or names, or a damaged format or event makes it
 * crash or show foreign bytes.
 */
#include <stddef.h>
#include "test_lib_run.h"

enum { EV_RICH = 100, EV_ENTER = 102, EV_EXIT = 104, EV_ODD = 106, EV_SIGNAL = 108 };

struct rich {
	uint32_t flags;
	uint32_t kind;
	uint64_t ip;
	uint8_t  address[4];
	uint8_t  address6[16];
	uint32_t name;		/* __data_loc char[] */
	uint32_t list;		/* __data_loc u32[] */
	char     comm[16];
	uint32_t size;
	uint8_t  bytes[8];
	uint32_t rel;		/* __rel_loc char[] */
	int64_t  state;
	char     data[40];
};

static const struct fx_field rich_fields[] = {
	{ "flags", "u32", 0, 4, 0, 0, 0, 0 },
	{ "kind", "u32", 4, 4, 0, 0, 0, 0 },
	{ "ip", "void *", 8, 8, 0, TB_FIELD_HEX, 0, 0 },
	{ "address", "__u8", 16, 4, 4, TB_FIELD_ARRAY, 0, 0 },
	{ "address6", "__u8", 20, 16, 16, TB_FIELD_ARRAY, 0, 0 },
	{ "name", "char", 36, 4, 0, TB_FIELD_DATA_LOC | TB_FIELD_STRING, 0, 0 },
	{ "list", "u32", 40, 4, 0, TB_FIELD_DATA_LOC, 0, 0 },
	{ "comm", "char", 44, 16, 16, TB_FIELD_ARRAY | TB_FIELD_STRING, 0, 0 },
	{ "size", "u32", 60, 4, 0, 0, 0, 0 },
	{ "bytes", "u8", 64, 8, 8, TB_FIELD_ARRAY, 0, 0 },
	{ "rel", "char", 72, 4, 0, TB_FIELD_REL_LOC | TB_FIELD_STRING, 0, 0 },
	{ "state", "long", 80, 8, 0, TB_FIELD_SIGNED, 0, 0 },
};

#define RICH_PRINT \
	"\"flags=%s kind=%s at %pS ip=%pI4 ip6=%pI6c name=%s list=%s comm=%s " \
	"bytes=%s rel=%s state=%s%ld\\n\", " \
	"__print_flags(REC->flags, \"|\", { 1, \"ONE\" }, { 2, \"TWO\" }, { 4, \"FOUR\" }), " \
	"__print_symbolic(REC->kind, { 0, \"none\" }, { 7, \"seven\" }), " \
	"REC->ip, REC->address, REC->address6, __get_str(name), " \
	"__print_array(__get_dynamic_array(list), __get_dynamic_array_len(list) / sizeof(u32), 4), " \
	"REC->comm, __print_hex(REC->bytes, REC->size), __get_rel_str(rel), " \
	"(REC->state & 3) ? \"waits \" : \"\", (long)REC->state >> 2"

static struct rich rich_event(void)
{
	struct rich event = {
		.flags = 5, .kind = 7, .ip = 0xffffffff81000123ull,
		.address = { 127, 0, 0, 1 },
		.address6 = { 0x20, 1, 0xd, 0xb8, [15] = 1 },
		.name = 6 << 16 | (8 + offsetof(struct rich, data)),
		.list = 8 << 16 | (8 + offsetof(struct rich, data) + 8),
		.comm = "bash", .size = 3, .bytes = { 0xde, 0xad, 0xbe, 0xef },
		.rel = 4 << 16 | (offsetof(struct rich, data) + 16 - 76),
		.state = 41,
	};

	strcpy(event.data, "eight");
	memcpy(event.data + 8, (uint32_t[]){ 1, 0x10 }, 8);
	strcpy(event.data + 16, "rel");
	return event;
}

static struct fx fx;

static void begin_with(const char *system, const char *print)
{
	fx_init(&fx, 12, 1000);
	fx_describe_print(&fx, EV_RICH, 0, system, "rich", rich_fields,
			  sizeof(rich_fields) / sizeof(rich_fields[0]), print);
}

static void begin_events(void)
{
	fx_durable_end(&fx);
	fx_open(&fx, 0, 2000, 100, NULL);
}

static void end(void)
{
	fx_close(&fx, 0);
	save(fx.data, fx.size);
	fx_free(&fx);
}

static void add(const void *event, size_t length)
{
	fx_composite(&fx, 0, EV_RICH, 2001, 100, event, length);
}

/* Print one event with this print format and these options */
static void print_one(const char *print, const struct rich *event,
		      size_t length, const char *options)
{
	begin_with("test", print);
	begin_events();
	add(event, length);
	end();
	CHECK_NUMBER(run_on("print", options), 0);
}

static void everything(void)
{
	struct rich event = rich_event();
	char names[] = "/tmp/test_lib_names.XXXXXX", options[64];
	FILE *out = fdopen(mkstemp(names), "w");

	assert(out);
	fprintf(out, "ffffffff81000200 T after\nffffffff81000100 t it\n"
		"ffffffff81000100 T alias\n0000000000000010 A absolute\n"
		"ffffffffc0000000 t far\t[module]\n");
	fclose(out);
	snprintf(options, sizeof(options), "-k %s", names);
	print_one(RICH_PRINT, &event, sizeof(event), options);
	CHECK_HAS(": test:rich: flags=ONE|FOUR kind=seven at it+0x23 ip=127.0.0.1 "
		  "ip6=2001:db8::1 name=eight list={0x1,0x10} comm=bash "
		  "bytes=de ad be rel=rel state=waits 10\n");
	CHECK_NUMBER(lines(), 1);
	unlink(names);
	CHECK_NUMBER(run_on("print", ""), 0);
	CHECK_HAS(" at 0xffffffff81000123 ");
	CHECK_NUMBER(run_on("print", "--fields"), 0);
	CHECK_HAS(": test:rich: flags=5 kind=7 ip=0xffffffff81000123 ");
}

/* Texts that a driver never filled in, and texts of no bytes: nothing is shown */
static void empty_texts(void)
{
	struct rich event = rich_event();
	static const uint32_t none[] = { 0, 8 + 4, 8 + 37 };
	size_t i;

	for (i = 0; i < 3; i++) {
		event.name = none[i];
		event.list = none[i];
		event.rel = (uint32_t)i;
		print_one(RICH_PRINT, &event, sizeof(event), "");
		CHECK_HAS(" name= list={} comm=bash bytes=de ad be rel= state=waits 10\n");
		CHECK_NUMBER(lines(), 1);
		CHECK_NUMBER(run_on("print", "--fields"), 0);
		CHECK_HAS(" name= list=[] comm=bash ");
	}
}

/* A short text after a long one shows nothing of the long one */
static void one_after_the_other(void)
{
	static const char format[] = "\"%s.\", __get_str(name)";
	struct rich event = rich_event();

	begin_with("test", format);
	begin_events();
	add(&event, sizeof(event));
	event.name = 0 << 16 | (8 + offsetof(struct rich, data));
	add(&event, offsetof(struct rich, data));
	event.list = event.rel = 0;
	end();
	CHECK_NUMBER(run_on("print", ""), 0);
	CHECK_HAS("rich: eight.\n");
}

static void system_calls(void)
{
	static const struct fx_field fields[] = {
		{ "id", "long", 0, 8, 0, TB_FIELD_SIGNED, 0, 0 },
		{ "args", "unsigned long", 8, 16, 2, TB_FIELD_ARRAY, 0, 0 },
	}, results[] = {
		{ "id", "long", 0, 8, 0, TB_FIELD_SIGNED, 0, 0 },
		{ "ret", "long", 8, 8, 0, TB_FIELD_SIGNED, 0, 0 },
	};
	static const int64_t calls[][3] = {
		{ 257, 0xffffff9c, 1 }, { 600, 2, 3 }, { -1, 0, 0 },
	};
	static const int64_t ends[][2] = {
		{ 257, 3 }, { 0, -11 }, { 600, -4000 }, { 0, -5000 }, { 0, -514 },
		{ 9, 0x7f1234567000 }, { 9, -12 }, { 12, 0x55d0 },
	};
	size_t i;

	fx_init(&fx, 12, 1000);
	fx_describe_print(&fx, EV_ENTER, TB_EVENT_SYSCALL, "raw_syscalls",
			  "enter", fields, 2,
			  "\"NR %ld (%lx, %lx)\", REC->id, REC->args[0], REC->args[1]");
	fx_describe_print(&fx, EV_EXIT, TB_EVENT_SYSCALL, "raw_syscalls",
			  "exit", results, 2, "\"NR %ld = %ld\", REC->id, REC->ret");
	begin_events();
	for (i = 0; i < 3; i++)
		fx_composite(&fx, 0, EV_ENTER, 2001, 100, calls[i], 24);
	for (i = 0; i < sizeof(ends) / sizeof(ends[0]); i++)
		fx_composite(&fx, 0, EV_EXIT, 2003, 100, ends[i], 16);
	end();
	CHECK_NUMBER(run_on("print", ""), 0);
#if defined(__x86_64__)
	CHECK_HAS("enter: NR 257 openat (dfd=AT_FDCWD, filename=0x1)\n");
	CHECK_HAS("exit: NR 257 openat = 3\n");
	CHECK_HAS("exit: NR 0 read = -11 (EAGAIN)\n");
	CHECK_HAS("exit: NR 0 read = -5000\n");
	CHECK_HAS("exit: NR 0 read = -514 (ERESTARTNOHAND)\n");
	CHECK_HAS("exit: NR 9 mmap = 0x7f1234567000\n");
	CHECK_HAS("exit: NR 9 mmap = -12 (ENOMEM)\n");
	CHECK_HAS("exit: NR 12 brk = 0x55d0\n");
#endif
	CHECK_HAS("enter: NR 600 (0x2, 0x3)\n");
	CHECK_HAS("enter: NR -1 (0, 0)\n");
	CHECK_HAS("exit: NR 600 = -4000\n");
}

/* Arguments of system calls are shown by their meaning, as far as they were recorded */
static void arguments(void)
{
	static const struct fx_field fields[] = {
		{ "id", "long", 0, 8, 0, TB_FIELD_SIGNED, 0, 0 },
		{ "args", "unsigned long", 8, 48, 6, TB_FIELD_ARRAY, 0, 0 },
		{ "path", "char", 56, 4, 0, TB_FIELD_DATA_LOC | TB_FIELD_STRING, 0, 0 },
		{ "path2", "char", 60, 4, 0, TB_FIELD_DATA_LOC | TB_FIELD_STRING, 0, 0 },
	};
	static const struct {
		int64_t id;
		uint64_t args[6];
		const char *first, *second;	/* text */
		unsigned int count;		/* arguments, if there is no text */
		const char *shown;
	} calls[] = {
		{ 39, { 0 }, NULL, NULL, 0, "getpid ()" },
		{ 0, { 3, 0x7f00, 10 }, NULL, NULL, 3, "read (fd=3, buf=0x7f00, count=10)" },
		/* an older module records six arguments of each call */
		{ 3, { 3, 1, 2, 3, 4, 5 }, NULL, NULL, 6, "close (fd=3)" },
		{ 257, { 0xffffff9c, 5, 02000000 }, "/etc/a\"b", NULL, 0,
		  "openat (dfd=AT_FDCWD, filename=\"/etc/a\\\"b\", flags=O_RDONLY|O_CLOEXEC)" },
		{ 42, { 3, 0x7f00, 16 }, "127.0.0.1:5432", NULL, 0,
		  "connect (fd=3, uservaddr=\"127.0.0.1:5432\", addrlen=16)" },
		{ 42, { 3, 0x7f00, 16 }, NULL, NULL, 3,
		  "connect (fd=3, uservaddr=0x7f00, addrlen=16)" },
		{ 7, { 0x7f00, 9, 50 }, "3 -1 ...", NULL, 0,
		  "poll (ufds=[3 -1 ...], nfds=9, timeout_msecs=50)" },
		{ 7, { 0x7f00, 1, 50 }, "\x1b[m", NULL, 0,
		  "poll (ufds=0x7f00, nfds=1, timeout_msecs=50)" },
		{ 7, { 0, 1, 50 }, NULL, NULL, 3, "poll (ufds=NULL, nfds=1, timeout_msecs=50)" },
		/* each set of select() with its own files */
		{ 23, { 8, 0x10, 0x20, 0, 0 }, "3r 5rw 7w", NULL, 0,
		  "select (n=8, inp=[3 5], outp=[5 7], exp=NULL, tvp=NULL)" },
		{ 270, { 65, 0x10, 0, 0x30, 0, 0 }, "3r 64x ...", NULL, 0,
		  "pselect6 (n=65, inp=[3 ...], outp=NULL, exp=[64 ...], tsp=NULL, sig=NULL)" },
		{ 23, { 8, 0x10, 0x20, 0, 0 }, "5w", NULL, 0,
		  "select (n=8, inp=[], outp=[5], exp=NULL, tvp=NULL)" },
		{ 23, { 8, 0x10, 0x20, 0, 0 }, "5w -1", NULL, 0,
		  "select (n=8, inp=0x10, outp=0x20, exp=NULL, tvp=NULL)" },
		{ 257, { 4, 5, 01101, 0644 }, NULL, NULL, 6,
		  "openat (dfd=4, filename=0x5, flags=O_WRONLY|O_CREAT|O_TRUNC, mode=0644)" },
		{ 82, { 1, 2 }, "old\x1b", "new", 0,
		  "rename (oldname=\"old\\x1b\", newname=\"new\")" },
		{ 82, { 1, 2 }, "", NULL, 0, "rename (oldname=\"\", newname=0x2)" },
		{ 9, { 0, 4096, 3, 0x22, ~0ull, 0 }, NULL, NULL, 6,
		  "mmap (addr=0, len=4096, prot=PROT_READ|PROT_WRITE, "
		  "flags=MAP_PRIVATE|MAP_ANONYMOUS, fd=-1, off=0)" },
		{ 62, { 1, 9 }, NULL, NULL, 2, "kill (pid=1, sig=SIGKILL)" },
		{ 62, { 1, 0 }, NULL, NULL, 2, "kill (pid=1, sig=0)" },
		{ 62, { 1, 34 }, NULL, NULL, 2, "kill (pid=1, sig=SIGRTMIN+2)" },
		{ 62, { 1, 65 }, NULL, NULL, 2, "kill (pid=1, sig=65)" },
		{ 202, { 0x10, 128, 1, 0, 0, 0 }, NULL, NULL, 6,
		  "futex (uaddr=0x10, op=FUTEX_WAIT|FUTEX_PRIVATE_FLAG, val=1, utime=NULL, "
		  "uaddr2=NULL, val3=0)" },
		{ 56, { 0x1200011, 0, 0, 0, 0 }, NULL, NULL, 5,
		  "clone (clone_flags=SIGCHLD|CLONE_CHILD_CLEARTID|CLONE_CHILD_SETTID, " },
		{ 21, { 1, 0 }, "/x", NULL, 0, "access (filename=\"/x\", mode=F_OK)" },
		{ 16, { 1, 0x5413, 0x7f00 }, NULL, NULL, 3,
		  "ioctl (fd=1, cmd=TIOCGWINSZ, arg=0x7f00)" },
		{ 16, { 1, 0x80045430, 1 }, NULL, NULL, 3, "ioctl (fd=1, cmd=TIOCGPTN, arg=0x1)" },
		{ 16, { 1, 0x80086601, 0 }, NULL, NULL, 3, "cmd=_IOR('f', 0x1, 8), arg=0)" },
		{ 16, { 1, 0x40086602, 0 }, NULL, NULL, 3, "cmd=_IOW('f', 0x2, 8), arg=0)" },
		{ 16, { 1, 0xc0406400, 0 }, NULL, NULL, 3, "cmd=_IOWR('d', 0x0, 64), arg=0)" },
		{ 16, { 1, 0xae80, 0 }, NULL, NULL, 3, "cmd=_IO(0xae, 0x80), arg=0)" },
		{ 16, { 1, 0x12, 0 }, NULL, NULL, 3, "cmd=0x12, arg=0)" },
		{ 54, { 3, 1, 9, 0x7f00, 4 }, NULL, NULL, 5,
		  "setsockopt (fd=3, level=SOL_SOCKET, optname=SO_KEEPALIVE, optval=0x7f00" },
		{ 54, { 3, 6, 1, 0x7f00, 4 }, NULL, NULL, 5,
		  "level=IPPROTO_TCP, optname=TCP_NODELAY, optval=0x7f00" },
		{ 54, { 3, 270, 1, 0, 4 }, NULL, NULL, 5, "level=SOL_NETLINK, optname=1, " },
		{ 288, { 3, 0, 0, 02004000 }, NULL, NULL, 4, "flags=SOCK_NONBLOCK|SOCK_CLOEXEC)" },
		{ 41, { 1, 02000001, 0 }, NULL, NULL, 3,
		  "socket (family=AF_UNIX, type=SOCK_STREAM|SOCK_CLOEXEC, protocol=0)" },
		{ 98, { ~0ull, 0x7f00 }, NULL, NULL, 2, "who=RUSAGE_CHILDREN, " },
		{ 158, { 0x1002, 0x7f00 }, NULL, NULL, 2, "option=ARCH_SET_FS, arg2=0x7f00)" },
		{ 158, { 0x3001, 1 }, NULL, NULL, 2, "option=0x3001, arg2=0x1)" },
		{ 165, { 1, 2, 3, 0xc0ed1001, 0 }, NULL, NULL, 5,
		  "flags=MS_MGC_VAL|MS_RDONLY|MS_BIND, " },
		{ 318, { 0x7f00, 8, 5 }, NULL, NULL, 3, "flags=GRND_NONBLOCK|GRND_INSECURE)" },
		/* bits without a name */
		{ 9, { 0, 1, 0x40, 0x100000000000, 0, 0 }, NULL, NULL, 6, "prot=0x40, flags=0, fd=0" },
	};
	struct { int64_t id; uint64_t args[6]; uint32_t path[2]; char text[64]; } event;
	size_t i, bytes;

	fx_init(&fx, 12, 1000);
	fx_describe(&fx, EV_ENTER, TB_EVENT_SYSCALL | TB_EVENT_SHORT, "raw_syscalls", "enter",
		    fields, 4);
	begin_events();
	for (i = 0; i < sizeof(calls) / sizeof(calls[0]); i++) {
		memset(&event, 0, sizeof(event));
		event.id = calls[i].id;
		memcpy(event.args, calls[i].args, sizeof(event.args));
		bytes = 8 + 8 * calls[i].count;
		if (calls[i].first) {
			bytes = strlen(calls[i].first) + 1;
			event.path[0] = (uint32_t)bytes << 16 | (64 + 8);
			memcpy(event.text, calls[i].first, bytes);
			if (calls[i].second) {
				event.path[1] = (uint32_t)(strlen(calls[i].second) + 1) << 16 |
						(uint32_t)(64 + 8 + bytes);
				memcpy(event.text + bytes, calls[i].second,
				       strlen(calls[i].second) + 1);
				bytes += strlen(calls[i].second) + 1;
			}
			bytes += 64;
		}
		fx_composite(&fx, 0, EV_ENTER, 2001 + i, 100, &event, (uint32_t)bytes);
	}
	end();
	CHECK_NUMBER(run_on("verify", ""), 0);
	CHECK_NUMBER(run_on("print", ""), 0);
#if defined(__x86_64__)
	for (i = 0; i < sizeof(calls) / sizeof(calls[0]); i++)
		CHECK_HAS(calls[i].shown);
#endif
	CHECK_NUMBER(run_on("print", "--fields"), 0);
	CHECK_HAS("args=[0x3,0x7f00,0xa]\n");
	CHECK_HAS("path=/etc/a\"b\n");
	CHECK_NUMBER(run_on("export", "-q --format jsonl -o -"), 0);
	CHECK_HAS("\"args\":[\"0x3\",\"0x7f00\",\"0xa\"],\"path\":null");
	CHECK_HAS("\"path2\":\"new\"");
}

/* Signals and their codes have names, in the kernel's text, as fields, and as JSON */
static void signals(void)
{
	static const struct fx_field fields[] = {
		{ "sig", "int", 0, 4, 0, TB_FIELD_SIGNED, 0, 0 },
		{ "errno", "int", 4, 4, 0, TB_FIELD_SIGNED, 0, 0 },
		{ "code", "int", 8, 4, 0, TB_FIELD_SIGNED, 0, 0 },
		{ "comm", "char", 12, 16, 16, TB_FIELD_ARRAY | TB_FIELD_STRING, 0, 0 },
	};
	static const struct {
		int32_t sig, code;
		const char *sig_name, *code_name;
	} cases[] = {
		{ 1, 0, "SIGHUP", "SI_USER" }, { 9, 128, "SIGKILL", "SI_KERNEL" },
		{ 11, 1, "SIGSEGV", "SEGV_MAPERR" }, { 7, 2, "SIGBUS", "BUS_ADRERR" },
		{ 16, -6, "SIGSTKFLT", "SI_TKILL" }, { 17, 1, "SIGCHLD", "CLD_EXITED" },
		{ 29, 6, "SIGIO", "POLL_HUP" }, { 31, 2, "SIGSYS", "SYS_USER_DISPATCH" },
		{ 31, 3, "SIGSYS", NULL }, { 32, -1, "SIGRTMIN", "SI_QUEUE" },
		{ 33, 1, "SIGRTMIN+1", NULL }, { 64, -7, "SIGRTMIN+32", "SI_DETHREAD" },
		{ 0, -8, NULL, NULL }, { 65, 11, NULL, NULL }, { -1, 1, NULL, NULL },
		{ 17, INT32_MIN, "SIGCHLD", NULL },
	};
	static const char *const shapes[][3] = {	/* options, with a name, without */
		{ "print", "%s=%d (%s) ", "%s=%d " },
		{ "print --fields", "%s=%d(%s) ", "%s=%d " },
		{ "export -q --format csv -o -", "%s=%d(%s) ", "%s=%d " },
		{ "print --jsonl", "\"%1$s\":%2$d,\"%1$s_name\":\"%3$s\",", "\"%s\":%d," },
	};
	struct { int32_t sig, error, code; char comm[16]; } event = { .error = 4, .comm = "sh" };
	char sig[64], error[64], code[64], text[256];
	size_t i, j;

	fx_init(&fx, 12, 1000);
	fx_describe_print(&fx, EV_SIGNAL, 0, "signal", "signal_generate", fields, 4,
			  "\"sig=%d errno=%d code=%d comm=%s\", "
			  "REC->sig, REC->errno, REC->code, REC->comm");
	/* another event's field of this name */
	fx_describe_print(&fx, EV_ODD, 0, "other", "odd", fields, 4,
			  "\"sig=%d errno=%d code=%d comm=%s\", "
			  "REC->sig, REC->errno, REC->code, REC->comm");
	begin_events();
	for (i = 0; i < sizeof(cases) / sizeof(cases[0]); i++) {
		event.sig = cases[i].sig;
		event.code = cases[i].code;
		fx_composite(&fx, 0, EV_SIGNAL, 2001 + i, 100, &event, sizeof(event));
	}
	event.sig = 17;
	event.code = 1;
	fx_composite(&fx, 0, EV_ODD, 3000, 100, &event, sizeof(event));
	end();
	for (j = 0; j < sizeof(shapes) / sizeof(shapes[0]); j++) {
		const char *const *shape = shapes[j];
		char *command = strndup(shape[0], strcspn(shape[0], " "));

		CHECK_NUMBER(run_on(command, shape[0] + strlen(command)), 0);
		free(command);
		for (i = 0; i < sizeof(cases) / sizeof(cases[0]); i++) {
			snprintf(sig, sizeof(sig), shape[cases[i].sig_name ? 1 : 2], "sig",
				 cases[i].sig, cases[i].sig_name);
			snprintf(error, sizeof(error), shape[2], "errno", 4);
			snprintf(code, sizeof(code), shape[cases[i].code_name ? 1 : 2], "code",
				 cases[i].code, cases[i].code_name);
			snprintf(text, sizeof(text), "%s%s%s", sig, error, code);
			CHECK_HAS(text);
		}
		if (j < 2)
			CHECK_HAS("odd: sig=17 errno=4 code=1 comm=sh\n");
	}
	/* numbers stay numbers in tables */
	snprintf(text, sizeof(text),
		 "query --csv %s 'SELECT sig, code FROM signal_generate WHERE sig = 11'", file);
	CHECK_NUMBER(run(text), 0);
	CHECK_HAS("\n11,1\n");
	/* an event without a number for the name */
	fx_init(&fx, 12, 1000);
	fx_describe_print(&fx, EV_SIGNAL, 0, "signal", "signal_generate", fields, 4,
			  "\"%d\", REC->sig");
	begin_events();
	fx_composite(&fx, 0, EV_SIGNAL, 2001, 100, &event, 4);
	fx_composite(&fx, 0, EV_SIGNAL, 2002, 100, &event, sizeof(event));
	end();
	CHECK_NUMBER(run_on("print", ""), 0);
	CHECK_HAS("signal_generate: sig=17(SIGCHLD) errno=<truncated> code=<truncated> ");
	CHECK_HAS("signal_generate: 17\n");
}

/* C operators that libtraceevent computes wrongly without our help */
static void operators(void)
{
	static const struct { const char *expression, *value; } cases[] = {
		{ "REC->kind & (0x40 | 0x8)", "0" },
		{ "REC->kind & (1 | 2)", "3" },
		{ "(REC->kind | 8) & 9", "9" },
		{ "REC->kind - (REC->flags - 1)", "3" },
		{ "REC->kind * (REC->flags + 1)", "42" },
		{ "(REC->kind == (3 | 4)) ? 10 : 20", "10" },
		{ "REC->kind > 6 && (REC->flags == 1 || REC->flags == 5)", "1" },
		{ "REC->size + REC->kind << 1", "20" },
		{ "(int)REC->state >> 3", "5" },
		{ "REC->kind + REC->flags - 2", "10" },
		{ "REC->kind * 2 + 1 == 15 && REC->flags", "1" },
		{ "REC->kind - 2 & REC->kind - 1", "4" },
		{ "REC->kind & ~(1 | 2)", "4" },
		{ "REC->size + 7 / 2", "6" },
		{ "REC->kind / 0x2u", "3" },
		{ "REC->kind % sizeof(u32)", "3" },
		{ "REC->bytes[0] ? REC->bytes[1] : 2", "173" },
		{ "(unsigned int)((REC->state) & ((1U << 5) - 1))", "9" },
	};
	struct rich event = rich_event();
	char format[256], want[32];
	size_t i;

	for (i = 0; i < sizeof(cases) / sizeof(cases[0]); i++) {
		snprintf(format, sizeof(format), "\"is (%%d)\", %s",
			 cases[i].expression);
		snprintf(want, sizeof(want), "rich: is (%s)\n", cases[i].value);
		print_one(format, &event, sizeof(event), "");
		CHECK_HAS(want);
	}
	print_one("\"%s\", __print_flags(REC->kind & (0x40 | 4 | 1), \"|\", "
		  "{ 0x40, \"A\" }, { 4, \"B\" }, { 1, \"C\" }, { 2, \"D\" })",
		  &event, sizeof(event), "");
	CHECK_HAS("rich: B|C\n");
}

/* A format that cannot be used: the fields are shown, with a remark only if asked for */
static void unusable(void)
{
	static const char *const formats[] = {
		"\"%d\", some_function(REC->kind)",
		"\"%d\", REC->nowhere",
		"\"%s\", __get_str(nowhere)",
		"\"%s\", __print_flags(REC->nowhere, \"|\", { 1, \"A\" })",
		"\"%s\", __print_symbolic(REC->, { 1, \"A\" })",
		"\"%s\", __get_str(comm)",
		"\"%s\", __get_cpumask(nowhere)",
		"\"%d %d\", REC->kind",
		"\"%s\", __print_symbolic(REC->kind, { some_name, \"A\" }, { 7, \"B\" })",
		"\"%s\", __print_flags(REC->flags, \"|\", { 1, \"A\" }, { SOME_NAME, \"B\" })",
		"\"%s\", REC->flags & SOME_NAME ? \"A\" : \"B\"",
		"\"%ld\", REC->state > 0 ? REC->state : 0",
		"\"%d\", REC->kind / REC->flags",
		"\"%d\", REC->kind - REC->flags - 1",
		"\"%d\", REC->kind * 3 / 2",
		"\"%d\", REC->kind - 3 + 1",
		"\"%d\", (REC->kind << 3 >> 1)",
		"\"%d\", REC->kind + REC->flags + 1 & 7",
		"\"%d\", REC->kind + REC->flags - 2 + 1",
		"\"%d\", REC->kind == REC->flags * 2 && REC->size",
		"\"%d\", REC->kind % REC->flags",
		"\"%d\", 1 / 0",
		"\"%d\", REC->kind % 0x0",
		"\"%d\", 7 / (3 - 3)",
		"\"%s\", __print_flags(1 / 0UL, \"|\", { 1, \"A\" })",
		"\"%d\", 7 % -0",
		"\"%d\", 7 % 0x0",
		"\"%d\", 7 / 00",
		"\"%d\", 7 / 0b1",
		"\"%d\", 7 / (0)",
		"\"%d\", 7 / (u32)0",
		"\"%d\", 7 / ~0",
		"\"%d\", 7 / (REC->kind - REC->kind)",
		"\"%d\", REC->kind / (REC->kind - REC->kind)",
		"\"%d\", 7 / REC->kind",
		"\"%d\", REC->kind ? (REC->size ? 7 / 0 : 1) : 2",
		"\"%s\", __print_hex(REC->bytes, 7 / 0)",
		/* libtraceevent reads names as 0 */
		"\"%d\", 1 / kind",
		"\"%d\", 1 % kind",
		"\"%d\", 1 /\n kind",
		"\"%d\", 1 / __entry->kind",
		"\"%d\", 1 / kind->kind",
		"\"%d\", 1 / __builtin_expect(0, 1)",
		"\"%d\", 1 / kindsizeof(u8)",
		"\"%d\", 1 / kind__print_array(REC->bytes, 1, 1)",
		/* characters, and quotes that it sees in other places */
		"\"%d %d\", '\"', 1 / 0",
		"\"%c\", REC->kind ? '*' : ' '",
		"\"%d %s\", REC->kind ? ',' : ' ', REC->comm",
		"\"%d\\\\\", \", 1 / 0, \"",
		/* it frees a token twice, or uses memory after it has freed it */
		"\"%d\", ~sizeof(REC->kind)",
		"\"%d\", 1 / sizeof(REC->kind)",
		"\"%d\", 2 [ 00] {",
		"\"%d\", REC->bytes[kind->size]",
		"\"%s\", __print_hex(REC->bytes, 1000000)",
		"\"%s\", __print_hex(REC->bytes, REC->size + REC->kind)",
		"\"%s\", __print_hex(__get_dynamic_array(nowhere), 1)",
		"\"%s\", __print_array(REC->bytes, REC->size, REC->kind)",
		"\"%*d\", REC->size, REC->kind",
		"\"%d\", REC->bytes[REC->kind * REC->size]",
		/* a name that the trace lacks, and no other word that shows the field */
		"\"kind=%d\", REC->kind + jiffies",
		"\"kind=%s size=%d\", __print_flags(REC->kind, \"|\", { SOME_FLAG, \"A\" }), REC->size",
		/* one word with two values */
		"\"kind=%d:%d kind=%d\", base + REC->kind, REC->size, REC->kind",
		"\"kind=%*d kind=%d\", 3, base + REC->kind, REC->kind",
		"no format at all",
		"\"%s",
		"(",
	};
	char deep[2100] = "";
	struct rich event = rich_event();
	size_t i;

	for (i = 0; i < sizeof(formats) / sizeof(formats[0]); i++) {
		print_one(formats[i], &event, sizeof(event), "");
		CHECK_HAS(": test:rich: flags=5 kind=7 ");
		CHECK_NUMBER(lines(), 1);
		CHECK_NUMBER(run_on("print", "-v"), 0);
		CHECK_HAS("tracebuf: test:rich is shown by its fields: ");
		if (test_failures)
			printf("# format: %s\n", formats[i]);
	}
	print_one(NULL, &event, sizeof(event), "-v");
	CHECK_HAS(": test:rich: flags=5 kind=7 ");
	CHECK_NUMBER(lines(), 1);
	/* libtraceevent calls itself for each of these operators; 60,000 would fill its stack */
	memset(deep, '~', sizeof(deep) - 1);
	memcpy(deep, "\"%d\", ", strlen("\"%d\", "));
	deep[sizeof(deep) - 2] = '1';
	print_one(deep, &event, sizeof(event), "");
	CHECK_HAS(": test:rich: flags=5 kind=7 ");
}

/* Events with contents that contradict their format */
static void damaged(void)
{
	struct rich event = rich_event();
	size_t length;

	event.size = 0x7fffffff;
	print_one(RICH_PRINT, &event, sizeof(event), "");
	CHECK_HAS(": test:rich: flags=5 kind=7 ");
	event = rich_event();
	event.name = 0xffffffff;
	print_one(RICH_PRINT, &event, sizeof(event), "");
	CHECK_HAS(" name=<truncated> ");
	event = rich_event();
	for (length = 0; length < sizeof(event); length += 4) {
		print_one(RICH_PRINT, &event, length, "");
		CHECK_NUMBER(lines(), 1);
	}
	/* more bytes than the array has, but below the limit: the array is shown */
	event.size = 16384;
	print_one(RICH_PRINT, &event, sizeof(event), "");
	CHECK_HAS("bytes=de ad be ef 00 ");
}

/* Words that need names which the trace lacks are left out, if other words show the fields */
static void in_part(void)
{
	static const struct {
		const char *format, *shown;
	} wanted[] = {
		{ "\"page=%p kind=%u\", (((struct page *)vmemmap_base) + (REC->kind)), REC->kind",
		  "rich: kind=7\n" },
		{ "\"kind=%u age=%lu\", REC->kind, (unsigned long)(jiffies - REC->kind)",
		  "rich: kind=7\n" },
		{ "\"kind=%u 100%% age=%lu, size=%u\", REC->kind, jiffies - REC->size, REC->size",
		  "rich: kind=7 100% size=" },
		{ "\"%s kind=%u\", REC->kind == LIMIT ? \"a, b\" : \"c\", REC->kind",
		  "rich: kind=7\n" },
		{ "\"kind=%u %c %c\", REC->kind, REC->kind ? ',' : ' ', REC->kind == 1 ? '\\'' : '\"'",
		  "rich: kind=7\n" },
		{ "\"%d kind=%d\", '\"', REC->kind", "rich: kind=7\n" },
		/* names in a type, an argument or a text are no unknown names */
		{ "\"kind=%u %s jiffies\", (unsigned int)REC->kind, __get_str(name)", " jiffies\n" },
	};
	struct rich event = rich_event();
	size_t i;

	for (i = 0; i < sizeof(wanted) / sizeof(wanted[0]); i++) {
		print_one(wanted[i].format, &event, sizeof(event), "");
		CHECK_HAS(wanted[i].shown);
		CHECK_NUMBER(lines(), 1);
		CHECK_NUMBER(run_on("print", "-v"), 0);
		CHECK(!strstr(output, "is shown in part") == (i == 6));
		CHECK(!strstr(output, "by its fields"));
	}
}

static void terminal(void)
{
	struct rich event = rich_event();

	memcpy(event.data, "a\033[1\n", 6);
	strcpy(event.comm, "\r\377");
	print_one("\"%s %s\", __get_str(name), REC->comm", &event,
		  sizeof(event), "");
	CHECK_HAS("rich: a\\x1b[1\\x0a \\x0d\\xff\n");
}

/* libtraceevent expects pointers in some events of the system ftrace; ours are read as any other */
static void named_ftrace(void)
{
	struct rich event = rich_event();

	begin_with("ftrace", "\"kind %u\", REC->kind");
	begin_events();
	add(&event, sizeof(event));
	end();
	CHECK_NUMBER(run_on("print", ""), 0);
	CHECK_HAS("ftrace:rich: kind 7\n");
}

static void kallsyms(void)
{
	char names[] = "/tmp/test_lib_names.XXXXXX", options[64];
	struct rich event = rich_event();
	FILE *out = fdopen(mkstemp(names), "w");

	assert(out);
	print_one(RICH_PRINT, &event, sizeof(event), "");
	snprintf(options, sizeof(options), "-k %s", names);
	CHECK_NUMBER(run_on("print", options), 1);
	CHECK_HAS("no symbols");
	fprintf(out, "0000000000000000 T _text\n");
	fflush(out);
	CHECK_NUMBER(run_on("print", options), 1);
	CHECK_HAS("all addresses are zero");
	fprintf(out, "what is this\n");
	fclose(out);
	CHECK_NUMBER(run_on("print", options), 1);
	CHECK_HAS("not a list of symbols");
	unlink(names);
	CHECK_NUMBER(run_on("print", options), 1);
	CHECK_HAS("No such file");
}

static void list(void)
{
	begin_with("test", "\"kind %u\", REC->kind");
	begin_events();
	end();
	snprintf(output, sizeof(output), "list -i %s -v rich", file);
	CHECK_NUMBER(run(output), 0);
	CHECK_HAS("  test:rich\n");
	CHECK_HAS(" void * ip                                offset 8, size 8\n");
	CHECK_HAS(" __data_loc char[] name                   offset 36, size 4, dynamic\n");
	CHECK_HAS(" char comm[16]                            offset 44, size 16, 16 items\n");
	CHECK_HAS(" long state                               offset 80, size 8, signed\n");
	CHECK_HAS("        print: \"kind %u\", REC->kind\n");
	snprintf(output, sizeof(output), "list -i %s --format rich", file);
	CHECK_NUMBER(run(output), 0);
	CHECK_HAS("system: test\nname: rich\nID: 100\nformat:\n"
		  "\tfield:unsigned short common_type;\toffset:0;\tsize:2;\tsigned:0;\n");
	CHECK_HAS("\n\n\tfield:u32 flags;\toffset:8;\tsize:4;\tsigned:0;\n");
	CHECK_HAS("\tfield:__data_loc u32[] list;\toffset:48;\tsize:4;\tsigned:0;\n");
	CHECK_HAS("\tfield:__rel_loc char[] rel;\toffset:80;\tsize:4;\tsigned:0;\n");
	CHECK_HAS("\tfield:__u8 address[4];\toffset:24;\tsize:4;\tsigned:0;\n");
	CHECK_HAS("\n\nprint fmt: \"kind %u\", REC->kind\n");
}

static const struct test tests[] = {
	{ "print: everything that a print format can do", everything },
	{ "print: texts of no bytes", empty_texts },
	{ "print: one event after another", one_after_the_other },
	{ "print: system calls with their names", system_calls },
	{ "print: arguments of system calls", arguments },
	{ "print: signals with their names", signals },
	{ "print: operators", operators },
	{ "print: formats that cannot be used", unusable },
	{ "print: formats with names that the trace lacks", in_part },
	{ "print: events that are damaged", damaged },
	{ "print: nothing a terminal would obey", terminal },
	{ "print: a system called ftrace", named_ftrace },
	{ "print: --kallsyms", kallsyms },
	{ "list: -v and --format", list },
};

RUN_MAIN(tests)
