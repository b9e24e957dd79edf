#!/bin/sh
# SPDX-License-Identifier: GPL-2.0-only
#
# run.sh - the Debian packages work in a clean system. If this fails, a user installs them and has
# no module, no permission to record, or files that remain after a purge. TAP.
#
#   run.sh [--full] [-n] [-k KERNEL] [-o DIR]
#
# The script makes a Debian 12 with the packages' dependencies once, in the cache. In a copy of it
# dpkg installs the packages, and DKMS builds the modules: for KERNEL, and then for another kernel,
# as its package does. Then a guest boots KERNEL, and guest.sh uses all of it. With -n the script
# takes the packages from out/packages. Without --full it builds only the commonest events, which
# takes half a minute instead of some.
# VM= in the environment: another command than scripts/vm.
#
# shellcheck disable=SC2317 # functions are called by check()

set -u

here=$(cd "$(dirname "$0")" && pwd -P)
tree=${here%/selftests/package}
# shellcheck source=scripts/lib/cache.sh
. "$tree/scripts/lib/cache.sh"
# shellcheck source=selftests/unit/tap.sh
. "$tree/selftests/unit/tap.sh"

full='' kernel=6.12 other=6.1 build=yes out=$tree/build/package-test
while [ $# -gt 0 ]; do
	case $1 in
	--full) full=yes ;;
	-n) build='' ;;
	-k) kernel=$2; shift ;;
	-o) out=$2; shift ;;
	*) sed -n '5,14s/^# \{0,1\}//p' "$0"; exit 2 ;;
	esac
	shift
done
[ "$kernel" != 6.1 ] || other=6.12

if [ "$(id -u)" != 0 ]; then
	skip packages "installing them in a system of their own takes root"
	echo "1..$count"
	exit
fi
root=$tree/build/package-root
mkdir -p "$out"
out=$(cd "$out" && pwd -P)
log=$out/log
: >"$log"

check()
{
	name=$1
	shift
	echo "==== $name" >>"$log"
	"$@" >"$out/said" 2>&1 </dev/null
	code=$?
	cat "$out/said" >>"$log"
	[ $code = 0 ] || sed 's/^/# /' "$out/said" | tail -n 30
	result $code "$name"
	return $code
}

# dependencies of the packages, and tools of this test
base_packages=systemd,systemd-sysv,udev,dbus,kmod,make,gcc,libc6-dev,binutils,dkms,adduser
base_packages=$base_packages,libcap2-bin,babeltrace2,libzstd-dev,pkg-config,man-db,libelf1
base_packages=$base_packages,libdw1,libtraceevent1,libncurses6,libsqlite3-0,libprotobuf-c1
base_packages=$base_packages,liburing2,zlib1g

base()
{
	base=$(cache_dir)/package-root
	[ "$(cat "$base/made-of" 2>/dev/null)" = "$base_packages" ] && return
	rm -rf "$base.part"
	debootstrap --variant=minbase "--include=$base_packages" bookworm "$base.part" || return
	rm -rf "$base.part"/var/cache/apt/archives/*.deb "$base.part"/var/lib/apt/lists/*
	echo "$base_packages" >"$base.part/made-of"
	rm -rf "$base"
	mv "$base.part" "$base"
}

# inside COMMAND...: runs in the system; its mounts go with the command
inside()
{
	# shellcheck disable=SC2016
	unshare -m sh -c 'mount -t proc proc "$1/proc" && mount --rbind /dev "$1/dev" &&
		root=$1 && shift && exec env -i PATH=/usr/sbin:/usr/bin:/sbin:/bin LC_ALL=C.UTF-8 \
		DEBIAN_FRONTEND=noninteractive chroot "$root" "$@"' - "$root" "$@"
}

# headers KERNEL: copies a kernel's headers, as their package would install them
headers()
{
	release=$(kernel_release "$1")
	from=$(kernel_dir "$1")
	cp -a "$from/root/usr/src/." "$root/usr/src/"
	sed -i 's|^\(include\) /.*/usr/src/|\1 /usr/src/|' "$root/usr/src/linux-headers-$release/Makefile"
	[ ! -d "$from/root/usr/lib/linux-kbuild-${release%%-*}" ] ||
		cp -a "$from/root/usr/lib/linux-kbuild-${release%%-*}" "$root/usr/lib/"
	for kbuild in "$from"/root/usr/lib/linux-kbuild-*; do
		[ ! -d "$kbuild" ] || cp -a "$kbuild" "$root/usr/lib/"
	done
	mkdir -p "$root/lib/modules/$release"
	ln -sfn "/usr/src/linux-headers-$release" "$root/lib/modules/$release/build"
	cp "$from"/modules/modules.order "$from"/modules/modules.builtin* "$root/lib/modules/$release/"
}

prepare()
{
	base || return
	rm -rf "$root"
	cp -a "$(cache_dir)/package-root" "$root" || return
	headers "$kernel" || return
	[ -n "$full" ] && return
	echo HEADERS=core >"$root/etc/dkms/tracebuf.conf"
}

install_them()
{
	mkdir "$root/packages"
	for deb in "$tree"/out/packages/*.deb; do
		case $deb in
		*-dbgsym_*) ;;
		*) cp "$deb" "$root/packages/" ;;
		esac
	done
	# shellcheck disable=SC2016
	inside sh -c 'dpkg -i $(ls /packages/*.deb | grep -v tools) && dpkg --audit' &&
		inside getcap /usr/libexec/tracebuf/tracebuf-open | grep perfmon &&
		inside stat -c '%a %U %G' /usr/libexec/tracebuf/tracebuf-open | grep '^750 root tracebuf$' &&
		[ -z "$(inside getcap /usr/bin/tracebuf)" ]
}

# Without tracebuf-tools, the recorder names that package. With it, it runs the commands of it.
tools()
{
	! inside tracebuf report >"$out/no-report" 2>&1 || return
	cat "$out/no-report"
	grep 'package tracebuf-tools has the commands that read recordings' "$out/no-report" &&
		inside tracebuf -h | grep '^  record ' &&
		! inside tracebuf -h | grep '^  report ' &&
		inside sh -c 'dpkg -i /packages/tracebuf-tools_*.deb && dpkg --audit' &&
		inside tracebuf -h | grep '^  report ' &&
		inside tracebuf help why | grep '^usage: tracebuf why' &&
		inside tracebuf repotr 2>&1 | grep 'did you mean report' &&
		[ -z "$(inside getcap /usr/libexec/tracebuf/tracebuf-tools)" ]
}

# needed FILE: prints the shared libraries of a program
needed()
{
	inside readelf -d "$1" | sed -n 's/.*NEEDED.*\[\(.*\)\]/\1/p'
}

# The tool shares the system's libraries, so that security updates reach it. The recorder has none
# that only reading needs.
shared()
{
	needed /usr/bin/tracebuf
	! needed /usr/bin/tracebuf |
		grep -E '^lib(sqlite3|ncurses|tinfo|traceevent|protobuf-c)\.' ||
		return
	needed /usr/libexec/tracebuf/tracebuf-tools >"$out/needed"
	cat "$out/needed"
	for library in sqlite3 zstd ncurses tinfo traceevent uring protobuf-c z; do
		grep -q "^lib$library\.so\." "$out/needed" || { echo "lib$library is not shared"; return 1; }
	done
}

# installed KERNEL: DKMS has the modules, and modprobe finds them
installed()
{
	release=$(kernel_release "$1")
	inside dkms status
	inside dkms status -k "$release" | grep 'installed$' || {
		tail -n 30 "$root"/var/lib/dkms/tracebuf/*/build/make.log
		return 1
	}
	inside modinfo -k "$release" -n tracebuf | grep updates/dkms
}

# dkms autoinstall runs when a machine has booted a kernel without a module.
build_it()
{
	release=$(kernel_release "$kernel")
	inside dkms autoinstall -k "$release"
	installed "$kernel"
}

# The package of a kernel runs these scripts when it is installed.
upgrade()
{
	release=$(kernel_release "$other")
	headers "$other"
	inside run-parts --verbose --exit-on-error --arg="$release" /etc/kernel/postinst.d
	installed "$other" && installed "$kernel"
}

# excluded KERNEL PATTERN: DKMS skips a new kernel of this name, whose configuration is that of a
# good one without the lines of PATTERN, and the kernel's package does not fail
excluded()
{
	fake=$1
	mkdir -p "$root/lib/modules/$fake/build/include"
	grep -v "$2" "$root/usr/src/linux-headers-$(kernel_release "$kernel")/.config" \
		>"$root/lib/modules/$fake/build/.config"
	inside run-parts --verbose --exit-on-error --arg="$fake" /etc/kernel/postinst.d || return
	inside dkms build "tracebuf/$(version)" -k "$fake"
	[ $? = 77 ] || return 1
	rm -rf "$root/lib/modules/$fake"
	! inside dkms status -k "$fake" | grep "$fake"
}

skipped()
{
	excluded 6.12.0-without-glob '^CONFIG_GLOB='
}

# excluded by the version alone
too_old()
{
	for old in 6.0.19-old 5.10.0-old; do
		excluded "$old" '^$' || { echo "$old is not skipped"; return 1; }
	done
}

# fits KERNEL: what dkms does with the name of a kernel
fits()
{
	# shellcheck disable=SC2016
	inside bash -c '. "/usr/src/tracebuf-$0/dkms.conf" && [ "$BUILD_EXCLUSIVE_KERNEL" ] &&
		[[ $1 =~ $BUILD_EXCLUSIVE_KERNEL ]]' "$(version)" "$1"
}

# by the version in the name
names()
{
	for release in 6.1.0-57-amd64 6.1.57 6.2.0 6.10.0-rc1 6.12.9+deb13-amd64 7.0.0 10.1; do
		fits "$release" || { echo "$release is excluded"; return 1; }
	done
	for release in 6.0.0 6.0.19-4-amd64 5.10.0-30-amd64 5.19.17 4.19.0 3.16.0 2.6.32; do
		! fits "$release" || { echo "$release is not excluded"; return 1; }
	done
}

version()
{
	sed -n 's/^PACKAGE_VERSION="\(.*\)"/\1/p' "$tree/dkms.conf"
}

# hint LOCKDOWN: prints the tool's message about a missing module when the kernel's lockdown is
# LOCKDOWN
hint()
{
	echo "$1" >"$root/sys/kernel/security/lockdown"
	inside tracebuf status 2>&1
}

enroll_key()
{
	mkdir -p "$root/sys/kernel/security"
	key=$root/var/lib/dkms/mok.pub
	made=''
	[ -e "$key" ] || { : >"$key"; made=$key; }
	hint '[none] integrity confidentiality' | tee "$out/open"
	hint 'none [integrity] confidentiality' | tee "$out/locked"
	rm -rf "$root/sys/kernel" ${made:+"$made"}
	grep 'module is not loaded' "$out/open" && ! grep mokutil "$out/open" &&
		grep "mokutil --import /var/lib/dkms/mok.pub' and reboot$" "$out/locked"
}

# autopkgtest TEST: runs a test of debian/tests
autopkgtest()
{
	mkdir -p "$root/autopkgtest/tmp"
	(cd "$tree" && cp -r --parents dkms.conf debian/tests selftests/golden samples/read \
		"$root/autopkgtest/") || return
	inside sh -c "cd /autopkgtest && AUTOPKGTEST_TMP=/autopkgtest/tmp debian/tests/$1" || return
	rm -rf "$root/autopkgtest"
}

events_module()
{
	[ -n "$full" ] || return 0
	inside modinfo -k "$(kernel_release "$kernel")" -n tracebuf_events | grep updates/dkms
}

manuals()
{
	for page in "1 tracebuf" "1 tracebuf-record" "3 tb_trace_open" "3 libtracebuf" "4 tracebuf" "5 tracebuf"; do
		# shellcheck disable=SC2086
		inside man -w $page || return
	done
}

program()
{
	sed -n '/<!-- file: slices.c -->/,/^```$/p' "$tree/docs/user-events.md" | sed '/^<!--/d; /^```/d; 1{/^$/d}' \
		>"$root/root/slices.c"
	# shellcheck disable=SC2016
	inside sh -c 'cd /root && cc -Wall -Werror -o slices slices.c $(pkg-config --cflags --libs libtracebuf) && ldd slices' |
		grep libtracebuf.so.1
}

unit()
{
	inside systemd-analyze verify /lib/systemd/system/tracebuf-flight.service 2>&1 | tee "$out/unit"
	! grep tracebuf "$out/unit"
}

in_guest()
{
	# 123: the guest did not boot, as happens on a busy machine; nothing was tested
	for try in 1 2 3; do
		# shellcheck disable=SC2086
		TRACEBUF_VM_NOBUILD=1 ${VM:-"$tree/scripts/vm"} -k "$kernel" -m 2048 -o "$out/guest" -t 900 -- \
			sh "$here/guest.sh" "$root" "$full" >"$out/guest.log" 2>&1
		code=$?
		[ $code = 123 ] || break
		echo "# the guest did not come up ($try)"
	done
	# results of the guest get our numbers
	while read -r line; do
		case $line in
		"ok "* | "not ok "*)
			name=${line#*- }
			case $line in not*) result 1 "$name" ;; *) result 0 "$name" ;; esac
			;;
		"# "*) echo "$line" ;;
		esac
	done <"$out/guest.log"
	[ $code -le 1 ] || tail -n 30 "$out/guest.log" | sed 's/^/# /'
	[ $code -le 1 ] && grep -q '^# all of it$' "$out/guest.log"
	result $? "the guest came to its end, and its kernel has nothing to say"
}

removed()
{
	inside dpkg -P tracebuf-dkms tracebuf-tools tracebuf libtracebuf-dev \
		babeltrace2-plugin-tracebuf libtracebuf1 || return
	! find "$root" -xdev \( -path "$root/proc" -o -path "$root/packages" -o -path "$root/var/lib/dpkg" -o \
		-path "$root/var/log" -o -path "$root/var/cache" -o -path "$root/etc/dkms" -o -path "$root/var/lib/tracebuf" \) -prune -o \
		-name '*tracebuf*' -print | grep .
}

echo "TAP version 14"
if [ -n "$build" ]; then
	check "packages are built, and lintian has nothing to say" "$tree/scripts/package"
fi
check "a clean system" prepare || { echo "1..$count"; exit 1; }
check "dpkg installs all of them" install_them
check "the recorder without tracebuf-tools, and with them" tools
check "the tool uses the system's libraries" shared
check "the modules for $kernel" build_it
check "they are built anew when a kernel is installed" upgrade
check "a kernel that the module does not fit is skipped" skipped
check "so is a kernel before 6.1" too_old
check "which kernels are, by their names" names
check "both modules are there" events_module
check "a locked-down kernel: the tool says how to enroll the key" enroll_key
check "autopkgtest: read-trace" autopkgtest read-trace
check "autopkgtest: build-module" autopkgtest build-module
check "man pages" manuals
check "a program against libtracebuf-dev" program
check "the service is what systemd understands" unit
in_guest
check "purged, nothing is left" removed
rm -rf "$root"
echo "1..$count"
# shellcheck disable=SC2154 # tap.sh has it
exit "$failed"
