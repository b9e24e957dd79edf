# SPDX-License-Identifier: LGPL-2.1-or-later
#
# From the preprocessor's list of macros to C initialisers: [0] = "read",
# -v add=N is added to each number, -v prefix=TEXT is put before each name.
# Macros that stand for another macro (arm64 has some) are followed.

$1 == "#define" { value[$2] = $3 }

END {
	for (macro in value) {
		if (macro !~ /^__NR_/ || macro ~ /^__NR_(syscalls|arch_specific_syscall)$/)
			continue
		number = value[macro]
		for (depth = 0; depth < 4 && number in value; depth++)
			number = value[number]
		if (number ~ /^[0-9]+$/ && number < 1024)
			printf "\t[%d] = \"%s%s\",\n", number + add, prefix, substr(macro, 6)
	}
}
