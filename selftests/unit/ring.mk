# SPDX-License-Identifier: GPL-2.0-only
#
# The tests of module/ring.c in user space: the same file as in the module, with a hook before
# every access to shared memory.  To be included by a Makefile in the top directory, or alone:
#
#	make -f selftests/unit/ring.mk check-ring

RING_O		?= build/unit
RING_CC		?= $(CC)
RING_CFLAGS	:= -std=gnu11 -O2 -g -Wall -Wextra -Wshadow -fno-strict-aliasing \
		   -fsanitize=address,undefined -fno-sanitize-recover=undefined \
		   -DTB_RING_HOOKS -Iuapi -Iselftests/unit $(RING_EXTRA)
RING_DIR	?= module
RING_OBJS	:= $(RING_O)/ring/ring.o $(RING_O)/ring/ring_read.o
RING_DEPS	:= $(wildcard module/ring*.h selftests/unit/ring_*.h) uapi/linux/tracebuf.h \
		   selftests/unit/ring.mk
RING_TESTS	:= $(RING_O)/test_ring $(RING_O)/test_ring_explore

.PHONY: ring-tests check-ring
ring-tests: $(RING_TESTS)

$(RING_OBJS): $(RING_O)/ring/%.o: $(RING_DIR)/%.c $(RING_DEPS)
	@mkdir -p $(@D)
	$(RING_CC) $(RING_CFLAGS) -c -o $@ $<

$(RING_O)/ring/%.o: selftests/unit/%.c $(RING_DEPS)
	@mkdir -p $(@D)
	$(RING_CC) $(RING_CFLAGS) -c -o $@ $<

$(RING_TESTS): $(RING_O)/%: $(RING_O)/ring/%.o $(RING_O)/ring/ring_model.o $(RING_OBJS)
	$(RING_CC) $(RING_CFLAGS) -o $@ $^

check-ring: ring-tests
	@s=0; for t in $(RING_TESTS); do $$t || s=1; done; exit $$s
