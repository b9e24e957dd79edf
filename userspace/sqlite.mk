# SPDX-License-Identifier: GPL-2.0-only
#
# What the exporter to SQLite needs: its library (Debian: libsqlite3-dev).
# Without it the tool is built without the exporter.  Included by
# userspace/Makefile.

SQLITE_HAVE := $(shell pkg-config --exists sqlite3 2>/dev/null && echo yes)

ifeq ($(SQLITE_HAVE),yes)
# In the tool itself, if there is a static one: no library to copy along
TOOL_LIBS += $(firstword \
	$(wildcard $(shell $(CC) -print-file-name=libsqlite3.a)) -lsqlite3) -lm
else
TOOL_OBJ := $(filter-out $(OUT)/obj/tool/export_sqlite%.o,$(TOOL_OBJ))
endif
