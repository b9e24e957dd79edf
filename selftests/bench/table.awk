# SPDX-License-Identifier: GPL-2.0-only
#
# table.awk - writes the results of a native suite as a table and as JSON.
#
#   awk -v suite=NAME -v rows=FILE -f table.awk OUTPUT >TABLE.md
#
# OUTPUT has a line "BENCH who|case|minimum|median" for each case, in picoseconds; other lines do
# not matter. Of several runs, the least figure counts, and the notes of the last. FILE gets one
# JSON object a line.
#
# Ratios compare minima with the clock read and with each peer that the suite measured the same way:
# one operation after another, one at a time (the name of the case ends so), or without a clock.

BEGIN {
	FS = "|"
	alone = ", one at a time"
	still = ", without a clock"
	clock = "clock read"
	peers = split("ftrace|ring buffer, 16 bytes;" \
		      "ftrace|TRACE_EVENT of 8 bytes, its own clock;" \
		      "relay|clock and 16 bytes, interrupts off;" \
		      "lttng-ust|tracepoint of 8 bytes;" \
		      "log|clock and 16 bytes", peer, ";")
	split("ftrace;TRACE_EVENT;relay;LTTng-UST;log", label, ";")
}

function way(name)
{
	if (name ~ (alone "$"))
		return alone
	if (name ~ (still "$"))
		return still
	return ""
}

function json(who, name, value, unit)
{
	printf "{\"suite\": \"%s\", \"who\": \"%s\", \"case\": \"%s\", \"value\": %s, \"unit\": \"%s\"}\n", \
		suite, who, name, value, unit >rows
}

# Return a ratio for the table, and write it to the JSON.
function ratio(i, value, name)
{
	if (value == "")
		return ""
	json(who[i], cases[i] ": " name, sprintf("%.3f", value), "ratio")
	return sprintf("%.2f", value)
}

/^BENCH / {
	sub(/\r$/, "")
	sub(/^BENCH /, "")
	key = $1 "|" $2
	if (!(key in number)) {
		n++
		number[key] = n
		who[n] = $1
		cases[n] = $2
		low[n] = $3 / 1000
		mid[n] = $4 / 1000
	}
	k = number[key]
	if ($3 / 1000 < low[k])
		low[k] = $3 / 1000
	if ($4 / 1000 < mid[k])
		mid[k] = $4 / 1000
	cost[key] = low[k]
}

/^BENCH-TSC / {
	losses = 0
	notes = ""
}

/^BENCH-LOSS / {
	sub(/^BENCH-LOSS /, "")
	losses++
	loss_case[losses] = $1
	loss[losses] = $3 / 10
}

# the last run counts
/^BENCH-MANY / {
	sub(/^BENCH-MANY /, "")
	many[$1] = sprintf("| %d | %d | %.1f %% | %.1f %% | %d | %d |", $1, $2 * 1000, $3 / 10, $4 / 10, $5, $6)
	if (!($1 in place))
		place[$1] = ++places
	of[place[$1]] = $1
	json("tracebuf", $1 " CPUs: recorder", $3 / 10, "% of a core")
}

/^BENCH-NOTE / {
	sub(/^BENCH-NOTE /, "")
	notes = notes "\n" $0 "\n"
}

END {
	head = "| who | case | ns | median | x clock read |"
	line = "|---|---|---:|---:|---:|"
	for (k = 1; k <= peers; k++) {
		if (!(peer[k] in cost))
			continue
		head = head " " label[k] " / this |"
		line = line "---:|"
	}
	print head
	print line
	for (i = 1; i <= n; i++) {
		w = way(cases[i])
		json(who[i], cases[i], sprintf("%.3f", low[i]), "ns")
		json(who[i], cases[i] ": median", sprintf("%.3f", mid[i]), "ns")
		printf "| %s | %s | %.2f | %.2f |", who[i], cases[i], low[i], mid[i]
		base = cost["machine|" clock w]
		printf " %s |", ratio(i, base && w != still ? low[i] / base : "", "x clock read")
		for (k = 1; k <= peers; k++) {
			if (!(peer[k] in cost))
				continue
			theirs = cost[peer[k] w]
			printf " %s |", ratio(i, who[i] == "tracebuf" && cases[i] ~ /^(simple|composite)/ && theirs && low[i] ? theirs / low[i] : "", label[k] " / this")
		}
		print ""
	}
	for (i = 1; i <= losses; i++) {
		if (i == 1)
			print "\n| case | events lost |\n|---|---:|"
		printf "| %s | %.1f %% |\n", loss_case[i], loss[i]
		json("tracebuf", loss_case[i] ": lost", loss[i], "%")
	}
	for (i = 1; i <= places; i++) {
		if (i == 1)
			print "\n| CPUs | events a second | recorder, of a core | all CPUs, of a core | recorded | lost |\n|---:|---:|---:|---:|---:|---:|"
		print many[of[i]]
	}
	printf "%s", notes
	exit n ? 0 : 1
}
