# SPDX-License-Identifier: GPL-2.0-only
#
# asm.awk - prints the hot path of a function from the output of objdump -dr: from its start, past
# branches that the compiler expects not to be taken, to its return.
#
#   objdump -dr ... | awk -v fn=NAME -v kernel=RELEASE -v name=KERNEL -v suite=S -v rows=FILE -f asm.awk
#
# Compilers put unlikely code behind the return, so this code is what runs. Prints it as Markdown
# with counts; FILE gets the counts as JSON.

function json(what, value)
{
	printf "{\"suite\": \"%s\", \"who\": \"tracebuf\", \"case\": \"tracebuf_simple(), %s: %s\", \"value\": %d, \"unit\": \"instructions\"}\n", \
		suite, name, what, value >>rows
}

$0 ~ ("^[0-9a-f]+ <" fn ">:") {
	on = 1
	next
}

!on {
	next
}

/^$/ || done {
	on = 0
	next
}

# a relocation: the symbol of the instruction before it
/R_X86_64_/ {
	symbol = $3
	sub(/[-+]0x[0-9a-f]+$/, "", symbol)
	text[n] = text[n] "\t# " symbol
	if (symbol == "__x86_return_thunk")
		done = 1
	if (symbol == "__fentry__" && op[n] ~ /^call/)
		op[n] = "nop"
	next
}

/^ +[0-9a-f]+:/ {
	n++
	line = $0
	sub(/^ +[0-9a-f]+:\t/, "", line)
	sub(/ +# .*/, "", line)
	text[n] = line
	op[n] = line
	if (line ~ /^ret/)
		done = 1
}

END {
	for (i = 1; i <= n; i++) {
		count++
		branches += op[i] ~ /^j/ && op[i] !~ /^jmp/
		calls += op[i] ~ /^call/
		locked += op[i] ~ /^lock|^xchg/
		divisions += op[i] ~ /^i?div/
		stack += op[i] ~ /^push|^pop|,-?(0x[0-9a-f]+)?\(%rsp\)/
	}
	printf "\n## %s\n\n", kernel
	printf "%d instructions, of which %d conditional branches, none taken, and %d pushes, pops and stores to the stack; ", count, branches, stack
	printf "%d calls, %d locked, %d divisions.\n\n", calls, locked, divisions
	for (i = 1; i <= n; i++)
		printf "\t%s\n", text[i]
	json("all", count)
	json("calls", calls)
	json("locked", locked)
	json("divisions", divisions)
	exit n ? 0 : 1
}
