#!/bin/sh
# SPDX-License-Identifier: GPL-2.0-only
#
# guest.sh - the part of run.sh that runs in a guest, as root.
#
#   guest.sh MODULES ARGUMENT...
#
# MODULES: the folder with tracebuf.ko and tb_torture.ko; the arguments are those of torture.c.

set -u

here=$(cd "$(dirname "$0")" && pwd -P)
modules=$1
shift
insmod "$modules/tracebuf.ko" && insmod "$modules/tb_torture.ko" || exit 3
"${here%/selftests/torture}/build/selftests-torture/torture" "$@"
status=$?
rmmod tb_torture && rmmod tracebuf || exit 3
exit $status
