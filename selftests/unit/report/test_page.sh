#!/bin/sh
# SPDX-License-Identifier: GPL-2.0-only
#
# The page of "tracebuf report --html" in a browser without a screen: test_page.py does it, this looks
# for what it needs.
#
# Needs: TRACEBUF (the tool, with sanitizers), TRACEBUF_FAST (without), PAGE_TRACE (page_trace.c); chromium,
# chromedriver, python3-selenium.

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
# Debian's package is for Debian's python3, which need not be the first
for p in python3 /usr/bin/python3; do
	[ -n "$python" ] || ! $p -c 'import selenium' 2>/dev/null || python=$p
done
[ -n "$python" ] || skip_all "needs python3-selenium"
echo "TAP version 14"
exec "$python" "$here/test_page.py"
