# SPDX-License-Identifier: GPL-2.0-only
#
# units-write.awk - writes a unit of module/events/ for each header of tracepoints.
#
# awk -v events=DIR -v out=DIR -f units-write.awk headers.tab left-out headers
#
# headers.tab is the table of events/. left-out has lines of "unit<TAB>class<TAB>how<TAB>why": how
# is "bare" if only the arguments of the class can be recorded, "out" if nothing can. Class "*" is
# the whole unit, which is empty then. "types/" is no class: the unit does not include
# events/types/UNIT.h. headers has lines of "unit path name", name for #include.

# Return declarations of the structures that a header names: most often, headers forget to declare
# structures that they use pointers to.
function forward(path,	line, words, n, i, seen, text)
{
	while ((getline line < path) > 0) {
		gsub(/[^A-Za-z0-9_]+/, " ", line)
		n = split(line, words, " ")
		for (i = 1; i < n; i++) {
			if (words[i] != "struct" && words[i] != "union")
				continue
			line = words[i] " " words[i + 1]
			if (words[i + 1] !~ /^[A-Za-z_]/ || line in seen)
				continue
			seen[line]
			text = text line ";\n"
		}
	}
	close(path)
	return text
}

function exists(path,	line, there)
{
	there = (getline line < path) >= 0
	close(path)
	return there
}

/^#/ || NF == 0 {
	next
}

# headers.tab
FILENAME ~ /\/headers\.tab$/ {
	for (i = 2; i <= NF; i++)
		includes[$1] = includes[$1] " " $i
	next
}

# left-out
FILENAME ~ /\/left-out$/ {
	split($0, part, "\t")
	if (part[3] == "bare")
		bare[part[1]] = bare[part[1]] " " part[2]
	else if (part[2] == "*")
		none[part[1]]
	else if (part[2] == "types/")
		untyped[part[1]]
	else
		skips[part[1]] = skips[part[1]] " " part[2]
	next
}

# headers
{
	unit = $1
	c = out "/" unit ".c"
	print "// SPDX-License-Identifier: GPL-2.0-only" > c
	print "/* The events of <" $3 ">; scripts/build-module wrote this. */" > c
	if (unit in none) {
		print "#include \"../unit.h\"\n" > c
		print "TB_UNIT_INIT(" unit ");" > c
		print "void __init tb_unit_init_" unit "(struct tb_unit *unit)\n{\n}" > c
		close(c)
		next
	}
	# a header that this kernel does not have is not needed either
	print "#include <linux/types.h>" > c
	n = split(includes[unit], names, " ")
	for (i = 1; i <= n; i++) {
		# sparse does not know __has_include()
		print "#ifdef __CHECKER__\n#include <" names[i] ">" > c
		print "#elif __has_include(<" names[i] ">)" > c
		print "#include <" names[i] ">" > c
		print "#endif" > c
	}
	print "\n" forward($2) > c
	if (exists(events "/types/" unit ".h") && !(unit in untyped))
		print "#include \"../types/" unit ".h\"\n" > c
	print "#define TB_UNIT_NAME\t" unit > c
	print "#define TB_HEADER\t\"" $3 "\"" > c
	if (unit in bare)
		print "#define TB_EXTRA\t\"events/units/" unit ".h\"" > c
	else if (exists(events "/extra/" unit ".h"))
		print "#define TB_EXTRA\t\"events/extra/" unit ".h\"" > c
	n = split(bare[unit], names, " ")
	for (i = 1; i <= n; i++)
		print "#define TB_BARE_" names[i] "\t1\n#define TB_OWN_" names[i] "\t1" > c
	n = split(skips[unit], names, " ")
	for (i = 1; i <= n; i++)
		print "#define TB_SKIP_" names[i] "\t1" > c
	print "#ifdef TB_SURVEY\n#include \"../macros/survey.h\"" > c
	print "#else\n#include \"../macros/passes.h\"\n#endif" > c
	close(c)
}
