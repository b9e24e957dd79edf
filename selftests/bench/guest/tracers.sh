# shellcheck shell=sh
# SPDX-License-Identifier: GPL-2.0-only
#
# tracers.sh - starts and stops the other tracers. The suites in a guest source it, with peers set
# to the folder of peers.sh.

# shellcheck disable=SC2154
root=$peers/root
libs=$root/usr/lib/x86_64-linux-gnu

# peer PROGRAM ARGUMENT...: run a program of that folder
peer()
{
	LD_LIBRARY_PATH="$libs" "$@"
}

lttng()
{
	peer "$root/usr/bin/lttng" -n "$@" >>/out/lttng.log 2>&1
}

lttng_up()
{
	for m in "$peers/lttng-$(uname -r)"/*.ko; do
		insmod "$m"
	done
	LTTNG_SESSION_CONFIG_XSD_PATH="$root/usr/share/xml/lttng" \
		LD_LIBRARY_PATH="$libs" "$root/usr/bin/lttng-sessiond" --kmod-probes=sched,irq \
		--consumerd64-path="$libs/lttng/libexec/lttng-consumerd" \
		--consumerd64-libdir="$libs" >>/out/lttng.log 2>&1 &
	sessiond=$!
	until lttng list; do
		kill -0 "$sessiond"
		sleep 0.1
	done
}

lttng_down()
{
	kill "$sessiond"
	wait "$sessiond" || true
}

# lttng_session FOLDER MODE SUBBUF_BYTES SUBBUFS: make a session, do not start it
lttng_session()
{
	lttng create bench --output="$1"
	lttng enable-channel -k -s bench "--$2" --subbuf-size="$3" --num-subbuf="$4" events
}
