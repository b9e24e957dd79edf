#!/bin/sh
# SPDX-License-Identifier: GPL-2.0-only
#
# peers.sh - fetches the tracers that a guest compares tracebuf with into the cache, and installs
# nothing.
#
#   peers.sh KERNEL	prints their folder
#
# trace-cmd and LTTng's tools are those of Debian 12. LTTng's modules are those of Debian 13, which
# compile for kernel 6.12. apt finds them with separate lists, so the host's lists stay as they are.
# The script builds only the probes that the benchmark records: sched and irq (system calls are in
# the tracer).
#
# The folder, ${XDG_CACHE_HOME:-~/.cache}/tracebuf/peers:
#
#   root/			the packages, unpacked
#   lttng-RELEASE/	LTTng's modules, in the order to load them

set -eu

here=$(cd "$(dirname "$0")" && pwd -P)
top=$(cd "$here/../../.." && pwd -P)
# shellcheck source=scripts/lib/cache.sh
. "$top/scripts/lib/cache.sh"
# shellcheck source=scripts/lib/fetch.sh
. "$top/scripts/lib/fetch.sh"
kernel=$1
dir="$(cache_dir)/peers"
release=$(kernel_release "$kernel")

say()
{
	echo "bench: $*" >&2
}

# for fetch.sh: this script does not refresh the host's lists
apt_update()
{
	return 1
}

die()
{
	echo "bench: error: $*" >&2
	exit 1
}

# Make the lists of Debian 13, in $dir/apt.
other_lists()
{
	_a=$dir/apt
	mkdir -p "$_a/lists/partial" "$_a/cache/archives/partial"
	echo "deb [signed-by=/usr/share/keyrings/debian-archive-keyring.gpg] http://deb.debian.org/debian trixie main" \
		>"$_a/sources.list"
	cat >"$_a/apt.conf" <<END
Dir::Etc::SourceList "$_a/sources.list";
Dir::Etc::SourceParts "-";
Dir::State::Lists "$_a/lists";
Dir::Cache "$_a/cache";
APT::Sandbox::User "$(id -un)";
Acquire::Languages "none";
END
}

fetch_root()
{
	[ ! -e "$dir/root" ] || return 0
	say "fetching trace-cmd and LTTng"
	rm -rf "$dir/root.part"
	mkdir -p "$dir/root.part/debs"
	(
		cd "$dir/root.part/debs"
		apt_download trace-cmd libtracefs1 libtraceevent1 \
			lttng-tools liblttng-ctl0 liblttng-ust1 liblttng-ust-common1 liblttng-ust-ctl5 \
			liburcu8 libpopt0 babeltrace2 libbabeltrace2-0
		other_lists
		(
			export APT_CONFIG="$dir/apt/apt.conf"
			apt-get -qq update && apt_download lttng-modules-dkms
		) || die "no lttng-modules-dkms of Debian 13"
		for _deb in *.deb; do
			dpkg -x "$_deb" ..
		done
	)
	rm -rf "$dir/apt" "$dir/root.part/debs"
	mv "$dir/root.part" "$dir/root"
}

build_lttng()
{
	_to=$dir/lttng-$release
	[ ! -e "$_to" ] || return 0
	say "building LTTng's modules for $release"
	_from=$(echo "$dir"/root/usr/src/lttng-modules-*)
	_work=$dir/lttng.part
	rm -rf "$_work" "$_to.part"
	cp -r "$_from" "$_work"
	# the first two probes; the tracer calls the three others
	sed -i '/lttng-probe-irq\.o/q' "$_work/src/probes/Kbuild"
	echo 'obj-m += lttng-kprobes.o lttng-uprobes.o lttng-kretprobes.o' >>"$_work/src/probes/Kbuild"
	sed -i '/tests\//d' "$_work/src/Kbuild"
	nice -n 5 make -C "$(kernel_headers "$kernel")" M="$_work/src" CONFIG_LTTNG=m \
		CONFIG_DEBUG_INFO_BTF_MODULES= -j"$(nproc)" modules >"$dir/lttng.log" 2>&1 ||
		die "LTTng's modules do not compile for $release; see $dir/lttng.log"
	mkdir "$_to.part"
	_n=10
	for _m in lttng-wrapper lttng-clock lib/lttng-lib-ring-buffer lib/lttng-counter \
		lttng-statedump probes/lttng-kprobes probes/lttng-uprobes probes/lttng-kretprobes \
		lttng-tracer lttng-ring-buffer-metadata-client \
		lttng-ring-buffer-client-discard lttng-ring-buffer-client-overwrite \
		lttng-ring-buffer-metadata-mmap-client lttng-ring-buffer-client-mmap-discard \
		lttng-ring-buffer-client-mmap-overwrite lttng-ring-buffer-event-notifier-client \
		lttng-counter-client-percpu-32-modular lttng-counter-client-percpu-64-modular \
		probes/lttng-probe-sched probes/lttng-probe-irq; do
		cp "$_work/src/$_m.ko" "$_to.part/$_n-${_m##*/}.ko"
		strip -g "$_to.part/$_n-${_m##*/}.ko"
		_n=$((_n + 1))
	done
	rm -rf "$_work"
	mv "$_to.part" "$_to"
}

mkdir -p "$dir"
exec 9>"$dir.lock"
flock 9
fetch_root
build_lttng
echo "$dir"
