# SPDX-License-Identifier: GPL-2.0-only
#
# The objects of events/, for Kbuild.
#
# A unit compiles one header of the kernel's tracepoints.  scripts/build-module writes the units,
# and tb-event-units, the list of the units of tracebuf_events.ko.
#
# Units must find the <trace/define_trace.h> of events/include before the kernel's.  So its folder
# comes first in LINUXINCLUDE: the compiler searches the folders of an object's own flags later.

tb-core-units := sched irq syscalls task timer workqueue power signal
include $(src)/module/events/units/units.mk

tb-unit-objs = $(patsubst %,module/events/units/%.o,$(1))

tracebuf-y += $(call tb-room,events,catalog describe compact calls threads module_event module_group)
tracebuf-y += $(call tb-unit-objs,$(tb-core-units))

# calls.tab as C: one entry for each system call
quiet_cmd_calls = GEN     $@
      cmd_calls = awk '!/^\#/ { first = second = 0; \
			for (i = 2; i <= NF; i++) \
				if ($$i ~ /:(path|text|address|polled|readable)$$/ && !second) { \
					if (first) second = i - 1; else first = i - 1 } \
			printf "\#ifdef __NR_%s\n[__NR_%s] = ", $$1, $$1; \
			printf "TB_CALL(%d, %d, %d, %d),\n\#endif\n", \
				NF - 1, first, second, \
				/:address/ + 2 * /:polled/ + 3 * /:readable/ \
			}' $< >$@
$(obj)/module/events/calls_tab.h: $(src)/module/events/calls.tab FORCE
	$(call if_changed,calls)
$(obj)/module/events/calls.o: $(obj)/module/events/calls_tab.h
CFLAGS_module/events/calls.o := -I$(obj)/module/events
targets += module/events/calls_tab.h

ifneq ($(tb-event-units),)
obj-m += tracebuf_events.o
tracebuf_events-y := module/events/events_module.o $(call tb-unit-objs,$(tb-event-units))
endif

tb-units := $(call tb-unit-objs,$(tb-core-units) $(tb-event-units))
tb-unit-include := -I$(src)/module/events/include -I$(src)/module/events/units/private/include/trace/events
$(addprefix $(obj)/,$(tb-units)): LINUXINCLUDE := $(tb-unit-include) $(LINUXINCLUDE)

# The compiler must report errors at the event in the header, not inside of macros:
# scripts/build-module finds the event by the line.  No debugging information: it would be most of
# the module.
tb-unit-flags := $(call cc-option,-ftrack-macro-expansion=0) -g0
# with the first flag the compiler gives this warning inside of macros, too
tb-unit-flags += -Wno-address
tb-unit-flags += -Werror=int-conversion -Werror=incompatible-pointer-types
$(foreach o,$(tb-units),$(eval CFLAGS_$(o) := $(tb-unit-flags)))
# no sparse: its warnings would be about the kernel's headers
$(addprefix $(obj)/,$(call tb-unit-objs,$(tb-event-units))): CHECK := :
# no kernel-doc: units have no comments, and W=1 starts Perl for each
$(addprefix $(obj)/,$(tb-units)): cmd_checkdoc :=
