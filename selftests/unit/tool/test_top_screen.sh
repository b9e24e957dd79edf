#!/bin/sh
# SPDX-License-Identifier: GPL-2.0-only
#
# In a terminal "tracebuf top" shows the right figures, keys work, and every way to end restores the
# terminal. If this fails, the table misleads, or the user's shell no longer shows typed letters.
# tmux is the terminal, a recorded stream the input; selftests/vm/tool/test_top.sh tests the device.
#
# top_trace.c makes the stream. The test feeds it in parts of 10 ms while it waits for the screen,
# so that no result depends on the host's speed.
#
# Needs: TRACEBUF (the tool), TOP_TRACE (top_trace.c), tmux.

# shellcheck disable=SC2317
export LC_ALL=C SHELL=/bin/sh
here=$(cd "$(dirname "$0")" && pwd)
# shellcheck source=selftests/vm/lib/ktap.sh
. "$here/../../vm/lib/ktap.sh"
TRACEBUF=$(command -v "${TRACEBUF:-tracebuf}")
TOP_TRACE=${TOP_TRACE:-top_trace}
for need in "$TRACEBUF" "$TOP_TRACE" tmux; do
	command -v "$need" >/dev/null && continue
	echo "1..0 # SKIP needs $need"
	exit 0
done
dir=$(mktemp -d) || exit 1
turn=0
trap 'tm kill-server 2>/dev/null; rm -rf "$dir" "$output"' EXIT
cd "$dir" || exit 1
export TMUX_TMPDIR="$dir"
unset TMUX

PARTS=2000
mkdir parts && "$TOP_TRACE" parts $PARTS || exit 1
# the script top writes its process ID to the file pid before it runs top
cat >top <<TOP
#!/bin/sh
echo \$\$ >pid
exec "$TRACEBUF" top --delay 100ms "\$@"
TOP
chmod +x top

# ---- the stream ----

new_stream()
{
	exec 3>&-
	rm -f stream
	mkfifo stream
	# this shell opens the FIFO for reading as well, so that it does not wait for top
	exec 3<>stream
	cat parts/begin >&3
	fed=0 feeding=yes
}

# parts FIRST COUNT: print the names of COUNT parts
parts()
{
	seq -f 'parts/%.0f' "$1" $(($1 + $2 - 1))
}

# feed COUNT: write COUNT parts; fails if no program reads the FIFO
feed()
{
	# shellcheck disable=SC2046
	timeout 60 cat $(parts $((fed + 1)) "$1") >&3 && fed=$((fed + $1))
}

# until_it COMMAND...: repeat until it succeeds, at most 60 s; feed the stream meanwhile
until_it()
{
	give_up=$(($(date +%s) + 60))
	until "$@" >/dev/null 2>&1; do
		[ "$(date +%s)" -lt "$give_up" ] || { echo "never: $*"; return 1; }
		[ "$feeding" = no ] || [ "$fed" -ge "$PARTS" ] || feed 1 || return
		sleep 0.02
	done
}

# ---- the terminal ----

tm()
{
	tmux -L "top$turn" -f /dev/null "$@"
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

# shows PATTERN: wait until the screen has such a line
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

# Each terminal has its own tmux server, because an earlier server may take long to end
new_terminal()
{
	[ "$turn" = 0 ] || tm kill-server 2>/dev/null
	turn=$((turn + 1)) feeding=no
	tm new-session -d -x "$1" -y "$2" -s top 'PS1="ready> " exec sh' || return
	shows '^ready>' || return
	rm -f before after pid
	key "stty -a >before; clear" Enter
	until_it test -s before
}

# begin COLUMNS ROWS [COMMAND]
begin()
{
	new_terminal "$1" "$2" || return
	new_stream
	key "${3:-./top -i - <stream}" Enter
	shows ' hog$'
}

# cursor_flag 1: the cursor is visible; alternate_on 0: the shell's screen is back
given_back()
{
	[ "$(tm display-message -p -t top '#{cursor_flag} #{alternate_on}')" = '1 0' ]
}

# ended STATUS: top has exited with STATUS, and the terminal is as before
ended()
{
	feeding=no
	shows 'ready> *$' || return
	# the shell in the terminal expands the variables
	# shellcheck disable=SC2016
	key 'status=$?; clear; stty -a >after; echo "status: $status"' Enter
	shows "^status: $1\$" || return
	cmp before after && until_it given_back
}

# fits COLUMNS ROWS: title, head and keys are at their places
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

# the screen may show half of a picture for a moment
come_to_fit()
{
	until_it fits "$@" && return
	fits "$@"
	cat screen
	return 1
}

# order_is NAMES: the table has these tasks, in this order
order_is()
{
	screen
	names=$(awk '/TID .*COMMAND$/ { on = 1; next } on && /^ *[0-9]/ { print $NF }' screen |
		paste -sd ' ')
	[ "$names" = "$1" ]
}

order()
{
	until_it order_is "$1" && return
	cat screen
	return 1
}

# view NUMBER: press the key, and wait until the last line names the view
view()
{
	key "$1" && shows "\[$1 [a-z]*\]"
}

# ---- tests ----

# In each interval hog runs for 80 %, late and other for 10 %. CPU 0 is busy for 90 %
size()
{
	begin "$1" "$2" && come_to_fit "$1" "$2" && order 'hog late other' || return
	shows ' 101  *100  *80\.0 .* hog$' && shows ' 102  *102  *10\.0 .* 2000 .* late$' || return
	shows '^  0 \[|* *\]  90\.0 .* 1 \[|* *\]  10\.0 ' && shows '^wait: 50 % 2\.0 ms' || return
	shows '^lost: none$' && shows ', 3 tasks, standard input$' || return
	key q
	ended 0
}

keys()
{
	begin 80 24 || return
	key N
	shows ' \*TID ' && order 'hog late other' || return
	key R
	shows ' ^TID ' && order 'other late hog' || return
	key W
	shows ' \*WAIT ' && order 'late hog other' || return
	key T
	shows ' \*TIME ' && order 'hog late other' || return
	key '>'
	shows ' \*RUN ' || return
	key '<'
	shows ' \*TIME ' || return
	key o
	shows '^column: _' || return
	key com Enter
	shows ' \*COMMAND$' && order 'hog late other' || return
	key P
	shows '\*%CPU' || return
	key f
	shows '^filter: _' || return
	key HO Enter
	shows "only 'HO'" && order hog || return
	key Escape
	order 'hog late other' || return
	key Down
	order 'hog late other' || return
	view 2 && shows ' sched:sched_switch$' || return
	key Tab
	shows ' HANDLER$' && shows '^no interrupts are recorded$' || return
	view 4 && shows '^no system calls are recorded' || return
	view 5 && shows ' 1\.049 ms \.\. 2\.097 ms ##*$' || return
	view 6 && shows '^   0   90\.0   10\.0 ' || return
	view 7 && shows '^     3  100\.0 .* ?$' || return
	key h
	shows '^tracebuf top: keys' || return
	key x
	shows ' CONTAINER$' || return
	view 1 || return
	key d
	shows '^seconds: _' || return
	key 200ms Enter
	shows ', every 0.2 s' || return
	key +
	shows ', every 0.4 s' || return
	key -
	shows ', every 0.2 s' || return
	key d
	key nonsense Enter
	shows "'nonsense' is not a time" || return
	key z
	shows '^h shows the keys' || return
	key q
	ended 0
}

# When the test stops feeding, top shows tasks only after the key "a"
all()
{
	begin 80 24 || return
	feeding=no
	shows '^nothing has happened' || return
	key a
	order 'hog late other' || return
	key a
	shows '^nothing has happened' || return
	key q
	ended 0
}

same_as_paused()
{
	screen
	cmp paused screen
}

# time_is SECONDS: the TIME of hog is at least that
time_is()
{
	screen
	awk -v least="$1" '$NF == "hog" && $4 >= least { found = 1 } END { exit !found }' screen
}

not_paused()
{
	! on_screen PAUSED
}

# feed returns when top has read more than a pipe holds. Then top handles the keys, one every
# 100 ms, which is also its interval. So at least one interval ends during three keys, and a top
# that did not pause would have drawn another picture. At the end TIME includes what top read then.
pause()
{
	begin 80 24 || return
	key p
	shows '^tracebuf top  [0-9:]* PAUSED' || return
	feeding=no
	view 2 && view 1 || return
	screen
	cp screen paused
	feed 100 || return
	for number in 2 5 6 1; do
		view "$number" || return
	done
	until_it same_as_paused || { diff paused screen; return 1; }
	key N
	shows ' \*TID ' && shows ' PAUSED' || return
	key p
	feeding=yes
	until_it time_is 0.8 && until_it not_paused || return
	key q
	ended 0
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
	come_to_fit 80 24 && order 'hog late other' || return
	key C-c
	ended 0
}

gone()
{
	# A zombie has closed its files. /proc/PID/exe disappears earlier
	! grep -q '^State:.[^ZX]' "/proc/$1/status"
}

# A helper process restores the terminal when top is killed. It must do so in one write: other
# programs write to the terminal at the same time, and here one does so without a pause.
killed_beside_a_writer()
{
	begin 80 24 || return
	tty=$(tm display-message -p -t top '#{pane_tty}')
	sh -c 'while printf x; do :; done' >"$tty" &
	writer=$!
	kill -KILL "$(cat pid)"
	feeding=no
	until_it given_back
	status=$?
	kill "$writer"
	[ "$status" = 0 ] || return
	key Enter
	ended 137
}

killed()
{
	for signal in INT TERM QUIT HUP; do
		echo "$signal"
		begin 80 24 || return
		kill -"$signal" "$(cat pid)"
		ended 0 || { cat screen; return 1; }
	done
	for turn_of_five in 1 2 3 4 5; do
		echo "KILL $turn_of_five"
		killed_beside_a_writer || { cat screen; return 1; }
	done
	# the terminal disappears
	begin 80 24 || return
	tm kill-server
	feeding=no
	until_it gone "$(cat pid)"
}

suspended()
{
	begin 80 24 || return
	feeding=no
	key C-z
	shows 'ready> *$' && until_it given_back || return
	key 'clear; stty -a >after' Enter
	until_it test -s after && cmp before after || return
	key fg Enter
	shows '^tracebuf top ' || return
	feeding=yes
	shows ' hog$' || return
	key q
	ended 0
}

no_type()
{
	new_terminal 100 24 || return
	new_stream
	key "TERM=nonsense ./top -i - <stream" Enter
	feeding=no
	shows "nothing is known of terminals of type 'nonsense'" && ended 1
}

rounds()
{
	new_terminal 80 24 || return
	new_stream
	# the intervals may be over before this test looks at the screen
	# shellcheck disable=SC2016
	key './top -n 3 --delay 200ms -i - <stream; echo "top: $?"' Enter
	shows '^top: 0$' && ended 0
}

# ---- where stream and keys come from ----

# comes_from COMMAND: COMMAND has the stream as input, and keys come from the terminal
comes_from()
{
	begin 80 24 "$1" || return
	key f
	shows '^filter: _' || return
	key la Enter
	order late || return
	key q
	# cat ends with its next write to the broken pipe
	until_it gone "$(cat pid)" && feed 1 && ended 0
}

# A recorder appends to a file that it has just created; totals end the recording
growing()
{
	new_terminal 80 24 || return
	: >grown
	key "./top -i grown" Enter
	sleep 0.3
	# shellcheck disable=SC2046
	cat parts/begin $(parts 1 20) >>grown
	shows ' 0\.16 .* hog$' || return
	key N
	shows ' \*TID ' || return
	# shellcheck disable=SC2046
	cat $(parts 21 20) >>grown
	shows ' 0\.32 .* hog$' || return
	# the end comes after an interval without events
	sleep 0.3
	cat parts/end >>grown
	shows '^grown has ended: ' && shows ' 0\.32 .* hog$' || return
	key R
	shows ' ^TID ' && order 'other late hog' || return
	key q
	ended 0
}

# A complete trace is one interval, shown until the user quits
complete()
{
	# shellcheck disable=SC2046
	cat parts/begin $(parts 1 50) parts/end >whole
	for from in '-i whole' '-i - <whole' '-i whole </dev/null'; do
		echo "$from"
		new_terminal 80 24 || return
		key "./top $from" Enter
		shows ' has ended: ' && shows ' 80\.2  *0\.40 .* hog$' || return
		shows ' (last 0\.50 s), ' && view 6 && view 1 && order 'hog late other' || return
		key q
		ended 0 || return
	done
}

# After the end of a stream top shows the last interval until the user quits, also after a pause
stream_ends()
{
	begin 80 24 './top -i - <stream' || return
	key p
	shows PAUSED || return
	feeding=no
	feed 100 || return
	cat parts/end >&3
	exec 3>&-
	view 5 && view 6 && view 1 || return
	key N
	shows ' \*TID ' && shows PAUSED || return
	key p
	shows '^standard input has ended: ' && order 'hog late other' && time_is 0.8 || return
	key q
	ended 0
}

plan 17
check "80 columns, 24 lines" size 80 24
check "200 columns, 50 lines" size 200 50
check "keys: order, filter, views, help, interval" keys
check "keys: idle tasks" all
check "keys: pause" pause
check "another size" resize
check "killed: the terminal is as it was" killed
check "suspended and taken up again" suspended
check "a terminal of unknown type" no_type
check "a number of intervals" rounds
check "a pipe, keys from the terminal" comes_from 'cat stream | ./top -i -'
check "a FIFO by name, keys from the terminal" comes_from './top -i stream'
check "a FIFO by name, nothing on standard input" comes_from './top -i stream </dev/null'
check "no controlling terminal: keys from standard output's" \
	comes_from 'setsid -w ./top -i - <stream'
check "a file that grows" growing
check "a complete trace, until the user quits" complete
check "a stream that has ended, until the user quits" stream_ends
finish
