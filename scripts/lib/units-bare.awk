# SPDX-License-Identifier: GPL-2.0-only
#
# units-bare.awk - writes classes of events with the tracepoint's arguments as fields.
#
# awk -v unit=UNIT -v events=DIR -f units-bare.awk left-out UNIT.i
#
# UNIT.i is the unit, preprocessed with TB_SURVEY. Prints a TB_EXTRA (events/macros/passes.h) with
# a TB_BARE_CLASS() for each class that is "bare" in left-out; without classes that have an
# argument of an array or function type.

function trim(s)
{
	gsub(/^[ \t]+|[ \t]+$/, "", s)
	return s
}

# Prints one class; @proto: its parameters with types, @args: their names.
function bare_class(class, proto, args,	n, m, i, params, names, type, name, fields, assign, format, values)
{
	n = split(proto, params, ",")
	m = split(args, names, ",")
	if (n != m)
		return
	for (i = 1; i <= n; i++) {
		name = trim(names[i])
		type = trim(params[i])
		if (type !~ ("[ *]" name "$") || type ~ /[()\[]/)
			return
		type = trim(substr(type, 1, length(type) - length(name)))
		if (type !~ /\*/)
			gsub(/(^| )const( |$)/, " ", type)
		type = trim(type)
		fields = fields "\t\t__field(" type ", " name ")\n"
		assign = assign "\t\t__entry->" name " = " name ";\n"
		format = format (i > 1 ? " " : "") name "="
		if (type ~ /\*/)
			format = format "%p"
		else if (type ~ /unsigned|^u[0-9]|^__u|^uint|size_t|dev_t|ino_t|sector_t/ && type !~ /ssize_t/)
			format = format "%llu"
		else
			format = format "%lld"
		values = values ", __entry->" name
	}
	print "TB_BARE_CLASS(" class ","
	print "\tTP_PROTO(" proto "),"
	print "\tTP_ARGS(" args "),"
	print "\tTP_STRUCT__entry(\n" fields "\t),"
	print "\tTP_fast_assign(\n" assign "\t),"
	print "\tTP_printk(\"" format "\"" values ")\n);"
}

BEGIN {
	print "/* SPDX-License-Identifier: GPL-2.0-only */"
	print "/*"
	print " * The arguments of events of which no more can be told: written by"
	print " * scripts/build-module.  Read by every pass of macros/passes.h; hence no guard."
	print " */"
	extra = events "/extra/" unit ".h"
	if ((getline line < extra) >= 0)
		print "#include \"../extra/" unit ".h\""
}

FILENAME ~ /\/left-out$/ {
	split($0, part, "\t")
	if (part[1] == unit && part[3] == "bare")
		wanted[++nr] = part[2]
	next
}

# A class of the header comes after a replacement of it in extra/, and takes its place.
{
	line = $0
	while (match(line, /tb_survey_class "[^"]*" "[^"]*" "[^"]*"/)) {
		split(substr(line, RSTART, RLENGTH), part, "\"")
		proto[part[2]] = part[4]
		args[part[2]] = part[6]
		line = substr(line, RSTART + RLENGTH)
	}
}

END {
	for (i = 1; i <= nr; i++)
		if (wanted[i] in proto)
			bare_class(wanted[i], proto[wanted[i]], args[wanted[i]])
}
