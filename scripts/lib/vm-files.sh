#!/bin/sh
# SPDX-License-Identifier: GPL-2.0-only
#
# vm-files.sh - makes the files that a guest boots from, once, and keeps them in the cache.
#
# scripts/vm sources it after lib/cache.sh, with die() defined and $here set to scripts/. The names
# of the results contain a checksum of their sources, and a rename puts them in place: so parallel
# runs do not disturb each other.

# init needs these modules before it can load others from the host's file system. guest_files names
# the modules for that file system.
guest_modules="virtio_pci virtio_console overlay"

# Some users have no kmod programs in their PATH.
PATH="$PATH:/usr/sbin:/sbin"

vm_cache()
{
	_vc="$(cache_dir)/vm"
	mkdir -p "$_vc"
	printf '%s\n' "$_vc"
}

# Remove old files: they belong to other versions.
prune()
{
	find "$(vm_cache)" -mindepth 1 -maxdepth 1 -mtime +14 -exec rm -rf {} +
}

# Print a checksum of standard input as one word.
sum_of()
{
	cksum | tr -d '\n' | tr ' ' '-'
}

# Print the modules by which a guest with modules folder $1 and release $2 reads the host's files:
# 9p, or virtiofs if the kernel has no 9p.
guest_files()
{
	if [ -z "$1" ] || modules_of "$1" "$2" 9p >/dev/null 2>&1; then
		echo 9pnet_virtio 9p
	else
		echo virtiofs
	fi
}

# Print modprobe's lines "insmod PATH" for modules $3... of the folder $1, release $2.
modules_of()
{
	_base=${1%/lib/modules/*} _release=$2
	shift 2
	modprobe -d "${_base:-/}" -S "$_release" -a --show-depends "$@"
}

# Build guest-init as a static program for architecture $1; print its path.
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

# Make the initramfs for modules folder $1 ("" if the kernel has everything built in), release $2
# and architecture $3; print its path.
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

# Read modprobe's lines "insmod PATH" and unpack the modules into $1, numbered.
unpack_modules()
{
	_n=100
	while read -r _verb _path _; do
		[ "$_verb" = insmod ] || continue
		_name=${_path##*/}
		_name=${_name%%.*}
		# modprobe lists a dependency again for each module that needs it.
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

# Make depmod's files, which "modprobe tracebuf" needs, for modules folder $1 ("" for none) of
# release $2 with modules $3... in extra/. They depend only on the modules' aliases and
# dependencies. Print the folder.
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
		# If another run was faster, its files are as good.
		mv -T "$_lib" "$_index" 2>/dev/null || [ -d "$_index" ] ||
			die "cannot write $_index"
		rm -rf "$_tree"
	fi
	printf '%s\n' "$_index"
}
