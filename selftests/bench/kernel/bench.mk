# SPDX-License-Identifier: GPL-2.0-only
#
# The objects of tb_bench.ko. The Kbuild of the repository's root includes this file when TB_BENCH
# is set, after it has named the objects of the ring; its flags and probes are those of the module.

tb-bench := selftests/bench/kernel
tb_bench-y := $(addprefix $(tb-bench)/,main.o primitives.o tracebuf.o record.o record_still.o \
	ftrace.o relay.o)
tb_bench-y += $(tb-ring-objs) module/provider/ring_header.o
ifndef CONFIG_UML
tb_bench-y += $(addprefix $(tb-bench)/,exported.o probes.o)
endif

ccflags-y += -I$(src)/$(tb-bench) -include $(src)/$(tb-bench)/x86_clock.h
# tracebuf.ko is loaded at the same time and exports the ring
ccflags-y += -D__DISABLE_EXPORTS
CFLAGS_$(tb-bench)/record_still.o := -DBENCH_STILL_CLOCK

# as in tracebuf.ko: ftrace must not trace the recorder
CFLAGS_REMOVE_$(tb-bench)/record.o := $(CC_FLAGS_FTRACE)
CFLAGS_REMOVE_$(tb-bench)/record_still.o := $(CC_FLAGS_FTRACE)
