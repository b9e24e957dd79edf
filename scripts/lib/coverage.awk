# SPDX-License-Identifier: GPL-2.0-only
#
# coverage.awk - writes the tables of docs/coverage.md.
#
# awk -F '\t' -f coverage.awk release=R coverage.txt release=R coverage.txt
#
# lib/units-report.awk writes coverage.txt.

FNR == 1 {
	nr_kernels++
	kernel[nr_kernels] = release
}

/^#/ || $1 == "+" {
	next
}

$1 == "-" {
	if (!$5)
		next
	unit = $2
	if ($4 == "out" && $3 != "types/")
		lost[nr_kernels] = lost[nr_kernels] \
			sprintf("* %s: `%s`%s: %s\n", release, unit, $3 == "*" ? "" : ", `" $3 "`", $6)
	if (!((unit, $6) in seen)) {
		seen[unit, $6]
		if (++nr_why[unit] <= 3)
			why[unit] = why[unit] (why[unit] == "" ? "" : ", ") $6
	}
	next
}

{
	unit = $1
	if (!(unit in name)) {
		name[unit] = $2
		order[++nr] = unit
	}
	has[unit, nr_kernels] = $3
	got[unit, nr_kernels] = $4
	args[unit, nr_kernels] = $5
	headers[nr_kernels]++
	covered[nr_kernels] += $4 > 0
	full[nr_kernels] += $4 == $3 && !$5
	events[nr_kernels] += $3
	captured[nr_kernels] += $4
	bare[nr_kernels] += $5
}

function is_full(unit,	k)
{
	for (k = 1; k <= nr_kernels; k++)
		if (((unit, k) in has) && (got[unit, k] != has[unit, k] || args[unit, k]))
			return 0
	return 1
}

function cell(unit, k)
{
	if (!((unit, k) in has))
		return "-"
	return has[unit, k] - got[unit, k] "/" args[unit, k] "/" has[unit, k]
}

# Prints text in lines of at most 100 columns.
function wrap(text,	words, nr, i, line)
{
	nr = split(text, words, " ")
	line = words[1]
	for (i = 2; i <= nr; i++) {
		if (length(line) + 1 + length(words[i]) > 100) {
			print line
			line = words[i]
		} else {
			line = line " " words[i]
		}
	}
	print line
}

END {
	print "\n| kernel | headers | captured | all events in full | events | captured | in full | with their arguments only |"
	print "|---|---|---|---|---|---|---|---|"
	for (k = 1; k <= nr_kernels; k++)
		printf "| %s | %d | %d (%.1f %%) | %d (%.1f %%) | %d | %d (%.1f %%) | %d (%.1f %%) | %d |\n",
		       kernel[k], headers[k], covered[k], 100 * covered[k] / headers[k],
		       full[k], 100 * full[k] / headers[k], events[k], captured[k],
		       100 * captured[k] / events[k], captured[k] - bare[k],
		       100 * (captured[k] - bare[k]) / events[k], bare[k]
	print "\nNot captured at all, and why:\n"
	for (k = 1; k <= nr_kernels; k++)
		printf "%s", lost[k]
	print ""
	wrap("Headers with events that are not captured in full: not at all / with their arguments " \
	     "only / all there are.")
	print ""
	printf "| header |"
	for (k = 1; k <= nr_kernels; k++)
		printf " %s |", kernel[k]
	printf " why |\n|---|"
	for (k = 1; k <= nr_kernels; k++)
		printf "---|"
	print "---|"
	for (i = 1; i <= nr; i++) {
		unit = order[i]
		if (is_full(unit)) {
			fine = fine (fine == "" ? "" : ", ") unit
			continue
		}
		printf "| `%s` |", name[unit]
		for (k = 1; k <= nr_kernels; k++)
			printf " %s |", cell(unit, k)
		printf " %s%s |\n", why[unit],
		       (nr_why[unit] > 3 ? " and " (nr_why[unit] - 3) " more" : "")
	}
	print ""
	wrap("In full: " fine ".")
	print ""
}
