#!/bin/sh
# SPDX-License-Identifier: GPL-2.0-only
#
# test_driver.sh - the samples, built like drivers out of the tree: their events are listed,
# recorded and filtered; drivers come and go meanwhile; handlers keep events out. If this fails, a
# driver's author cannot trust the events, or cannot unload the driver.

# Functions are called by way of check.
# shellcheck disable=SC2317
here=$(cd "$(dirname "$0")" && pwd)
# shellcheck source=selftests/vm/lib/ktap.sh
. "$here/../lib/ktap.sh"
# shellcheck source=selftests/vm/lib/said.sh
. "$here/../lib/said.sh"
dir=${here%/selftests/vm/*}/build/$(uname -r)-samples
tmp=$(mktemp -d) || exit 1
cd "$tmp" || exit 1
fake=/sys/module/tb_fakedev/parameters
veto=/sys/module/tb_veto/parameters
# name=value, whatever the print format of the event
fields=''
tracebuf print -h | grep -q -e --fields && fields=--fields

# text FILE: prints FILE into said; the trace has no errors
text()
{
	tracebuf verify "$1" && tracebuf print $fields "$1" >said && head -n 20 said
}

# grown NAME COUNT: the device has counted COUNT more than $since
grown()
{
	[ "$(cat $fake/"$1")" -ge $((since + $2)) ]
}

# interrupts N: waits for N interrupts more.
interrupts()
{
	since=$(cat $fake/interrupts)
	until_it grown interrupts "$1"
}

# Checks the device's events of a trace, each against its number; "range" gets the numbers of the
# first and the last of each kind. No number in between may be missing.
cat >device.awk <<'END'
function field(name,	at, rest) {
	at = index($0, " " name "=")
	if (!at)
		wrong("no " name)
	rest = substr($0, at + length(name) + 2)
	sub(/ .*/, "", rest)
	return rest
}
function wrong(what) {
	print "line " NR ": " what ": " $0
	if (++bad > 9)
		exit
}
function expect(name, value) {
	if (field(name) "" != value "")
		wrong(name " is not " value)
}
function sequence(kind, step,	n) {
	n = field("sequence") + 0
	if (kind in last && n != last[kind] + step)
		wrong("after " last[kind])
	if (!(kind in first))
		first[kind] = n
	last[kind] = n
	count[kind]++
	expect("queue", n % queues)
	return n
}
/ fakedev:irq: / {
	n = sequence("irq", step)
	expect("error", n % 10 ? 0 : -5)
}
/ fakedev:done: / {
	n = sequence("done", step)
	expect("bytes", 64 + n % 1000)
	expect("status", n % 10 ? 0 : -5)
	expect("unit", "fake0")
	expect("regs", sprintf("[%d,%d,%.0f,305419896]", n % queues, n, 4294967295 - n))
	if (field("buffer") !~ /^0x[0-9a-f]+$/)
		wrong("no address")
	if ($3 !~ /^[hH]/)
		wrong("not in an interrupt")
}
/ fakedev:frame: / {
	n = sequence("frame", 8)
	bytes = int(n / 8) % 65
	data = ""
	for (i = 0; i < bytes; i++)
		data = data (i ? "," : "") 165
	expect("data", "[" data "]")
	if ($0 !~ (n % 16 ? " label=odd$" : " label=even frame$"))
		wrong("label")
}
END {
	for (kind in count)
		print kind, first[kind], last[kind], count[kind] >"range"
	if (!("irq" in count) && !("done" in count))
		wrong("nothing")
	exit bad > 0
}
END

# device FILE [STEP]: the trace has each interrupt, or each STEPth, with the right values
device()
{
	text "$1" || return
	rm -f range
	awk -v queues=4 -v step="${2:-1}" -f device.awk said && cat range
}

# number KIND COLUMN: prints a column of "range"
number()
{
	awk -v kind="$1" -v n="$2" '$1 == kind { print $n }' range
}

# ---- listing ----------------------------------------------------------------

listed()
{
	tracebuf list -v 'fakedev:*' >said
	cat said
	# (a char is signed on x86 up to 6.1: from 6.2 the kernel is built with -funsigned-char)
	for l in 'C *fakedev:irq$' '^ *fakedev:done$' '^ *fakedev:frame$' '^ *fakedev:submit$' \
		's16 error *offset 2, size 2, signed$' 'u64 sequence *offset 0, size 8$' \
		'const void \* buffer *offset 24, size 8$' \
		'char unit\[16\] *offset 32, size 16,\( signed,\)\? 16 items$' \
		'u32 regs\[4\] *offset 48, size 16, 4 items$' \
		'bool urgent *offset 4, size 1$' 'u8\[\] data *offset 8, size 4, dynamic$'; do
		grep -q "$l" said || { echo "not listed: $l"; return 1; }
	done
	tracebuf list fakedev_nothing && return 1
	tracebuf list done submit
}

# At each place that asks whether an event is wanted there is an instruction that does nothing.
patched_out()
{
	objdump -d -j .text "$dir/tb_fakedev.ko" >code && objdump -r -j __jump_table "$dir/tb_fakedev.ko" >sites ||
		return
	awk '
	# the place, the target, the key: 16 bytes
	FILENAME == "sites" && $1 ~ /^[0-9a-f]+0$/ && $3 ~ /^\.text\+0x/ {
		sub(/^\.text\+0x0*/, "", $3)
		sites[$3] = 1
		n++
	}
	FILENAME == "code" && $1 ~ /^[0-9a-f]+:$/ {
		sub(/:$/, "", $1)
		if ($1 in sites) {
			print
			# nops of x86 and of arm64
			nops += /[ \t](66 90|0f 1f 44 00 00|d503201f) /
		}
	}
	END { print n " places, " nops " nops"; exit n != 4 || nops != n }' sites code
}

# ---- recording --------------------------------------------------------------

recorded()
{
	since=$(cat $fake/interrupts)
	tracebuf start -e fakedev && interrupts 300 && tracebuf save -s -o all.tbuf || return
	until=$(cat $fake/interrupts)
	device all.tbuf || return
	[ "$(number irq 4)" -ge 300 ] && [ "$(number done 4)" -ge 300 ] &&
		[ "$(number frame 4)" -ge 36 ] && [ "$(number irq 3)" -le "$until" ]
}

# An event of a thread names the thread.
in_a_thread()
{
	counted=$(cat $fake/submitted)
	tracebuf start -e fakedev:submit && echo 6 >$fake/submit && echo 7 >$fake/submit &&
		tracebuf save -s -o submit.tbuf && text submit.tbuf || return
	[ "$(cat $fake/submitted)" = $((counted + 2)) ] &&
		[ "$(grep -c "^ *[a-z_.]*-$$ .*\] \.\. .* fakedev:submit: number=[67]" said)" = 2 ] &&
		grep -q 'number=6 urgent=0' said && grep -q 'number=7 urgent=1' said
}

# ---- rules ------------------------------------------------------------------

# Every fourth event is of queue 1.
filtered()
{
	tracebuf start -e fakedev:done -f 'queue == 1 && unit ~ "fa?e*"' && interrupts 300 &&
		tracebuf save -s -o some.tbuf && device some.tbuf 4 &&
		[ "$(number done 4)" -ge 70 ] &&
		tracebuf verify some.tbuf | grep 'fakedev:done: [0-9]* by filters'
}

filtered_simple()
{
	tracebuf start -e fakedev:irq -f 'queue == 3' && interrupts 300 &&
		tracebuf save -s -o some.tbuf && device some.tbuf 4 &&
		[ "$(number irq 4)" -ge 70 ] &&
		tracebuf verify some.tbuf | grep 'fakedev:irq: [0-9]* by filters'
}

# A filter on a text of varying length.
filtered_text()
{
	tracebuf start -e fakedev:frame -f 'label ~ "even*"' && interrupts 100 || return
	if ! tracebuf save -s -o some.tbuf; then
		tracebuf status
		return 1
	fi
	text some.tbuf && grep -q 'label=even frame' said && ! grep -q label=odd said
}

# Stacks, in elements behind the event; and sampling.
with_more()
{
	tracebuf start -e fakedev:irq:stack:1/10,fakedev:done:stack -f 'queue == 0' &&
		interrupts 200 && tracebuf save -s -o more.tbuf && text more.tbuf || return
	grep -A 8 fakedev:done said | grep -q hrtimer && grep -A 8 fakedev:irq said | grep -q hrtimer
}

armed()
{
	tracebuf start -m circular -e fakedev || return
	until=$(($(cat $fake/interrupts) + 500))
	timeout 300 tracebuf arm --on "$1" -f "sequence >= $until" -P 1 -o armed.tbuf
	code=$?
	tracebuf stop
	[ $code = 0 ] && device armed.tbuf && [ "$(number irq 3)" -ge $((until - 1)) ]
}

# ---- coming and going -------------------------------------------------------

load()
{
	[ -d /sys/module/tb_fakedev ] || insmod "$dir/tb_fakedev.ko" period=1000 queues=4
}

# Events of a driver that goes stay, with their descriptions.
leaves()
{
	load && tracebuf start -e fakedev && interrupts 100 && rmmod tb_fakedev || return
	tracebuf list fakedev && return 1
	tracebuf status || return
	tracebuf save -s -o left.tbuf && device left.tbuf && [ "$(number done 4)" -ge 100 ]
}

# A driver that goes and comes back is recorded again, under the same ids.
returns()
{
	load && tracebuf start -e fakedev && interrupts 50 && rmmod tb_fakedev && load &&
		interrupts 50 && tracebuf save -s -o again.tbuf && text again.tbuf || return
	[ "$(tracebuf list -i again.tbuf 'fakedev:*' | sort | uniq -d | wc -l)" = 0 ] || return
	# the driver counts from 0 again
	awk '/ fakedev:irq: / { sub(/.*sequence=/, ""); again += n > $0 + 0; n = $0 + 0 }
		END { exit again != 1 }' said
}

# A selection stays when the driver goes, also while nothing is recorded.
chosen_before()
{
	load && tracebuf disable all && tracebuf enable fakedev && rmmod tb_fakedev &&
		tracebuf start || return
	load && interrupts 100 && tracebuf save -s -o before.tbuf && device before.tbuf || return
	# from its first interrupt on
	[ "$(number irq 2)" = 0 ]
}

# The driver is loaded and unloaded while it is recorded.
comes_and_goes()
{
	load && tracebuf start -m circular -e fakedev || return
	for i in 1 2 3 4 5 6 7 8 9 10; do
		rmmod tb_fakedev && insmod "$dir/tb_fakedev.ko" period=50 || return
	done
	rmmod tb_fakedev && load && tracebuf save -s -o often.tbuf && text often.tbuf
}

# timeless FILE: the events without times, and simple ones without the thread
timeless()
{
	sed -n -e '/ fakedev:irq/s/^ *[^ ]*//' -e '/ fakedev:/s/ [0-9.]*: / /p' "$1"
}

# Two providers have the same events, but for the time.
twice()
{
	load && tracebuf provider create second -e fakedev:done,fakedev:frame,fakedev:irq &&
		tracebuf start -e fakedev && tracebuf start -p second && interrupts 300 &&
		tracebuf stop -p second && tracebuf save -s -o one.tbuf &&
		tracebuf save -p second -o two.tbuf && device one.tbuf || return
	timeless said | sort >one
	device two.tbuf || return
	timeless said | sort >two
	# the second began later and ended sooner: the other one has all its events
	comm -13 one two >more
	cat more
	[ "$(wc -l <two)" -ge 300 ] && [ ! -s more ]
}

# Each provider has rules of its own.
twice_filtered()
{
	tracebuf enable -p second fakedev:irq,fakedev:done,fakedev:frame -f 'queue == 0' &&
		tracebuf start -e fakedev &&
		tracebuf start -p second && interrupts 200 && tracebuf stop -p second &&
		tracebuf save -s -o one.tbuf && tracebuf save -p second -o two.tbuf &&
		device one.tbuf && device two.tbuf 4
}

# ---- handlers ---------------------------------------------------------------

# Threads that sleep and are waited for: CPUs switch to them, to idle and to kernel threads
switches()
{
	for i in $(seq 20); do
		sleep 0.01
	done
}

# counted FILE BEFORE: tb_veto has counted beyond BEFORE, after some switches
counted()
{
	switches
	[ "$(cat "$veto/$1")" -gt "$2" ]
}

# No event of kernel threads is left, and the missing ones are counted.
vetoed()
{
	insmod "$dir/tb_veto.ko" events=sched:sched_switch && tracebuf start -e sched:sched_switch &&
		until_it counted kept_out 0 && tracebuf save -s -o veto.tbuf && text veto.tbuf || return
	kept_out=$(cat $veto/kept_out) seen=$(cat $veto/seen)
	echo "$kept_out of $seen kept out"
	[ "$kept_out" -gt 0 ] && [ "$seen" -gt "$kept_out" ] &&
		! grep -E '^ *(<idle>|swapper|kworker|rcu_|ksoftirqd|migration)[^ ]*-[0-9]+ .*sched_switch' said &&
		tracebuf verify veto.tbuf | grep "sched:sched_switch: $kept_out by a module"
}

# The same for compact events. The handler is not called for events that a filter rejects.
vetoed_compact()
{
	before=$(cat $veto/kept_out)
	tracebuf start -e sched:sched_switch && until_it counted kept_out "$before" &&
		tracebuf save -s -o veto.tbuf &&
		tracebuf verify veto.tbuf |
		grep "sched:sched_switch: $(($(cat $veto/kept_out) - before)) by a module" || return
	before=$(cat $veto/seen)
	tracebuf start -e sched:sched_switch -f 'next_pid == -5' && switches && tracebuf stop &&
		[ "$(cat $veto/seen)" = "$before" ]
}

unhandled()
{
	rmmod tb_veto && tracebuf start -e sched:sched_switch && switches &&
		tracebuf save -s -o veto.tbuf && text veto.tbuf &&
		! tracebuf verify veto.tbuf | grep 'by a module' &&
		grep -E '^ *(<idle>|swapper)' said >/dev/null
}

# The handler is there before the events are, and goes while they are recorded.
vetoed_later()
{
	load && rmmod tb_fakedev && insmod "$dir/tb_veto.ko" 'events=fakedev:*' && load &&
		tracebuf start -e fakedev && echo 5 >$fake/submit && interrupts 100 || return
	before=$(cat $veto/seen)
	rmmod tb_veto || return
	interrupts 100 && tracebuf save -s -o later.tbuf && text later.tbuf || return
	[ "$before" -ge 200 ] && grep -q 'fakedev:submit: number=5' said &&
		tracebuf verify later.tbuf | grep 'fakedev:done: [0-9]* by a module' &&
		[ "$(grep -c fakedev:done: said)" -ge 100 ]
}

# ---- kprobe -----------------------------------------------------------------

probed()
{
	insmod "$dir/tb_kprobe.ko" symbol=vfs_read && tracebuf start -e kprobe || return
	for i in 1 2 3 4 5 6 7 8 9 10; do
		cat /proc/version >/dev/null
	done
	tracebuf save -s -o probe.tbuf && text probe.tbuf || return
	# each call of cat reads the file whole, then its end
	awk -v bytes="$(cat /proc/version | wc -c)" '
	/kprobe:entry:/ && $1 ~ /^cat-/ { n++; bad += !/ args=\[0x[0-9a-f]+,/ || !/symbol=vfs_read/ }
	/kprobe:return:/ && $1 ~ /^cat-/ {
		for (i = 1; i <= NF; i++) {
			if ($i == "value=" bytes)
				whole++
			if ($i ~ /^duration=/ && substr($i, 10) + 0 <= 0)
				bad++
		}
		m++
	}
	END { print n, m, whole, bad; exit n < 20 || m < 20 || whole != 10 || bad }' said || return
	tracebuf start -e kprobe:return -f 'value < 0' && cat / 2>/dev/null
	tracebuf save -s -o probe.tbuf && text probe.tbuf && grep -q 'value=-21' said &&
		! grep -q 'value=[0-9]' said && rmmod tb_kprobe
}

not_probed()
{
	insmod "$dir/tb_kprobe.ko" symbol=no_such_function
}

plan 22
if [ ! -e "$dir/tb_fakedev.ko" ]; then
	t=1
	while [ $t -le 22 ]; do
		skip "driver $t" "no tb_fakedev.ko: make samples"
		t=$((t + 1))
	done
	finish
fi
insmod "$TRACEBUF_KO"
load
check "events of a driver are listed" listed
if command -v objdump >/dev/null; then
	check "an event nobody wants costs a nop" patched_out
else
	skip "an event nobody wants costs a nop" "no objdump"
fi
check "what is recorded is what happened" recorded
check "an event of a thread says so" in_a_thread
check "filters on fields" filtered
check "filters on fields of a simple event" filtered_simple
check "filters on a dynamic field" filtered_text
check "stacks and sampling" with_more
check "a trigger" armed fakedev:done
check "a trigger that is a simple event" armed fakedev:irq
check "a driver goes while it is recorded" leaves
check "it comes again, with the same numbers" returns
check "it is chosen before it comes" chosen_before
check "it comes and goes" comes_and_goes
check "two providers" twice
check "two providers, one with rules" twice_filtered
tracebuf provider destroy second
check "a handler keeps events out, and they are counted" vetoed
check "it does without the wide form being asked for, and after filters" vetoed_compact
check "a handler that is gone keeps nothing out" unhandled
check "a handler of events that come later" vetoed_later
if [ -e "$dir/tb_kprobe.ko" ]; then
	check "any function" probed
	refuse "a function that is not there" not_probed
else
	skip "any function" "this kernel has no kretprobes"
	skip "a function that is not there" "this kernel has no kretprobes"
fi
rmmod tb_fakedev
rmmod tracebuf
cd /
rm -rf "$tmp"
finish
