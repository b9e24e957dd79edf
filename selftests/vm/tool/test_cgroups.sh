#!/bin/sh
# SPDX-License-Identifier: GPL-2.0-only
#
# test_cgroups.sh - a trace says which container each thread is in: containers that existed at the
# start, were made later or entered later; also in a snapshot. --cgroup chooses the threads of one,
# and top sums up the CPU time of each.
# If this breaks, a user blames another container.

# Functions are called by way of check.
# shellcheck disable=SC2317
here=$(cd "$(dirname "$0")" && pwd -P)
# shellcheck source=selftests/vm/lib/ktap.sh
. "$here/../lib/ktap.sh"
own_folder
id=0123456789abcdef0123456789abcdef0123456789abcdef0123456789abcdef
root=/sys/fs/cgroup
shop=$root/system.slice/docker-$id.scope
pod=$root/kubepods/burstable/pod77/fedc$id

# in_group FOLDER COMMAND... &: COMMAND is in the cgroup from its first instruction on; $! is its
# pid
in_group()
{
	# shellcheck disable=SC2016
	exec sh -c 'echo $$ >"$0/cgroup.procs"; exec "$@"' "$@"
}

begin()
{
	mkdir -p "$shop" "$pod" && [ -e "$shop/cgroup.procs" ] || return
	in_guest || return 0
	# as Docker and the kubelet write them
	mkdir -p /var/lib/docker/containers/$id /var/log/containers &&
		echo '{"ID":"'$id'","Name":"/web"}' >/var/lib/docker/containers/$id/config.v2.json &&
		: >/var/log/containers/pay-0_shop_db-"$(echo fedc$id | cut -c 1-64)".log
}

# A loop runs in the container before the recording. "mover" moves to another cgroup. "late" runs in
# a cgroup that is made and removed meanwhile: the recorder looks for new cgroups once a second,
# when a record of a thread names one.
record()
{
	in_group "$shop" sh -c 'while :; do sleep 0.01; done' & old=$!
	sleep 0.1
	# shellcheck disable=SC2016
	tracebuf record -q -e sched -o record.tbuf -- sh -c '
		sh -c "printf mover >/proc/self/comm; sleep 0.2; echo \$\$ >$1/cgroup.procs; sleep 0.2" &
		mkdir "$0/late" && sh -c "echo \$\$ >$0/late/cgroup.procs; printf late >/proc/self/comm; sleep 4; :"
		rmdir "$0/late"; wait' "$root" "$pod"
	code=$?
	kill "$old"
	[ $code = 0 ] && tracebuf verify record.tbuf
}

flight()
{
	tracebuf start -m circular -e sched || return
	in_group "$shop" sh -c 'while :; do sleep 0.01; done' & old=$!
	sleep 0.3
	tracebuf snapshot -o flight.tbuf
	code=$?
	kill "$old"
	tracebuf stop
	[ $code = 0 ] && tracebuf verify flight.tbuf
}

# Records only the processes of a container, and those that they create.
only()
{
	in_group "$shop" sh -c 'while :; do sleep 0.01; done' & old=$!
	sleep 0.1
	tracebuf record -q -e sched --cgroup 'docker-*' -o none.tbuf -- true >said 2>&1
	code=$?
	cat said
	tracebuf record -q -e sched --cgroup web -o only.tbuf -- sleep 0.3
	[ $? = 0 ] && [ $code = 1 ] && grep -q "no process is in a cgroup 'docker-\*'" said
	code=$?
	kill "$old"
	return $code
}

# A loop takes all of a CPU in the container; its name comes from this machine's files
live()
{
	in_group "$shop" sh -c 'while :; do :; done' & old=$!
	tracebuf top --batch --view containers -n 2 >live
	code=$?
	kill "$old"
	cat live
	# the other CPU is free for the rest of the machine
	[ $code = 0 ] && awk '$NF == "web" && $2 > 50 { found = 1 } END { exit !found }' live
}

# groups FILE [OPTION...]: prints how many events each name of a thread has in which cgroup
groups()
{
	file=$1
	shift
	tracebuf print --jsonl "$@" "$file" >groups.jsonl || return
	python3 -S - <<'END' >said
import json, collections
seen = collections.Counter()
for line in open("groups.jsonl"):
    event = json.loads(line)
    if "comm" in event:
        seen[event["comm"].strip(), event.get("cgroup"), event.get("container")] += 1
for (comm, group, container), count in sorted(seen.items(), key=str):
    print(comm, group, container, count)
END
	cat said
}

known()
{
	groups record.tbuf || return
	grep -q "^sleep /system.slice/docker-$id.scope web " said && grep -q '^late /late None' said &&
		grep -q '^mover / None' said &&
		grep -q "^mover /kubepods/burstable/pod77/fedc$id shop/pay-0/db " said &&
		! grep -q '^mover /system' said
}

by_name()
{
	groups record.tbuf --cgroup 0123456789ab || return
	[ -s said ] && ! grep -v " /system.slice/docker-$id.scope " said || return
	groups record.tbuf --cgroup web || return
	[ -s said ] && ! grep -v " /system.slice/docker-$id.scope " said || return
	for group in '/kubepods/*' 'shop/pay-?/*'; do
		groups record.tbuf --cgroup "$group" || return
		grep -q '^mover ' said && ! grep -v ' /kubepods/' said || return
	done
}

unknown()
{
	! tracebuf print --cgroup nothing record.tbuf >said 2>&1 && cat said &&
		grep -q "of a thread in a cgroup 'nothing'" said
}

snapshot_knows()
{
	groups flight.tbuf --cgroup 0123456789ab && grep -q '^sleep ' said
}

# Each event has a thread of the container: its own, or one that it is about.
recorded_only()
{
	tracebuf print --jsonl only.tbuf >only.jsonl || return
	python3 -S - <<'END'
import json, sys
events = [json.loads(line) for line in open("only.jsonl")]
inside = {e["tid"] for e in events if "/docker-" in e.get("cgroup", "")}
about = ("prev_pid", "next_pid", "pid", "child_pid", "parent_pid")
# the freed thread may have had no event of its own
events = [e for e in events if e["type"] == "event" and e["name"] != "sched_process_free"]
wrong = [e for e in events if not inside & {e["tid"], *(e["fields"].get(name) for name in about)}]
print(len(events), len(inside), wrong[:3])
sys.exit(len(inside) < 3 or bool(wrong))
END
}

in_sql()
{
	tracebuf query --csv --no-header record.tbuf \
		"SELECT DISTINCT cgroup, container FROM threads WHERE cgroup LIKE '%pod77%'" >said
	cat said
	grep -q 'pod77.*,shop/pay-0/db' said
}

summed_up()
{
	tracebuf report --json --section containers record.tbuf >containers.json || return
	grep -q '"web",[1-9]' containers.json && grep -q '"shop/pay-0/db",[1-9]' containers.json
}

# All that the container's threads did, and no others.
explained()
{
	tracebuf why --json --cgroup 0123456789ab record.tbuf >why.json &&
		python3 -S -c 'import json; why = json.load(open("why.json")); assert why["threads"] > 3'
}

plan 5 8
if in_guest; then
	grep -q " $root cgroup2 " /proc/mounts || mount -t cgroup2 none "$root" || exit 1
	insmod "$TRACEBUF_KO" && insmod "${TRACEBUF_KO%/*}/tracebuf_events.ko" || exit 1
fi
check "cgroups as containers have them" begin
check "record" record
check "a flight recorder" flight
check "record only one container" only
check "top" live
! in_guest || rmmod tracebuf_events tracebuf
judge "at the start, moved, and made meanwhile" known
judge "chosen by the container's ID, by its name, and by path" by_name
judge "one that there is not" unknown
judge "threads that began after the flight recorder" snapshot_knows
judge "nothing but what was chosen was recorded" recorded_only
judge "in SQL" in_sql
judge "in a report" summed_up
judge "why" explained
finish
