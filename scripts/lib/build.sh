#!/bin/sh
# SPDX-License-Identifier: GPL-2.0-only
#
# build.sh - builds kernels with debugging options into the cache.
#
# scripts/setup sources it after lib/fetch.sh, with say() and die() defined and $here set to
# scripts/. Kernel SERIES-WHAT comes from the package linux-source-SERIES, with the configuration of
# kernels/base.config and kernels/WHAT.config. The cache keeps the files of lib/cache.sh and:
#
#   key      checksum of the kernel's sources and configuration
#   config   its configuration
#
# A build takes some minutes and 2 GB in a *.part folder. The script removes the tree of the build
# and renames the folder at the end.

# Print the checksum of the sources of kernel $1.
build_key()
{
	# shellcheck disable=SC2154
	(cat "$here/kernels/base.config" "$here/kernels/${1##*-}.config" && cat "$(linux_source)/release") |
		cksum | tr -d '\n' | tr ' ' '-'
}

# Is kernel $1 there, built from the current sources?
kernel_built()
{
	_k="$(cache_dir)/kernels/$1"
	[ -s "$_k/release" ] && [ "$(cat "$_k/key" 2>/dev/null)" = "$(build_key "$1")" ]
}

# Run make in the kernel's tree, without the flags of a make that runs this script.
kernel_make()
{
	env -u MAKEFLAGS -u MAKELEVEL -u MFLAGS nice -n 10 make -s "$@"
}

# Configure the tree in the current folder with the fragments $*.
configure_kernel()
{
	kernel_make tinyconfig || return
	scripts/kconfig/merge_config.sh -m -O . .config "$@" >merge.log || return
	kernel_make olddefconfig || return
	# kconfig silently drops an option with a missing dependency.
	for _fragment; do
		sed -n 's/^# \(CONFIG_[A-Z0-9_]*\) is not set$/\1/p' "$_fragment" | while read -r _option; do
			! grep -q "^$_option=" .config || echo "$_option"
		done
		grep '^CONFIG_' "$_fragment" | while read -r _option; do
			grep -qxF -- "$_option" .config || echo "$_option"
		done
	done >not-taken
	[ ! -s not-taken ]
}

# Build in the folder $1, from the fragments that follow.
build_in()
{
	_part=$1
	shift
	mkdir "$_part/tree"
	cd "$_part/tree" || return
	# leave out hundreds of megabytes that these kernels do not need
	tar -xJf "$(linux_source)/linux-source-6.12.tar.xz" --strip-components=1 \
		--exclude='*/drivers/gpu/drm/amd/include/*' --exclude='*/tools/testing/*' || return
	configure_kernel "$@" || {
		echo "these options were not taken:"
		cat not-taken
		return 1
	}
	kernel_make -j"$(nproc)" vmlinux modules || return
	kernel_make run-command \
		KBUILD_RUN_COMMAND="+\$(srctree)/scripts/package/install-extmod-build $_part/headers" || return
	strip -o "$_part/vmlinux" vmlinux || return
	cp .config "$_part/config" || return
	kernel_make kernelrelease >"$_part/release.new" || return
	cd "$_part" || return
	rm -rf tree
}

# Build kernel $1 into the cache.
build_kernel()
{
	case $1 in
	6.12-*) ;;
	*) die "no sources to build kernel '$1' from" ;;
	esac
	[ -e "$here/kernels/${1##*-}.config" ] || die "no scripts/kernels/${1##*-}.config for kernel '$1'"
	# One build at a time: two would slow each other down. The lock is not that of the cache, so
	# that other runs can use finished kernels.
	exec 7>"$(cache_dir)/build.lock"
	flock 7
	if kernel_built "$1"; then
		exec 7>&-
		return
	fi
	_k="$(cache_dir)/kernels/$1"
	_log="$(cache_dir)/build-$1.log"
	say "kernel $1: building, some minutes, once (log: $_log)"
	rm -rf "$_k.part"
	mkdir -p "$_k.part"
	(build_in "$_k.part" "$here/kernels/base.config" "$here/kernels/${1##*-}.config") \
		>"$_log" 2>&1 </dev/null 7>&- || {
		tail -n 20 "$_log" >&2
		rm -rf "$_k.part"
		die "could not build kernel $1"
	}
	build_key "$1" >"$_k.part/key"
	# last, because a kernel without this file does not count as there
	mv "$_k.part/release.new" "$_k.part/release"
	rm -rf "$_k" "$_log"
	mv "$_k.part" "$_k"
	say "kernel $1: $(cat "$_k/release") is in $_k"
	exec 7>&-
}
