# SPDX-License-Identifier: GPL-2.0-only
#
# What exporters need besides the compiler: SQLite (Debian: libsqlite3-dev), without which
# the tool is built without that exporter and without query. And the tests of all formats, and of
# query. Included by userspace/Makefile.

SQLITE_HAVE := $(shell pkg-config --exists sqlite3 2>/dev/null && echo yes)

ifeq ($(SQLITE_HAVE),yes)
TOOL_LIBS += $(call library,sqlite3) -lm
else
TOOL_OBJ := $(filter-out $(OUT)/obj/tool/export/sqlite.o $(OUT)/obj/tool/tables/%.o \
	$(OUT)/obj/tool/query/%.o $(OUT)/obj/tool/cmd/query.o,$(TOOL_OBJ))
endif

# Longer traces than the golden ones, if what makes them can be built
FORMATS_TRACES := $(if $(PERFETTO_OBJ),$(OUT)/test_export)

# Parts of the test may run side by side: two of them must not build these at the same time
tests: $(FORMATS_TRACES) $(addprefix $(OUT)/,report_trace history_trace top_trace page_trace)

.PHONY: test-formats test-query test-top
test-formats: $(OUT)/asan/tracebuf $(FORMATS_TRACES) $(OUT)/report_trace $(OUT)/history_trace
	@echo '# test_export_formats.sh'
	@TRACEBUF=$(OUT)/asan/tracebuf TEST_EXPORT=$(OUT)/test_export REPORT_TRACE=$(OUT)/report_trace \
		HISTORY_TRACE=$(OUT)/history_trace \
		sh $(ROOT)/selftests/unit/export/test_export_formats.sh

# What reports say, over the same traces and some of their own
.PHONY: test-report
test-report: $(OUT)/asan/tracebuf $(FORMATS_TRACES) $(OUT)/report_trace $(OUT)/history_trace
	@echo '# test_report.sh'
	@TRACEBUF=$(OUT)/asan/tracebuf TEST_EXPORT=$(OUT)/test_export REPORT_TRACE=$(OUT)/report_trace \
		HISTORY_TRACE=$(OUT)/history_trace sh $(ROOT)/selftests/unit/report/test_report.sh
	@echo '# test_why.sh'
	@TRACEBUF=$(OUT)/asan/tracebuf REPORT_TRACE=$(OUT)/report_trace \
		HISTORY_TRACE=$(OUT)/history_trace sh $(ROOT)/selftests/unit/report/test_why.sh

test-query: $(OUT)/asan/tracebuf $(FORMATS_TRACES) $(OUT)/report_trace $(OUT)/history_trace
	@echo '# test_query.sh'
	@TRACEBUF=$(OUT)/asan/tracebuf TEST_EXPORT=$(OUT)/test_export REPORT_TRACE=$(OUT)/report_trace \
		HISTORY_TRACE=$(OUT)/history_trace sh $(ROOT)/selftests/unit/tool/test_query.sh

# Packing and unpacking, and what commands say of packed files
.PHONY: test-pack
test-pack: $(OUT)/asan/tracebuf $(FORMATS_TRACES) $(OUT)/report_trace $(OUT)/history_trace
	@echo '# test_pack.sh'
	@TRACEBUF=$(OUT)/asan/tracebuf TEST_EXPORT=$(OUT)/test_export REPORT_TRACE=$(OUT)/report_trace \
		HISTORY_TRACE=$(OUT)/history_trace sh $(ROOT)/selftests/unit/tool/test_pack.sh

# What query, report and exports say of recordings of which the whole history is known
ifneq ($(and $(filter yes,$(SQLITE_HAVE)),$(PERFETTO_OBJ)),)
.PHONY: test-history
test-history: $(OUT)/tracebuf $(OUT)/history_trace
	@echo '# history_check.py'
	@python3 $(ROOT)/selftests/unit/export/history_check.py --count $(or $(HISTORIES),40) \
		$(OUT)/tracebuf $(OUT)/history_trace
test: test-history
endif

# The screen of top, in tmux
test-top: $(OUT)/asan/tracebuf $(OUT)/top_trace
	@echo '# test_top_screen.sh'
	@TRACEBUF=$(OUT)/asan/tracebuf TOP_TRACE=$(OUT)/top_trace \
		sh $(ROOT)/selftests/unit/tool/test_top_screen.sh

test: test-formats test-report test-query test-top test-pack
