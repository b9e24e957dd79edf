#!/bin/sh
# SPDX-License-Identifier: GPL-2.0-only
#
# hostile.sh - a user runs the installed tracebuf and gives it libraries to load. If this fails,
# the library of any user gets the capability that only tracebuf-open may have.
#
#   hostile.sh member|stranger|loads [COMMAND...]
#
# guest.sh runs it in the system, as the user. member: one of the group tracebuf, who records;
# stranger: another one, who must not. The script runs every command of tracebuf, or only COMMAND...
# loads: only see that Babeltrace does load the libraries, without a capability.
# /srv/hostile has the libraries, which guest.sh makes of hostile.c, and a trace.

set -u

who=$1
shift
files=/srv/hostile
log=$files/log
trace=$files/kernel.tbuf
zero=0000000000000000
plugins=$HOME/.local/lib/babeltrace2/plugins
bad=0

mkdir -p "$plugins" && cp "$files/preload.so" "$plugins/home.so" || exit 1
work=$(mktemp -d "$HOME/hostile.XXXXXX") && cd "$work" || exit 1

wrong()
{
	echo "$@"
	bad=1
}

# hostile COMMAND...: runs with all that may make a program load a library
hostile()
{
	: >"$log"
	timeout 300 env LD_PRELOAD="$files/preload.so" LD_LIBRARY_PATH="$files/libraries" \
		BABELTRACE_PLUGIN_PATH="$files/plugins" \
		LIBBABELTRACE2_PLUGIN_PROVIDER_DIR="$files/provider" "$@" >said 2>&1 </dev/null
}

# loaded LIBRARY PROGRAM: PROGRAM has loaded it
loaded()
{
	grep -Eq "^[^ ]*/($1) ($2) " "$log"
}

no_capability()
{
	! grep -v " $zero $zero $zero\$" "$log"
}

# attack PROGRAM WANT COMMAND [ARGUMENT...]: the command runs with every library, and none gets a
# capability. A program with one would not load preload.so: the loader does not let it.
attack()
{
	program=$1 want=$2
	shift 2
	hostile tracebuf "$@"
	code=$?
	case $want in
	fine) [ $code = 0 ] ;;
	refused) [ $code != 0 ] && [ $code -lt 124 ] ;;
	any) [ $code -lt 124 ] ;;
	esac || { wrong "tracebuf $* ended with $code, and should be $want:"; tail -n 5 said; }
	for library in preload.so libzstd.so.1; do
		loaded $library "$program" ||
			wrong "tracebuf $*: $program did not load $library: has it a capability?"
	done
	no_capability || wrong "tracebuf $*: a library has a capability"
	! loaded 'home.so|path.so|.*provider.so' '[^ ]*tracebuf[^ ]*' ||
		wrong "tracebuf $*: a plugin of the user was loaded"
}

# The commands in an order in which they succeed. The first word names the program that has the
# command. The second says what it does: it opens the device, which only a member may; it only reads
# what all may read; or it may fail.
table()
{
	cat <<-TABLE
		recorder opens record -q -e sched -o t.tbuf -- ls /
		recorder opens start -m circular -e sched,user
		recorder opens status
		recorder opens mark hello
		recorder opens list
		recorder opens enable irq
		recorder opens disable irq
		recorder opens flush
		recorder opens snapshot -o snapshot.tbuf
		recorder opens arm -e sched:sched_switch --post 0 -o armed.tbuf
		recorder opens stop
		recorder opens save -o saved.tbuf
		recorder opens provider create hostile
		recorder opens provider destroy hostile
		recorder reads list -i $trace
		tools opens top --batch -n 1
		tools reads export --format ctf -o ctf $trace
		tools reads export --format text -o - $trace
		tools reads print $trace
		tools reads report $trace
		tools reads query $trace cpu
		tools reads why $trace
		tools reads diff $trace $trace
		tools reads verify -q $files/user.tbuf
		tools reads flamegraph -o flame.svg $trace
		tools reads pack -o packed.tbz $trace
		tools reads unpack -o unpacked.tbuf packed.tbz
		tools may recover -o recovered.tbuf $trace
	TABLE
}

commands()
{
	tracebuf -h >help || return
	sed -n '/^  tracebuf /d; s/^  \([a-z]*\) .*/\1/p' help
}

# attack_all [COMMAND...]
attack_all()
{
	table >lines
	for command in $(commands); do
		grep -q "^[a-z]* [a-z]* $command\( \|\$\)" lines ||
			wrong "tracebuf $command is not in the table of hostile.sh"
	done
	[ "$(commands | wc -l)" -ge 25 ] || wrong "only these commands were found: $(commands)"
	while read -r program does command arguments; do
		case " ${*:-$command} " in *" $command "*) ;; *) continue ;; esac
		case $program in
		recorder) program=/usr/bin/tracebuf ;;
		tools) program=/usr/libexec/tracebuf/tracebuf-tools ;;
		esac
		case $does-$who in
		may-*) want=any ;;
		opens-stranger) want=refused ;;
		*) want=fine ;;
		esac
		# shellcheck disable=SC2086
		attack $program $want $command $arguments
	done <lines
}

# Commands that last are looked at from outside, without any library.
# waits NAME COMMAND...: the process NAME that tracebuf COMMAND... becomes has no capability
waits()
{
	name=$1 tries=0
	shift
	tracebuf "$@" >/dev/null 2>&1 3>&- &
	pid=$!
	until grep -q "^Name:[[:space:]]*$name\$" "/proc/$pid/status" || [ $tries -ge 600 ]; do
		tries=$((tries + 1))
		sleep 0.1
	done
	grep '^Name\|^Cap[PEA]' "/proc/$pid/status" >status
	kill "$pid"
	wait "$pid" 2>/dev/null
	grep -q "^Name:[[:space:]]*$name\$" status &&
		[ "$(grep -c "^Cap[PEA].*:[[:space:]]*$zero\$" status)" = 3 ] && return
	wrong "tracebuf $*, while it waits:"
	cat status
}

waiting()
{
	mkfifo pipe || exit 1
	exec 3<>pipe
	for command in "print pipe" "report pipe" "query pipe cpu" "why pipe" "verify pipe" \
		"diff $trace pipe" "flamegraph pipe" "export --format text -o - pipe" \
		"export --format ctf -o waits.ctf pipe"; do
		# shellcheck disable=SC2086
		waits tracebuf-tools $command
	done
	waits tracebuf list -i pipe
	exec 3>&-
	[ "$who" = member ] || return
	waits tracebuf-tools top --batch
	# record and its command
	# shellcheck disable=SC2016
	tracebuf record -q -e sched -o waits.tbuf -- \
		sh -c 'cat /proc/$PPID/status /proc/self/status' >status
	[ "$(grep -c "^Cap[PEA].*:[[:space:]]*$zero\$" status)" = 6 ] && return
	wrong "tracebuf record, or its command:"
	cat status
}

# Even if a user calls it by hand, the helper loads nothing. (88: it has no socket. With the
# library libc.so.6 of the user, which is not one, it would not come so far.)
helper()
{
	LD_AUDIT=$files/preload.so hostile env LD_LIBRARY_PATH="$files/libc:$files/libraries" \
		/usr/libexec/tracebuf/tracebuf-open
	code=$?
	[ "$code" = 88 ] || wrong "tracebuf-open ended with $code"
	! grep tracebuf-open "$log" || wrong "tracebuf-open has loaded a library"
}

babeltrace()
{
	hostile babeltrace2 list-plugins || { wrong "babeltrace2 failed:"; tail -n 5 said; }
	for library in preload.so home.so path.so babeltrace2-python-plugin-provider.so; do
		loaded $library '[^ ]*babeltrace2[^ ]*' || wrong "babeltrace2 did not load $library"
	done
	no_capability || wrong "a library has a capability"
}

case $who in
loads) babeltrace ;;
*)
	attack_all "$@"
	[ $# = 0 ] && waiting
	[ $# = 0 ] && [ "$who" = member ] && helper
	;;
esac
cd / && rm -rf "$work"
exit $bad
