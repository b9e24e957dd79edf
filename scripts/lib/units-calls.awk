# SPDX-License-Identifier: GPL-2.0-only
#
# units-calls.awk - finds the probes of a unit that need symbols that the module cannot use.
#
# objdump -dr UNIT.o | awk -v unit=UNIT -f units-calls.awk unresolved -
#
# unresolved has lines of "unit symbol why". Prints lines for left-out, see units-write.awk.

function plain(name)
{
	sub(/[-+]0x[0-9a-f]+$/, "", name)
	sub(/\.(cold|isra|constprop|part).*/, "", name)
	return name
}

# Prints the probes that use @name, directly or through functions of the header.
function users(name, symbol,	k, user)
{
	if (name in visited)
		return
	visited[name]
	for (k = 1; k <= nr_users[name]; k++) {
		user = user_of[name, k]
		if (sub(/^tb_probe_/, "", user)) {
			found = 1
			if (!told[user]++)
				print unit "\t" user "\tbare\t" symbol "() " missing[symbol]
		} else {
			users(user, symbol)
		}
	}
}

FILENAME == "unresolved" || FILENAME ~ /\/unresolved$/ {
	if ($1 == unit)
		missing[$2] = substr($0, length($1 $2) + 3)
	next
}

/^[0-9a-f]+ <.*>:$/ {
	fn = $2
	gsub(/[<>:]/, "", fn)
	fn = plain(fn)
	next
}

# a relocation; the next rule: a call within the section
/^[ \t]+[0-9a-f]+: R_/ {
	use(plain($3))
	next
}
match($0, /<[^>]+>$/) {
	use(plain(substr($0, RSTART + 1, RLENGTH - 2)))
}

function use(name)
{
	if (name != fn && !((fn, name) in uses)) {
		uses[fn, name]
		user_of[name, ++nr_users[name]] = fn
	}
}

END {
	for (symbol in missing) {
		found = 0
		split("", visited)
		users(symbol, symbol)
		if (!found)
			print unit "\t*\tout\t" symbol "() " missing[symbol]
	}
}
