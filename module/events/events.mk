# SPDX-License-Identifier: GPL-2.0-only
#
# The objects of events/. Included by the Kbuild of the repository's root:
#	include $(src)/module/events/events.mk
#
# A unit reads one header of the kernel's tracepoints. Its include path starts
# with events/include, before the kernel's own, for the <trace/define_trace.h>
# there: flags set for an object come too late for that, LINUXINCLUDE does not.
# scripts/build-module writes the units, and the list of those that are not
# tracebuf.ko's (tb-event-units).

tb-core-units := sched irq syscalls task timer workqueue power signal
include $(src)/module/events/units/units.mk

tb-unit-objs = $(patsubst %,module/events/units/%.o,$(1))

tracebuf-y += $(call tb-room,events,catalog describe fast threads module_event module_group)
tracebuf-y += $(call tb-unit-objs,$(tb-core-units))

ifneq ($(tb-event-units),)
obj-m += tracebuf_events.o
tracebuf_events-y := module/events/events_module.o $(call tb-unit-objs,$(tb-event-units))
endif

tb-units := $(call tb-unit-objs,$(tb-core-units) $(tb-event-units))
tb-unit-include := -I$(src)/module/events/include -I$(src)/module/events/units/private/include/trace/events
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
