#!/bin/sh
# SPDX-License-Identifier: GPL-2.0-only
#
# test_ftrace.sh - the kernel's own tracer and tracebuf record the same events at the same time, and
# the traces must agree: event by event on each CPU, in the text of the print formats. If this
# fails, tracebuf shows other events than the kernel, or in another order.
#
#	test_ftrace.sh [SYSTEM...]
#
# All subsystems are recorded at once, while all loads run; the host compares. With SYSTEM, or with
# TRACEBUF_FULL=1 in the environment, each subsystem is recorded by itself as well and compared in
# the guest: those of $loads_of, with the loads that make their events, and "others", all other
# subsystems at once.

# Functions are called by way of check.
# shellcheck disable=SC2317
here=$(cd "$(dirname "$0")" && pwd)
# shellcheck source=selftests/vm/lib/ktap.sh
. "$here/../lib/ktap.sh"
loads=${TRACEBUF_SELFTESTS:-${here%/selftests/vm/*}/build/selftests}/loads
instance=/sys/kernel/tracing/instances/tracebuf
own_folder

# subsystem, loads (selftests/vm/lib/loads.c)
loads_of='
sched		tasks ping_pong idle
irq		files timers
raw_syscalls	calls
task		tasks
timer		timers idle
workqueue	files idle udp
power		idle
signal		signals tasks
filelock	files
writeback	files
ext4		files
jbd2		files
block		files
scsi		files
net		udp tcp
napi		udp tcp
skb		udp tcp
sock		udp tcp
tcp		tcp
udp		udp
fib		udp tcp
fib6		tcp
kmem		memory files
mmap		memory
exceptions	memory
vmscan		files drop_caches
irq_vectors	idle ping_pong
rcu		idle tasks
cgroup		cgroups
printk		printk
filemap		files
pagemap		files
percpu		tasks cgroups
io_uring	uring
oom		oom tasks
compaction	compact
module		modules
'

# loads_for SYSTEM: prints the loads that make its events
loads_for()
{
	found=$(echo "$loads_of" | awk -v wanted="$1" '$1 == wanted { $1 = ""; print }')
	[ -n "$found" ] || found=$("$loads" list)
	# compact calls the scheduler at each page: two of three events would be its
	[ "$1" != all ] || found=$(echo "$found" | tr ' ' '\n' | grep -vx compact)
	echo "$found"
}

# others: prints the subsystems that are not in the table
others()
{
	echo "$loads_of" | awk 'NF { print $1 }' >in_table
	cut -d' ' -f1 listed | sort -u | grep -vxFf in_table
}

# set_ftrace VALUE FILE: writes into a file of the instance
set_ftrace()
{
	echo "$1" >"$instance/$2"
}

# Clears what the last recording has left.
clear_ftrace()
{
	set_ftrace 0 tracing_on
	set_ftrace 0 events/enable
	set_ftrace '' trace
}

# both_have: prints the events that both tracers have, of the subsystems in the input, and the one
# for marks
both_have()
{
	echo signal/signal_generate
	awk 'NR == FNR { wanted[$0] = 1; next } $1 in wanted { print $1 "/" $2 }' - listed |
		while read -r event; do
			[ ! -d "$instance/events/$event" ] || echo "$event"
		done
}

# record SYSTEM, "others" or "all": records into trace.tbuf and ftrace.CPU
record()
{
	tracebuf stop >/dev/null 2>&1
	clear_ftrace
	case $1 in
	others) others ;;
	all) cut -d' ' -f1 listed ;;
	*) echo "$1" ;;
	esac | both_have | sort -u >events || return
	while read -r event; do
		set_ftrace 1 "events/$event/enable" || return
	done <events
	tracebuf start -m oneshot --clock mono -b 1024 -B 1024 \
		-e "$(tr / : <events | paste -sd,)" || return
	set_ftrace 1 tracing_on
	"$loads" mark 1
	# shellcheck disable=SC2046
	(mkdir -p "$work" && cd "$work" && "$loads" $(loads_for "$1"))
	"$loads" mark 2
	set_ftrace 0 tracing_on
	tracebuf save --stop -o trace.tbuf >saved 2>&1 || { cat saved; return 1; }
	set_ftrace 0 events/enable
	for cpu in $cpus; do
		cat "$instance/per_cpu/cpu$cpu/trace" >ftrace."$cpu" || return
		if ! grep -q '^overrun: 0$' "$instance/per_cpu/cpu$cpu/stats"; then
			echo "ftrace has lost events of CPU $cpu"
			return 1
		fi
	done
}

# compare SYMBOLS: compares the traces, with the kernel's symbols from that file
compare()
{
	tracebuf print -k "$1" trace.tbuf >ours || return
	# print formats that we cannot use give other texts
	tracebuf print -v trace.tbuf 2>notes >/dev/null || return
	sed -n 's/^tracebuf: \(.*\) is shown \(by its fields\|in part\).*/\1/p' notes | sort -u | cat reduced - >by_name
	# shellcheck disable=SC2086,SC2046
	python3 -IS "$here/ftrace_compare.py" "$(echo $(cat cpus))" ftrace ours by_name \
		$(cat preemptible)
}

# occurred SYSTEM: the trace has events of SYSTEM
occurred()
{
	[ "$1" = others ] || grep -q "^[^:]*: $1:" ours
}

one()
{
	if [ "$1" != others ] && [ ! -d "$instance/events/$1" ]; then
		skip "$1" "tracefs has no such subsystem"
		return
	fi
	{ record "$1" && compare /proc/kallsyms; } >said 2>&1
	code=$?
	if [ $code = 0 ] && ! occurred "$1"; then
		skip "$1" "none of its events occurred"
		return
	fi
	check "$1" sh -c "cat said; exit $code"
	[ $code != 0 ] || sed 's/^/# /' said
}

# begin: prepares all that the recordings share
begin()
{
	{
		cat "$here/reduced_events.txt"
		# events with their arguments only
		sed -n 's/^+\t//p' "${here%/selftests/vm/*}/build/$(uname -r)/coverage.txt"
	} >reduced
	# Can other threads, or the scheduler, run between the probe of ftrace and ours
	# (module/machine/compat.h)? With PREEMPT_RT the end of an interrupt, which then is outside
	# of it, wakes the thread of its softirqs.
	: >preemptible
	! grep -q TB_HAVE_TRACEPOINT_PREEMPTIBLE \
		"${here%/selftests/vm/*}/build/$(uname -r)/module/.main.o.cmd" ||
		echo preemptible >preemptible
	case $(uname -v) in
	*PREEMPT_RT*) echo preemptible >preemptible ;;
	esac
	insmod "$TRACEBUF_KO" && insmod "${TRACEBUF_KO%/*}/tracebuf_events.ko" || exit 1
	# subsystem and event of each line
	tracebuf list | sed 's/^..  *//; s/ .*//; s/:/ /' >listed
	[ "$(wc -l <listed)" -gt 300 ] || exit 1
	mkdir "$instance" || exit 1
	set_ftrace mono trace_clock
	set_ftrace 32768 buffer_size_kb
	seq 0 $(($(nproc) - 1)) >cpus
	cpus=$(cat cpus)
	ip link set lo up
	# The first getrandom() of a fresh guest makes entropy: it calls the scheduler 180,000 times
	# on 6.1, which fills the ring.
	head -c 1 /dev/random >/dev/null
	# a file system of its own, ext4 where there is one
	disk=$(mktemp) && work=$(mktemp -d) && truncate -s 64M "$disk" && mkfs.ext4 -q "$disk" &&
		modprobe -a loop ext4 && mount -o loop "$disk" "$work"
}

end()
{
	rmdir "$instance"
	rmmod tracebuf_events tracebuf
	umount "$work" 2>/dev/null
	rm -rf "$work" "$disk"
}

all_at_once()
{
	record all && cat /proc/kallsyms >symbols
}

! in_guest || begin
if [ $# = 0 ]; then
	if [ -n "${TRACEBUF_FULL:-}" ]; then
		# shellcheck disable=SC2046
		set -- $(echo "$loads_of" | awk 'NF { print $1 }') others
	fi
	plan $(($# + 1)) 1
	check "record all subsystems at once" all_at_once
	leave trace.tbuf ftrace.* symbols reduced cpus preemptible
	judge "all subsystems at once" compare symbols
	[ -n "${TRACEBUF_LEAVE:-}" ] || sed 's/^/# /' "$output"
else
	plan $#
fi
if in_guest; then
	# what the host compares must stay
	if [ -n "${TRACEBUF_LEAVE:-}" ] && [ $# -gt 0 ]; then
		mkdir each && cp reduced cpus preemptible listed each && cd each || exit 1
	fi
	for system; do
		one "$system"
	done
	cd "$tmp" && rm -rf each && end
fi
finish
