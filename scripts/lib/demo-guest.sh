#!/bin/sh
# SPDX-License-Identifier: GPL-2.0-only
#
# demo-guest.sh - records a workload for $1 seconds; scripts/demo runs it in the guest.
set -eu
seconds=$1

modprobe tracebuf

# four kinds of work in parallel, until kill ends them
( while :; do tar -cf - /usr/share/doc/base* /etc 2>/dev/null | gzip -1 >/tmp/demo.tgz; done ) &
( while :; do find /etc /usr/bin -type f -newer /etc/passwd >/dev/null 2>&1; done ) &
/usr/bin/python3 scripts/lib/ping-pong.py &
( while :; do sha256sum /usr/bin/git /usr/bin/make >/dev/null; sleep 0.01; done ) &

status=0
tracebuf record -b 256 -d "$seconds" -o /out/demo.tbuf || status=$?
# end all processes of this shell's group but the shell itself
trap '' TERM
kill 0 2>/dev/null || true
wait 2>/dev/null || true
exit $status
