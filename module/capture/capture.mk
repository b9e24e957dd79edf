# SPDX-License-Identifier: GPL-2.0-only
#
# The objects of capture. Included by the Kbuild of the repository's root:
#	include $(src)/module/capture/capture.mk
#
# A unit reads one header of the kernel's tracepoints. Its include path starts
# with capture/include, before the kernel's own, for the <trace/define_trace.h>
# there: flags set for an object come too late for that, LINUXINCLUDE does not.

tb-capture-units := sched irq raw_syscalls task timer workqueue power signal
tb-capture-objs := $(addprefix module/capture/,events.o describe.o fast.o state.o \
			$(patsubst %,ev_%.o,$(tb-capture-units)))

tracebuf-y += $(tb-capture-objs)

$(patsubst %,$(obj)/module/capture/ev_%.o,$(tb-capture-units)): \
	LINUXINCLUDE := -I$(src)/module/capture/include $(LINUXINCLUDE)

# What records must not show up in what other tracers record.
$(foreach o,$(tb-capture-objs),$(eval CFLAGS_REMOVE_$(o) := $(CC_FLAGS_FTRACE)))
