#!/bin/sh
# SPDX-License-Identifier: GPL-2.0-only
#
# guest.sh - the part of run.sh that runs in a guest, as root.
#
#   guest.sh MODULES PROGRAM ARGUMENT...
#
# MODULES: the folder with tracebuf.ko and tb_torture.ko; PROGRAM: torture or flips.

set -u

here=$(cd "$(dirname "$0")" && pwd -P)
modules=$1 program=$2
shift 2
insmod "$modules/tracebuf.ko" && insmod "$modules/tb_torture.ko" || exit 3
"${here%/selftests/torture}/build/selftests-torture/$program" "$@"
status=$?
rmmod tb_torture && rmmod tracebuf || exit 3
exit $status
