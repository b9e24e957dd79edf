# SPDX-License-Identifier: GPL-2.0-only
#
# units-report.awk - reports which events of which header the modules capture.
#
# awk -f units-report.awk left-out events surveyed headers
#
# events has a line with the unit for each event captured. surveyed has lines of "unit class event
# system" for all events of units with something left out. Prints lines with tabs between words:
#
#	# summary
#	unit header events-in-it events-captured with-arguments-only
#	- unit class how events why
#	+ system:event			captured with its arguments as fields

# Return an estimate of the number of events of a header that the preprocessor cannot read.
function guess(path,	line, n)
{
	while ((getline line < path) > 0)
		if (line ~ /^[ \t]*([A-Z_]*DEFINE_[A-Z_]*EVENT|TRACE_EVENT)[A-Z_]*\(/ &&
		    line !~ /FLAGS|PERF_PERM/)
			n++
	close(path)
	return n + 0
}

FILENAME ~ /\/left-out$/ {
	split($0, part, "\t")
	nr_left++
	left_unit[nr_left] = part[1]
	left_class[nr_left] = part[2]
	left_how[nr_left] = part[3]
	left_why[nr_left] = part[4]
	if (part[3] == "out")
		out[part[1], part[2]]
	has_left[part[1]]
	next
}
FILENAME ~ /\/events$/ {
	have[$1]++
	next
}
FILENAME ~ /\/surveyed$/ {
	all[$1]++
	in_class[$1, $2]++
	event[$1, $2, in_class[$1, $2]] = $3
	is_event[$1, $3]
	full_name[$1, $3] = $4 ":" $3
	next
}
{
	unit = $1
	name[unit] = $3
	if (!(unit in has_left))
		all[unit] = have[unit]
	else if (!all[unit])
		all[unit] = guess($2)
	if (!all[unit])
		next
	order[++nr] = unit
}
END {
	for (i = 1; i <= nr_left; i++) {
		unit = left_unit[i]
		class = left_class[i]
		n = in_class[unit, class]
		if (class == "*")
			n = all[unit]
		else if (!n && ((unit, class) in is_event))
			n = 1
		if (left_how[i] == "bare" && !((unit, "*") in out) && !((unit, class) in out)) {
			for (k = 1; k <= in_class[unit, class]; k++)
				if (!((unit, event[unit, class, k]) in out)) {
					bare[unit]++
					bare_event[++nr_bare] = full_name[unit, event[unit, class, k]]
				}
		}
		line[i] = sprintf("-\t%s\t%s\t%s\t%d\t%s", unit, class, left_how[i], n, left_why[i])
	}
	for (i = 1; i <= nr; i++) {
		unit = order[i]
		events += all[unit]
		got += have[unit]
		args += bare[unit]
		if (have[unit])
			headers++
		if (have[unit] == all[unit] && !bare[unit])
			full++
	}
	printf "# %d of %d headers of tracepoints captured (%d of them in full)\n", headers, nr, full
	printf "# %d of %d events (%.1f %%), %d of them with their arguments only\n",
	       got, events, events ? 100 * got / events : 0, args
	for (i = 1; i <= nr_left; i++)
		if (left_how[i] == "out" && line[i] !~ /\t0\t[^\t]*$/)
			lost = lost ", " left_unit[i] (left_class[i] == "*" ? "" : ":" left_class[i])
	if (lost != "")
		print "# left out: " substr(lost, 3) "; coverage.txt in the build folder says why"
	for (i = 1; i <= nr; i++) {
		unit = order[i]
		printf "%s\t%s\t%d\t%d\t%d\n", unit, name[unit], all[unit], have[unit], bare[unit]
	}
	for (i = 1; i <= nr_left; i++)
		print line[i]
	for (i = 1; i <= nr_bare; i++)
		print "+\t" bare_event[i]
}
