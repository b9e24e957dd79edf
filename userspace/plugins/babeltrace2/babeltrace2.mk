# SPDX-License-Identifier: GPL-2.0-only
#
# If Babeltrace 2 (Debian: libbabeltrace2-dev) is installed, build its plugin, and the tool's
# exporter to CTF from the same code. Otherwise build the tool without that exporter.
# userspace/Makefile includes this file.

BT2_SRC  := $(ROOT)/userspace/plugins/babeltrace2
BT2_HAVE := $(shell pkg-config --exists babeltrace2 2>/dev/null && echo yes)

ifeq ($(BT2_HAVE),yes)

# the directory in which babeltrace2 finds plugins without options
BT2_PLUGINS ?= $(shell pkg-config --variable=libdir babeltrace2)/babeltrace2/plugins
BT2_PLUGIN  := $(OUT)/babeltrace2/babeltrace-plugin-tracebuf.so
BT2_ONLY    := input live live_recording plugin
BT2_PIC     := $(patsubst $(ROOT)/userspace/%.c,$(OUT)/pic/%.o, \
	$(filter-out %/libbabeltrace2.c,$(wildcard $(BT2_SRC)/*.c)))
BT2_OBJ     := $(patsubst $(ROOT)/userspace/%.c,$(OUT)/obj/%.o, \
	$(filter-out $(BT2_ONLY:%=$(BT2_SRC)/%.c),$(wildcard $(BT2_SRC)/*.c)))
BT2_TOOL    := $(BT2_OBJ) $(OUT)/obj/tool/export/ctf.o
# objects that call Babeltrace through bs_library: tool, tool with sanitizers, fuzzer
BT2_LOADED  := $(BT2_TOOL) $(BT2_TOOL:$(OUT)/obj/%=$(OUT)/asan/%) \
	$(BT2_TOOL:$(OUT)/obj/%=$(OUT)/fuzz/obj/%)

TOOL_OBJ += $(BT2_OBJ)

$(OUT)/babeltrace2_functions.h: $(BT2_SRC)/libbabeltrace2.list $(BT2_SRC)/libbabeltrace2.awk
	@mkdir -p $(@D)
	$(Q)awk -f $(BT2_SRC)/libbabeltrace2.awk $< >$@

$(BT2_LOADED): FLAGS += -DBS_LOAD_LIBRARY -I$(BT2_SRC)
$(BT2_LOADED): $(OUT)/babeltrace2_functions.h

# The plugin contains libtracebuf
$(BT2_PLUGIN): $(BT2_PIC) $(PIC_OBJ) $(BT2_SRC)/plugin.map
	@mkdir -p $(@D)
	$(call SAY,LD  ,$@)
	$(Q)$(CC) -shared -Wl,--no-undefined -Wl,--version-script,$(BT2_SRC)/plugin.map \
		$(CFLAGS) $(LDFLAGS) -o $@ $(BT2_PIC) $(PIC_OBJ) -lzstd \
		$(shell pkg-config --libs babeltrace2)

.PHONY: plugin install-plugin
plugin: $(BT2_PLUGIN)
all: plugin

install-plugin: $(BT2_PLUGIN)
	install -d $(DESTDIR)$(BT2_PLUGINS)
	install -m 644 $(BT2_PLUGIN) $(DESTDIR)$(BT2_PLUGINS)/
install: install-plugin

# The tests load a plugin with sanitizers
BT2_ASAN_PLUGIN := $(OUT)/babeltrace2/asan/babeltrace-plugin-tracebuf.so
BT2_ASAN_PIC    := $(patsubst $(OUT)/pic/%,$(OUT)/asan-pic/%,$(BT2_PIC) $(PIC_OBJ))

$(OUT)/asan-pic/%.o: $(ROOT)/userspace/%.c
	@mkdir -p $(@D)
	$(call SAY,CC  ,$@)
	$(Q)$(CC) $(FLAGS) -DTB_STEPS -O1 $(SANITIZE) -fPIC -c -o $@ $<

$(OUT)/asan-pic/lib/read/names.o: $(OUT)/syscalls.inc

$(BT2_ASAN_PLUGIN): $(BT2_ASAN_PIC) $(BT2_SRC)/plugin.map
	@mkdir -p $(@D)
	$(call SAY,LD  ,$@)
	$(Q)$(CC) -shared -Wl,--version-script,$(BT2_SRC)/plugin.map $(CFLAGS) \
		$(filter-out -no-pie,$(SANITIZE)) $(LDFLAGS) -o $@ $(BT2_ASAN_PIC) -lzstd \
		$(shell pkg-config --libs babeltrace2)

$(OUT)/test_lib_babeltrace: TEST_LIBS := $(shell pkg-config --libs babeltrace2)
$(OUT)/test_lib_babeltrace $(OUT)/test_lib_bt_live: $(BT2_ASAN_PLUGIN)

# test_lib_bt_live calls the plugin's functions directly
BT2_LIVE_OBJ := $(filter-out %/plugin.o %/live.o %/input.o %/iterator.o, \
	$(filter $(OUT)/asan-pic/plugins/%,$(BT2_ASAN_PIC)))
$(OUT)/asan/unit/test_lib_bt_live.o: FLAGS += -I$(BT2_SRC)
$(OUT)/test_lib_bt_live: TEST_LIBS := $(BT2_LIVE_OBJ) $(shell pkg-config --libs babeltrace2)
$(OUT)/test_lib_bt_live: $(BT2_LIVE_OBJ)

-include $(BT2_PIC:.o=.d) $(filter $(OUT)/asan-pic/%,$(BT2_ASAN_PIC:.o=.d))

else

TOOL_OBJ := $(filter-out $(OUT)/obj/tool/export/ctf.o,$(TOOL_OBJ))
TESTS    := $(filter-out $(OUT)/test_lib_babeltrace $(OUT)/test_lib_bt_live,$(TESTS))

endif
