#!/bin/sh
# SPDX-License-Identifier: GPL-2.0-only
#
# A program that is built against the installed libtracebuf works: shared and static, found by
# pkg-config, with headers that stand alone and exactly the declared symbols. If this fails, other
# people's programs do not build or do not start. The samples that read traces are such programs.
#
# OUT is where it has been built, CC and CXX are the compilers.
# shellcheck disable=SC2317 # functions are called by check()

set -u

here=$(cd "$(dirname "$0")" && pwd -P)
tree=${here%/selftests/unit/lib}
OUT=${OUT:-$tree/build/user}
CC=${CC:-cc}
CXX=${CXX:-c++}
work=$(mktemp -d) || exit 1
trap 'rm -rf "$work"' EXIT
number=0 failed=0
root=$work/root
export PKG_CONFIG_LIBDIR="$root/opt/tb/lib/pkgconfig"
export PKG_CONFIG_SYSROOT_DIR="$root"
export LD_LIBRARY_PATH="$root/opt/tb/lib"

# check NAME COMMAND...: a test; the command's output is shown if it fails
check()
{
	name=$1
	shift
	number=$((number + 1))
	if "$@" >"$work/log" 2>&1; then
		echo "ok $number $name"
	else
		sed 's/^/# /' "$work/log" | tail -n 40
		echo "not ok $number $name"
		failed=1
	fi
}

install_it()
{
	# pkg-config finds the build's own dependencies in their usual places
	env -u MAKEFLAGS -u PKG_CONFIG_LIBDIR -u PKG_CONFIG_SYSROOT_DIR make -s -C "$tree/userspace" \
		install OUT="$OUT" DESTDIR="$root" PREFIX=/opt/tb &&
		test -f "$PKG_CONFIG_LIBDIR/libtracebuf.pc" &&
		test "$(pkg-config --modversion libtracebuf)" = \
			"$(sed -n 's/^tb-version := //p' "$tree/Kbuild")"
}

# Kbuild has the version; each of these files repeats it
one_version()
{
	version=$(sed -n 's/^tb-version := //p' "$tree/Kbuild")
	[ "$(sed -n 's/^PACKAGE_VERSION="\(.*\)"/\1/p' "$tree/dkms.conf")" = "$version" ] &&
		[ "$(sed -n '1s/.*(\(.*\)).*/\1/p' "$tree/debian/changelog")" = "$version" ] &&
		grep -q "^## $version" "$tree/CHANGELOG.md" &&
		grep -q "dkms install tracebuf/$version\$" "$tree/docs/install.md"
}

# each header compiles alone, in C and C++
headers()
{
	for header in tracebuf.h tracebuf_record.h linux/tracebuf.h linux/tracebuf_producer.h; do
		echo "#include <$header>" >"$work/alone.c"
		# shellcheck disable=SC2046
		$CC -std=c11 -Wall -Wextra -Werror -pedantic -fsyntax-only \
			$(pkg-config --cflags libtracebuf) "$work/alone.c" || return
		cp "$work/alone.c" "$work/alone.cpp"
		# shellcheck disable=SC2046
		$CXX -std=c++17 -Wall -Wextra -Werror -fsyntax-only \
			$(pkg-config --cflags libtracebuf) "$work/alone.cpp" || return
	done
}

# The library exports exactly what the headers declare, each symbol with its version
symbols()
{
	nm -D --defined-only "$root/opt/tb/lib/libtracebuf.so" |
		awk '$2 != "A" { print $3 }' | sort >"$work/there"
	grep -v '@@TRACEBUF_[0-9.]*$' "$work/there" && return 1
	sed 's/@@.*//' "$work/there" | sort -u >"$work/names"
	# names that the preprocessed headers declare and do not define
	for header in tracebuf.h tracebuf_record.h; do
		echo "#include <$header>"
	done >"$work/all.c"
	# shellcheck disable=SC2046
	$CC -std=c11 -E -P $(pkg-config --cflags libtracebuf) "$work/all.c" | tr '\n' ' ' |
		sed 's/;/;\n/g; s/}/}\n/g' | grep -v '^ *static\|inline\|typedef' |
		grep -o 'tb_[a-z0-9_]* *([^()]*\(([^()]*)[^()]*\)*) *\(__attribute__.*\)\{0,1\};' |
		sed 's/ *(.*//' | sort -u >"$work/declared"
	sed -n 's/^extern .*[ *]\(tb_[a-z_]*\)\( __attribute__.*\)\{0,1\};$/\1/p' "$root/opt/tb/include/tracebuf_record.h" \
		>>"$work/declared"
	# remove calls in the bodies of inline functions, which look like declarations
	grep -hA1 '^static inline' "$root/opt/tb/include/tracebuf_record.h" |
		grep -o '\btb_[a-z0-9_]*(' | tr -d '(' | sort -u >"$work/inline"
	sort -u "$work/declared" | comm -23 - "$work/inline" >"$work/wanted"
	test "$(wc -l <"$work/wanted")" -gt 150 || {
		echo "only $(wc -l <"$work/wanted") declarations found"
		return 1
	}
	comm -13 "$work/wanted" "$work/names" | grep . && {
		echo "(above: exported, not declared)"
		return 1
	}
	comm -23 "$work/wanted" "$work/names" | grep . && {
		echo "(above: declared, not exported)"
		return 1
	}
	return 0
}

# The shortest program, in the comment of tracebuf.h, compiles as it is there, and reports a file
# that is cut off.
example()
{
	{
		echo '#include <err.h>'
		echo '#include <stdio.h>'
		echo '#include <tracebuf.h>'
		echo 'int main(void) {'
		sed -n '/The shortest program that prints a trace:/,/docs\/library.md/s/^ \*\t//p' \
			"$root/opt/tb/include/tracebuf.h"
		echo 'return 0; }'
	} >"$work/example.c"
	# shellcheck disable=SC2046
	$CC -std=c11 -Wall -Wextra -Werror -D_GNU_SOURCE $(pkg-config --cflags libtracebuf) \
		"$work/example.c" $(pkg-config --libs libtracebuf) -o "$work/example" || return
	(cd "$work" && cut_example)
}

cut_example()
{
	cp "$tree/selftests/golden/kernel.tbuf" trace.tbuf
	./example >whole 2>said || return
	[ -s whole ] && [ ! -s said ] || return
	# cut in the last block, at its start, and in the middle of the file
	size=$(wc -c <trace.tbuf)
	for cut in 100 5000 $((size / 2)); do
		head -c $((size - cut)) "$tree/selftests/golden/kernel.tbuf" >trace.tbuf
		if ./example >part 2>said || ! grep -q 'not all: .*cut off' said; then
			echo "$cut bytes are missing, and it does not say so"
			return 1
		fi
	done
}

# build KIND OPTIONS...: build the samples as foreign programs
build()
{
	kind=$1
	shift
	mkdir -p "$work/$kind"
	for source in "$tree"/samples/read/*.c; do
		# shellcheck disable=SC2046
		$CC -std=c11 -Wall -Wextra -Werror -O2 -D_GNU_SOURCE \
			$(pkg-config --cflags libtracebuf) "$source" \
			$(pkg-config "$@" --libs libtracebuf) \
			-o "$work/$kind/$(basename "$source" .c)" || return
	done
}

shared()
{
	build shared &&
		ldd "$work/shared/events" | grep -q "$root/opt/tb/lib/libtracebuf.so.1"
}

static()
{
	CC="$CC -static" build static --static &&
		! ldd "$work/static/events"
}

# same SAMPLE ARGUMENTS...: run the shared and the static program; their output is equal, in said
same()
{
	sample=$1
	shift
	"$work/shared/$sample" "$@" >"$work/said" 2>&1 </dev/null || { cat "$work/said"; return 1; }
	"$work/static/$sample" "$@" >"$work/said-static" 2>&1 </dev/null &&
		cmp "$work/said" "$work/said-static"
}

# has TEXT...: each is in the output
has()
{
	for text; do
		grep -qF -- "$text" "$work/said" || {
			echo "not said: $text"
			cat "$work/said"
			return 1
		}
	done
}

trace=$tree/selftests/fuzz/corpus/kernel

blocks()
{
	same blocks "$trace" && test "$(wc -l <"$work/said")" = 5 &&
		has "0 durable cpu 0 number 0: 14 events" "rolling cpu 1 number 0: 3 events"
}

elements()
{
	same elements "$trace" &&
		has "2 events           32 bytes  irq:softirq_entry (simple)" \
			"1 events           80 bytes  sched:sched_switch"
}

events()
{
	same events "$trace" && has "11 events, 17 lost" "1 cc" || return
	# the last event is 4 s later than the rest
	same events "$trace" 1 && has "1 events, 0 lost"
}

follow()
{
	for kind in shared static; do
		# shellcheck disable=SC2002
		cat "$trace" | "$work/$kind/follow" - >"$work/said" 2>&1 || { cat "$work/said"; return 1; }
		has "sched:sched_switch prev_comm=bash" "LOST 15 events" "LOST 2 events" \
			"4.296396697 sched:sched_switch next_pid=300" || return
		test "$(wc -l <"$work/said")" = 13 || { cat "$work/said"; return 1; }
	done
	# two events and no more; a trace that is cut off is reported
	"$work/shared/follow" - 2 <"$trace" >"$work/said" || return
	test "$(wc -l <"$work/said")" = 2 || return
	"$work/shared/follow" - <"${trace%/kernel}/cut" >"$work/said" 2>&1 && return 1
	has "LOST 15 events" "at byte 9764: cut off"
}

# The samples report errors
errors()
{
	"$work/shared/events" /dev/null >"$work/said" 2>&1 && return 1
	has "/dev/null: empty" || return
	"$work/shared/blocks" "$work/alone.c" >"$work/said" 2>&1 && return 1
	has "not a tracebuf trace"
}

echo "TAP version 14"
echo "1..12"
check "the version is the same everywhere" one_version
check "installed, and pkg-config knows it" install_it
check "headers stand alone, in C and in C++" headers
check "symbols are what is declared, each with a version" symbols
check "a program with the shared library" shared
check "a program with the static library" static
check "the header's example: a file that breaks off is not taken for a whole one" example
check "samples: blocks" blocks
check "samples: elements" elements
check "samples: events, and going to a time" events
check "samples: follow" follow
check "samples: errors" errors
exit $failed
