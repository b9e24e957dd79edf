# SPDX-License-Identifier: GPL-2.0-only
#
# units-blame.awk - finds the classes of events that do not compile.
#
# awk -v failed='UNIT...' -v events=DIR -f units-blame.awk left-out headers UNIT.i... log
#
# UNIT.i is a unit that failed, preprocessed with TB_SURVEY; log has the compiler's messages. Prints
# new lines for left-out, see units-write.awk. The compiler reports an error in a class at the line
# where the header names the class (-ftrack-macro-expansion=0, events.mk).

# Return a message in few words, and set worth: the higher, the likelier it is that the message is
# the cause, and not a consequence of another error.
function read_message(message,	name)
{
	gsub(/\342\200\230|\342\200\231/, "'", message)
	sub(/ \[-W.*/, "", message)
	sub(/; did you mean.*/, "", message)
	sub(/ \((first use|have|')[^)]*\)/, "", message)
	name = message
	subject = ""
	worth = 2
	if (message ~ /undefined type '|incomplete type '|unknown type name '/) {
		sub(/.*(type|name) '(const )?/, "", name)
		sub(/'.*/, "", name)
		worth = 4
		return name " is private"
	}
	if (message ~ /implicit declaration of function '|' undeclared/) {
		sub(/^[^']*'/, "", name)
		sub(/'.*/, "", name)
		worth = name ~ /^tb_probe_/ ? 1 : 3
		subject = name
		return name (message ~ /function/ ? "()" : "") " is private"
	}
	if (message ~ /has incomplete type/) {
		sub(/^[^']*'/, "", name)
		sub(/'.*/, "", name)
		return "the type of " name " is private"
	}
	if (message ~ /: No such file or directory/) {
		sub(/: No such.*/, "", name)
		sub(/^(\.\.\/)*/, "", name)
		return name " is private"
	}
	worth = message ~ /without a cast|type argument of/ ? 0.5 : 1
	return message
}

function blame(unit, class, how, says)
{
	if (worth > best[unit, class]) {
		best[unit, class] = worth
		why[unit, class] = says
		what[unit, class] = how
	}
}

BEGIN {
	n = split(failed, names, " ")
	for (i = 1; i <= n; i++)
		is_failed[names[i]]
}

FILENAME != last {
	last = FILENAME
	where = FILENAME
	sub(/.*\//, "", where)
	kind = where
	source = ""
	if (sub(/\.i$/, "", where))
		kind = "survey"
}

kind == "left-out" {
	split($0, part, "\t")
	known[part[1], part[2], part[3]]
	next
}

kind == "headers" {
	unit_of[$2] = $1
	next
}

# the lines of classes and events
kind == "survey" && /^# [0-9]+ "/ {
	line = $2
	source = $3
	gsub(/"/, "", source)
	# files of events/ have different paths in the survey and in the log: shorten them
	sub(/(.*\/)?module\/events\/(units\/\.\.\/)*/, "", source)
	next
}
kind == "survey" {
	if (/tb_survey_/) {
		split($0, part, "\"")
		if ($1 == "tb_survey_class" || $1 == "tb_survey_event") {
			k = ++marks[where, source]
			at[where, source, k] = line
			is_event[where, source, k] = $1 == "tb_survey_event"
			class_at[where, source, k] = is_event[where, source, k] ? part[4] : part[2]
			template_at[where, source, k] = part[2]
		}
		text = $0
		while (match(text, /tb_survey_eval "[^"]*"/)) {
			split(substr(text, RSTART, RLENGTH), part, "\"")
			is_eval[where, part[2]]
			text = substr(text, RSTART + RLENGTH)
		}
	}
	line++
	next
}

# the log
{
	# the compiler names the unit before its errors
	if (match($0, /module\/events\/units\/[A-Za-z0-9_]+\.c:/)) {
		unit = substr($0, RSTART, RLENGTH)
		sub(/.*\//, "", unit)
		sub(/\..*/, "", unit)
	}
	if (!match($0, /^[^ :]+:[0-9]+:([0-9]+:)? (fatal )?error: /))
		next
	message = substr($0, RSTART + RLENGTH)
	split($0, part, ":")
	source = part[1]
	if (source in unit_of)
		unit = unit_of[source]
	if (!(unit in is_failed))
		next
	sub(/(.*\/)?module\/events\/(units\/\.\.\/)*/, "", source)
	says = read_message(message)
	if (subject != "" && ((unit, subject) in is_eval)) {
		blame(unit, subject, "out", says)
		next
	}
	found = 0
	for (k = 1; k <= marks[unit, source]; k++)
		if (at[unit, source, k] <= part[2])
			found = k
	class = found ? class_at[unit, source, found] : "*"
	if (!found || message ~ /No such file/ || ((unit, class, "out") in known)) {
		# events/types/UNIT.h may be the cause: first try without it
		types = events "/types/" unit ".h"
		if (!((unit, "types/", "out") in known) && (getline line < types) >= 0)
			blame(unit, "types/", "out", says)
		else
			blame(unit, "*", "out", says)
		close(types)
	} else if (is_event[unit, source, found]) {
		blame(unit, class, "out", says)
		template[unit, class] = template_at[unit, source, found]
	} else {
		blame(unit, class, ((unit, class, "bare") in known) ? "out" : "bare", says)
	}
}

END {
	# if the event's class is left out as well, the event needs no line of its own
	for (key in why) {
		split(key, part, SUBSEP)
		if ((key in template) && template[key] != part[2] && ((part[1], template[key]) in why))
			delete why[key]
		else if (part[2] != "*")
			some[part[1]]
	}
	for (key in why) {
		split(key, part, SUBSEP)
		# errors outside of classes may be consequences of those in classes
		if (part[2] == "*" && (part[1] in some))
			continue
		done[part[1]]
		print part[1] "\t" part[2] "\t" what[key] "\t" why[key]
	}
	for (unit in is_failed)
		if (!(unit in done))
			print unit "\t*\tout\tit does not compile"
}
