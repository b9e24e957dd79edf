#!/bin/sh
# SPDX-License-Identifier: GPL-2.0-only
#
# fetch.sh - fetches Debian kernels into the cache, and installs nothing.
#
# scripts/setup sources it after lib/cache.sh, with say() and die() defined. Each fetch_*() does
# nothing if its result exists. It works in a *.part folder and renames it at the end, so the cache
# has only complete results.

# Download the packages into the current folder as the current user: apt's own user _apt could not
# write there.
apt_download()
{
	for _try in 1 2; do
		if apt-get -q -o APT::Sandbox::User="$(id -un)" download "$@" >apt.log 2>&1; then
			return 0
		fi
		# The archive no longer has a package of an old list: refresh the lists once.
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

# Set series ("" for any), flavour and arch of kernel $1. If a newer Debian has it, switch apt to
# the lists of that Debian.
kernel_origin()
{
	series=${1%%-*}
	flavour=${1#"$series"}
	arch=amd64
	case $1 in
	newest)
		series='' flavour=''
		other_debian amd64 trixie trixie-backports
		;;
	*-arm64)
		flavour=${flavour%-arm64}
		arch=arm64
		other_debian arm64 bookworm bookworm-security
		;;
	esac
}

# Find the newest release, for kernel_origin()'s answer, whose image, headers and kbuild are all in
# the package lists; set release, image (one or more packages), common and kbuild.
find_release()
{
	for release in $(apt-cache pkgnames "linux-headers-${series:+$series.}" |
			sed -n "s/^linux-headers-\\([0-9.]*\\(-[0-9]*\\|+deb[0-9.]*\\)$flavour-$arch\\)\$/\\1/p" |
			sort -rV); do
		_version=${release%"$flavour-$arch"}
		# real-time kernels have their own common headers
		common=linux-headers-$_version-common$flavour
		have_package "$common" || common=linux-headers-$_version-common
		have_package "$common" || continue
		for kbuild in "linux-kbuild-$_version" "linux-kbuild-$series" ""; do
			[ -z "$kbuild" ] || ! have_package "$kbuild" || break
		done
		[ -n "$kbuild" ] || continue
		# Unsigned and signed images contain the same kernel; the signed one may appear some
		# hours later.
		for image in "linux-image-$release-unsigned" "linux-binary-unsigned-$release" \
			"linux-binary-$release" "linux-image-$release"; do
			have_package "$image" || continue
			# since 7.2, modules have their own packages
			! have_package "linux-modules-$release" ||
				image="$image linux-modules-$release"
			return 0
		done
	done
	return 1
}

# Extract vmlinux from bzImage $1 into $2. The header of the boot protocol has the offset of the
# compressed payload (Documentation/arch/x86/boot.rst); the last four bytes of the payload are the
# size of vmlinux.
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

# Make an image that QEMU boots from the kernel's image in the unpacked packages, root/.
unpack_image()
{
	# the last two names: since 7.2
	for _image in "root/boot/vmlinuz-$release" "root/usr/lib/modules/$release/vmlinuz" \
		"root/usr/lib/modules/$release/vmlinuz.unsigned"; do
		[ ! -e "$_image" ] || break
	done
	if [ "$arch" = amd64 ]; then
		ln -s "$_image" bzImage
		extract_vmlinux bzImage vmlinux
	else
		ln -s "$_image" Image
	fi
}

# Change the paths in the headers from the place of their installation to $1/root.
relocate_headers()
{
	_hdr="root/usr/src/linux-headers-$release"
	sed -i -e "s|^\(include\) /usr/src/|\1 $1/root/usr/src/|" \
		-e "s|^\(KBUILD_OUTPUT=\)/usr/src/|\1$1/root/usr/src/|" "$_hdr/Makefile"
	ln -s "$_hdr" headers
	# Newer packages may have only /usr/lib/modules.
	if [ ! -e root/lib ]; then
		ln -s usr/lib root/lib
	fi
	rm -f "root/lib/modules/$release/build" "root/lib/modules/$release/source"
	ln -s "$1/$_hdr" "root/lib/modules/$release/build"
	ln -s "root/lib/modules/$release" modules
}

# A kernel of a newer Debian needs the compiler of that Debian, and the programs of its headers need
# its libraries. root/ has both and later becomes $1/root. gcc looks for the assembler and the
# linker in its own folder before it takes the host's.
relocate_tools()
{
	_tools=root/usr/x86_64-linux-gnu/bin
	mkdir -p "$_tools"
	for _tool in as ld ld.bfd nm objcopy objdump ar strip ranlib readelf; do
		ln -s "../../bin/x86_64-linux-gnu-$_tool" "$_tools/$_tool"
	done
	find root/usr/bin root/usr/libexec/gcc root/usr/lib/linux-kbuild-* -type f -perm /111 >tools
	# shellcheck disable=SC2046
	own_libraries "$1/root" $(cat tools)
	rm tools
	sed -i "s|^override CROSS_COMPILE = .*|override CROSS_COMPILE = $1/root/usr/bin/x86_64-linux-gnu-|
		\$a PAHOLE = $1/root/usr/bin/pahole" "root/usr/src/linux-headers-$release/.kernelvariables"
}

# Fetch into $1 programs and libraries of Debian 12 for guests that cannot run the host's, and the
# libraries that this tree's programs need.
guest_packages="bash dash coreutils grep sed mawk gawk tar util-linux mount kmod procps
	findutils diffutils gzip xz-utils zstd bzip2 binutils gcc iproute2 python3-minimal python3 strace
	jq protobuf-compiler
	libc6-dev zlib1g-dev libdw-dev libelf-dev libiberty-dev liblzma-dev libbz2-dev
	libprotobuf-c-dev libzstd-dev liburing-dev libtraceevent-dev
	libsqlite3-dev sqlite3 libncurses-dev libbabeltrace2-dev babeltrace2 e2fsprogs libcap2-bin"
fetch_guest_root()
{
	# shellcheck disable=SC2086
	other_download_all "?essential?architecture($arch)" $guest_packages
	unpack_root "$1"
	cp "$1/usr/share/base-passwd/passwd.master" "$1/etc/passwd"
	cp "$1/usr/share/base-passwd/group.master" "$1/etc/group"
	ln -sf gawk "$1/usr/bin/awk"
	# half of the size, and guests do not read it
	rm -rf "$1/usr/share/doc" "$1/usr/share/man" "$1/usr/share/locale"
}

no_release()
{
	[ -z "$_od" ] || die "no linux-headers of kernel $1 for $arch with its image in the archives of
$(cat "$_od/sources.list")"
	die "no linux-headers of kernel $1 for $arch with its image in apt's lists.
Kernel $1 for Debian 12 is in these archives; add both lines to a file in
/etc/apt/sources.list.d/, run apt-get update as root, and try again:
  deb http://deb.debian.org/debian bookworm-backports main
  deb http://deb.debian.org/debian-security bookworm-security main"
}

# Fetch Debian's kernel $1 into the cache.
fetch_kernel()
{
	_k="$(cache_dir)/kernels/$1"
	if [ -s "$_k/release" ]; then
		# A kernel for another architecture also needs the current list of programs.
		[ -s "$_k/arch" ] && [ "$(cat "$_k/programs" 2>/dev/null)" != "$guest_packages" ] ||
			return 0
	fi
	need_apt "kernel $1"
	kernel_origin "$1"
	if ! find_release; then
		apt_update || true
		find_release || no_release "$1"
	fi
	say "kernel $1: fetching $release"
	rm -rf "$_k.part"
	mkdir -p "$_k.part/root"
	(
		cd "$_k.part" || exit
		# the programs in kbuild run on this machine
		[ "$arch" = amd64 ] || kbuild=$kbuild:amd64
		if [ "$1" = newest ]; then
			# shellcheck disable=SC2086
			other_download_all $image "linux-headers-$release"
		else
			# shellcheck disable=SC2086
			apt_download $image "linux-headers-$release" "$common" "$kbuild"
		fi
		say "kernel $1: unpacking"
		if [ "$1" = newest ]; then
			unpack_root root
			relocate_tools "$_k"
		else
			for _deb in *.deb; do
				dpkg -x "$_deb" root
				rm "$_deb"
			done
		fi
		rm -f apt.log
		relocate_headers "$_k"
		depmod=$(PATH="$PATH:/usr/sbin:/sbin" command -v depmod) ||
			die "depmod not found: install the package kmod"
		"$depmod" -b "$PWD/root" "$release"
		unpack_image
		if [ "$arch" != amd64 ]; then
			say "kernel $1: programs for its guests"
			fetch_guest_root user
			printf '%s\n' "$guest_packages" >programs
			printf '%s\n' "$arch" >arch
		fi
		printf '%s\n' "$release" >release
	)
	host_debian
	rm -rf "$_k"
	mv "$_k.part" "$_k"
	say "kernel $1: $release is in $_k"
}

# Download the package linux-source-6.12 into $1. Kernels with debugging options also come from it.
fetch_source_deb()
{
	need_apt "linux-source-6.12"
	have_package linux-source-6.12 || apt_update || true
	have_package linux-source-6.12 ||
		die "no package linux-source-6.12 in apt's lists; it is in bookworm-backports and bookworm-security"
	say "linux-source-6.12: fetching (about 150 MB)"
	(cd "$1" && apt_download linux-source-6.12 && rm -f apt.log)
}

# Fetch the files of the kernel's sources that tests and checks need. With $1 = keep, keep the
# tarball as linux-source/linux-source-6.12.tar.xz.
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
		# Stream it out of the package, so that the disk holds only one copy.
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
