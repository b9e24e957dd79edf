#!/bin/sh
# SPDX-License-Identifier: GPL-2.0-only
#
# build.sh - builds the kernel that the benchmarks run in, once, into the cache.
#
#   build.sh         build it unless it is there; print its folder
#   build.sh --run SCRIPT [WORD...]
#                    boot it and run SCRIPT, a path in its root; its console is the
#                    standard output
#
# It is a User Mode Linux kernel from Debian's package linux-source-6.12, with native.patch: so
# kernel code without traps costs the same as on this processor, without a hypervisor or emulator.
# It has one CPU.
#
# The folder, ${XDG_CACHE_HOME:-~/.cache}/tracebuf/uml:
#
#   key      checksum of its sources
#   source/  the kernel's sources, patched
#   build/   its objects; modules are built with make -C build ARCH=um M=...
#   root/    its root

set -eu

here=$(cd "$(dirname "$0")" && pwd -P)
top=$(cd "$here/../../.." && pwd -P)
# shellcheck source=scripts/lib/cache.sh
. "$top/scripts/lib/cache.sh"
dir="$(cache_dir)/uml"

say()
{
	echo "bench: $*" >&2
}

die()
{
	echo "bench: error: $*" >&2
	exit 1
}

run()
{
	_script=$1
	shift
	[ -x "$dir/build/linux" ] || die "no kernel in $dir"
	# The small code model needs everything in the lowest 2 GiB: so no randomized addresses, and
	# little memory. With glibc's rseq area registered, the kernel's first exec fails.
	GLIBC_TUNABLES=glibc.pthread.rseq=0 setarch -R timeout "${LIMIT_S:-300}" \
		"$dir/build/linux" mem=256M rootfstype=hostfs rootflags="$dir/root" rw \
		init=/init con0=null,fd:1 con=null ssl=null "tb_script=$_script" "$@" </dev/null
}

# Unpack the kernel's sources into $1.
unpack()
{
	_tar="$(linux_source)/linux-source-6.12.tar.xz"
	[ -s "$_tar" ] || "$top/scripts/setup" --all
	mkdir -p "$1"
	say "unpacking linux-source-6.12"
	tar -xJf "$_tar" -C "$1" --strip-components=1
	patch -s -d "$1" -p1 <"$here/native.patch"
}

compile()
{
	_make="nice -n 10 make -s ARCH=um -C $dir/source O=$dir/build"
	$_make allnoconfig >&2
	"$dir/source/scripts/kconfig/merge_config.sh" -m -O "$dir/build" \
		"$dir/build/.config" "$here/kernel.config" >/dev/null
	$_make olddefconfig >&2
	# kconfig silently drops an option with a missing dependency.
	grep -v '^#' "$here/kernel.config" | while read -r option; do
		grep -qxF "$option" "$dir/build/.config" || die "the kernel did not take $option"
	done
	say "building the kernel: some minutes, once"
	$_make -j"$(nproc)" >&2
}

make_root()
{
	mkdir -p "$1/bin" "$1/proc" "$1/sys" "$1/dev" "$1/tmp" "$1/mods"
	busybox=$(command -v busybox) || die "no busybox: install busybox-static"
	cp "$busybox" "$1/bin/busybox"
	for _a in sh mount insmod rmmod poweroff cat; do
		ln -sf busybox "$1/bin/$_a"
	done
	cat >"$1/init" <<'END'
#!/bin/sh
mount -t proc proc /proc
mount -t sysfs sys /sys
mount -t debugfs debug /sys/kernel/debug
for word in $(cat /proc/cmdline); do
	case $word in
	tb_script=*) . "/${word#tb_script=}" ;;
	esac
done
poweroff -f
END
	chmod +x "$1/init"
}

if [ "${1:-}" = --run ]; then
	shift
	run "$@"
	exit
fi

key=$(cat "$here/native.patch" "$here/kernel.config" | cksum | tr " " -)
if [ "$(cat "$dir/key" 2>/dev/null || true)" != "$key" ]; then
	mkdir -p "$(cache_dir)"
	# Two runs at once would build in the same folder.
	exec 9>"$dir.lock"
	flock 9
	if [ "$(cat "$dir/key" 2>/dev/null || true)" != "$key" ]; then
		rm -rf "$dir"
		mkdir -p "$dir"
		unpack "$dir/source"
		compile
		make_root "$dir/root"
		echo "$key" >"$dir/key"
	fi
fi
echo "$dir"
