#!/bin/sh
# SPDX-License-Identifier: GPL-2.0-only
#
# marker.sh - runs suite marker in the guest: tracebuf and ftrace record the events of PROGRAM,
# which measures them. Its output goes to /out/marker.out.
#
#   marker.sh PROGRAM

set -eu

tracefs=/sys/kernel/tracing
[ -e $tracefs/trace_marker ] || mount -t tracefs none $tracefs
# both overwrite, in 1 MiB or more; other machines choose the TSC by themselves
insmod "$TRACEBUF_KO"
tracebuf start --clock tsc -b 64 -e user:wanted --writers any
echo 1024 >$tracefs/buffer_size_kb
echo 1 >$tracefs/tracing_on
"$1" $tracefs >/out/marker.out
tracebuf status | grep -i marker >>/out/marker.log || true
tracebuf stop
