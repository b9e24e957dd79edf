#!/bin/sh
# SPDX-License-Identifier: GPL-2.0-only
#
# cache.sh - knows where scripts/setup leaves kernels, and answers questions about them.
#
# The other scripts source it (POSIX sh; it defines only functions):
#
#   cache_dir         the cache folder (it need not exist yet)
#   kernel_dir K      the folder of kernel K ("6.1", "6.12", "6.12-kasan" ...)
#   kernel_headers K  headers of K, usable as KDIR
#   kernel_image K    the file that QEMU boots: uncompressed vmlinux, or Image
#   kernel_release K  `uname -r` of K
#   kernel_arch K     the architecture of K: amd64, arm64
#   kernel_names      the kernels in the cache, one a line
#   linux_source      the folder with files of the kernel's sources (kselftest.h, checkpatch.pl)
#
# Functions with a K fail, and name scripts/setup, if the cache has no kernel K.
#
# A kernel's folder holds:
#
#   release   the release, a text file
#   headers   -> the headers that modules are built against (KDIR)
#   vmlinux   uncompressed, for a PVH boot
#   bzImage   -> the image as Debian ships it
#   modules   -> lib/modules/RELEASE, with modules.dep made
#   root/     the packages, unpacked; for a kernel of a newer Debian also its compiler and
#             libraries
#
# A kernel for another architecture than this machine's has no vmlinux and no bzImage, but:
#
#   Image     -> the image as Debian ships it
#   arch      the architecture, as Debian calls it, a text file
#   user/     programs and libraries of that architecture, a guest's root
#
# A kernel that lib/build.sh built has no bzImage, modules and root, and:
#
#   headers/  the headers themselves
#   config    its configuration
#   key       checksum of its sources and configuration

cache_dir()
{
	printf '%s/tracebuf\n' "${XDG_CACHE_HOME:-$HOME/.cache}"
}

kernel_dir()
{
	_kd="$(cache_dir)/kernels/$1"
	if [ ! -s "$_kd/release" ]; then
		echo "no kernel '$1' in $(cache_dir)/kernels; scripts/setup fetches 6.1 and 6.12, with --kernel others" >&2
		return 1
	fi
	printf '%s\n' "$_kd"
}

kernel_headers()
{
	_kh="$(kernel_dir "$1")" || return 1
	if [ ! -e "$_kh/headers/Makefile" ]; then
		echo "kernel '$1' has no headers in $_kh" >&2
		return 1
	fi
	printf '%s/headers\n' "$_kh"
}

kernel_image()
{
	_ki="$(kernel_dir "$1")" || return 1
	if [ -e "$_ki/Image" ]; then
		printf '%s/Image\n' "$_ki"
	else
		printf '%s/vmlinux\n' "$_ki"
	fi
}

kernel_release()
{
	_kr="$(kernel_dir "$1")" && cat "$_kr/release"
}

kernel_arch()
{
	_ka="$(kernel_dir "$1")" || return 1
	cat "$_ka/arch" 2>/dev/null || echo amd64
}

kernel_names()
{
	for _kn in "$(cache_dir)"/kernels/*/release; do
		[ -s "$_kn" ] || continue
		_kn="${_kn%/release}"
		printf '%s\n' "${_kn##*/}"
	done
}

linux_source()
{
	printf '%s/linux-source\n' "$(cache_dir)"
}
