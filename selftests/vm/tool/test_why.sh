#!/bin/sh
# SPDX-License-Identifier: GPL-2.0-only
#
# test_why.sh - "tracebuf why" names the cause of a wait that is known: a thread waits for another one,
# which has to share its CPU with a third. If it is wrong, a user looks at the wrong thread.

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

# holds PYTHON...: true of what why says of the asker; of(CAUSE, ...): ns below the causes, by name
holds()
{
	holds_of "--comm asker" "$@"
}

# holds_of OPTIONS PYTHON...
holds_of()
{
	# shellcheck disable=SC2086
	tracebuf why $1 --json chain.tbuf >why.json || return
	shift
	python3 -S - "$@" <<'END'
import json, sys
why = json.load(open("why.json"))
def key(node):
    return " ".join(filter(None, (node["cause"], node.get("comm"))))
def of(*path, node=why["tree"]):
    if not path:
        return node["ns"]
    return sum(of(*path[1:], node=child) for child in node["children"] if key(child) == path[0])
def sums(node):
    return all(sums(child) for child in node["children"]) and \
        (not node["children"] or node["ns"] == sum(c["ns"] for c in node["children"]))
wrong = [text for text in sys.argv[1:] if not eval(text)]
for text in wrong:
    print("does not hold:", text)
sys.exit(bool(wrong))
END
	code=$?
	[ $code = 0 ] || tracebuf why --comm asker --top 0 chain.tbuf
	return $code
}

chain()
{
	# what the worker itself needed, and what took its CPU: they are the most of the wait
	holds 'of("blocked", "woken worker") > 0.9 * of("blocked")' \
		'of("blocked", "woken worker", "runs worker") > 200e6' \
		'of("blocked", "woken worker", "waits", "runs rival") > 100e6'
}

whole()
{
	holds 'sums(why["tree"])' 'why["tree"]["ns"] == why["to_ns"] - why["from_ns"]' \
		'of("unknown") < 0.01 * of()'
}

slices()
{
	holds_of "--slice req*" 'why["slices"] == 3' 'sums(why["tree"])' \
		'of("blocked", "woken worker") > 0.9 * of()'
}

text()
{
	tracebuf why --comm asker chain.tbuf >said && grep -q 'until worker-[0-9]* woke it' said &&
		grep -q 'rival-[0-9]* runs' said || return
	tracebuf why --top 0 chain.tbuf >said && grep -q ' asker-[0-9]*$' said &&
		grep -q "'tracebuf why -t TID chain.tbuf' explains" said
}

# The two that share a CPU for 0.6 s: each waited for the other, for about half of that
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

plan 1 6
if in_guest; then
	insmod "$TRACEBUF_KO" && insmod "${TRACEBUF_KO%/*}/tracebuf_events.ko" || exit 1
fi
check "record" record
! in_guest || rmmod tracebuf_events tracebuf
judge "back to the thread that is waited for, and to what takes its CPU" chain
judge "each nanosecond once" whole
judge "sleeps are not waits" holds 'of("sleeps") > 80e6'
judge "only during the slices of a program" slices
judge "as text" text
judge "report finds who had no CPU" found
finish
