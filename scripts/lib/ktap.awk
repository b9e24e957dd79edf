# SPDX-License-Identifier: GPL-2.0-only
#
# ktap.awk - counts the results in KTAP (or TAP) output.
#
#   awk -v suite=NAME -v code=EXIT -f ktap.awk FILE
#
# Prints a line "passed failed skipped" first, then what failed, with
# the lines that came before it.  Several streams after one another are fine.
# A parent of subtests counts through them: once for itself only if it failed
# and none of them did.  Results that a plan announced and that did not come,
# more than it announced, a program that failed without saying which test, and no results at all
# count as failed.

function failed(what)
{
	fails++
	report = report "   not ok: " suite ": " what "\n" context
	context = ""
}

# a stream is over: were all its results there?
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
			total--		# told already
		else
			failed(line)
	} else {
		under_ok[depth]++
		under_fail[depth] += 0
		if (below_ok + below_fail)
			total--
		else if (line ~ /# SKIP/)
			skips++
		else
			passes++
	}
	context = ""
	next
}

/^Bail out!/ { failed($0); next }

/^# exit [0-9]+$/ { code = $3; next }

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
