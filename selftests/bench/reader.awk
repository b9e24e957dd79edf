# SPDX-License-Identifier: GPL-2.0-only
#
# reader.awk - what suite reader measured, as a table and as JSON.
#
#   awk -F'|' -v rows=FILE -f reader.awk RESULTS >TABLE.md
#
# RESULTS has a line "recorder|ns of the load|ns of the recorder|ns of the kernel's threads|events|
# events lost"; a nanosecond is 1/8 of an instruction (-icount shift=3). Per event that was not
# lost. FILE gets one JSON object a line.

function json(name, value, unit)
{
	printf "{\"suite\": \"reader\", \"who\": \"%s\", \"case\": \"%s\", \"value\": %s, \"unit\": \"%s\"}\n", \
		$1, name, value, unit >rows
}

NR == 1 {
	print "| recorder | its instructions an event | with the kernel's threads | x tracebuf | million events a second offered | lost |"
	print "|---|---:|---:|---:|---:|---:|"
}

{
	got = $5 - $6 > 0 ? $5 - $6 : 1
	own = $3 / 8 / got
	all = ($3 + $4) / 8 / got
	if (NR == 1)
		first = all
	rate = $5 / $2 * 1e3
	printf "| %s | %.1f | %.1f | %.2f | %.2f | %d of %d |\n", $1, own, all, all / first, rate, $6, $5
	json("instructions an event", sprintf("%.2f", own), "instructions")
	json("instructions an event with the kernel's threads", sprintf("%.2f", all), "instructions")
	json("offered", sprintf("%.3f", rate), "million events a second")
	json("lost", $6, "events")
}

END {
	if (!NR)
		exit 1
}
