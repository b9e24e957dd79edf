# SPDX-License-Identifier: GPL-2.0-only
#
# ktap.awk - counts the results in KTAP (or TAP) output.
#
#   awk -v suite=NAME -v code=EXIT -f ktap.awk FILE
#
# Prints a line "passed failed skipped" first, then each failure with the lines before it. FILE may
# have several streams one after the other. A parent of subtests counts by its subtests; it counts
# itself only if it failed and no subtest did. Failures are also: a result that the plan announced
# and that is missing, results beyond the plan, a program that failed without a failed test, and no
# results at all. A failure with "# TODO" counts as skipped.

function failed(what)
{
	fails++
	report = report "   not ok: " suite ": " what "\n" context
	context = ""
}

# At the end of a stream, check that all its results came.
function finish()
{
	if (plan != "" && seen[0] < plan)
		for (i = seen[0] + 1; i <= plan; i++)
			failed("result " i " of " plan " is missing")
	if (plan != "" && seen[0] > plan)
		failed(seen[0] " results, and " plan " were announced")
	plan = ""
	seen[0] = 0
}

BEGIN { context = report = plan = ""; seen[0] = 0 }

{ sub(/\r$/, "") }

/^(KTAP|TAP) version/ { finish(); next }

/^1\.\.[0-9]+/ {
	if (plan != "")
		finish()
	plan = substr($1, 4) + 0
	next
}

/^[ \t]*(ok|not ok)([ \t]|$)/ {
	match($0, /^[ \t]*/)
	depth = RLENGTH
	line = substr($0, depth + 1)
	if (depth == 0)
		seen[0]++
	below_ok = below_fail = 0
	for (d in under_ok)
		if (d + 0 > depth) {
			below_ok += under_ok[d]
			below_fail += under_fail[d]
			delete under_ok[d]
			delete under_fail[d]
		}
	total++
	if (line ~ /^not ok/ && line !~ /# (SKIP|TODO)/) {
		under_ok[depth] += 0
		under_fail[depth]++
		if (below_fail)
			total--		# the subtest counts already
		else
			failed(line)
	} else {
		under_ok[depth]++
		under_fail[depth] += 0
		if (below_ok + below_fail)
			total--
		else if (line ~ /# (SKIP|TODO)/)
			skips++
		else
			passes++
	}
	context = ""
	next
}

/^Bail out!/ { failed($0); next }

/^# exit [0-9]+$/ { if ($3) code = $3; next }

/^[ \t]*(KTAP version|1\.\.[0-9])/ { next }

{
	# keep the last 30 lines
	context = context "     | " $0 "\n"
	if (++lines % 30 == 0 && length(context) > 3000)
		context = substr(context, length(context) - 3000)
}

END {
	finish()
	if (!total)
		failed("no results")
	if (code != 0 && !fails)
		failed("exit status " code)
	print passes + 0, fails + 0, skips + 0
	printf "%s", report
}
