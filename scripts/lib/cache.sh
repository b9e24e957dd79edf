#!/bin/sh
# SPDX-License-Identifier: GPL-2.0-only
#
# cache.sh - where scripts/setup leaves kernels, and how to ask for them.
#
# Sourced by the other scripts (POSIX sh; defines functions only, runs
# nothing):
#
#   cache_dir         the cache folder (it need not exist yet)
#   kernel_dir K      what is kept of kernel K ("6.1", "6.12", "6.12-kasan" ...)
#   kernel_headers K  headers of K, usable as KDIR
#   kernel_image K    what is booted of K: uncompressed vmlinux, or Image
#   kernel_release K  `uname -r` of K
#   kernel_arch K     what K is for: amd64, arm64
#   kernel_names      the kernels there are, one a line
#   linux_source      files kept of the kernel's sources (kselftest.h, checkpatch.pl)
#
# Those that take a K fail, naming scripts/setup, when it is not there.
#
# A kernel's folder holds:
#
#   release   the release, a text file
#   headers   -> what modules are built against (KDIR)
#   vmlinux   uncompressed, for a PVH boot
#   bzImage   -> the image as Debian ships it
#   modules   -> lib/modules/RELEASE, with modules.dep made
#   root/     the packages, unpacked; for a kernel of a newer Debian the compiler
#             and libraries that belong to it, too
#
# One that is for another architecture than this machine's has instead of vmlinux
# and bzImage, and besides:
#
#   Image     -> the image as Debian ships it
#   arch      the architecture, as Debian calls it, a text file
#   user/     programs and libraries of that architecture, a guest's root
#
# One that was built (lib/build.sh) has no bzImage, modules and root, and:
#
#   headers/  itself
#   config    its configuration
#   key       what it was built from

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
