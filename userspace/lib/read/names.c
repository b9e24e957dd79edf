// SPDX-License-Identifier: LGPL-2.1-or-later
/*
 * Names of numbers: system calls, softirqs, signals, errors, task states, enums of the ABI.
 */
#include <signal.h>
#include <stdio.h>
#include "internal.h"

/* generated from asm/unistd.h: [number] = "name", */
static const char *const syscalls[] = {
#include "syscalls.inc"
};

/* True if the trace's machine has the architecture that the library was built for */
bool tb_names_fit(const struct tb_recording *recording)
{
#if defined(__x86_64__)
	static const char machine[] = "x86_64";
#elif defined(__aarch64__)
	static const char machine[] = "aarch64";
#else
	static const char machine[] = "?";
#endif
	return !recording->has_init || !recording->init.machine[0] ||
	       !strcmp(recording->init.machine, machine);
}

const char *tb_syscall_name(uint64_t nr)
{
	return nr < sizeof(syscalls) / sizeof(syscalls[0]) ? syscalls[nr] : NULL;
}

const char *tb_softirq_name(uint64_t vector)
{
	static const char *const names[] = {
		"HI", "TIMER", "NET_TX", "NET_RX", "BLOCK", "IRQ_POLL",
		"TASKLET", "SCHED", "HRTIMER", "RCU",
	};

	return vector < sizeof(names) / sizeof(names[0]) ? names[vector] : NULL;
}

/* Numbers of x86, arm64 and most other architectures */
const char *tb_signal_name(int64_t number, char spare[24])
{
	static const char *const names[] = {
		NULL, "SIGHUP", "SIGINT", "SIGQUIT", "SIGILL", "SIGTRAP", "SIGABRT", "SIGBUS",
		"SIGFPE", "SIGKILL", "SIGUSR1", "SIGSEGV", "SIGUSR2", "SIGPIPE", "SIGALRM",
		"SIGTERM", "SIGSTKFLT", "SIGCHLD", "SIGCONT", "SIGSTOP", "SIGTSTP", "SIGTTIN",
		"SIGTTOU", "SIGURG", "SIGXCPU", "SIGXFSZ", "SIGVTALRM", "SIGPROF", "SIGWINCH",
		"SIGIO", "SIGPWR", "SIGSYS", "SIGRTMIN",
	};
	enum { FIRST = 32, LAST = 64 };		/* real-time signals of the kernel */

	if (number >= 0 && number <= FIRST)
		return names[number];
	if (number < 0 || number > LAST)
		return NULL;
	snprintf(spare, 24, "SIGRTMIN+%d", (int)number - FIRST);
	return spare;
}

const char *tb_error_name(int64_t number)
{
	/* linux/errno.h: seen in a trace, for instance, when a signal interrupts a call */
	static const char *const inside[] = {
		"ERESTARTSYS", "ERESTARTNOINTR", "ERESTARTNOHAND", "ENOIOCTLCMD",
		"ERESTART_RESTARTBLOCK", "EPROBE_DEFER", "EOPENSTALE", "ENOPARAM", NULL,
		"EBADHANDLE", "ENOTSYNC", "EBADCOOKIE", "ENOTSUPP", "ETOOSMALL", "ESERVERFAULT",
		"EBADTYPE", "EJUKEBOX", "EIOCBQUEUED", "ERECALLCONFLICT", "ENOGRACE",
	};
	enum { FIRST = 512, COUNT = sizeof(inside) / sizeof(inside[0]) };

	if (number <= 0 || number > TB_ERROR_MAX)
		return NULL;
	if (number >= FIRST && number < FIRST + COUNT)
		return inside[number - FIRST];
	return strerrorname_np((int)number);
}

const char *tb_signal_code_name(const struct tb_view *view, int64_t code)
{
	/* by code: those of any signal, from 0 down, and those of one signal, from 1 up */
	static const char *const any[] = {
		"SI_USER", "SI_QUEUE", "SI_TIMER", "SI_MESGQ", "SI_ASYNCIO", "SI_SIGIO",
		"SI_TKILL", "SI_DETHREAD",
	};
	enum { MOST = 10 };
	static const char *const own[][MOST] = {
		[SIGILL] = { "ILL_ILLOPC", "ILL_ILLOPN", "ILL_ILLADR", "ILL_ILLTRP", "ILL_PRVOPC",
			     "ILL_PRVREG", "ILL_COPROC", "ILL_BADSTK" },
		[SIGTRAP] = { "TRAP_BRKPT", "TRAP_TRACE", "TRAP_BRANCH", "TRAP_HWBKPT",
			      "TRAP_UNK", "TRAP_PERF" },
		[SIGBUS] = { "BUS_ADRALN", "BUS_ADRERR", "BUS_OBJERR", "BUS_MCEERR_AR",
			     "BUS_MCEERR_AO" },
		[SIGFPE] = { "FPE_INTDIV", "FPE_INTOVF", "FPE_FLTDIV", "FPE_FLTOVF", "FPE_FLTUND",
			     "FPE_FLTRES", "FPE_FLTINV", "FPE_FLTSUB" },
		[SIGSEGV] = { "SEGV_MAPERR", "SEGV_ACCERR", "SEGV_BNDERR", "SEGV_PKUERR",
			      "SEGV_ACCADI", "SEGV_ADIDERR", "SEGV_ADIPERR", "SEGV_MTEAERR",
			      "SEGV_MTESERR", "SEGV_CPERR" },
		[SIGCHLD] = { "CLD_EXITED", "CLD_KILLED", "CLD_DUMPED", "CLD_TRAPPED",
			      "CLD_STOPPED", "CLD_CONTINUED" },
		[SIGIO] = { "POLL_IN", "POLL_OUT", "POLL_MSG", "POLL_ERR", "POLL_PRI",
			    "POLL_HUP" },
		[SIGSYS] = { "SYS_SECCOMP", "SYS_USER_DISPATCH" },
	};
	const struct tb_format_field *field;
	int64_t number;

	if (code == 0x80)
		return "SI_KERNEL";
	if (code <= 0)
		return code > -(int64_t)(sizeof(any) / sizeof(any[0])) ? any[-code] : NULL;
	field = view->format ? tb_format_field(view->format, "sig") : NULL;
	if (code > MOST || !field || tb_field_s64(view, field, &number) || number < 0 ||
	    number >= (int64_t)(sizeof(own) / sizeof(own[0])))
		return NULL;
	return own[number][code - 1];
}

/* Letters of TASK_REPORT bits, and "+" if preempted, as the kernel's format of sched_switch */
const char *tb_task_state(uint64_t state, char *buffer, size_t size)
{
	static const char letters[8] = "SDTtXZPI";
	size_t used = 0;
	unsigned int i;

	if (size < 4)
		return "?";
	for (i = 0; i < sizeof(letters); i++) {
		if (!(state & 1u << i) || used + 4 > size)
			continue;
		if (used)
			buffer[used++] = '|';
		buffer[used++] = letters[i];
	}
	if (!used)
		buffer[used++] = 'R';
	if (state & 0x100 && used + 1 < size)
		buffer[used++] = '+';
	buffer[used] = 0;
	return buffer;
}

const char *tb_clock_name(uint32_t clock)
{
	static const char *const names[] = { "auto", "tsc", "arch", "mono" };

	return clock < sizeof(names) / sizeof(names[0]) ? names[clock] : "?";
}

const char *tb_mode_name(uint32_t mode)
{
	static const char *const names[] = {
		"?", "oneshot", "circular", "streaming",
	};

	return mode < sizeof(names) / sizeof(names[0]) ? names[mode] : "?";
}

const char *tb_policy_name(uint32_t policy)
{
	static const char *const names[] = { "?", "overwrite", "drop" };

	return policy < sizeof(names) / sizeof(names[0]) ? names[policy] : "?";
}

const char *tb_state_name(uint32_t state)
{
	static const char *const names[] = { "idle", "running", "stopped" };

	return state < sizeof(names) / sizeof(names[0]) ? names[state] : "?";
}

const char *tb_reason_name(uint32_t reason)
{
	static const char *const names[] = {
		"none", "stopped on request", "durable buffer full",
		"reserved memory is not saved in hibernation", "the recorder's memory is damaged",
	};

	return reason < sizeof(names) / sizeof(names[0]) ? names[reason] : "?";
}

const char *tb_lost_cause_name(unsigned int bit)
{
	static const char *const names[TB_LOST_BITS] = {
		"no chunk was free", "none became free in time",
		"too large", "not bound yet", "in a signal handler", NULL, NULL,
		NULL, "no room in the ring", "over quota", "not recording",
		"refused as illegal", NULL, NULL, NULL, NULL,
		"overwritten in the ring", "unknown cause", "damaged",
	};

	return bit < TB_LOST_BITS && names[bit] ? names[bit] : "?";
}

const char *tb_control_name(uint16_t id)
{
	static const char *const names[] = {
		[TB_EV_NONE] = "none",		[TB_EV_TIME] = "time",
		[TB_EV_GAP] = "gap",		[TB_EV_STACK] = "stack",
		[TB_EV_COUNTERS] = "counters",	[TB_EV_CLOCK] = "clock",
		[TB_EV_THREAD] = "thread",	[TB_EV_MARK] = "mark",
		[TB_EV_CHUNK] = "chunk",	[TB_EV_PATCH] = "patch",
		[TB_EV_INIT] = "init",		[TB_EV_EVENT] = "event",
		[TB_EV_TOTALS] = "totals",	[TB_EV_STRING] = "string",
		[TB_EV_SUPPRESSED] = "suppressed", [TB_EV_SYMBOL] = "symbol",
		[TB_EV_SELECTION] = "selection", [TB_EV_PART] = "part",
		[TB_EV_THREADS_LOST] = "threads_lost", [TB_EV_MAPPING] = "mapping",
		[TB_EV_OPEN_FILE] = "open_file",
	};

	return id < sizeof(names) / sizeof(names[0]) ? names[id] : NULL;
}

const char *tb_view_system(const struct tb_view *view)
{
	if (view->user)
		return "user";
	if (view->format)
		return view->format->system;
	return view->id <= TB_EV_CONTROL_LAST ? "tracebuf" : "unknown";
}

const char *tb_view_name(const struct tb_view *view, char spare[24])
{
	const char *name;

	if (view->kind == TB_VIEW_LOST || view->kind == TB_VIEW_USER_LOST)
		return "lost";
	if (view->user)
		return view->user->category;
	if (view->format)
		return view->format->name;
	name = tb_control_name(view->id);
	if (name)
		return name;
	if (view->id >= TB_EV_USER && view->id <= TB_EV_USER_LAST)
		snprintf(spare, 24, "user_%u", view->id - TB_EV_USER);
	else
		snprintf(spare, 24, "event_%u", view->id);
	return spare;
}
