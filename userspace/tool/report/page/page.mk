# SPDX-License-Identifier: GPL-2.0-only
#
# The page of "tracebuf report --html": bundled by python3, deflated by zlib (Debian: python3,
# zlib1g-dev). Without them the tool has no --html. Included by userspace/Makefile.

PAGE_DIR  := $(ROOT)/userspace/tool/report/page
PAGE_SRC  := $(wildcard $(PAGE_DIR)/*.html $(PAGE_DIR)/*.css $(PAGE_DIR)/*.js $(PAGE_DIR)/vendor/*)
PAGE_HAVE := $(shell command -v python3 >/dev/null && echo '\#include <zlib.h>' | \
	$(CC) $(CPPFLAGS) -E - >/dev/null 2>&1 && echo yes)

ifeq ($(PAGE_HAVE),yes)

TOOL_OBJ  += $(OUT)/obj/page/page.o
TOOL_LIBS += $(call library,z)

$(OUT)/page/page.c: $(PAGE_DIR)/bundle.py $(PAGE_SRC)
	@mkdir -p $(@D)
	@echo '  PAGE  $(patsubst $(ROOT)/%,%,$@)'
	$(Q)python3 $< $(PAGE_DIR)/page.html $@

$(OUT)/obj/page/page.o: $(OUT)/page/page.c
	@mkdir -p $(@D)
	@echo '  CC    $(patsubst $(ROOT)/%,%,$@)'
	$(Q)$(CC) $(FLAGS) -c -o $@ $<

$(OUT)/asan/page/page.o: $(OUT)/page/page.c
	@mkdir -p $(@D)
	$(Q)$(CC) $(FLAGS) -c -o $@ $<

.PHONY: test-page
test-page: $(OUT)/asan/tracebuf $(OUT)/tracebuf $(OUT)/page_trace $(OUT)/report_trace
	@echo '# test_page.sh'
	@TRACEBUF=$(OUT)/asan/tracebuf TRACEBUF_FAST=$(OUT)/tracebuf PAGE_TRACE=$(OUT)/page_trace REPORT_TRACE=$(OUT)/report_trace \
		sh $(ROOT)/selftests/unit/report/test_page.sh

test: test-page

else

TOOL_OBJ := $(filter-out $(OUT)/obj/tool/report/page/%.o,$(TOOL_OBJ))

endif
