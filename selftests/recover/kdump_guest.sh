#!/bin/sh
# SPDX-License-Identifier: GPL-2.0-only
#
# kdump_guest.sh - the part of kdump.sh that runs in a guest, as root: in the kernel that crashes,
# and in the kernel that takes over.
#
#   kdump_guest.sh KERNEL MODULES HOW PARAMETER...
#
# KERNEL: the image of the kernel that takes over. The rest are arguments of guest.sh. There is a
# disk for the output of makedumpfile.

set -u

kernel=$1
shift
here=$(cd "$(dirname "$0")" && pwd -P)

# load: the other kernel boots from the same initramfs with the same command; it has little memory
load()
{
	"$here/kexec.py" "$kernel" "$TRACEBUF_INITRD" "$(
		sed -e 's/ \(crashkernel\|log_buf_len\)=[^ ]*//g' \
			-e 's/ -- / nr_cpus=1 reset_devices -- /' /proc/cmdline
	)" && [ "$(cat /sys/kernel/kexec_crash_loaded)" = 1 ]
}

# recover FROM TRACE: the recovered trace has exactly the recorded events
recover()
{
	echo "from $1:"
	tracebuf recover -o "$2" "$1" && tracebuf verify "$2" && "$here/check.py" /proc/vmcore "$2"
}

if [ ! -e /proc/vmcore ]; then
	load || exit 3
	exec "$here/guest.sh" "$@"
fi
exec 2>&1
modprobe -a virtio_blk ext4 && mkfs.ext4 -q /dev/vda && mount /dev/vda /mnt || exit 3
recover /proc/vmcore /out/vmcore.tbuf &&
	makedumpfile --message-level 4 -E -d 31 /proc/vmcore /mnt/dump &&
	recover /mnt/dump /out/dump.tbuf
