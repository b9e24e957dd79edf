# SPDX-License-Identifier: GPL-2.0-only
#
# budgets.awk - compares the figures of a suite with their budgets: an "ok" or "not ok" each.
#
#   awk -v suite=NAME -v n=N -f budgets.awk budgets.txt NAME.rows
#
# N: number of earlier results. budgets.txt explains its lines. A figure with a budget that nobody
# measured is an error.

function result(good, text)
{
	printf "%s %d %s\n", good ? "ok" : "not ok", ++n, text
}

FILENAME ~ /budgets\.txt$/ {
	if (/^#/ || !NF)
		next
	split($0, field, "|")
	if (field[1] != suite)
		next
	budgets++
	key[budgets] = field[2] "|" field[3]
	kind[budgets] = field[4]
	limit[budgets] = field[5] + 0
	next
}

# one JSON object a line
{
	split($0, word, "\"")
	value[word[8] "|" word[12]] = substr(word[15], 2) + 0
}

END {
	for (i = 1; i <= budgets; i++) {
		name = key[i]
		sub(/\|/, ", ", name)
		if (!(key[i] in value)) {
			print "# " name ": not measured"
			result(0, name)
			continue
		}
		v = value[key[i]]
		most = kind[i] == "=" ? limit[i] * 1.002 + 0.5 : limit[i]
		good = kind[i] == ">=" ? v >= limit[i] : v <= most
		if (!good)
			printf "# %s: %.2f, the budget is %s %s\n", name, v, kind[i], limit[i]
		else if (kind[i] == "=" && v < limit[i] * 0.998 - 0.5)
			printf "# %s: %.2f, the budget of %s can be lowered\n", name, v, limit[i]
		result(good, name " (" kind[i] " " limit[i] ")")
	}
}
