#!/bin/sh
# SPDX-License-Identifier: GPL-2.0-only
#
# Unpacking a packed trace gives the same file, every command shows the same of both, and an error
# leaves no half file. If this fails, a user packs a recording, deletes the original, and has lost
# events, or takes half an archive for a whole one.
#
# Needs: TRACEBUF (the tool, with sanitizers), python3; REPORT_TRACE (report_trace.c); HISTORY_TRACE
# (history_trace.c); TEST_EXPORT (test_export.c) for longer traces, if it could be built.

set -u
export LC_ALL=C
here=$(cd "$(dirname "$0")" && pwd)
# shellcheck source=selftests/unit/tap.sh
. "$here/../tap.sh"
golden=$here/../../golden
TRACEBUF=${TRACEBUF:-tracebuf}
TEST_EXPORT=${TEST_EXPORT:-test_export}
REPORT_TRACE=${REPORT_TRACE:-report_trace}
HISTORY_TRACE=${HISTORY_TRACE:-history_trace}
begin python3 "$TRACEBUF" "$REPORT_TRACE" "$HISTORY_TRACE"

# said FILE: show its lines as comments, and fail
said()
{
	sed 's/^/# /' "$1"
	return 1
}

# back FILE: pack and unpack it; the result equals it
back()
{
	rm -f packed back
	if "$TRACEBUF" pack -q -o packed "$1" >text 2>&1 &&
		"$TRACEBUF" unpack -q -o back packed >>text 2>&1 &&
		! [ -s text ] && cmp "$1" back >>text 2>&1; then
		return 0
	fi
	echo "# $1"
	said text
}

# same FILE: all commands show the same of both forms, which have equal names and times
same()
{
	rm -rf plain packed
	mkdir plain packed
	cp "$1" plain/t.tbuf && "$TRACEBUF" pack -q -o packed/t.tbuf "$1" || return 1
	while read -r command; do
		for form in plain packed; do
			# shellcheck disable=SC2086
			(cd $form && "$TRACEBUF" $command >../$form.text 2>&1; echo $? >>../$form.text)
		done
		cmp plain.text packed.text >text && continue
		echo "# $1: $command"
		diff plain.text packed.text | head -n 20 >text
		said text
		return 1
	done <<-END
		print --fields t.tbuf
		print --raw t.tbuf
		report t.tbuf
		report --json t.tbuf
		verify t.tbuf
		why t.tbuf
		query t.tbuf threads
		diff t.tbuf t.tbuf
		flamegraph --collapsed -o - t.tbuf
		export -q --format jsonl -o - t.tbuf
		export -q --format fxt -o - t.tbuf
		export -q --format csv -o - t.tbuf
	END
}

# fails STATUS WORDS COMMAND...: the command exits with STATUS and a message with WORDS
fails()
{
	status=$1 words=$2
	shift 2
	"$TRACEBUF" "$@" >text 2>&1
	if [ $? -eq "$status" ] && grep -q "$words" text; then
		return 0
	fi
	said text
}

# ---- pack and unpack ----

back "$golden/kernel.tbuf" && back "$golden/user.tbuf"
result $? "golden traces come back"
good=0
for what in late clock gap frozen cut staggered staggered2 apart renamed half \
	unselected deselected held moved \
	    fences subset; do
	"$REPORT_TRACE" $what $what.tbuf && back $what.tbuf || good=1
done
result $good "traces for reports come back"
good=0
for number in 1 2 3 4 5 6 7 8 9 10; do
	python3 -B -c "import sys; sys.path.insert(0, '$here/../export'); import history
true = history.History($number)
true.lose()
print(true.script(), end='')" >script && "$HISTORY_TRACE" history$number.tbuf <script &&
		[ -s script ] && back history$number.tbuf || good=1
done
result $good "traces with a known history come back"
if command -v "$TEST_EXPORT" >/dev/null; then
	"$TEST_EXPORT" make make.tbuf >/dev/null && "$TEST_EXPORT" extras extras.tbuf >/dev/null &&
		"$TEST_EXPORT" edges edges.tbuf >/dev/null && "$TEST_EXPORT" big big.tbuf 200000 >/dev/null &&
		back make.tbuf && back extras.tbuf && back edges.tbuf && back big.tbuf
	result $? "traces for exports come back, one of them in several frames"
else
	skip "traces for exports come back" "needs test_export"
fi
head -c 30000 "$golden/kernel.tbuf" >broken.tbuf && back broken.tbuf &&
	{ cat "$golden/user.tbuf"; echo foreign; } >foreign.tbuf && back foreign.tbuf
result $? "traces that break off, or have foreign bytes at the end, come back"

if command -v zstd >/dev/null; then
	good=0
	for file in "$golden/kernel.tbuf" "$golden/user.tbuf" gap.tbuf history1.tbuf; do
		"$TRACEBUF" pack -q -o packed "$file" && python3 -B "$here/pack_check.py" packed "$file" || good=1
	done
	result $good "docs/abi.md is enough to unpack"
else
	skip "what docs/abi.md says is enough to unpack" "needs zstd"
fi

# ---- reading ----

good=0
for file in "$golden/kernel.tbuf" "$golden/user.tbuf" gap.tbuf held.tbuf cut.tbuf \
	history1.tbuf broken.tbuf; do
	same "$file" || good=1
done
result $good "every command shows the same of both forms"
"$TRACEBUF" pack -q -o packed.tbz "$golden/kernel.tbuf" &&
	"$TRACEBUF" print <packed.tbz - >one 2>&1; "$TRACEBUF" print "$golden/kernel.tbuf" >other 2>&1
cmp one other
result $? "a packed trace from a pipe"

# ---- names and messages ----

cp "$golden/kernel.tbuf" t.tbuf
"$TRACEBUF" pack t.tbuf 2>text && [ -s t.tbz ] &&
	grep -q "^tracebuf: t.tbz: .* bytes an event to [0-9.]*$" text
result $? "the default name, and the message"
fails 1 "t.tbz: is there already" pack t.tbuf && fails 1 "t.tbuf: is there already" unpack t.tbz &&
	cmp t.tbuf "$golden/kernel.tbuf"
result $? "the default name replaces no file"
rm t.tbuf
"$TRACEBUF" unpack t.tbz 2>text && cmp t.tbuf "$golden/kernel.tbuf"
result $? "the default name of an unpacked file"
"$TRACEBUF" pack -q -o - t.tbuf >one && cmp one t.tbz &&
	"$TRACEBUF" unpack -q -o - t.tbz | cmp - t.tbuf
result $? "standard output"
printf '\050\265\057\375........' >zstd
: >empty
echo "not a trace" >text.txt
fails 1 "packed already" pack -o x t.tbz && fails 1 "not packed" unpack -o x t.tbuf &&
	fails 1 "compressed by zstd" pack -o x zstd && fails 1 "compressed by zstd" unpack -o x zstd &&
	fails 1 "empty" pack -o x empty && fails 1 "not a trace" pack -o x text.txt &&
	fails 1 "cannot be opened" pack -o x missing && fails 1 "the trace itself" pack -o t.tbuf t.tbuf &&
	fails 2 "one file" pack && fails 2 "one file" unpack a b && ! [ -e x ]
result $? "an error leaves no file"

# ---- damage ----

cat t.tbz t.tbz t.tbz >three.tbz
size=$(wc -c <t.tbz)
for at in 5 100 $((size - 1)); do
	python3 -c "
data = bytearray(open('three.tbz', 'rb').read())
data[$size + $at] ^= 1
open('damaged.tbz', 'wb').write(data)"
	echo old >x
	fails 1 "at byte $size: " unpack -o x damaged.tbz && [ "$(cat x)" = old ] &&
		fails 1 "at byte $size: " print damaged.tbz && fails 1 "at byte $size: " verify damaged.tbz
	result $? "a damaged frame: byte $at"
done
"$TRACEBUF" print --raw damaged.tbz 2>&1 | grep -v "^tracebuf:" >one
cat t.tbuf t.tbuf >two.tbuf && "$TRACEBUF" print --raw two.tbuf 2>&1 | grep -v "^tracebuf:" >other
[ -s one ] && cmp one other
result $? "the frames before and after the damaged one are read"
find . -name '*.tb*.??????' -o -name 'x.??????' -o -name 'back.??????' >text
! [ -s text ] || said text
result $? "no temporary file is left"

echo "1..$count"
exit $failed
