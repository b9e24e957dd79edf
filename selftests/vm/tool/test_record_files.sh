#!/bin/sh
# SPDX-License-Identifier: GPL-2.0-only
#
# Each file that record makes is a trace by itself, and a series has no gap: past the page cache and
# through it, compressed, on a full disk, by a recorder in the background. If this fails, a long
# recording has gaps between its files, or a full disk costs all of it.

# Functions are called by way of check.
# shellcheck disable=SC2317,SC2086
here=$(cd "$(dirname "$0")" && pwd -P)
# shellcheck source=selftests/vm/lib/ktap.sh
. "$here/../lib/ktap.sh"
# shellcheck source=selftests/vm/lib/said.sh
. "$here/../lib/said.sh"

work=${TRACEBUF_SELFTESTS:-${here%/selftests/vm/*}/build/selftests}/workload
# more than a workload writes: a late recorder loses nothing
much="-b 2048 -B 256"
# Events of the workload: for files of a few blocks, and for several files.  The recorder makes
# system calls, too: if they are recorded, the number of files depends on its speed.  So the default
# run records only signals in most tests of several files.
events=500 many=2000 packed=1000 with=signal
[ -z "${TRACEBUF_FULL:-}" ] || events=3000 many=3000 packed=3000 with=signal,raw_syscalls
tmp=$(mktemp -d)
mkdir "$tmp/mem" && mount -t tmpfs none "$tmp/mem" || exit 1
cd "$tmp/mem" || exit 1

running()
{
	tracebuf status | grep -q running
}

# each FILE...: each is a trace by itself with exact counts.
each()
{
	for f; do
		status 0 tracebuf verify "$f" && says exact || return
		! grep -q '  open' said || { echo "$f: open"; return 1; }
	done
}

# numbered N FILE...: together they have the workload's events 0 to N-1, each once and in order.
numbered()
{
	n=$1
	shift
	for f; do
		tracebuf print "$f" || return
	done >printed
	sed -n 's/.*signal_generate:.* errno=\([0-9]*\).* comm="\{0,1\}workload.*/\1/p' printed >numbers
	seq 0 $((n - 1)) | cmp - numbers || { echo "$(wc -l <numbers) events, not $n in order"; return 1; }
}

count()
{
	[ $(($# - 1)) = "$1" ] || { echo "$(($# - 1)) files, not $1"; return 1; }
}

# ---- several files ----------------------------------------------------------

by_size()
{
	status 0 tracebuf record -v --rotate 32K -o s.tbuf -e $with $much \
		--flush-ms 10 -- "$work" $many || return
	ls -l
	[ -e s-0004.tbuf ] && [ ! -e s.tbuf ] || return
	each s-*.tbuf && numbered $many s-*.tbuf || return
	# A file has its size, but for a block of each CPU and durable blocks. The last one also has
	# the events that were recorded while the rings were emptied for the last time.
	files=$(ls s-*.tbuf)
	for f in $(echo "$files" | sed '$d'); do
		[ "$(stat -c %s $f)" -le $((32 * 1024 + 512 * 1024)) ] || { ls -l; return 1; }
	done
}

put_together()
{
	cat s-*.tbuf >all.tbuf && each all.tbuf && lines 0 'another file' said &&
		numbered $many all.tbuf
}

sum_of_accounting()
{
	for f in s-*.tbuf all.tbuf; do
		tracebuf verify $f | awk -v f=$f '$1 ~ /^[0-9]+$/ && NF > 6 { n += $3; a += $6 } END { print f, n, a }'
	done >sums
	cat sums
	awk -v least=$many '$1 == "all.tbuf" { exit !(n == $2 && a == $3 && n > least) }
		{ n += $2; a += $3 }' sums
}

part_missing()
{
	set -- s-*.tbuf
	cat $1 $3 >gap.tbuf
	status 1 tracebuf verify gap.tbuf && says "file is missing\|block before it is missing"
}

part_cut()
{
	# two notes follow the blocks of a part: cut more than these
	head -c $(($(stat -c %s s-0002.tbuf) - 4096 * 3)) s-0002.tbuf >short.tbuf
	cat short.tbuf s-0003.tbuf >gap.tbuf
	status 1 tracebuf verify gap.tbuf
}

keep()
{
	for i in 1 2; do
		status 0 tracebuf record -q --rotate 32K --keep 3 -o k.tbuf -e signal \
			$much --flush-ms 10 -- "$work" 2000 || return
		echo "run $i"
		count 3 k-*.tbuf && each k-*.tbuf || return
		for f in k-*.tbuf; do
			last=$f
		done
		set -- "$@" "$last"
	done
	# the second run continued after the first, and did not overwrite its last file
	echo "$@"
	[ "$1" != "$2" ] && [ "$(printf '%s\n' "$@" | sort | tail -n 1)" = "$2" ] || return
	# the end is there, the beginning is not
	for f in k-*.tbuf; do
		tracebuf print $f || return
	done >said
	lines 1 'errno=1999 ' said && lines 0 'errno=0 .*workload' said
}

by_time()
{
	tracebuf record -q --rotate 300ms -o t.tbuf -e signal -b 64 >said 2>&1 &
	pid=$!
	until_it running && "$work" 500 && until_it test -e t-0003.tbuf
	code=$?
	kill $pid
	wait $pid
	cat said
	[ $code = 0 ] && each t-*.tbuf && numbered 500 t-*.tbuf
}

by_signal()
{
	tracebuf record -q --rotate signal -o u.tbuf -e signal -b 64 >said 2>&1 &
	pid=$!
	until_it running && "$work" 300 && kill -USR2 $pid && until_it test -e u-0002.tbuf &&
		"$work" 200 && kill -USR2 $pid && until_it test -e u-0003.tbuf
	code=$?
	kill $pid
	wait $pid
	cat said
	[ $code = 0 ] && count 3 u-*.tbuf && each u-*.tbuf || return
	# events before the signal are in the file before it
	numbered 300 u-0001.tbuf && numbered 200 u-0002.tbuf
}

names_of_threads()
{
	# it begins before the first file ends, and is seen in the last
	sh -c 'exec sleep 1000' &
	sleeper=$!
	tracebuf record -q --rotate signal -o n.tbuf -e sched,signal -b 64 >said 2>&1 &
	pid=$!
	until_it running && kill -USR2 $pid && until_it test -e n-0002.tbuf
	kill -STOP $sleeper
	kill -CONT $sleeper
	kill $pid
	wait $pid
	kill $sleeper
	status 0 tracebuf print n-0002.tbuf && says "signal_generate: .*comm=sleep"
}

no_next_file()
{
	mkdir gone
	tracebuf record -q --rotate signal -o gone/g.tbuf -e signal -b 64 >record.said 2>&1 &
	pid=$!
	until_it running && "$work" 100 && folder_gone && kill -USR2 $pid && until_it grep -q "goes on" record.said &&
		"$work" 100
	kill $pid
	wait $pid
	code=$?
	cat record.said
	mv away/g-0001.tbuf . && [ $code = 0 ] && each g-0001.tbuf &&
		tracebuf print g-0001.tbuf >said && lines 200 'signal_generate:.*errno=.*workload' said
}

# Moves the folder, so that record cannot make a file there.
folder_gone()
{
	mv gone away
}

# ---- writing ----------------------------------------------------------------

on_tmpfs()
{
	status 0 tracebuf record -v -o v.tbuf -e signal -b 64 -- "$work" 500 &&
		says "v.tbuf: .*through the page cache (no O_DIRECT: the file system has no device)" || return
	each v.tbuf && numbered 500 v.tbuf
}

# A file system with a device: ext4 in a file of the tmpfs
mount_ext4()
{
	modprobe -q loop
	modprobe -q ext4
	truncate -s "$1" disk.img && mke2fs -q -F -t ext4 -m 0 -b 4096 disk.img && mkdir -p disk &&
		mount -o loop disk.img disk
}

past_the_cache()
{
	status 0 tracebuf record -v -o disk/d.tbuf -e signal,raw_syscalls $much -- "$work" $events || return
	says "disk/d.tbuf: io_uring, O_DIRECT, multiples of [0-9]* bytes" || return
	each disk/d.tbuf && numbered $events disk/d.tbuf || return
	# nothing is allocated beyond the end
	[ "$(($(stat -c '%b * %B' disk/d.tbuf)))" -le $(($(stat -c %s disk/d.tbuf) + 8192)) ] || stat disk/d.tbuf
}

# With O_DIRECT the page cache has nothing of the file while it is written.
not_in_the_cache()
{
	command -v fincore >/dev/null || { echo "no fincore"; return 1; }
	tracebuf record -q -o disk/c.tbuf -e signal,raw_syscalls $much &
	pid=$!
	until_it running && "$work" $events && until_it test -s disk/c.tbuf
	pages=$(fincore -nb -o RES disk/c.tbuf)
	kill $pid
	wait $pid
	echo "$pages bytes in the cache"
	[ "$pages" -eq 0 ] && each disk/c.tbuf && numbered $events disk/c.tbuf
}

buffered()
{
	status 0 tracebuf record -v --buffered -o disk/b.tbuf -e signal -b 64 -- "$work" 500 &&
		says "disk/b.tbuf: write()" && each disk/b.tbuf && numbered 500 disk/b.tbuf
}

# record keeps the contents of standard output, and what another program appends.
standard_output()
{
	echo before >disk/o
	{ tracebuf record -v -o - -e signal -b 64 -- "$work" 500; echo after; } >>disk/o 2>said
	cat said
	says "standard output: write()" && [ "$(head -n 1 disk/o)" = before ] && [ "$(tail -c 6 disk/o)" = after ] || return
	tail -c +8 disk/o | head -c -6 >disk/o.tbuf
	each disk/o.tbuf && numbered 500 disk/o.tbuf
}

small_blocks()
{
	# 1 KiB: a device with larger blocks cannot take them, others do
	status 0 tracebuf record -v -o disk/m.tbuf -e signal -b 512 -B 64 -- "$work" 500 &&
		says "disk/m.tbuf: .*O_DIRECT" && each disk/m.tbuf && numbered 500 disk/m.tbuf
}

rotated_past_the_cache()
{
	status 0 tracebuf record -v --rotate 64K -o disk/r.tbuf -e $with $much \
		--flush-ms 10 -- "$work" $many && says "r-0002.tbuf: io_uring, O_DIRECT" || return
	each disk/r-*.tbuf && numbered $many disk/r-*.tbuf
}

with_stacks()
{
	status 0 tracebuf record -v --rotate 64K -o disk/k.tbuf -e signal:stack $much --flush-ms 10 \
		-- "$work" 300 && says "k-0002.tbuf: .*O_DIRECT" || return
	each disk/k-*.tbuf || return
	for f in disk/k-*.tbuf; do
		status 0 tracebuf print $f || return
		cat said >>stacks
		# each file has the names that it needs
		! grep -q errno= said || says '+0x' || return
	done
	lines 300 'signal_generate:.*errno=.*workload' stacks
}

without_io_uring()
{
	sysctl -q kernel.io_uring_disabled=2 || return
	status 0 tracebuf record -v -o disk/p.tbuf -e signal,raw_syscalls $much -- "$work" $events &&
		says "pwritev() (no io_uring: .*), O_DIRECT"
	code=$?
	sysctl -q kernel.io_uring_disabled=0
	[ $code = 0 ] && each disk/p.tbuf && numbered $events disk/p.tbuf
}

full_disk()
{
	fallocate -l "$(($(df --output=avail -B1 disk | tail -n 1) - 300000))" disk/fill
	sync
	status 1 tracebuf record -v -o disk/f.tbuf -e signal,raw_syscalls $much -- "$work" 3000 &&
		says "no space" && says "could not be written" &&
		status 0 tracebuf verify disk/f.tbuf && status 0 tracebuf print disk/f.tbuf && [ -s said ]
	code=$?
	df disk
	rm -f disk/fill disk/f.tbuf
	return $code
}

# full_rotated FOLDER: on a small file system the oldest files go, and the last ones have no gaps
full_rotated()
{
	status 0 tracebuf record -o "$1/k.tbuf" --rotate 64K --keep 1000 -e signal,raw_syscalls $much -- "$work" 3000 &&
		says "the disk is full: $1/k-0001.tbuf is deleted" || return
	[ ! -e "$1/k-0001.tbuf" ] && each "$1"/k-*.tbuf || return
	# the files that are left have consecutive numbers
	# shellcheck disable=SC2012
	ls "$1" | sed -n 's/^k-0*\([0-9]*\)\.tbuf$/\1/p' >numbers
	[ "$(wc -l <numbers)" -gt 2 ] && [ $(($(tail -n 1 numbers) - $(head -n 1 numbers) + 1)) = "$(wc -l <numbers)" ]
	code=$?
	rm -f "$1"/k-*.tbuf
	return $code
}

full_disk_rotated()
{
	fallocate -l "$(($(df --output=avail -B1 disk | tail -n 1) - 600000))" disk/fill
	sync
	full_rotated disk
	code=$?
	rm -f disk/fill
	return $code
}

full_tmpfs_rotated()
{
	mkdir -p full && mount -t tmpfs -o size=600K none full || return
	full_rotated full
	code=$?
	umount full
	return $code
}

# If the reader of a pipe does not read, two signals end the recorder.
stuck_pipe()
{
	mkfifo stuck.fifo || return
	# shellcheck disable=SC2217
	sleep 60 <stuck.fifo &
	sleeper=$!
	tracebuf record -o - -e all $much >stuck.fifo 2>said &
	pid=$!
	until_it running && "$work" $events && kill $pid || return
	sleep 1
	kill $pid
	wait $pid
	code=$?
	kill $sleeper
	cat said
	[ $code = 1 ] && says "its reader does not read" && until_it not_running
}

killed()
{
	tracebuf record -q -o disk/x.tbuf -e signal,raw_syscalls $much &
	pid=$!
	until_it running && "$work" $events && until_it test -s disk/x.tbuf
	kill -KILL $pid
	wait $pid
	# pages may be on their way to the disk for a moment
	until_it not_running
	tracebuf verify disk/x.tbuf >said 2>&1
	cat said
	says ' blocks .*events' && ! grep -q 'never committed' said || return
	tracebuf print disk/x.tbuf >said 2>/dev/null
	[ "$(wc -l <said)" -gt 100 ]
}

not_running()
{
	! running
}

# ---- compressed -------------------------------------------------------------

compressed()
{
	status 0 tracebuf record -v --compress zstd -o z.tbuf -e signal,raw_syscalls $much \
		-- "$work" $events &&
		says "z.tbuf: write(), packed" || return
	each z.tbuf && numbered $events z.tbuf || return
	mv printed packed.printed
	tracebuf unpack -q -o plain.tbuf z.tbuf || return
	[ "$(stat -c %s z.tbuf)" -lt $(($(stat -c %s plain.tbuf) / 2)) ] || { ls -l z.tbuf plain.tbuf; return 1; }
	tracebuf print plain.tbuf | cmp - packed.printed
}

compressed_pipe()
{
	tracebuf record -q --compress zstd:1 --threads 3 -o - -e signal $much -- "$work" 500 | cat >pipe.tbuf
	each pipe.tbuf && numbered 500 pipe.tbuf
}

compressed_files()
{
	status 0 tracebuf record -q --compress zstd:1 --threads 2 --rotate 16K -o zr.tbuf -e signal,raw_syscalls \
		$much --flush-ms 10 -- "$work" $packed || return
	[ -e zr-0003.tbuf ] && each zr-*.tbuf || return
	cat zr-*.tbuf >all.tbuf && each all.tbuf && numbered $packed all.tbuf
}

compressed_full()
{
	mkdir -p full && mount -t tmpfs -o size=64k none full || return
	status 1 tracebuf record --compress zstd -o full/f.tbuf -e signal,raw_syscalls $much -- "$work" 20000 && says "no space" &&
		says "could not be written" && status 0 tracebuf verify full/f.tbuf && status 0 tracebuf print full/f.tbuf && [ -s said ]
	code=$?
	umount full
	return $code
}

compressed_cut()
{
	size=$(stat -c %s z.tbuf)
	# behind a whole copy, because one frame may have all events
	{ cat z.tbuf && head -c $((size / 2)) z.tbuf; } >cut.tbuf
	status 1 tracebuf verify cut.tbuf && says "cut off: a packed frame" || return
	# the frames before it are read
	tracebuf print cut.tbuf 2>/dev/null | cmp - packed.printed
}

compressed_wrong()
{
	r="tracebuf record -e irq -d 1"
	wrong 2 "zstd:LEVEL" $r --compress gzip && wrong 2 "zstd:LEVEL" $r --compress zstd:20 &&
		wrong 2 "zstd:LEVEL" $r --compress zstd3 && wrong 2 "needs --compress" $r --threads 2 &&
		wrong 2 "from 1 to 64" $r --compress zstd --threads 0 &&
		wrong 2 "excludes --rotate, --compress" $r --fifo --compress zstd
}

# ---- in the background ------------------------------------------------------

daemon()
{
	status 0 tracebuf record --daemon --pid-file pid -o back.tbuf -e signal -b 64 || return
	running && pid=$(cat pid) && kill -0 "$pid" || return
	[ "$(readlink /proc/$pid/fd/2)" = /dev/null ] && [ "$(ps -o sid= -p "$pid" | tr -d ' ')" = "$pid" ] || return
	"$work" 500
	status 1 tracebuf record --daemon --pid-file pid -o other.tbuf -p kernel -e signal && says "process $pid" || return
	[ ! -e other.tbuf ] && [ "$(cat pid)" = "$pid" ] || return
	kill "$pid"
	until_it test ! -e pid && until_it not_running && each back.tbuf && numbered 500 back.tbuf
}

daemon_fails()
{
	status 1 tracebuf record --daemon --pid-file pid -o ./no/such/file -e signal && says no/such/file &&
		[ ! -e pid ] && not_running
}

notify()
{
	cat >listen.py <<END
import os, socket, subprocess, sys
s = socket.socket(socket.AF_UNIX, socket.SOCK_DGRAM)
s.bind("notify")
s.settimeout(300)
p = subprocess.Popen(sys.argv[1:], env=dict(os.environ, NOTIFY_SOCKET=os.path.abspath("notify")))
got = s.recv(1000).decode()
print(got)
assert "READY=1" in got and "MAINPID=%d" % p.pid in got, got
p.terminate()
while "STOPPING=1" not in s.recv(1000).decode():
    pass
sys.exit(p.wait())
END
	status 0 python3 listen.py tracebuf record -q -o notify.tbuf -e signal && each notify.tbuf
}

priorities()
{
	tracebuf record -q --nice -5 --rt 7 -o prio.tbuf -e signal -- sh -c 'ps -o cls,ni -p $$ >command.ps; exec sleep 1000' &
	pid=$!
	until_it test -s command.ps
	ps -o cls,rtprio -p $pid >recorder.ps
	kill $pid
	wait $pid
	cat command.ps recorder.ps
	grep -q "TS  *0" command.ps && grep -q "FF  *7" recorder.ps || return
	tracebuf record -q --nice 5 -o prio.tbuf -e signal -d 60 &
	pid=$!
	until_it running
	ps -o cls,ni -p $pid >recorder.ps
	kill $pid
	wait $pid
	cat recorder.ps
	grep -q "TS  *5" recorder.ps
}

# wrong STATUS TEXT COMMAND...: COMMAND fails with STATUS, and its message has TEXT.
wrong()
{
	wanted=$1 text=$2
	shift 2
	status "$wanted" "$@" && says "$text"
}

wrong_options()
{
	r="tracebuf record -e irq -d 1"
	wrong 2 "neither a size" $r --rotate 100 && wrong 2 "neither a size" $r --rotate M &&
		wrong 2 "neither a size" $r --rotate 10X && wrong 2 "neither a size" $r --rotate 0K &&
		wrong 2 "number of files" $r --rotate 1M --keep 0 && wrong 2 "needs --rotate" $r --keep 3 &&
		wrong 2 "several files" $r --rotate 1M -o - &&
		wrong 2 "is not a size" $r --backlog 100 && wrong 2 "is not a size" $r --backlog -1M &&
		wrong 2 "while the reader goes on" $r --backlog 1M -o - &&
		wrong 2 "while the reader goes on" $r --backlog 0 --compress zstd &&
		wrong 2 "no standard output" $r --daemon -o - &&
		wrong 2 "from -20 to 19" $r --nice 20 && wrong 2 "from 1 to 99" $r --rt 0 &&
		wrong 2 "excludes --rotate, --compress" $r --fifo --rotate 1M &&
		wrong 1 "streaming" $r -m circular --rotate 1M && wrong 1 "no/such" $r --rotate 1M -o ./no/such/f.tbuf &&
		wrong 1 "no/such" $r --pid-file ./no/such/pid && not_running
}

unload()
{
	rmmod tracebuf
}

plan 38
check "load" insmod "$TRACEBUF_KO"
check "by size: every event is in one file, each exact" by_size
check "put together they are one trace" put_together
check "the counts of the files add up" sum_of_accounting
check "a missing part is reported" part_missing
check "a part that is cut is reported" part_cut
check "the last files stay, also those of an earlier run" keep
check "by time" by_time
check "by signal: with all events before it" by_signal
check "threads are known in every file" names_of_threads
check "if the next file cannot be made the last goes on" no_next_file
check "tmpfs: through the page cache, and -v says so" on_tmpfs
if mount_ext4 256M >"$output" 2>&1; then
	check "ext4: O_DIRECT by io_uring, and -v says so" past_the_cache
	check "ext4: nothing gets into the page cache" not_in_the_cache
	check "ext4: through the page cache if asked for" buffered
	check "ext4: standard output that is appended to" standard_output
	check "ext4: blocks of 1 KiB" small_blocks
	check "ext4: several files" rotated_past_the_cache
	check "ext4: stacks and their names in each file" with_stacks
	if [ -e /proc/sys/kernel/io_uring_disabled ]; then
		check "without io_uring: the same, and -v says so" without_io_uring
	else
		skip "without io_uring: the same, and -v says so" "this kernel cannot forbid it"
	fi
	check "ext4: a full disk ends it with whole blocks" full_disk
	check "ext4: a full disk, the oldest files go" full_disk_rotated
	check "ext4: killed" killed
	umount disk
else
	sed 's/^/# /' "$output"
	for t in "O_DIRECT by io_uring, and -v says so" "nothing gets into the page cache" "through the page cache if asked for" \
		"standard output" "blocks of 1 KiB" "several files" "stacks and their names in each file" "without io_uring" "a full disk" "a full disk, the oldest files go" "killed"; do
		skip "ext4: $t" "no ext4 in a loop device here"
	done
fi
check "tmpfs: a full disk, the oldest files go" full_tmpfs_rotated
check "a reader that does not read" stuck_pipe
check "compressed: the same, and when it is unpacked" compressed
check "compressed: into a pipe, by threads" compressed_pipe
check "compressed: several files" compressed_files
check "compressed: a full disk" compressed_full
check "compressed: cut off" compressed_cut
check "compressed: errors are explained" compressed_wrong
check "daemon: pid file, one only, TERM ends it" daemon
check "daemon: a failure is reported to the program that starts it" daemon_fails
check "a service manager is told" notify
check "priorities are the recorder's alone" priorities
check "errors are explained" wrong_options
check "nothing is left running" not_running
check "unload" unload
cd /
umount "$tmp/mem"
rm -rf "$tmp"
finish
