#!/bin/sh
# SPDX-License-Identifier: GPL-2.0-only
#
# The page of "tracebuf report --html" works in a browser. If this fails, the page is empty, or
# shows a user something else than "report" does. This script looks for the programs that it needs
# and runs test_page.py.
#
# Needs: TRACEBUF (the tool, with sanitizers), TRACEBUF_FAST (without), PAGE_TRACE and REPORT_TRACE
# (page_trace.c, report_trace.c); chromium, chromedriver, python3-selenium.

set -u
here=$(cd "$(dirname "$0")" && pwd)
python=

skip_all()
{
	echo "TAP version 14"
	echo "1..0 # SKIP $1 (scripts/setup installs it)"
	exit 0
}

for need in chromium chromedriver; do
	command -v $need >/dev/null || skip_all "needs $need"
done
# Debian's selenium is for Debian's python3, which may not be the first in PATH
for p in python3 /usr/bin/python3; do
	[ -n "$python" ] || ! $p -c 'import selenium' 2>/dev/null || python=$p
done
[ -n "$python" ] || skip_all "needs python3-selenium"
echo "TAP version 14"
exec "$python" "$here/test_page.py"
