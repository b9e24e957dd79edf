#!/bin/sh
# SPDX-License-Identifier: GPL-2.0-only
#
# debian.sh - unpacks packages of another Debian than the host's into folders.
#
# scripts/setup sources it after lib/cache.sh, with say() and die() defined. Between other_debian()
# and host_debian(), apt uses separate lists in the cache and knows of no installed package. It
# needs no root.

# the folder of the separate lists, between these two calls
_od=

# other_debian ARCH SUITE...: use suites of the archive debian or debian-security
other_debian()
{
	_od="$(cache_dir)/apt/$1-$2"
	mkdir -p "$_od/lists/partial" "$_od/archives/partial"
	: >"$_od/status"
	cat >"$_od/apt.conf" <<-END
		Dir::Etc::sourcelist "$_od/sources.list";
		Dir::Etc::sourceparts "-";
		Dir::State "$_od";
		Dir::State::status "$_od/status";
		Dir::Cache "$_od";
		APT::Sandbox::User "$(id -un)";
		APT::Architecture "$1";
		#clear APT::Architectures;
		APT::Architectures { "$1"; "amd64"; };
		APT::Install-Recommends "false";
		APT::Get::AllowUnauthenticated "false";
	END
	_arch=$1
	shift
	for _suite; do
		_archive=debian
		case $_suite in
		*-security) _archive=debian-security ;;
		esac
		echo "deb [signed-by=/usr/share/keyrings/debian-archive-keyring.gpg]" \
			"http://deb.debian.org/$_archive $_suite main"
	done >"$_od/sources.list"
	APT_CONFIG=$_od/apt.conf
	export APT_CONFIG
	say "apt-get update, for $_arch of: $*"
	apt-get -qq update >"$_od/log" 2>&1 || {
		tail -n 5 "$_od/log" >&2
		die "apt-get update failed"
	}
}

host_debian()
{
	unset APT_CONFIG
	_od=
}

# Download packages and all their dependencies into the current folder.
other_download_all()
{
	rm -f "$_od"/archives/*.deb
	apt-get -q -y --download-only install "$@" >"$_od/log" 2>&1 || {
		tail -n 10 "$_od/log" >&2
		die "could not download: $*, and what they depend on"
	}
	mv "$_od"/archives/*.deb .
}

# Unpack the packages in the current folder into the folder $1, with links like /bin into /usr. Do
# not run their scripts.
unpack_root()
{
	mkdir -p "$1/usr"
	for _dir in bin sbin lib lib64; do
		mkdir -p "$1/usr/$_dir"
		[ -e "$1/$_dir" ] || ln -s "usr/$_dir" "$1/$_dir"
	done
	for _deb in *.deb; do
		dpkg --fsys-tarfile "$_deb" | tar -x --keep-directory-symlink -C "$1" ||
			die "could not unpack $_deb"
		rm "$_deb"
	done
}

# Make the programs in the files $2... use the libraries that will be in $1, not the host's. Skip
# files that are not ELF programs.
own_libraries()
{
	_libs=$1
	shift
	for _file; do
		patchelf --print-interpreter "$_file" >/dev/null 2>&1 || continue
		patchelf --set-interpreter "$_libs/usr/lib64/ld-linux-x86-64.so.2" --force-rpath \
			--set-rpath "$_libs/usr/lib/x86_64-linux-gnu" "$_file" ||
			die "patchelf failed: $_file"
	done
}
