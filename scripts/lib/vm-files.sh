#!/bin/sh
# SPDX-License-Identifier: GPL-2.0-only
#
# vm-files.sh - the files a guest boots from, made once and kept in the cache.
#
# Sourced by scripts/vm, after lib/cache.sh, with die() defined and $here set
# to scripts/. The results are named by a checksum of what they are made of,
# and appear by a rename, so that runs side by side do not disturb each other.

# Modules init needs before it can load any from the host's file system, and
# those by which it gets at that; which, guest_files says.
guest_modules="virtio_pci virtio_console overlay"

# kmod's programs are not in every user's PATH.
PATH="$PATH:/usr/sbin:/sbin"

vm_cache()
{
	_vc="$(cache_dir)/vm"
	mkdir -p "$_vc"
	printf '%s\n' "$_vc"
}

# Make room for new files: others of long ago are for other versions.
prune()
{
	find "$(vm_cache)" -mindepth 1 -maxdepth 1 -mtime +14 -exec rm -rf {} +
}

# Checksum of standard input, as a word.
sum_of()
{
	cksum | tr -d '\n' | tr ' ' '-'
}

# The modules that a guest with the modules folder $1 of release $2 sees the
# host's files by: those of 9p, or of virtiofs if the kernel has no 9p.
guest_files()
{
	if [ -z "$1" ] || modules_of "$1" "$2" 9p >/dev/null 2>&1; then
		echo 9pnet_virtio 9p
	else
		echo virtiofs
	fi
}

# modprobe's "insmod PATH" lines for modules $3... of the folder $1, release $2.
modules_of()
{
	_base=${1%/lib/modules/*} _release=$2
	shift 2
	modprobe -d "${_base:-/}" -S "$_release" -a --show-depends "$@"
}

# guest-init as a static program for the architecture $1; prints its path.
guest_init()
{
	# shellcheck disable=SC2154
	_gi="$(vm_cache)/init-$(sum_of <"$here/lib/guest-init.c")"
	_cc=${CC:-gcc} _strip=strip
	if [ "$1" = arm64 ]; then
		_gi=$_gi-$1 _cc=aarch64-linux-gnu-gcc _strip=aarch64-linux-gnu-strip
	fi
	if [ ! -x "$_gi" ]; then
		prune
		$_cc -O2 -Wall -static -o "$_gi.$$" "$here/lib/guest-init.c" >&2 ||
			die "cannot build scripts/lib/guest-init.c: is scripts/setup done?"
		$_strip "$_gi.$$"
		mv "$_gi.$$" "$_gi"
	fi
	printf '%s\n' "$_gi"
}

# The initramfs for the modules folder $1 ("" for a kernel with all it needs
# built in), the release $2 and the architecture $3; prints its path.
guest_initrd()
{
	_init=$(guest_init "$3")
	_initrd="$(vm_cache)/initrd-${2:-none}-${_init##*/init-}"
	if [ ! -s "$_initrd" ]; then
		_tree=$(mktemp -d "$(vm_cache)/initrd.XXXXXX")
		mkdir "$_tree/m"
		cp "$_init" "$_tree/init"
		if [ -n "$1" ]; then
			# shellcheck disable=SC2046,SC2086
			modules_of "$1" "$2" $guest_modules $(guest_files "$1" "$2") |
				unpack_modules "$_tree/m" || die "cannot collect the modules of $2"
		fi
		(cd "$_tree" && find . | cpio -o -H newc -R 0:0 --quiet) >"$_initrd.$$" ||
			die "cannot make an initramfs"
		mv "$_initrd.$$" "$_initrd"
		rm -rf "$_tree"
	fi
	printf '%s\n' "$_initrd"
}

# Reads modprobe's "insmod PATH" lines; unpacks the modules into $1, numbered.
unpack_modules()
{
	_n=100
	while read -r _verb _path _; do
		[ "$_verb" = insmod ] || continue
		_name=${_path##*/}
		_name=${_name%%.*}
		# Dependencies are listed again for each that needs them.
		set -- "$1" "$1"/*-"$_name.ko"
		[ ! -e "$2" ] || continue
		case $_path in
		*.xz) xz -dc "$_path" ;;
		*.zst) zstd -dcq "$_path" ;;
		*.gz) gzip -dc "$_path" ;;
		*) cat "$_path" ;;
		esac >"$1/$_n-$_name.ko" || return 1
		_n=$((_n + 1))
	done
}

# depmod's files for the modules folder $1 ("" for none) of release $2 with
# the modules $3... in extra/: "modprobe tracebuf" needs them. They change with
# the modules' aliases and dependencies only. Prints the folder.
module_index()
{
	_modules=$1 _release=$2
	shift 2
	_key=$( (
		printf '%s\n' "$_modules" "$_release" $#
		for _field in alias depends softdep; do
			modinfo -F "$_field" "$@"
		done
	) | sum_of)
	_index="$(vm_cache)/modules-$_release-$_key"
	if [ ! -d "$_index" ]; then
		_tree=$(mktemp -d "$(vm_cache)/modules.XXXXXX")
		_lib="$_tree/lib/modules/$_release"
		mkdir -p "$_lib/extra"
		if [ -n "$_modules" ]; then
			ln -s "$_modules/kernel" "$_lib/kernel"
			cp "$_modules"/modules.builtin* "$_modules/modules.order" "$_lib/"
		else
			: >"$_lib/modules.order"
			: >"$_lib/modules.builtin"
			: >"$_lib/modules.builtin.modinfo"
		fi
		cp "$@" "$_lib/extra/"
		depmod -b "$_tree" "$_release" >&2 || die "depmod failed for $_release"
		rm -rf "$_lib/kernel" "$_lib/extra"
		# Another run may have been first; its files are as good.
		mv -T "$_lib" "$_index" 2>/dev/null || [ -d "$_index" ] ||
			die "cannot write $_index"
		rm -rf "$_tree"
	fi
	printf '%s\n' "$_index"
}
