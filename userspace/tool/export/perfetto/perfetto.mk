# SPDX-License-Identifier: GPL-2.0-only
#
# Build the Perfetto exporter: needs code that protobuf-c generates from perfetto.proto, which awk
# writes from perfetto.proto.in and events.tab, and the library of protobuf-c (Debian: protobuf-c-compiler, libprotobuf-c-dev).  Without them the tool has
# no Perfetto exporter.  Included by userspace/Makefile.

PROTOC_C ?= protoc-c
PERFETTO_DIR   := $(ROOT)/userspace/tool/export/perfetto
PERFETTO_PROTO := $(OUT)/perfetto/perfetto.proto
PERFETTO_GEN   := $(OUT)/perfetto/perfetto.pb-c
PERFETTO_HAVE  := $(shell command -v $(PROTOC_C) >/dev/null && \
	echo '\#include <protobuf-c/protobuf-c.h>' | \
	$(CC) $(CPPFLAGS) -E - >/dev/null 2>&1 && echo yes)

ifeq ($(PERFETTO_HAVE),yes)

PERFETTO_OBJ := $(filter $(OUT)/obj/tool/export/perfetto/%.o,$(TOOL_OBJ)) \
	$(OUT)/obj/perfetto/perfetto.pb-c.o

TOOL_OBJ += $(OUT)/obj/perfetto/perfetto.pb-c.o
TOOL_LIBS += $(call library,protobuf-c)

$(PERFETTO_PROTO): $(addprefix $(PERFETTO_DIR)/,proto.awk events.tab perfetto.proto.in)
	@mkdir -p $(@D)
	$(Q)awk -f $^ >$@

$(PERFETTO_GEN).h: $(PERFETTO_PROTO)
	$(Q)$(PROTOC_C) --c_out=$(@D) --proto_path=$(<D) $(<F)

$(PERFETTO_GEN).c: $(PERFETTO_GEN).h
	@touch $@

$(OUT)/obj/perfetto/%.o: $(OUT)/perfetto/%.c
	@mkdir -p $(@D)
	@echo '  CC    $(patsubst $(ROOT)/%,%,$@)'
	$(Q)$(CC) $(FLAGS) -c -o $@ $<

$(PERFETTO_OBJ): $(PERFETTO_GEN).h

# The exporter under the sanitizers, and a generator of traces, for test_export.sh
PERFETTO_TEST_OBJ := $(OUT)/asan/unit/test_export.o $(OUT)/asan/perfetto/perfetto.pb-c.o \
	$(filter $(addprefix $(OUT)/asan/,analysis/% tool/export/fxt/% tool/export/perfetto/% \
	tool/export/common.o tool/show/causes.o tool/show/frames.o tool/command/plain_file.o \
	tool/show/out.o tool/show/slots.o \
	tool/show/user_writers.o tool/show/values.o), \
	$(TOOL_OBJ:$(OUT)/obj/%=$(OUT)/asan/%))

$(OUT)/asan/unit/test_export.o: $(PERFETTO_GEN).h

$(OUT)/test_export: $(PERFETTO_TEST_OBJ) $(ASAN_OBJ)
	@echo '  LD    $(patsubst $(ROOT)/%,%,$@)'
	$(Q)$(CC) $(SANITIZE) $(LDFLAGS) -o $@ $^ $(ELF) $(IBERTY) $(ZSTD) -lprotobuf-c -lm

.PHONY: test-export
test-export: $(OUT)/test_export tool
	@echo '# test_export.sh'
	@TRACEBUF=$(OUT)/tracebuf TEST_EXPORT=$(OUT)/test_export \
		sh $(ROOT)/selftests/unit/export/test_export.sh

.PHONY: test-export-fxt
test-export-fxt: $(OUT)/test_export $(OUT)/report_trace tool
	@echo '# test_export_fxt.sh'
	@TRACEBUF=$(OUT)/tracebuf TEST_EXPORT=$(OUT)/test_export REPORT_TRACE=$(OUT)/report_trace \
		sh $(ROOT)/selftests/unit/export/test_export_fxt.sh

test: test-export test-export-fxt

else

TOOL_OBJ := $(filter-out $(OUT)/obj/tool/export/perfetto/%.o,$(TOOL_OBJ))

endif
