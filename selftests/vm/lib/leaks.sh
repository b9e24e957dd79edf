#!/bin/sh
# SPDX-License-Identifier: GPL-2.0-only
#
# leaks.sh - finds memory that the module left behind, on kernels that can tell: kmemleak knows
# memory of slab, vmalloc and per-CPU allocations, page_owner whole pages.
#
#   leaks.sh begin      before the tests: forgets earlier leaks
#   leaks.sh symbols    while the module is loaded: saves names for its addresses
#   leaks.sh end        after it was unloaded: prints KTAP
#
# A leak is ours if a module is in its stack. The kernel shows functions of an unloaded module as
# bare addresses; the kernels of these tests have no other modules.

set -u

debug=/sys/kernel/debug
kmemleak=$debug/kmemleak
pages=$debug/page_owner_stacks/show_stacks
symbols=/tmp/leaks.symbols

# Succeeds if kmemleak exists and is active.
has_kmemleak()
{
	[ -e $kmemleak ] && echo scan=off >$kmemleak 2>/dev/null
}

# Prints the records of stdin, separated by blank lines or headings, that have a module in their
# stack, and adds the names of its functions. $1: kmemleak or pages.
of_modules()
{
	awk -v kind="$1" '
	# all addresses have one length: they compare as text
	function name(address,	i, best) {
		best = ""
		for (i = 1; i <= n; i++)
			if (start[i] <= address)
				best = function_at[i]
		return best
	}
	function done() {
		if (ours)
			printf "%s", record
		record = ""
		ours = direct = allocator = 0
	}
	naming {
		start[++n] = "0x" $1
		function_at[n] = $3
		next
	}
	kind == "kmemleak" && /^unreferenced object/ { done() }
	{
		frame = $NF ~ /^0x[0-9a-f]+$/ && (NF == 1 || $1 ~ /^\[</)
		if (frame || $NF ~ /^\[[a-z0-9_]+\]$/) {
			# Of pages, only those that the module itself allocated: slabs and page
			# tables outlive their first user.
			if (kind == "kmemleak" || allocator)
				ours = 1
			if (frame)
				$0 = $0 " " name($NF)
			allocator = 0
		} else if (NF) {
			allocator = /alloc_page|alloc_frozen_page|get_free_page|__folio_alloc/
		}
		record = record $0 "\n"
	}
	kind == "pages" && !NF { done() }
	END { done() }' naming=1 "$symbols" naming= -
}

# result NAME FILE: fails if FILE is not empty, and shows its start.
result()
{
	count=$((count + 1))
	if [ -s "$2" ]; then
		sed 's/^/# /' "$2" | head -n 100
		echo "not ok $count $1"
	else
		echo "ok $count $1"
	fi
}

skip()
{
	count=$((count + 1))
	echo "ok $count $1 # SKIP $2"
}

case ${1:-} in
begin)
	: >$symbols
	! has_kmemleak || echo clear >$kmemleak
	;;
symbols)
	grep '	\[tracebuf\]$' /proc/kallsyms | sort >$symbols
	;;
end)
	[ -e $symbols ] || : >$symbols
	count=0
	found=$(mktemp)
	trap 'rm -f "$found" "$found.all"' EXIT
	echo "KTAP version 1"
	echo "1..2"
	if has_kmemleak; then
		# kmemleak reports objects that are 5 s old and did not change between two scans, so
		# this wait is no guess.
		echo scan >$kmemleak
		sleep 6
		echo scan >$kmemleak
		cat $kmemleak >"$found.all"
		of_modules kmemleak <"$found.all" >"$found"
		echo "# $(grep -c '^unreferenced' "$found.all") leaks in all"
		result "no memory is left (kmemleak)" "$found"
	else
		skip "no memory is left (kmemleak)" "the kernel has no kmemleak"
	fi
	# Read to the end, and only once: 6.12 frees an entry of its list if the reader closes the
	# file in the middle.
	if [ -e $pages ] && cat $pages >"$found.all" && [ -s "$found.all" ]; then
		of_modules pages <"$found.all" >"$found"
		result "no pages are left (page_owner)" "$found"
	else
		skip "no pages are left (page_owner)" "the kernel has no page_owner"
	fi
	;;
*)
	echo "usage: leaks.sh begin | symbols | end" >&2
	exit 2
	;;
esac
