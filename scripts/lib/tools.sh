#!/bin/sh
# SPDX-License-Identifier: GPL-2.0-only
#
# tools.sh - builds the user-space programs of guests, for this machine or another architecture.
#
# scripts/vm and scripts/check source it after lib/cache.sh, with $tree set. Programs for the host
# are in build/user and build/selftests, those for another architecture in build/ARCH/.

# make_for ARCH ARGUMENTS...: run make with the compiler for ARCH
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

# Print the root folder with the libraries for ARCH, from a kernel in the cache.
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

# Print the build folder for ARCH in this tree.
built_for()
{
	# shellcheck disable=SC2154
	if [ "$1" = amd64 ]; then
		echo "$tree/build"
	else
		echo "$tree/build/$1"
	fi
}

# Build library, tool, Babeltrace's plugin and samples for ARCH; $2... for make.
make_tools()
{
	_to=$(built_for "$1") _arch=$1
	shift
	make_for "$_arch" -C "$tree/userspace" OUT="$_to/user" "$@" all samples
}

# Build the programs of selftests/vm for ARCH; $2... for make.
make_guest_tests()
{
	_to=$(built_for "$1") _arch=$1
	shift
	make_for "$_arch" -C "$tree/selftests/vm" OUT="$_to/selftests" \
		KSELFTEST="$(linux_source)/tools/testing/selftests" "$@"
}
