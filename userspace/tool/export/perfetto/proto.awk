# SPDX-License-Identifier: GPL-2.0-only
#
# Write perfetto.proto: perfetto.proto.in with the messages of events.tab.
# awk -f proto.awk events.tab perfetto.proto.in

# sched_switch: SchedSwitchFtraceEvent
function message(event,    words, parts, name, i)
{
	parts = split(event, words, "_")
	for (i = 1; i <= parts; i++)
		name = name toupper(substr(words[i], 1, 1)) substr(words[i], 2)
	return name "FtraceEvent"
}

function add_fields(first,    i, part)
{
	for (i = first; i <= NF; i++) {
		if ($i ~ /^(string|u?int(32|64)(\[\])?)$/) {
			type = sub(/\[\]$/, "", $i) ? "repeated " $i : "optional " $i
			continue
		}
		if (split($i, part, "=") == 2)
			number = part[2]
		fields[event] = fields[event] sprintf("  %s %s = %d;\n", type, part[1], number++)
	}
}

FILENAME ~ /\.in$/ {
	printf "%s", /@EVENTS@/ ? rows : $0 "\n"
	next
}

/^#/ || !NF { next }

/^\t/ { add_fields(1); next }

{
	event = $2
	number = 1
	events[++count] = event
	rows = rows sprintf("    %s %s = %d;\n", message(event), event, $1)
	if ($3 == "like")
		fields[event] = fields[$4]
	else
		add_fields(3)
}

END {
	for (i = 1; i <= count; i++)
		printf "\nmessage %s {\n%s}\n", message(events[i]), fields[events[i]]
}
