# SPDX-License-Identifier: GPL-2.0-only
#
# The objects of capture. Included by the Kbuild of the repository's root:
#	include $(src)/module/capture/capture.mk
#
# A unit reads one header of the kernel's tracepoints. Its include path starts
# with capture/include, before the kernel's own, for the <trace/define_trace.h>
# there: flags set for an object come too late for that, LINUXINCLUDE does not.
# scripts/build-module writes the units, and the list of those that are not
# tracebuf.ko's (tb-event-units).

tb-core-units := sched irq syscalls task timer workqueue power signal
include $(src)/module/capture/units/units.mk

tb-unit-objs = $(patsubst %,module/capture/units/%.o,$(1))

tb-capture-objs := $(addprefix module/capture/,events.o describe.o fast.o state.o)
tracebuf-y += $(tb-capture-objs) $(call tb-unit-objs,$(tb-core-units))

ifneq ($(tb-event-units),)
obj-m += tracebuf_events.o
tracebuf_events-y := module/capture/units.o $(call tb-unit-objs,$(tb-event-units))
tb-capture-objs += module/capture/units.o
endif

tb-units := $(call tb-unit-objs,$(tb-core-units) $(tb-event-units))
tb-unit-include := -I$(src)/module/capture/include -I$(src)/module/capture/units/private/include/trace/events
$(addprefix $(obj)/,$(tb-units)): LINUXINCLUDE := $(tb-unit-include) $(LINUXINCLUDE)

# Errors are to be told where a header names an event (scripts/build-module),
# not where its macros lead to. Debugging information would be most of the
# module, and say nothing of use.
tb-unit-flags := $(call cc-option,-ftrack-macro-expansion=0) -g0
# a warning that is not given in macros, if the compiler knows where they are
tb-unit-flags += -Wno-address
tb-unit-flags += -Werror=int-conversion -Werror=incompatible-pointer-types
$(foreach o,$(tb-units),$(eval CFLAGS_$(o) := $(tb-unit-flags)))
# what sparse says of them is about the kernel's headers
$(addprefix $(obj)/,$(call tb-unit-objs,$(tb-event-units))): CHECK := :
