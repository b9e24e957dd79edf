# SPDX-License-Identifier: GPL-2.0-only
#
# icount.awk - writes the results of suites icount and marker as tables and as JSON.
#
#   awk -v suite=NAME -v rows=FILE -f icount.awk OUTPUT >TABLES.md
#
# OUTPUT has a line "BENCH who|case|minimum|median" for each case, in thousandths of an instruction;
# the program subtracts the loop around the operation. FILE gets one JSON object a line. The second
# table has the cases that are tracepoints, if there are any.

BEGIN {
	FS = "|"
	loop = "machine|empty loop"
	base = "tracebuf"
	points = split("sched_switch softirq_raise sys_enter", point, " ")
	for (k = 1; k <= points; k++)
		is_point[point[k]] = 1
	clock = "machine|clock read"
	peers = split("relay|clock and 16 bytes, interrupts off;" \
		      "ftrace|ring buffer, 16 bytes;" \
		      "ftrace|TRACE_EVENT of 8 bytes, its own clock;" \
		      "LTTng, discard|softirq_raise;" \
		      "ftrace|trace_marker, 8 bytes;" \
		      "ftrace|trace_marker_raw, 8 bytes", peer, ";")
	split("relay;ftrace;TRACE_EVENT;LTTng;trace_marker;trace_marker_raw", label, ";")
}

function json(who, name, value, unit)
{
	printf "{\"suite\": \"%s\", \"who\": \"%s\", \"case\": \"%s\", \"value\": %s, \"unit\": \"%s\"}\n", \
		suite, who, name, value, unit >rows
}

function ratio(who, name, over, under, against)
{
	if (!(over in cost) || cost[under] <= 0)
		return ""
	json(who, name ": " against " / this", sprintf("%.3f", cost[over] / cost[under]), "ratio")
	return sprintf("%.2f", cost[over] / cost[under])
}

/^BENCH-NOTE / {
	sub(/^BENCH-NOTE /, "")
	notes = notes "\n" $0 "\n"
}

# a fence or a clock that stands still does not change a count of instructions
!/^BENCH / || /, one at a time\|/ || /, without a clock\|/ {
	next
}

{
	sub(/^BENCH /, "")
	key = $1 "|" $2
	if (key == loop) {
		off = $3 / 1000
		next
	}
	if (!(key in raw)) {
		n++
		who[n] = $1
		cases[n] = $2
	}
	raw[key] = $3 / 1000
	if (is_point[$2] && !($1 in seen)) {
		seen[$1] = 1
		tracers++
		tracer[tracers] = $1
	}
}

END {
	for (key in raw)
		cost[key] = raw[key] - off
	printf "| who | case | instructions | x clock read |"
	for (k = 1; k <= peers; k++)
		if (peer[k] in cost)
			printf " %s / this |", label[k]
	printf "\n|---|---|---:|---:|"
	for (k = 1; k <= peers; k++)
		if (peer[k] in cost)
			printf "---:|"
	print ""
	for (i = 1; i <= n; i++) {
		if (is_point[cases[i]])
			continue
		key = who[i] "|" cases[i]
		json(who[i], cases[i], sprintf("%.3f", cost[key]), "instructions")
		printf "| %s | %s | %.1f | %.1f |", who[i], cases[i], cost[key], cost[key] / cost[clock]
		json(who[i], cases[i] ": x clock read", sprintf("%.3f", cost[key] / cost[clock]), "ratio")
		recorded = who[i] == "tracebuf" && cases[i] ~ /^simple|^composite|^tracebuf_|^mark/ && \
			cases[i] !~ /dropped|not /
		for (k = 1; k <= peers; k++)
			if (peer[k] in cost)
				printf " %s |", recorded ? ratio(who[i], cases[i], peer[k], key, label[k]) : ""
		print ""
	}
	if (tracers)
		printf "\n| from the tracepoint to its return |"
	for (k = 1; tracers && k <= points; k++)
		printf " %s | / tracebuf |", point[k]
	if (tracers)
		printf "\n|---|"
	for (k = 1; tracers && k <= points; k++)
		printf "---:|---:|"
	if (tracers)
		print ""
	for (i = 1; i <= tracers; i++) {
		printf "| %s |", tracer[i]
		for (k = 1; k <= points; k++) {
			key = tracer[i] "|" point[k]
			if (!(key in cost)) {
				printf " | |"
				continue
			}
			json(tracer[i], point[k], sprintf("%.3f", cost[key]), "instructions")
			json(tracer[i], point[k] ": this / tracebuf", sprintf("%.3f", cost[key] / cost[base "|" point[k]]), "ratio")
			printf " %.1f | %.2f |", cost[key], cost[key] / cost[base "|" point[k]]
		}
		print ""
	}
	printf "%s", notes
	exit n ? 0 : 1
}
