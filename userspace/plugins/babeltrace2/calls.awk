# SPDX-License-Identifier: GPL-2.0-only
#
# From names of functions, one a line: a header in which they are called through the
# table bs_calls.  It is included behind Babeltrace's, whose declarations it uses.
BEGIN {
	print "/* made by calls.awk */"
	print "struct bs_calls {"
}
/^bt_/ {
	print "\t__typeof__(" $1 ") *" $1 ";"
	names[++count] = $1
}
END {
	print "};\nextern struct bs_calls bs_calls;"
	for (i = 1; i <= count; i++)
		print "#define " names[i] " (*bs_calls." names[i] ")"
	print "#define BS_CALL_NAMES \\"
	for (i = 1; i <= count; i++)
		print "\t\"" names[i] "\"" (i < count ? ", \\" : "")
}
