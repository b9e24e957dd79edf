#!/bin/sh
# SPDX-License-Identifier: GPL-2.0-only
#
# tools.sh - build what runs in guests in user space: this machine's, or another's.
#
# Sourced by scripts/vm and scripts/check, after lib/cache.sh, with $tree set.
# What is for the host is in build/user and build/selftests, what is for
# another architecture in build/ARCH/.

# make_for ARCH ARGUMENTS...: make, with what compiles for ARCH, in the folder it is for
make_for()
{
	_arch=$1
	shift
	if [ "$_arch" = amd64 ]; then
		make -s "$@"
		return
	fi
	_root=$(cross_root "$_arch") || return
	env PKG_CONFIG_LIBDIR="$_root/usr/lib/aarch64-linux-gnu/pkgconfig:$_root/usr/share/pkgconfig" \
		PKG_CONFIG_SYSROOT_DIR="$_root" \
		make -s CC="aarch64-linux-gnu-gcc --sysroot=$_root" AR=aarch64-linux-gnu-ar "$@"
}

# The libraries that go with a kernel for ARCH.
cross_root()
{
	for _kernel in $(kernel_names); do
		[ "$(cat "$(kernel_dir "$_kernel")/arch" 2>/dev/null)" = "$1" ] || continue
		echo "$(kernel_dir "$_kernel")/user"
		return
	done
	echo "no kernel for $1 in $(cache_dir)/kernels" >&2
	return 1
}

# Where things for ARCH are, in this tree.
built_for()
{
	# shellcheck disable=SC2154
	if [ "$1" = amd64 ]; then
		echo "$tree/build"
	else
		echo "$tree/build/$1"
	fi
}

# Library, tool, Babeltrace's plugin and samples for ARCH; $2... for make.
make_tools()
{
	_to=$(built_for "$1") _arch=$1
	shift
	make_for "$_arch" -C "$tree/userspace" OUT="$_to/user" "$@" all samples
}

# The programs of selftests/vm for ARCH; $2... for make.
make_guest_tests()
{
	_to=$(built_for "$1") _arch=$1
	shift
	make_for "$_arch" -C "$tree/selftests/vm" OUT="$_to/selftests" \
		KSELFTEST="$(linux_source)/tools/testing/selftests" "$@"
}
