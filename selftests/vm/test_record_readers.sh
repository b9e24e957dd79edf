#!/bin/sh
# SPDX-License-Identifier: GPL-2.0-only
#
# Several threads that read one recording (record --readers): every event is in the file, once and
# in order, and the books of all CPUs are exact - past the page cache and through it, compressed,
# in several files, in each mode, on a full disk.  For a guest with two CPUs or more.

# Functions are called by way of check.
# shellcheck disable=SC2317,SC2086
here=$(cd "$(dirname "$0")" && pwd -P)
# shellcheck source=selftests/vm/ktap.sh
. "$here/ktap.sh"
# shellcheck source=selftests/vm/said.sh
. "$here/said.sh"

work=${TRACEBUF_SELFTESTS:-${here%/selftests/vm}/build/selftests}/workload
follow=${TRACEBUF_USER:-${here%/selftests/vm}/build/user}/samples/read/follow
much="-b 2048 -B 256"
cpus=$(nproc)
# all but the first, as the kernel writes it
others=1
[ "$cpus" = 2 ] || others=1-$((cpus - 1))
# of each CPU
events=500
tmp=$(mktemp -d)
mkdir "$tmp/mem" && mount -t tmpfs none "$tmp/mem" || exit 1
cd "$tmp/mem" || exit 1

running()
{
	tracebuf status | grep -q running
}

not_running()
{
	! running
}

# load N: N numbered events on each CPU, at the same time
load()
{
	for cpu in $(seq 0 $((cpus - 1))); do
		"$work" -c $cpu "$1" &
		pids="$pids $!"
	done
	wait $pids
	pids=
}

# each FILE...: each is a trace by itself, and its books are exact.
each()
{
	for f; do
		status 0 tracebuf verify "$f" && says exact || return
		! grep -q '  open' said || { echo "$f: open"; return 1; }
	done
}

# numbered N FILE...: together they have events 0 to N-1 of each CPU, each once and in order.
numbered()
{
	n=$1
	shift
	for f; do
		tracebuf print "$f" || return
	done | sed -n 's/.*\[\([0-9]*\)\].*signal_generate:.* errno=\([0-9]*\).* comm="\{0,1\}workload.*/\1 \2/p' >numbers
	awk -v n="$n" -v cpus="$cpus" '
		{ cpu = $1 + 0 }
		$2 != next_of[cpu] + 0 { print "CPU " cpu ": " $2 ", not " next_of[cpu] + 0; exit wrong = 1 }
		{ next_of[cpu]++ }
		END {
			for (c = 0; c < cpus && !wrong; c++)
				if (next_of[c] != n) {
					print "CPU " c ": " next_of[c] + 0 " events, not " n
					wrong = 1
				}
			exit wrong
		}' numbers
}

# recorded NAME OPTIONS...: NAME.tbuf, or several, while the load runs; "said" has what it says
recorded()
{
	name=$1
	shift
	tracebuf record -v -o "$name.tbuf" -e "${what:-signal,raw_syscalls}" $much "$@" >record.said 2>&1 &
	pid=$!
	until_it running && load $events
	kill $pid
	wait $pid
	code=$?
	cat record.said
	cp record.said said
	return $code
}

# threads N: the recorder has them, each on CPUs of its own
threads()
{
	tracebuf record -q -o threads.tbuf -e signal "$@" &
	pid=$!
	until_it running
	for task in "/proc/$pid/task/"*; do
		sed -n 's/^Cpus_allowed_list:[[:space:]]*//p' $task/status
	done >lists
	kill $pid
	wait $pid
	cat lists
}

pinned()
{
	all=0-$((cpus - 1))
	threads --readers $cpus || return
	[ "$(grep -cx "$all" lists)" = 1 ] && [ "$(grep -cx '[0-9]*' lists)" = $cpus ] &&
		[ "$(sort -u lists | wc -l)" = $((cpus + 1)) ] || return
	threads --readers 0:$others || return
	grep -qx 0 lists && grep -qx "$others" lists && [ "$(wc -l <lists)" = 3 ] || return
	threads --readers node && [ "$(wc -l <lists)" = 2 ]
}

on_tmpfs()
{
	recorded v --readers $cpus && says "v.tbuf: $cpus readers, each with pwritev().*through the page cache" &&
		each v.tbuf && numbered $events v.tbuf
}

fewer_readers()
{
	recorded w --readers 0:$others && says "2 readers" && each w.tbuf && numbered $events w.tbuf
}

# CPUs that are in no set are the first's
incomplete_sets()
{
	recorded i --readers 1:2 && each i.tbuf && numbered $events i.tbuf
}

# A file system with a device: ext4 in a file of the tmpfs
mount_ext4()
{
	modprobe -q loop
	modprobe -q ext4
	truncate -s 400M disk.img && mke2fs -q -F -t ext4 -m 0 -b 4096 disk.img && mkdir -p disk &&
		mount -o loop disk.img disk
}

past_the_cache()
{
	recorded disk/d --readers $cpus && says "$cpus readers, each with io_uring, O_DIRECT" &&
		each disk/d.tbuf && numbered $events disk/d.tbuf || return
	# as long as its blocks, and nothing left allocated behind them
	[ "$(($(stat -c '%b * %B' disk/d.tbuf)))" -le $(($(stat -c %s disk/d.tbuf) + 8192)) ] || { stat disk/d.tbuf; return 1; }
}

# look FILE N: what there is of it has no holes, and all events of the load are there
look()
{
	"$follow" - <"$1" >seen 2>>faults
	[ -s faults ] || [ "$(grep -c 'signal:signal_generate .* comm="\{0,1\}workload' seen)" = "$2" ]
}

# A file is looked at all the time while it is recorded.  The disk is so slow that writes of both
# readers are on their way most of the time.
followed()
{
	mkdir -p cgroup && mount -t cgroup2 none cgroup && mkdir cgroup/slow &&
		echo +io >cgroup/cgroup.subtree_control &&
		echo "$(mountpoint -d disk) wbps=200000" >cgroup/slow/io.max || return
	rm -f faults
	sh -c 'echo $$ >cgroup/slow/cgroup.procs && exec "$@"' sh tracebuf record -v --readers $cpus -o disk/l.tbuf \
		-e signal $much --flush-ms 10 >record.said 2>&1 &
	pid=$!
	until_it running || return
	load 2000 &
	loading=$!
	until_it look disk/l.tbuf $((2000 * cpus))
	code=$?
	wait $loading
	kill $pid
	wait $pid || code=1
	umount cgroup
	cat record.said faults
	[ $code = 0 ] && [ ! -s faults ] && each disk/l.tbuf && numbered 2000 disk/l.tbuf
}

without_io_uring()
{
	sysctl -q kernel.io_uring_disabled=2 || return
	recorded disk/p --readers $cpus
	code=$?
	sysctl -q kernel.io_uring_disabled=0
	[ $code = 0 ] && says "pwritev() (no io_uring: .*), O_DIRECT" && each disk/p.tbuf && numbered $events disk/p.tbuf
}

buffered()
{
	recorded disk/b --readers 2 --buffered && says "no O_DIRECT: --buffered" && each disk/b.tbuf && numbered $events disk/b.tbuf
}

with_stacks()
{
	recorded disk/k --readers $cpus -e signal:stack && each disk/k.tbuf && numbered $events disk/k.tbuf || return
	status 0 tracebuf print disk/k.tbuf && says '+0x'
}

# Without system calls: each file takes many, and they would fill the next
by_size()
{
	what=signal events=2000
	recorded disk/s --readers $cpus --rotate 64K --flush-ms 10 || return
	[ -e disk/s-0003.tbuf ] && each disk/s-*.tbuf && numbered $events disk/s-*.tbuf || return
	cat disk/s-*.tbuf >all.tbuf && each all.tbuf && lines 0 'another file' said && numbered $events all.tbuf
}

by_signal()
{
	what='' events=500
	tracebuf record -q --readers $cpus --rotate signal -o u.tbuf -e signal $much >record.said 2>&1 &
	pid=$!
	until_it running && load 300 && kill -USR2 $pid && until_it test -e u-0002.tbuf && load 200
	kill $pid
	wait $pid
	code=$?
	cat record.said
	# what was recorded before the signal is before the signal
	[ $code = 0 ] && each u-*.tbuf && numbered 300 u-0001.tbuf && numbered 200 u-0002.tbuf
}

compressed()
{
	recorded z --readers $cpus --compress zstd:1 && says "$cpus readers, write() in turn, compressed" &&
		each z.tbuf && numbered $events z.tbuf && zstd -q -t z.tbuf || return
	what=signal events=2000
	recorded zr --readers $cpus --compress zstd:1 --rotate 8K --flush-ms 10 &&
		[ -e zr-0003.tbuf ] && each zr-*.tbuf && numbered $events zr-*.tbuf
}

circular()
{
	what='' events=500
	recorded c --readers $cpus -m circular && each c.tbuf && numbered $events c.tbuf || return
	# a snapshot by signal, while nobody reads
	tracebuf record -q --readers $cpus -m circular -o c2.tbuf -e signal $much &
	pid=$!
	until_it running && load 500 && kill -USR1 $pid && until_it snapshot_there
	code=$?
	kill $pid
	wait $pid
	[ $code = 0 ] && numbered 500 snapshot-*.tbuf && each c2.tbuf && numbered 500 c2.tbuf
}

snapshot_there()
{
	set -- snapshot-*.tbuf
	[ -s "$1" ] && tracebuf print "$1" >/dev/null
}

oneshot()
{
	recorded o --readers $cpus -m oneshot && each o.tbuf && numbered $events o.tbuf
}

full_disk()
{
	head -c "$(df --output=avail -B1 disk | tail -n 1)" /dev/zero >disk/fill 2>/dev/null
	truncate -s -300K disk/fill
	sync
	tracebuf record -v --readers $cpus -o disk/f.tbuf -e all $much -- "$work" 5000 >said 2>&1
	code=$?
	cat said
	[ $code = 1 ] && says "no space" && says "could not be written" || return
	# what was recorded: in the file, or told
	missing=$(sed -n 's/.*warning: \([0-9]*\) of the events delivered could not be written.*/\1/p' said)
	told=$(awk '$1 == "all" { print $3; exit }' said)
	status 0 tracebuf verify disk/f.tbuf && [ "$(stat -c %s disk/f.tbuf)" -gt 0 ] || return
	have=$(awk '$1 ~ /^[0-9]+$/ && NF > 6 { n += $3 } END { print n }' said)
	rm -f disk/fill disk/f.tbuf
	echo "$told delivered, $have in the file, $missing not"
	[ "$told" = $((have + missing)) ]
}

# wrong STATUS TEXT COMMAND...: it fails, and says so.
wrong()
{
	wanted=$1 text=$2
	shift 2
	status "$wanted" "$@" && says "$text"
}

wrong_options()
{
	r="tracebuf record -e irq -d 1"
	wrong 2 "neither 'node' nor" $r --readers x && wrong 2 "neither 'node' nor" $r --readers 0 &&
		wrong 2 "neither 'node' nor" $r --readers 0-1: && wrong 2 "neither 'node' nor" $r --readers 0-1 &&
		wrong 2 "standard output" $r --readers 2 -o - && wrong 2 "in order" tracebuf stream -e irq -d 1 --readers 2 &&
		wrong 1 "there are $cpus CPUs" $r --readers $((cpus + 1)) && wrong 1 "in two sets" $r --readers 0:0 &&
		wrong 1 "no CPU $cpus here" $r --readers 0:$cpus && wrong 1 "regular file" $r --readers 2 -o /dev/null && not_running
}

unload()
{
	rmmod tracebuf
}

plan 18
check "load" insmod "$TRACEBUF_KO"
check "a thread for each, on its CPUs" pinned
check "on tmpfs: through the page cache" on_tmpfs
check "fewer readers than CPUs" fewer_readers
name="CPUs in no set are read, too"
if [ "$cpus" -gt 2 ]; then
	check "$name" incomplete_sets
else
	skip "$name" "it takes three CPUs"
fi
check "a file system with a device" mount_ext4
check "past the page cache" past_the_cache
check "a file is followed while it is written" followed
check "without io_uring" without_io_uring
check "through the page cache if asked for" buffered
check "stacks have names" with_stacks
check "several files by size: every event is in one" by_size
check "by signal: with all that was before it" by_signal
check "compressed" compressed
check "circular, and a snapshot of it" circular
check "oneshot" oneshot
check "a full disk: what is missing is counted to the event" full_disk
check "what is wrong is said, and it can be unloaded" wrong_options
unload
cd /
umount "$tmp/mem/disk" "$tmp/mem"
rm -rf "$tmp"
finish
