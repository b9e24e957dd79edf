# SPDX-License-Identifier: GPL-2.0-only
#
# reader.awk - writes the results of suite reader as tables and as JSON.
#
#   awk -F'|' -v rows=FILE -f reader.awk RESULTS >TABLES.md
#
# RESULTS has lines "CPUs|recorder|ns of the load|of the recorder|of its end|of kernel threads|of
# kernel threads after its end|events|events lost|ns of a load that loses nothing, or -". A
# nanosecond is 1/8 of an instruction (-icount shift=3). Several CPUs take turns under icount, and
# the time of a thread includes that of the other CPUs: then the program prints only the lost
# events. FILE gets one JSON object a line.

function json(name, value, unit)
{
	if ($1 > 1)
		name = name ", " $1 " CPUs"
	printf "{\"suite\": \"reader\", \"who\": \"%s\", \"case\": \"%s\", \"value\": %s, \"unit\": \"%s\"}\n", \
		$2, name, value, unit >rows
}

# Return million events in a thousand million instructions of all CPUs together.
function rate(events, ns)
{
	return events / (ns / 8) * 1e3
}

function head()
{
	if (cpus++)
		print ""
	if ($1 == 1) {
		print "| recorder | its instructions an event | with the kernel's threads | x tracebuf | its end, million instructions | offered | lost | offered when none is lost |"
		print "|---|---:|---:|---:|---:|---:|---:|---:|"
	} else {
		printf "On %d CPUs, a load on each:\n\n", $1
		print "| recorder | offered | lost | offered when none is lost |"
		print "|---|---:|---:|---:|"
	}
}

$1 != last {
	last = $1
	head()
}

{
	printf "| %s |", $2
	if ($1 == 1) {
		got = $8 > $9 ? $8 - $9 : 1
		own = $4 / 8 / got
		all = ($4 + $6) / 8 / got
		end = ($5 + $7) / 8e6
		if (!first)
			first = all
		printf " %.1f | %.1f | %.2f | %.1f |", own, all, all / first, end
		json("instructions an event", sprintf("%.2f", own), "instructions")
		json("instructions an event with the kernel's threads", sprintf("%.2f", all), "instructions")
		json("end", sprintf("%.2f", end), "million instructions")
	}
	offered = rate($8, $3)
	printf " %.2f | %s | %s |\n", offered, $9 ? sprintf("%.1f %%", 100 * $9 / $8) : "0", \
		$10 == "-" ? "none" : sprintf("%.2f", rate($8, $10))
	json("offered", sprintf("%.3f", offered), "million events in 10^9 instructions")
	json("lost", sprintf("%.2f", 100 * $9 / $8), "percent")
	if ($10 != "-")
		json("offered, none lost", sprintf("%.3f", rate($8, $10)), "million events in 10^9 instructions")
}

END {
	if (!NR)
		exit 1
}
