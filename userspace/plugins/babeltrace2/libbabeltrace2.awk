# SPDX-License-Identifier: GPL-2.0-only
#
# Turn a list of functions, one a line, into a header with macros that call them through the
# table bs_library.  Include the header after Babeltrace's, which declares the functions.
BEGIN {
	print "/* made by libbabeltrace2.awk */"
	print "struct bs_library {"
}
/^bt_/ {
	print "\t__typeof__(" $1 ") *" $1 ";"
	names[++count] = $1
}
END {
	print "};\nextern struct bs_library bs_library;"
	for (i = 1; i <= count; i++)
		print "#define " names[i] " (*bs_library." names[i] ")"
	print "#define BS_FUNCTION_NAMES \\"
	for (i = 1; i <= count; i++)
		print "\t\"" names[i] "\"" (i < count ? ", \\" : "")
}
