#!/bin/sh
# SPDX-License-Identifier: GPL-2.0-only
#
# guest.sh - the part of run.sh that runs in the guest: ROOT, a Debian with the packages installed,
# boots as far as a system in a system can, and its user records. TAP.
#
#   guest.sh ROOT FULL
#
# shellcheck disable=SC2317 # functions are called by check()

set -u
root=$1 full=$2
here=$(cd "$(dirname "$0")" && pwd -P)
# shellcheck source=selftests/unit/tap.sh
. "${here%/package}/unit/tap.sh"

check()
{
	name=$1
	shift
	"$@" >/tmp/said 2>&1 </dev/null
	code=$?
	[ $code = 0 ] || sed 's/^/# /' /tmp/said | tail -n 30
	result $code "$name"
}

# boot: its systemd is process 1 of a namespace of its own, with the machine's devices
boot()
{
	mount --bind "$root" "$root" && mount -t tmpfs tmpfs "$root/run" && mount -t tmpfs tmpfs "$root/tmp" &&
		mount -t sysfs sysfs "$root/sys" && mount --rbind /dev "$root/dev" &&
		mkdir -p /sys/fs/cgroup && mount -t cgroup2 cgroup "$root/sys/fs/cgroup" || return
	# mask units that are not needed
	for unit in getty@tty1 console-getty systemd-networkd systemd-resolved systemd-timesyncd e2scrub_reap \
		systemd-journal-flush man-db.timer apt-daily.timer apt-daily-upgrade.timer dkms; do
		case $unit in *.timer) ;; *) unit=$unit.service ;; esac
		ln -sf /dev/null "$root/etc/systemd/system/$unit"
	done
	# shellcheck disable=SC2016
	container=other unshare -fpm sh -c 'mount -t proc proc "$1/proc" && mount --make-rshared / &&
		exec chroot "$1" /lib/systemd/systemd --unit=multi-user.target' - "$root" >/tmp/systemd.log 2>&1 &
	outer=$!
	n=0
	while [ "$n" -lt 300 ]; do
		first=$(pgrep -P "$outer" | head -n 1)
		state=$([ -z "$first" ] || in_it systemctl is-system-running 2>/dev/null)
		case $state in
		running | degraded) return 0 ;;
		esac
		kill -0 "$outer" || break
		sleep 1
		n=$((n + 1))
	done
	echo "systemd did not come up: $state"
	cat /tmp/systemd.log
	return 1
}

# in_it COMMAND...: runs in the system
in_it()
{
	nsenter -t "$first" -m -p chroot "$root" env -i PATH=/usr/sbin:/usr/bin:/sbin:/bin LC_ALL=C.UTF-8 HOME=/root "$@"
}

loads()
{
	in_it modprobe -v tracebuf && grep '^tracebuf ' /proc/modules || return
	[ -z "$full" ] || grep '^tracebuf_events ' /proc/modules || return
	in_it modinfo -n tracebuf | grep updates/dkms
}

rights()
{
	in_it udevadm settle
	for device in tracebuf tracebuf_producer; do
		in_it stat -c '%n %a %G' "/dev/$device" | tee /tmp/stat
		grep '660 tracebuf$' /tmp/stat || return
	done
}

records()
{
	in_it sh -c 'cd /root && tracebuf record -q -o t.tbuf -- sh -c "ls /usr/bin >/dev/null" && tracebuf verify -q t.tbuf &&
		tracebuf print t.tbuf | grep sched_switch | head -n 3 | grep .'
}

# The guest's file system does not carry capabilities: configure the package again.
member()
{
	in_it /var/lib/dpkg/info/tracebuf.postinst configure &&
		in_it getcap /usr/libexec/tracebuf/tracebuf-open | grep perfmon &&
		in_it stat -c '%a %G' /usr/libexec/tracebuf/tracebuf-open | grep '^750 tracebuf$' &&
		[ -z "$(in_it getcap /usr/bin/tracebuf)" ] &&
		in_it useradd -m -G tracebuf anna &&
		in_it su anna -c 'cd && tracebuf record -q -e sched,irq -d 0.5 -o t.tbuf && tracebuf verify -q t.tbuf'
}

stranger()
{
	in_it useradd -m bob
	! in_it su bob -c 'cd && tracebuf record -q -d 0.5 -o t.tbuf' && ! in_it test -e /home/bob/t.tbuf
}

# hostile_files: /srv/hostile, with libraries that tell which capabilities they get (hostile.c). One
# stands in for a library that each program of tracebuf needs, which it loads under another name.
hostile_files()
{
	files=$root/srv/hostile
	golden=${here%/package}/golden
	mkdir -p "$files/plugins" "$files/provider" "$files/libraries" "$files/libc" &&
		cp "$here/hostile.c" "$here/hostile.sh" "$golden/kernel.tbuf" \
			"$golden/user.tbuf" "$files" &&
		: >"$files/log" && chmod 666 "$files/log" || return
	# shellcheck disable=SC2016
	in_it sh -ec 'cd /srv/hostile
		cc="cc -Wall -Werror -shared -fPIC -DLOG=\"/srv/hostile/log\" hostile.c"
		$cc -o preload.so
		cp preload.so plugins/path.so
		cp preload.so provider/babeltrace2-python-plugin-provider.so
		cp preload.so libc/libc.so.6
		for program in /usr/bin/tracebuf /usr/libexec/tracebuf/tracebuf-tools; do
			zstd=$(ldd $program | sed -n "s/.*libzstd.* => \([^ ]*\).*/\1/p")
			[ "$zstd" ]
		done
		sed "s/libzstd\.so\.1/libZstd.so.1/g" "$zstd" >libraries/libZstd.so.1
		$cc -o libraries/libzstd.so.1 -Wl,-soname,libzstd.so.1 -Wl,--no-as-needed \
			libraries/libZstd.so.1'
}

# hostile USER ARGUMENT...: hostile.sh as USER
hostile()
{
	user=$1
	shift
	in_it su "$user" -c "cd && sh /srv/hostile/hostile.sh $*"
}

# The libraries work, and would notice a capability: Babeltrace with one passes it on to them.
hostile_work()
{
	hostile anna loads || return
	babeltrace2=$(in_it readlink -f /usr/bin/babeltrace2)
	in_it setcap cap_perfmon+ep "$babeltrace2" || return
	hostile anna loads >/tmp/loads
	in_it setcap -r "$babeltrace2" || return
	cat /tmp/loads
	grep 'path.so .*babeltrace2 0000004000000000 0000004000000000' /tmp/loads &&
		grep 'home.so .*babeltrace2 0000004000000000 0000004000000000' /tmp/loads
}

# with_capability PROGRAM COMMAND: the attempts find that PROGRAM, which has COMMAND, has the
# capability, as the tool itself once had
with_capability()
{
	in_it setcap cap_perfmon+ep "$1" || return
	hostile anna member "$2" >/tmp/finds
	code=$?
	in_it setcap -r "$1" || return
	cat /tmp/finds
	[ "$code" = 1 ] && grep "$1 did not load .*: has it a capability" /tmp/finds
}

hostile_finds()
{
	with_capability /usr/bin/tracebuf status &&
		with_capability /usr/libexec/tracebuf/tracebuf-tools print
}

babeltrace()
{
	in_it babeltrace2 /root/t.tbuf >/tmp/bt || return
	head -n 3 /tmp/bt
	grep -c sched_switch /tmp/bt
}

program()
{
	in_it sh -c 'cd /root && tracebuf record -q -e user -o u.tbuf -- ./slices && tracebuf print u.tbuf | grep -c "user:shop: begin request"'
}

completion()
{
	# shellcheck disable=SC2016
	in_it bash -c 'source /usr/share/bash-completion/completions/tracebuf; COMP_WORDS=(tracebuf record -e sched_swi) COMP_CWORD=3
		_tracebuf 2>/dev/null; printf "%s\n" "${COMPREPLY[@]}"' | grep '^sched:sched_switch$\|^sched_switch$'
}

# snapshots: prints how many there are in /var/lib/tracebuf
snapshots()
{
	in_it sh -c 'ls /var/lib/tracebuf' | grep -c '^snapshot-.*\.tbuf$'
}

flight()
{
	in_it systemctl start tracebuf-flight || { in_it systemctl status tracebuf-flight; in_it journalctl -n 30 -u tracebuf-flight; return 1; }
	in_it tracebuf provider list | grep flight
}

flight_reload()
{
	in_it ls /usr/bin >/dev/null
	in_it systemctl reload tracebuf-flight && [ "$(snapshots)" = 1 ] || return
	# the flight recorder goes on, beside another recording
	in_it sh -c 'cd /var/lib/tracebuf && tracebuf verify -q snapshot-*.tbuf && tracebuf print snapshot-*.tbuf | grep -q sched_switch' &&
		in_it tracebuf status -p flight | grep -i running && records
}

flight_stop()
{
	in_it systemctl stop tracebuf-flight && [ "$(snapshots)" = 2 ] && ! in_it tracebuf provider list | grep flight
}

unloads()
{
	[ -z "$full" ] || in_it modprobe -r tracebuf_events || return
	in_it modprobe -r tracebuf && ! grep tracebuf /proc/modules
}

check "the system with the packages comes up" boot
check "modprobe loads what DKMS has built" loads
check "the devices are the group's" rights
check "root records, and verifies" records
check "so does a member of the group" member
check "others do not" stranger
check "libraries that a user wants to be loaded" hostile_files
check "they are, by Babeltrace, and would notice a capability" hostile_work
check "a capability of the tool itself would be found" hostile_finds
check "no command of a member loads one with a capability, nor has any" hostile anna member
check "no command of another user does" hostile bob stranger
check "Babeltrace reads it by itself" babeltrace
check "a program records with the library" program
check "events are completed in bash" completion
check "the flight recorder starts" flight
check "reload writes what it holds, and it goes on" flight_reload
check "stop does, too" flight_stop
check "modprobe -r unloads" unloads
kill -KILL "$first" 2>/dev/null
echo "# all of it"
exit "$failed"
