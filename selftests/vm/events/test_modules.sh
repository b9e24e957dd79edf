#!/bin/sh
# SPDX-License-Identifier: GPL-2.0-only
#
# test_modules.sh - events come and go with modules while they are enabled and recorded: those of
# the kernel's own modules (ext4), and those of tracebuf_events.ko. If this fails, loading a module
# breaks a recording, or unloading crashes the machine.

# Functions are called by way of check.
# shellcheck disable=SC2317
here=$(cd "$(dirname "$0")" && pwd)
# shellcheck source=selftests/vm/lib/ktap.sh
. "$here/../lib/ktap.sh"
# shellcheck source=selftests/vm/lib/said.sh
. "$here/../lib/said.sh"
loads=${TRACEBUF_SELFTESTS:-${here%/selftests/vm/*}/build/selftests}/loads
events_ko=${TRACEBUF_KO%/*}/tracebuf_events.ko
rounds=1
[ -z "${TRACEBUF_FULL:-}" ] || rounds=5
own_folder

both_are_there()
{
	modprobe tracebuf && [ -d /sys/module/tracebuf_events ]
}

busy()
{
	rmmod tracebuf
}

both_go()
{
	modprobe -r tracebuf_events && [ ! -d /sys/module/tracebuf ] && [ ! -d /sys/module/tracebuf_events ]
}

# load: runs all loads until the file "enough" is there
load()
{
	mkdir -p "$tmp/load"
	cd "$tmp/load" || return
	while [ ! -e "$tmp/enough" ]; do
		"$loads" tasks files memory udp tcp timers random
	done
}

begin_load()
{
	rm -f "$tmp/enough"
	load >/dev/null 2>&1 &
	load_pid=$!
}

end_load()
{
	: >"$tmp/enough"
	wait "$load_pid"
}

# count FILE PATTERN: prints how many events FILE has of PATTERN
count()
{
	tracebuf print -e "$2" "$1" | grep -c ": $2: "
}

# ---- a module of the kernel ----------------------------------------------

# ext4_round N: mounts, makes a file, unmounts, and removes the module
ext4_round()
{
	modprobe ext4 && mount -o loop "$tmp/disk" "$tmp/mnt" || return
	: >"$tmp/mnt/file$1"
	umount "$tmp/mnt" || return
	# the kernel writes back, and releases the module, when it likes
	for try in $(seq 100); do
		rmmod ext4 2>said && return
		sleep 0.1
	done
	cat said
	echo "ext4 is still in use after $try tries"
	return 1
}

ext4_comes_and_goes()
{
	truncate -s 16M disk && mkfs.ext4 -q disk && mkdir mnt && modprobe loop || return
	! [ -d /sys/module/ext4 ] || rmmod ext4 || return
	tracebuf start -m oneshot -e ext4:ext4_request_inode,sched,signal,irq -b 1024 -B 1024 || return
	begin_load
	for i in $(seq "$rounds"); do
		ext4_round "$i" || { end_load; return 1; }
	done
	end_load
	tracebuf save --stop -o ext4.tbuf && tracebuf verify ext4.tbuf || return
	made=$(count ext4.tbuf ext4:ext4_request_inode)
	echo "$made files were made in $rounds rounds"
	[ "$made" = "$rounds" ]
}

# ---- tracebuf_events.ko ---------------------------------------------------

mark()
{
	"$loads" mark "$1"
}

# Marks are signals: 1 the module has gone, 2 it will come, 3 it has come, 4 it will go
cat >phases.awk <<'AWK'
match($0, /signal_generate: sig=34 \(SIGRTMIN\+2\) errno=[1-4] /) {
	mark = substr($0, RSTART + RLENGTH - 2, 1)
	if (phase == 3 && mark == 4) {
		if (!while_there)
			wrong = "round " (times + 1) ": nothing was recorded of what had come back"
		times++
		all += while_there
		while_there = 0
	}
	phase = mark
}
/: (kmem|skb|filemap|exceptions|irq_vectors):/ {
	if (phase == 1)
		wrong = "recorded while the module was not there: " $0
	if (phase == 3)
		while_there++
}
/: sched:/ && phase == 1 {
	others++
}
END {
	if (!others)
		wrong = "nothing else was recorded while the module was not there"
	if (wrong)
		print wrong
	print times, "times back,", all, "events"
	exit wrong != "" || times != rounds
}
AWK

recording()
{
	tracebuf status | grep -q running
}

# Events of both modules are recorded; one module goes and comes back.
events_come_and_go()
{
	both_are_there || return
	events=signal,sched
	# not each processor has all of them
	for s in kmem skb filemap exceptions irq_vectors; do
		! tracebuf list "$s" >/dev/null 2>&1 || events=$events,$s
	done
	tracebuf record -q -b 1024 -B 1024 -o stream.tbuf -e "$events" >recorded 2>&1 &
	recorder=$!
	until_it recording || { kill "$recorder"; cat recorded; return 1; }
	begin_load
	for i in $(seq "$rounds"); do
		rmmod tracebuf_events || break
		mark 1
		"$loads" tasks
		mark 2
		insmod "$events_ko" || break
		mark 3
		"$loads" tasks memory
		mark 4
	done
	end_load
	kill -INT "$recorder"
	wait "$recorder" || { cat recorded; return 1; }
	tracebuf verify stream.tbuf
}

known_while_there()
{
	tracebuf print stream.tbuf | awk -v rounds="$rounds" -f phases.awk
}

# Events that are enabled, but not recorded.
enabled_only()
{
	tracebuf enable kmem && rmmod tracebuf_events && insmod "$events_ko" &&
		tracebuf list kmem >said && grep -q '^\*.*kmem:kfree' said || { cat said; return 1; }
	tracebuf disable all
}

plan 7 1
! in_guest || ! [ -d /sys/module/tracebuf ] || rmmod tracebuf || exit 1
check "modprobe tracebuf brings tracebuf_events" both_are_there
refuse "tracebuf does not go while tracebuf_events is there" busy
check "modprobe -r tracebuf_events takes both away" both_go
check "tracebuf_events comes and goes while its events are recorded" events_come_and_go
check "... and while they are enabled" enabled_only
if modprobe -n ext4 2>/dev/null && [ -d "/lib/modules/$(uname -r)/kernel/fs/ext4" ]; then
	check "ext4 comes and goes while its events are recorded" ext4_comes_and_goes
else
	skip "ext4 comes and goes while its events are recorded" "ext4 is no module of this kernel"
fi
check "both go after all that" both_go
leave stream.tbuf
judge "its events were recorded exactly while it was there" known_while_there
finish
