#!/bin/sh
# SPDX-License-Identifier: GPL-2.0-only
#
# docs/abi.md describes the format as it is: its tables equal the header, and its example decodes to
# the output that the page shows. If this fails, a reader that a programmer writes from the page
# reads wrong values.
#
# Needs: TRACEBUF (the tool), python3.

set -u
export LC_ALL=C
here=$(cd "$(dirname "$0")" && pwd)
tree=$here/../../..
TRACEBUF=${TRACEBUF:-tracebuf}
dir=$(mktemp -d) || exit 1
trap 'rm -rf "$dir"' EXIT

# block NAME: print the text between ```NAME and ``` in the page
block()
{
	awk -v fence="\`\`\`$1" '$0 == "```" { on = 0 } on { print } $0 == fence { on = 1 }' \
		"$tree/docs/abi.md"
}

# result STATUS NUMBER NAME; the file "said" has the details
result()
{
	sed 's/^/# /' "$dir/said"
	if [ "$1" -eq 0 ]; then
		echo "ok $2 - $3"
	else
		echo "not ok $2 - $3"
		failed=1
	fi
}

failed=0
echo "TAP version 14"
echo "1..3"

"$tree/scripts/abi-tables" --check >"$dir/said" 2>&1
result $? 1 "the tables equal the header"

# the format of "hexdump -C": a star stands for lines equal to the one before
block hexdump >"$dir/dump"
python3 - "$dir/dump" "$dir/trace" >"$dir/said" 2>&1 <<'END'
import sys
out, repeat = bytearray(), False
for line in open(sys.argv[1]):
    if line.startswith("*"):
        repeat = True
        continue
    at, _, rest = line.partition(" ")
    at = int(at, 16)
    if repeat:
        out += bytes(out[-16:]) * ((at - len(out)) // 16)
        repeat = False
    assert at == len(out), line
    out += bytes.fromhex(rest.partition("|")[0])
open(sys.argv[2], "wb").write(out)
END
"$TRACEBUF" verify "$dir/trace" >>"$dir/said" 2>&1
result $? 2 "the example is a trace"

block print >"$dir/want"
"$TRACEBUF" print "$dir/trace" >"$dir/have" 2>"$dir/said"
diff "$dir/want" "$dir/have" >>"$dir/said"
result $? 3 "it decodes to the output on the page"
exit $failed
