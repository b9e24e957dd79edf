#!/bin/sh
# SPDX-License-Identifier: GPL-2.0-only
#
# test_why.sh - "tracebuf why" names the known cause of a wait: a thread waits for another one,
# which shares its CPU with a third; a container has used up its quota; a lock's holder waits for a
# job without a CPU; a file is written to a disk. If this fails, a user looks at the wrong thread.

# Functions are called by way of check.
# shellcheck disable=SC2317
here=$(cd "$(dirname "$0")" && pwd -P)
# shellcheck source=selftests/vm/lib/ktap.sh
. "$here/../lib/ktap.sh"
own_folder

cat >chain.py <<'END'
import ctypes, os, time

def become(name, cpu):
    ctypes.CDLL(None).prctl(15, name, 0, 0, 0)
    os.sched_setaffinity(0, {cpu})

def burn(seconds):
    end = time.process_time() + seconds
    while time.process_time() < end:
        pass

reader, writer = os.pipe()
go, begin = os.pipe()
lib = ctypes.CDLL("libtracebuf.so.1")
if not os.fork():
    become(b"rival", 1)
    os.read(go, 1)
    burn(0.3)
    os._exit(0)
if not os.fork():
    become(b"worker", 1)
    os.read(go, 1)
    for _ in range(3):
        burn(0.1)
        os.write(writer, b".")
    os._exit(0)
become(b"asker", 0)
os.write(begin, b"..")
for _ in range(3):
    lib.tb_write_begin(b"shop", b"request")
    os.read(reader, 1)
    lib.tb_write_end(b"shop")
for _ in range(5):
    time.sleep(0.02)
os.wait()
os._exit(0)
END

record()
{
	tracebuf record -b 256 -o chain.tbuf -- python3 -S chain.py && tracebuf verify chain.tbuf
}

# One thread in a cgroup that may have a CPU for a fifth of the time, and one in a cgroup that
# always may.
in_cgroup()
{
	mkdir -p root && mount -t cgroup2 none root || return
	echo +cpu >root/cgroup.subtree_control && mkdir root/shop root/shop/till || return
	echo 10000 50000 >root/shop/cpu.max
	mkdir root/ample && echo 900000 100000 >root/ample/cpu.max || return
	cat >burn.py <<'END'
import ctypes, os, time
lib = ctypes.CDLL("libtracebuf.so.1")
os.sched_setaffinity(0, {int(os.environ["ON"])})
for _ in range(4):
    lib.tb_write_begin(b"shop", b"request")
    end = time.process_time() + 0.025
    while time.process_time() < end:
        pass
    lib.tb_write_end(b"shop")
    time.sleep(0.01)
END
	tracebuf record -b 256 -o quota.tbuf -- sh -c '
		(echo 0 >root/shop/till/cgroup.procs && ON=0 exec python3 -S burn.py) &
		(echo 0 >root/ample/cgroup.procs && ON=1 exec python3 -S burn.py)
		ON=1 python3 -S burn.py
		wait' && tracebuf verify quota.tbuf
	recorded=$?
	umount -l root
	return "$recorded"
}

# holds PYTHON...: each expression holds for the asker; of(CAUSE, ...): ns below the causes, by name
holds()
{
	holds_of "--comm asker chain.tbuf" "$@"
}

# holds_of OPTIONS PYTHON...: the same for other options of why
holds_of()
{
	# shellcheck disable=SC2086
	tracebuf why --json $1 >why.json || return
	shift
	python3 -S - "$@" <<'END'
import json, sys
why = json.load(open("why.json"))
def key(node):
    return " ".join(filter(None, (node["cause"], node.get("comm"))))
def of(*path, node=why["tree"]):
    if not path:
        return node["ns"]
    return sum(of(*path[1:], node=child) for child in node["children"]
               if path[0] in (key(child), child["text"]))
def below(node, text):
    return [node] * (node["text"] == text) + sum((below(c, text) for c in node["children"]), [])
def texts(node, text):
    return [child["text"] for found in below(node, text) for child in found["children"]]
def wakers(node, text):
    return [waker["tid"] for found in below(node, text) for child in found["children"]
            for waker in child["children"] if waker["cause"] == "woken"]
def devices(node):
    return {node.get("device")}.union(*map(devices, node["children"])) - {None}
def sums(node):
    return all(sums(child) for child in node["children"]) and \
        (not node["children"] or node["ns"] == sum(c["ns"] for c in node["children"]))
wrong = [text for text in sys.argv[1:] if not eval(text)]
for text in wrong:
    print("does not hold:", text)
sys.exit(bool(wrong))
END
	code=$?
	[ $code = 0 ] || cat why.json
	return $code
}

chain()
{
	# the worker's own work, and the rival on its CPU, are the most of the wait
	holds 'of("blocked in read", "woken worker") > 0.9 * of("blocked in read")' \
		'of("blocked", "woken worker", "runs worker") > 200e6' \
		'of("blocked", "woken worker", "waits", "runs rival") > 100e6'
}

whole()
{
	holds 'sums(why["tree"])' 'why["tree"]["ns"] == why["to_ns"] - why["from_ns"]' \
		'of("unknown") < 0.01 * of()' || return
	# report and the exports choose the same time by a name
	tracebuf report --json --section why --why asker chain.tbuf >report.json &&
		holds 'of() == sum(row[2] for row in
			json.load(open("report.json"))["sections"][0]["rows"])'
}

slices()
{
	holds_of "--slice req* chain.tbuf" 'why["slices"] == 3' 'sums(why["tree"])' \
		'of("blocked in read", "woken worker") > 0.9 * of("blocked in read")' \
		'of("blocked in read") > 0.6 * of()'
}

calls()
{
	holds_of "--comm asker --call read chain.tbuf" 'why["calls"] > 2' 'sums(why["tree"])' \
		'of("blocked in read", "woken worker") > 0.9 * of("blocked in read")' \
		'of("blocked in read") > 0.2e9' 'of("sleeps") == 0' || return
	holds_of "--call fsync sync.tbuf" 'why["calls"] == 1' 'of("blocked in fsync") > 0' \
		'of("runs dd") + of("blocked in fsync") + of("waits") + of("irq") + of("softirq") > 0.9 * of()' ||
		return
	! tracebuf why --call nanosleep sync.tbuf 2>said && grep -q "no system call .nanosleep." said
}

# A process waits for a lock that another one has; a child for the lock of a file that its parent
# opened.
in_lock()
{
	cat >child.py <<'END'
import fcntl, os, time
one, other = (os.open("inherited", os.O_CREAT | os.O_RDWR) for _ in range(2))
fcntl.flock(one, fcntl.LOCK_EX)
if not os.fork():
    fcntl.flock(other, fcntl.LOCK_EX)
    os._exit(0)
time.sleep(0.2)
fcntl.flock(one, fcntl.LOCK_UN)
os.wait()
END
	tracebuf record -b 256 -o lock.tbuf -- sh -c '
		flock held sleep 0.3 &
		until ! flock -n held true; do :; done
		flock held true
		python3 -S child.py' && tracebuf verify lock.tbuf
}

# The file is open when the recording starts: the recorder finds it in /proc.
open_before()
{
	cat >before.py <<'END'
import ctypes, fcntl, os, threading, time
one, other = (os.open("early", os.O_CREAT | os.O_RDWR) for _ in range(2))
def wait():
    ctypes.CDLL(None).prctl(15, b"patient", 0, 0, 0)
    fcntl.flock(other, fcntl.LOCK_EX)
open("ready", "w").close()
while not os.path.exists("recording"):
    time.sleep(0.05)
time.sleep(1)
fcntl.flock(one, fcntl.LOCK_EX)
patient = threading.Thread(target=wait)
patient.start()
time.sleep(0.2)
fcntl.flock(one, fcntl.LOCK_UN)
patient.join()
open("done", "w").close()
END
	python3 -S before.py &
	until [ -e ready ]; do sleep 0.05; done
	# of one process, which the recorder has read after a second on any host
	tracebuf record -b 256 --pid $! -o before.tbuf -- sh -c '
		: >recording
		until [ -e done ]; do sleep 0.05; done' && wait && tracebuf verify before.tbuf
}

# query has the times of report.  What else ran is not known: no process used 97 % of a CPU.
chosen()
{
	tracebuf report --json --section tasks before.tbuf >tasks &&
		tracebuf query --json before.tbuf "SELECT tid, sum(duration) AS run FROM run_slices
			WHERE tid GROUP BY tid" >runs && cat tasks runs && python3 -c '
import json
section = json.load(open("tasks"))["sections"][0]
ids = [column["id"] for column in section["columns"]]
tasks = [dict(zip(ids, row)) for row in section["rows"]]
runs = {row["tid"]: row["run"] for row in json.load(open("runs"))}
assert len(tasks) >= 2 and all(runs[task["tid"]] == task["cpu"] for task in tasks)' || return
	for name in cpu cpus; do
		tracebuf query --json before.tbuf $name >said && cat said || return
		python3 -c '
import json
rows = json.load(open("said"))
assert rows and all(row["percent"] is None for row in rows)' || return
	done
	tracebuf query --json lock.tbuf cpu | grep -q '"percent":[0-9]'
}

early_lock()
{
	tracebuf why --comm patient before.tbuf >said &&
		grep -A1 'blocked in flock$' said | grep -q ' of /.*/early$'
}

# why names the file of a lock.
lock()
{
	tracebuf why --comm flock lock.tbuf >said &&
		grep -A1 'blocked in flock$' said | grep -q ' of held$' || return
	tracebuf why --comm python3 --top 0 lock.tbuf >said &&
		grep -A1 'blocked in flock$' said | grep -q ' of inherited$' || return
	# a sleep by its own wish is no finding
	tracebuf report --comm sleep --section findings lock.tbuf >said &&
		! grep -q 'sleep-[0-9]* slept' said
}

# 10 ms of 50 may be used: 0.1 s of work takes half a second, and the rest are waits for the next
# period.
quota()
{
	holds_of "--cgroup till quota.tbuf" 'of("waits", "quota") > 0.4 * of()' 'sums(why["tree"])' &&
		holds_of "--cgroup / --comm python3 quota.tbuf" 'of("waits", "quota") == 0' \
			'of("runs python3") > 80e6' &&
		tracebuf report --json --cgroup till quota.tbuf >report.json &&
		grep -q "ran only .* was idle .*used up its CPU quota" report.json &&
		grep -qa '10000 50000 /shop' quota.tbuf && ! grep -qa '900000 100000 /ample' quota.tbuf
}

# A request of one of them waits for most of its time for the quota, those of the others never.
requests()
{
	holds_of "--cgroup till --slice request quota.tbuf" 'why["slices"] == 4' \
		'of("waits", "quota") > 0.4 * of()' 'sums(why["tree"])' &&
		holds_of "--cgroup ample --slice request quota.tbuf" 'why["slices"] == 4' \
			'of("waits", "quota") == 0' 'of("runs python3") > 80e6'
}

# A process waits for a lock. The job of its holder has no CPU, because a real-time thread has it.
in_job()
{
	cat >job.py <<'END'
import ctypes, os, sys, time
name, wait, ready, seconds = sys.argv[1:]
ctypes.CDLL(None).prctl(15, name.encode(), 0, 0, 0)
while not os.path.exists(wait):
    time.sleep(0.02)
open(ready, "w").close()
end = time.process_time() + float(seconds)
while time.process_time() < end:
    pass
END
	# the burst begins when the lock is waited for, and the job works when the burst has begun
	tracebuf record -b 256 -o job.tbuf -- sh -c '
		taskset -c 0 flock jobs sh -c ": >locked; exec python3 -S job.py job burst works 0.1" &
		until [ -e locked ]; do sleep 0.02; done
		taskset -c 1 flock jobs true & waiter=$!
		until grep -q "(flock) S" /proc/$waiter/stat; do sleep 0.02; done
		chrt -f 10 taskset -c 0 python3 -S job.py burst locked burst 0.4
		wait' && tracebuf verify job.tbuf
}

job()
{
	holds_of "--comm flock job.tbuf" 'sums(why["tree"])' \
		'of("blocked in flock", "of jobs", "woken flock", "blocked in wait4", "object",
		    "woken job", "waits", "runs burst") > 0.3e9' \
		'of("blocked in flock", "of jobs", "woken flock") > 0.9 * of("blocked in flock")' \
		'(texts(why["tree"], "blocked in wait4") ==
		    ["of process %d" % tid for tid in wakers(why["tree"], "blocked in wait4")])'
}

# A program writes a file to a disk, and waits until it is there.
in_sync()
{
	modprobe -q loop
	modprobe -q ext4
	truncate -s 32M disk.img && mke2fs -q -F -t ext4 disk.img && mkdir m &&
		mount -o loop disk.img m && mountpoint -d m >device || return
	tracebuf record -b 256 -o sync.tbuf -- dd if=/dev/zero of=m/x bs=64k count=16 conv=fsync &&
		tracebuf verify sync.tbuf
	recorded=$?
	umount m
	rm disk.img
	return "$recorded"
}

# All of it is for the file, and each request that ended a wait is one to its disk, of which the
# recorder found the name.
fsync()
{
	holds_of "--comm dd sync.tbuf" 'sums(why["tree"])' 'of("blocked in fsync") > 0' \
		'of("blocked in fsync", "of m/x") == of("blocked in fsync")' \
		"devices(why['tree']) == {'$(cat device)'}" \
		"texts(why['tree'], 'of m/x') and 'to disk loop' in str(why['tree'])"
}

# A client asks a server over TCP. The server asks another one over a local socket, and works.
in_service()
{
	cat >service.py <<'END'
import ctypes, os, select, socket, time
def become(name):
    ctypes.CDLL(None).prctl(15, name, 0, 0, 0)
def burn(seconds):
    end = time.process_time() + seconds
    while time.process_time() < end:
        pass
shop = socket.create_server(("127.0.0.1", 7070))
base = socket.socket(socket.AF_UNIX)
base.bind("base.sock")
base.listen()
if not os.fork():
    become(b"base")
    asked = base.accept()[0]
    for _ in range(3):
        asked.recv(1)
        burn(0.08)
        asked.send(b".")
    os._exit(0)
if not os.fork():
    become(b"shop")
    asked = shop.accept()[0]
    asking = socket.socket(socket.AF_UNIX)
    asking.connect("base.sock")
    answer = select.poll()
    answer.register(asking, select.POLLIN)
    for _ in range(3):
        asked.recv(1)
        asking.send(b".")
        answer.poll()
        asking.recv(1)
        burn(0.04)
        asked.send(b".")
    os._exit(0)
become(b"client")
asking = socket.create_connection(("127.0.0.1", 7070))
for _ in range(3):
    asking.send(b".")
    asking.recv(1)
os.unlink("base.sock")
END
	tracebuf record -b 256 -o service.tbuf -- sh -c '
		ip link set lo up
		python3 -S service.py' &&
		tracebuf verify service.tbuf
}

# Each wait says which server it is for. An interrupt in the softirq may hide the sender.
service()
{
	holds_of "--comm client service.tbuf" 'sums(why["tree"])' \
		'of("blocked in recvfrom", "of tcp -> 127.0.0.1:7070", "woken shop") > 0.15e9' \
		'of("blocked in recvfrom", "of tcp -> 127.0.0.1:7070", "woken shop",
		    "runs shop") > 0.04e9' \
		'of("blocked in recvfrom", "of tcp -> 127.0.0.1:7070", "woken shop",
		    "blocked in poll", "of unix -> base.sock", "woken base",
		    "runs base") > 0.08e9' || return
	tracebuf print --files service.tbuf >printed &&
		grep -q 'connect (fd=[0-9]*<.*>, uservaddr="127.0.0.1:7070", addrlen=16)' printed &&
		grep -q 'poll (ufds=\[[0-9]*<unix -> base.sock>\], nfds=1' printed &&
		grep -q 'accept4 (fd=[0-9]*<tcp 127.0.0.1:7070>' printed &&
		grep -q 'sendto (fd=[0-9]*<tcp 127.0.0.1:7070, accepted>' printed
}

text()
{
	tracebuf why --comm asker chain.tbuf >said && grep -q 'until worker-[0-9]* woke it' said &&
		grep -q 'rival-[0-9]* runs' said || return
	tracebuf why --top 0 chain.tbuf >said && grep -q ' asker-[0-9]*$' said &&
		grep -q "'tracebuf why -t TID chain.tbuf' explains" said
}

# Two threads share a CPU for 0.6 s: each waits for the other, for about half of that.
found()
{
	tracebuf report --json --section findings chain.tbuf >findings.json || return
	cat findings.json
	python3 -S - <<'END'
import json
rows = json.load(open("findings.json"))["sections"][0]["rows"]
for name in "worker-", "rival-":
    ns = [row[0] for row in rows if row[3].startswith(name) and "had no CPU" in row[3]]
    assert len(ns) == 1 and 100e6 < ns[0] < 1000e6, (name, ns)
END
}

plan 7 15
if in_guest; then
	insmod "$TRACEBUF_KO" && insmod "${TRACEBUF_KO%/*}/tracebuf_events.ko" || exit 1
fi
check "record" record
check "record a container" in_cgroup
check "record a lock" in_lock
check "record a lock on a file that was open before" open_before
check "record a lock whose holder has no CPU" in_job
check "record an fsync" in_sync
check "record a service that asks another" in_service
! in_guest || rmmod tracebuf_events tracebuf
judge "back to the thread that is waited for, and to what takes its CPU" chain
judge "each nanosecond once" whole
judge "sleeps are not waits" holds 'of("sleeps") > 80e6'
judge "only during the slices of a program" slices
judge "only during system calls" calls
judge "the quota of a container" quota
judge "a request in a container" requests
judge "the file that a lock is on" lock
judge "a file that was open before the recording" early_lock
judge "a lock: back to what takes the CPU of its holder's job" job
judge "only chosen threads were recorded: their times, and no share" chosen
judge "an fsync: the file, and the disk" fsync
judge "a service: the addresses of the sockets" service
judge "as text" text
judge "report finds who had no CPU" found
finish
