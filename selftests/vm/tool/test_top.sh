#!/bin/sh
# SPDX-License-Identifier: GPL-2.0-only
#
# test_top.sh - tracebuf top in a terminal (tmux), at 80x24 and 200x50, and as text: a busy task is
# on top, keys work, losses are counted; however top ends, the terminal is as before and its
# provider is gone. If this fails, the table misleads, or a terminal is left broken.

# Functions are called by way of check.
# shellcheck disable=SC2317
here=$(cd "$(dirname "$0")" && pwd)
# shellcheck source=selftests/vm/lib/ktap.sh
. "$here/../lib/ktap.sh"
# shellcheck source=selftests/vm/lib/said.sh
. "$here/../lib/said.sh"
tmp=$(mktemp -d) || exit 1
cd "$tmp" || exit 1
# /tmp of the guest has no folder for tmux yet
TMUX_TMPDIR=$tmp
export TMUX_TMPDIR
SHELL=/bin/sh
export SHELL

# A task that only runs, under a name of its own. It is nice, because it slows down the tools that
# look at the screen.
cat >hog <<'END'
#!/bin/sh
while :; do :; done
END
chmod +x hog
nice -n 10 ./hog &
hog=$!

no_provider()
{
	! tracebuf provider list | grep -q ' top-'
}

# ---- as text ----------------------------------------------------------------

# first FILE: prints %CPU and the name in the first line of each table
first()
{
	awk '/ TID +PID/ && getline > 0 { print $3, $NF }' "$1"
}

hog_was_first()
{
	first said | grep ' hog$'
}

# A slow host may give the hog little time in any one interval: wait for one in which it is first.
batch()
{
	tracebuf top --batch --delay 500ms >said 2>&1 &
	pid=$!
	until_it hog_was_first
	seen=$?
	kill -INT "$pid"
	wait "$pid" || return
	cat said
	[ "$seen" = 0 ] && first said | awk '$1 < 0 || $1 > 101 { exit 1 }' || return
	status 0 tracebuf top --batch -n 3 --delay 500ms || return
	[ "$(grep -c '^tracebuf top ' said)" = 3 ] && no_provider
}

views()
{
	for view in events irqs latency cpus; do
		status 0 tracebuf top --batch -n 1 --view "$view" || return
		case $view in
		events) says ' sched:sched_switch$' ;;
		irqs) says ' softirq TIMER$' ;;
		latency) says ' [mu]s \.\. ' ;;
		cpus) says ' hog$' ;;
		esac || return
	done
	status 0 tracebuf top --batch -n 1 --view calls && says "no system calls are recorded: 'tracebuf top --syscalls' does" || return
	status 0 tracebuf top --batch -n 1 --syscalls --view calls --sort calls && says '^ *[0-9]* .* [a-z_0-9]*$' && says ' calls$'
}

chosen()
{
	status 0 tracebuf top --batch -n 2 --filter hog || return
	lines 0 ' tracebuf$' said && says ' hog$' || return
	status 0 tracebuf top --batch -n 1 --sort command -a || return
	awk '/ TID +PID/ { on = 1; next } on { print $NF }' said >names
	[ "$(wc -l <names)" -gt 2 ] && LC_ALL=C sort -c names
}

wrong()
{
	status 1 tracebuf top && says "standard output is no terminal" || return
	status 2 tracebuf top --batch --view nonsense && says "there is no view 'nonsense'; there are tasks, events" || return
	status 2 tracebuf top --batch --sort nonsense && says "has no column 'nonsense'" || return
	status 2 tracebuf top --batch --delay 1ms && says 'not a time from 100ms' || return
	status 1 tracebuf top --batch -e sched_swich && says 'did you mean' && no_provider || return
	status 1 tracebuf top --batch -p nonsense && says "there is no provider 'nonsense'" || return
	status 1 tracebuf top --batch -p kernel && says "'kernel' is not recording"
}

# A thread that has had a CPU to itself since before the recording has no events. top sends a thread
# of its own to each CPU, so that the CPU switches.
visited()
{
	# shellcheck disable=SC2016
	tracebuf record -q -e sched_switch -o visits -- \
		sh -c 'echo $$ >pid; exec tracebuf top --batch -n 3 >top' || return
	tracebuf print -v --jsonl visits >visits.jsonl || return
	python3 -S - "$(cat pid)" "$(nproc)" <<'END'
import json, sys
top, cpus = map(int, sys.argv[1:])
been = {}
for line in open("visits.jsonl"):
    event = json.loads(line)
    if event.get("pid") == top and event["tid"] != top:
        been.setdefault(event["tid"], set()).add(event["cpu"])
print(been)
sys.exit(not any(len(on) == cpus for on in been.values()))
END
}

# With far too few buffers top shows how many events are lost.
losses()
{
	dd if=/dev/zero of=/dev/null bs=1 2>/dev/null &
	calls=$!
	tracebuf top --batch -n 4 --delay 500ms --syscalls --buffers 2 --elements 64 >said 2>&1
	kill "$calls"
	cat said
	# on a slow host the line also says how far top is behind
	says 'lost: [1-9][0-9]* in this interval, [1-9][0-9]* in all' || return
	status 0 tracebuf top --batch -n 1 && says '^lost: none$\|behind; lost: 0 in this interval, 0 in all$'
}

# top looks at a recording that runs already, and leaves it running.
other()
{
	tracebuf provider create watched -e sched_switch -b 32 && tracebuf start -p watched || return
	tracebuf top --batch -n 2 --delay 300ms -p watched >said 2>&1
	code=$?
	cat said
	says ' hog$' && tracebuf provider show watched | grep -q '^state *running'
	on=$?
	tracebuf stop -p watched
	tracebuf provider destroy watched
	[ "$code" = 0 ] && [ "$on" = 0 ]
}

# top changes nothing in other recordings.
beside()
{
	tracebuf provider create watched -m circular -e sched_switch -b 16 && tracebuf start -p watched || return
	tracebuf provider show watched | sed '/^ *[0-9a]/d; /^durable/d' >before
	tracebuf top --batch -n 1 >said 2>&1
	tracebuf provider show watched | sed '/^ *[0-9a]/d; /^durable/d' >after
	tracebuf stop -p watched
	tracebuf provider destroy watched
	cmp before after
}

# top reads a stream from a pipe.
stream()
{
	# the hog may have its CPU to itself: make the CPU switch
	while :; do
		for cpu in $(seq 0 $(($(nproc) - 1))); do
			taskset -c "$cpu" true
		done
	done &
	visitor=$!
	tracebuf record -o - -d 2 --flush-ms 100 -e sched 2>/dev/null |
		tracebuf top --batch -i - >said 2>&1
	kill "$visitor"
	wait "$visitor" 2>/dev/null
	cat said
	says ' hog$' && says 'standard input'
}

# When its pipe closes or a signal ends it, top leaves nothing behind.
batch_ends()
{
	tracebuf top --batch --delay 200ms | head -n 3 || return
	until_it no_provider || return
	for signal in INT TERM HUP KILL; do
		tracebuf top --batch --delay 200ms >said 2>&1 &
		pid=$!
		until_it grep -q hog said || return
		kill -"$signal" "$pid"
		wait "$pid"
		code=$?
		echo "$signal: $code"
		until_it no_provider || return
		[ "$signal" = KILL ] || [ "$code" = 0 ] || return
	done
}

# ---- in a terminal ----------------------------------------------------------

# Each test has a server of its own: a server takes its time to end.
turn=0
tm()
{
	tmux -L "top$turn" -f /dev/null "$@"
}

new_terminal()
{
	[ "$turn" = 0 ] || tm kill-server 2>/dev/null
	turn=$((turn + 1))
	tm new-session -d -x "$1" -y "$2" -s top 'PS1="ready> " exec sh' && shows '^ready>'
}

screen()
{
	tm capture-pane -p -t top >screen
}

on_screen()
{
	screen
	grep -q -e "$1" screen
}

# shows PATTERN: waits until a line of the screen has PATTERN
shows()
{
	until_it on_screen "$1" && return
	cat screen
	return 1
}

key()
{
	tm send-keys -t top "$@"
}

# begin COLUMNS ROWS OPTIONS...: starts top in a new terminal
begin()
{
	columns=$1 rows=$2
	shift 2
	rm -f before after
	new_terminal "$columns" "$rows" || return
	key "stty -a >$tmp/before; clear" Enter
	until_it test -s before || return
	key "tracebuf top --delay 300ms $*" Enter
	shows ' hog$'
}

# top has ended, and the terminal is as before.
ended()
{
	shows 'ready> *$' || return
	key "clear; stty -a >$tmp/after; echo done" Enter
	shows '^done' || return
	cmp before after && until_it no_provider || return
	# the cursor is visible, and the screen from before is back
	[ "$(tm display-message -p -t top '#{cursor_flag} #{alternate_on}')" = '1 0' ]
}

# fits COLUMNS ROWS: title, head and keys are in their places
fits()
{
	screen
	awk -v columns="$1" -v rows="$2" '
	length($0) > columns { print "too long: " $0; bad = 1 }
	NR == 1 && !/^tracebuf top / { print "no title: " $0; bad = 1 }
	/^ *TID .* COMMAND$/ { head = 1 }
	/h help, q quit/ { keys = NR }
	END {
		if (!head || keys != rows || NR != rows)
			print NR " lines, head " head ", keys in line " keys
		exit bad || !head || keys != rows || NR != rows
	}' screen
}

# The screen may be drawn by half: try again.
come_to_fit()
{
	until_it fits "$@" && return
	fits "$@"
	cat screen
	return 1
}

top_of_screen()
{
	screen
	# shellcheck disable=SC2046
	set -- $(first screen)
	[ "${2:-}" = hog ]
}

size()
{
	begin "$1" "$2" && come_to_fit "$1" "$2" && until_it top_of_screen && shows '^  0 \[.*|.*\]' || return
	cat screen
	key q
	ended
}

# ordered COLUMN OPTION: two lines or more, sorted by the column
ordered()
{
	screen
	awk '/TID .*COMMAND$/ { on = 1; next } on && /^ *[0-9]/ { print $'"$1"' }' screen >column
	[ "$(wc -l <column)" -ge 2 ] && sort "$2" -c column 2>/dev/null
}

keys()
{
	begin 80 24 || return
	key N
	shows ' \*TID ' && until_it ordered 1 -n || return
	key R
	shows ' ^TID ' && until_it ordered 1 -rn || return
	key T
	shows ' \*TIME ' && until_it ordered 4 -rn || return
	key '>'
	shows ' \*RUN ' || return
	key P
	until_it top_of_screen || return
	key f
	shows '^filter: _' || return
	key HO Enter
	shows "only 'HO'" && shows ' hog$' || return
	screen
	lines 0 ' tracebuf$' screen || return
	key Escape
	shows ' tracebuf$' || return
	key 2
	shows ' sched:sched_switch$' || return
	key Tab
	shows ' HANDLER$' || return
	key h
	shows '^tracebuf top: keys' || return
	key x
	shows ' HANDLER$' || return
	key d
	shows '^seconds: _' || return
	key 200ms Enter
	shows ', every 0.2 s' || return
	key +
	shows ', every 0.4 s' || return
	key d
	key nonsense Enter
	shows "'nonsense' is not a time" || return
	key q
	ended
}

# view NUMBER: presses the key, and waits until the last line names the view
view()
{
	key "$1" && shows "\[$1 [a-z]*\]"
}

# A pause keeps the picture while the recording goes on. top looks for keys every 100 ms, which is
# also the interval: at least one interval ends while top handles three keys, one after the other.
pause()
{
	begin 80 24 --delay 100ms || return
	key p
	shows '^tracebuf top  [0-9:]* PAUSED' && view 2 && view 1 || return
	screen
	cp screen paused
	for number in 2 5 6 1; do
		view "$number" || return
	done
	until_it same_as_paused || return
	key p
	until_it changed || return
	key q
	ended
}

same_as_paused()
{
	screen
	cmp paused screen
}

changed()
{
	screen
	! cmp -s paused screen
}

resize()
{
	begin 80 24 || return
	tm resize-window -t top -x 120 -y 40
	come_to_fit 120 40 || return
	tm resize-window -t top -x 80 -y 10
	come_to_fit 80 10 || return
	tm resize-window -t top -x 20 -y 3
	shows '^tracebuf top' || return
	tm resize-window -t top -x 80 -y 24
	come_to_fit 80 24 || return
	key C-c
	ended
}

# However top is killed, the terminal is as before, and the provider is gone.
killed()
{
	for signal in TERM QUIT HUP KILL; do
		begin 80 24 || return
		pid=$(tracebuf provider list | sed -n 's/.* top-\([0-9]*\) .*/\1/p')
		[ -n "$pid" ] || return
		kill -"$signal" "$pid"
		echo "$signal"
		# the shell printed its prompt before the terminal was restored
		if [ "$signal" = KILL ]; then
			until_it no_provider && key Enter || return
		fi
		ended || { cat screen; return 1; }
	done
	# the terminal is closed
	begin 80 24 || return
	tm kill-server
	until_it no_provider
}

stopped()
{
	begin 80 24 || return
	key C-z
	shows 'ready> *$' || return
	key fg Enter
	shows ' hog$' || return
	key q
	ended
}

no_type()
{
	new_terminal 100 24 || return
	key "TERM=nonsense tracebuf top" Enter
	shows "nothing is known of terminals of type 'nonsense'" && until_it no_provider
}

insmod "$TRACEBUF_KO"
plan 19
check "text: the busy task is first, with what a CPU has" batch
check "each CPU changes over when it begins" visited
check "text: events, interrupts, calls, latency, CPUs" views
check "text: filter and order" chosen
check "errors are explained, and leave nothing" wrong
check "losses are counted" losses
check "a recording that is there is looked at, and stays" other
check "another recording does not notice" beside
check "a stream" stream
check "text: however it ends, nothing stays" batch_ends
if command -v tmux >/dev/null; then
	check "80 columns, 24 lines" size 80 24
	check "200 columns, 50 lines" size 200 50
	check "keys: order, filter, views, help, interval" keys
	check "keys: pause" pause
	check "another size" resize
	check "killed: the terminal is as it was" killed
	check "suspended and taken up again" stopped
	check "a terminal of unknown type" no_type
	tm kill-server 2>/dev/null
else
	for t in 80x24 200x50 keys pause size killed suspended unknown; do
		skip "in a terminal: $t" "no tmux here: run scripts/setup"
	done
fi
kill "$hog"
check "no provider is left" no_provider
finish
