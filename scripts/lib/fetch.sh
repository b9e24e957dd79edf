#!/bin/sh
# SPDX-License-Identifier: GPL-2.0-only
#
# fetch.sh - fetch Debian kernels into the cache, installing nothing.
#
# Sourced by scripts/setup, after lib/cache.sh, with say() and die() defined.
# Each fetch_*() does nothing when its result is there; it works in a *.part
# folder and renames it at the end, so what is in the cache is whole.

# The packages are downloaded into the current folder as the current user;
# apt would otherwise drop to user _apt, who cannot write there.
apt_download()
{
	for _try in 1 2; do
		if apt-get -q -o APT::Sandbox::User="$(id -un)" download "$@" >apt.log 2>&1; then
			return 0
		fi
		# A package named by old lists is gone from the archive: refresh, once.
		if [ "$_try" = 2 ] || ! apt_update; then
			break
		fi
	done
	sed 's/^/  /' apt.log >&2
	die "could not download: $*"
}

have_package()
{
	apt-cache show --no-all-versions "$1" >/dev/null 2>&1
}

# Newest release of kernel $1 ("6.12", or with a flavour "6.12-rt") of which
# image, headers and kbuild are all in the package lists; sets release, image,
# common and kbuild.
find_release()
{
	_series=${1%%-*}
	_flavour=${1#"$_series"}
	for release in $(apt-cache pkgnames "linux-headers-$_series." |
			sed -n "s/^linux-headers-\\([0-9.]*\\(-[0-9]*\\|+deb[0-9]*\\)$_flavour-amd64\\)\$/\\1/p" |
			sort -rV); do
		_version=${release%"$_flavour-amd64"}
		common=linux-headers-$_version-common$_flavour
		have_package "$common" || continue
		for kbuild in "linux-kbuild-$_version" "linux-kbuild-$_series" ""; do
			[ -z "$kbuild" ] || ! have_package "$kbuild" || break
		done
		[ -n "$kbuild" ] || continue
		# Unsigned and signed images hold the same kernel; the signed
		# one may come some hours later.
		for image in "linux-image-$release-unsigned" "linux-image-$release"; do
			have_package "$image" && return 0
		done
	done
	return 1
}

# vmlinux from bzImage $1 into $2. The boot protocol's header says where the
# compressed payload is (Documentation/arch/x86/boot.rst); its last four bytes
# are the size it unpacks to.
extract_vmlinux()
{
	_sects=$(od -An -tu1 -j497 -N1 "$1" | tr -d ' ')
	_off=$(od -An -tu4 -j584 -N4 "$1" | tr -d ' ')
	_len=$(od -An -tu4 -j588 -N4 "$1" | tr -d ' ')
	_off=$(((_sects + 1) * 512 + _off + 1))
	_magic=$(tail -c +$_off "$1" | od -An -tx1 -N4 | tr -d ' ')
	case $_magic in
	fd377a58) _tool='xz -dc' ;;
	28b52ffd) _tool='zstd -dcq' ;;
	1f8b*) _tool='gzip -dc'; _len=$((_len + 4)) ;;
	*) die "$1: payload starts with $_magic: neither xz, zstd nor gzip" ;;
	esac
	tail -c +$_off "$1" | head -c $((_len - 4)) | $_tool >"$2" ||
		die "$1: could not unpack the kernel"
	[ "$(od -An -tx1 -N4 "$2" | tr -d ' ')" = 7f454c46 ] ||
		die "$1: what unpacked is no ELF file"
}

# Kernel $1, one of Debian's, into the cache.
fetch_kernel()
{
	_k="$(cache_dir)/kernels/$1"
	[ ! -s "$_k/release" ] || return 0
	need_apt "kernel $1"
	if ! find_release "$1"; then
		apt_update || true
		find_release "$1" || die "no linux-headers of kernel $1 for amd64 with its image in apt's lists.
Kernel $1 for Debian 12 is in these archives; add both lines to a file in
/etc/apt/sources.list.d/, run apt-get update as root, and try again:
  deb http://deb.debian.org/debian bookworm-backports main
  deb http://deb.debian.org/debian-security bookworm-security main"
	fi
	say "kernel $1: fetching $release"
	rm -rf "$_k.part"
	mkdir -p "$_k.part/root"
	(
		cd "$_k.part" || exit
		apt_download "$image" "linux-headers-$release" "$common" "$kbuild"
		say "kernel $1: unpacking"
		for _deb in *.deb; do
			dpkg -x "$_deb" root
			rm "$_deb"
		done
		rm -f apt.log

		_hdr="root/usr/src/linux-headers-$release"
		sed -i "s|^\(include\) /usr/src/|\1 $_k/root/usr/src/|" "$_hdr/Makefile"
		ln -s "$_hdr" headers
		ln -s "root/boot/vmlinuz-$release" bzImage
		# Newer packages may come with /usr/lib/modules alone.
		if [ ! -e root/lib ]; then
			ln -s usr/lib root/lib
		fi
		rm -f "root/lib/modules/$release/build" "root/lib/modules/$release/source"
		ln -s "$_k/$_hdr" "root/lib/modules/$release/build"
		ln -s "root/lib/modules/$release" modules
		depmod=$(PATH="$PATH:/usr/sbin:/sbin" command -v depmod) ||
			die "depmod not found: install the package kmod"
		"$depmod" -b "$PWD/root" "$release"
		extract_vmlinux bzImage vmlinux
		printf '%s\n' "$release" >release
	)
	mv "$_k.part" "$_k"
	say "kernel $1: $release is in $_k"
}

# The package linux-source-6.12 as a file, in $1: also the source of kernels
# built with debugging options.
fetch_source_deb()
{
	need_apt "linux-source-6.12"
	have_package linux-source-6.12 || apt_update || true
	have_package linux-source-6.12 ||
		die "no package linux-source-6.12 in apt's lists; it is in bookworm-backports and bookworm-security"
	say "linux-source-6.12: fetching (about 150 MB)"
	(cd "$1" && apt_download linux-source-6.12 && rm -f apt.log)
}

# What tests and checks need of the kernel's sources. With $1 = keep the
# tarball stays, as linux-source/linux-source-6.12.tar.xz.
fetch_source()
{
	_s="$(linux_source)"
	if [ -s "$_s/release" ]; then
		[ "${1:-}" = keep ] || return 0
		[ ! -s "$_s/linux-source-6.12.tar.xz" ] || return 0
	fi
	rm -rf "$_s.part"
	mkdir -p "$_s.part"
	fetch_source_deb "$_s.part"
	say "linux-source-6.12: unpacking kselftest.h and checkpatch.pl"
	(
		cd "$_s.part" || exit
		_deb=$(ls linux-source-6.12_*.deb)
		_ver=${_deb#*_}
		# Straight out of the package: nothing of its size is stored twice.
		dpkg --fsys-tarfile "$_deb" |
			tar -xO ./usr/src/linux-source-6.12.tar.xz >linux-source-6.12.tar.xz
		rm "$_deb"
		tar -xJf linux-source-6.12.tar.xz --strip-components=1 --wildcards \
			'*/tools/testing/selftests/kselftest.h' \
			'*/tools/testing/selftests/kselftest_harness.h' \
			'*/tools/testing/selftests/kselftest/*.sh' \
			'*/tools/testing/selftests/lib.mk' \
			'*/scripts/checkpatch.pl' \
			'*/scripts/spelling.txt' \
			'*/scripts/const_structs.checkpatch'
		[ "${1:-}" = keep ] || rm linux-source-6.12.tar.xz
		printf '%s\n' "${_ver%_all.deb}" >release
	)
	rm -rf "$_s"
	mv "$_s.part" "$_s"
	say "linux-source-6.12: files are in $_s"
}
