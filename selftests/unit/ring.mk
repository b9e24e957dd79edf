# SPDX-License-Identifier: GPL-2.0-only
#
# The tests of module/ring*.c in user space: the same files as in the module, with a hook before
# every access to shared memory.  To be included by a Makefile in the top directory, or alone:
#
#	make -f selftests/unit/ring.mk check-ring
#
# ring/ has objects with the address and undefined behaviour sanitizers, fast/ without: the
# explorer runs millions of executions.

RING_O		?= build/unit
RING_CC		?= $(CC)
RING_BASE	:= -std=gnu11 -O2 -g -Wall -Wextra -Wshadow -fno-strict-aliasing \
		   -DTB_RING_HOOKS -DTB_RING_PATHS -Iuapi -Iselftests/unit $(RING_EXTRA)
RING_SAN	:= -fsanitize=address,undefined -fno-sanitize-recover=undefined
RING_DIR	?= module
RING_PARTS	:= ring ring_read
RING_DEPS	:= $(wildcard module/ring*.h selftests/unit/ring_*.h) uapi/linux/tracebuf.h \
		   selftests/unit/ring.mk
RING_BEHAVIOUR	:= test_ring test_ring_loss test_ring_limits
RING_TESTS	:= $(addprefix $(RING_O)/,$(RING_BEHAVIOUR) test_ring_explore test_ring_explore_san)
# the longest first
RING_RUNS	:= $(addprefix run-,test_ring_explore test_ring_explore_san $(RING_BEHAVIOUR))

.PHONY: ring-tests check-ring ring-runs $(RING_RUNS)
.SECONDARY:
ring-tests: $(RING_TESTS)

$(RING_PARTS:%=$(RING_O)/ring/%.o): $(RING_O)/ring/%.o: $(RING_DIR)/%.c $(RING_DEPS)
	@mkdir -p $(@D)
	$(RING_CC) $(RING_BASE) $(RING_SAN) -c -o $@ $<

$(RING_PARTS:%=$(RING_O)/fast/%.o): $(RING_O)/fast/%.o: $(RING_DIR)/%.c $(RING_DEPS)
	@mkdir -p $(@D)
	$(RING_CC) $(RING_BASE) -c -o $@ $<

$(RING_O)/ring/%.o: selftests/unit/%.c $(RING_DEPS)
	@mkdir -p $(@D)
	$(RING_CC) $(RING_BASE) $(RING_SAN) -c -o $@ $<

$(RING_O)/fast/%.o: selftests/unit/%.c $(RING_DEPS)
	@mkdir -p $(@D)
	$(RING_CC) $(RING_BASE) -c -o $@ $<

$(RING_BEHAVIOUR:%=$(RING_O)/%): $(RING_O)/%: $(RING_O)/ring/%.o $(RING_O)/ring/ring_model.o \
		$(RING_PARTS:%=$(RING_O)/ring/%.o)
	$(RING_CC) $(RING_SAN) -o $@ $^

$(RING_O)/test_ring_explore: $(patsubst %,$(RING_O)/fast/%.o,test_ring_explore ring_model $(RING_PARTS))
	$(RING_CC) -o $@ $^

$(RING_O)/test_ring_explore_san: $(patsubst %,$(RING_O)/ring/%.o,test_ring_explore ring_model \
		$(RING_PARTS))
	$(RING_CC) $(RING_SAN) -o $@ $^

# the results of each in one piece, side by side
check-ring: ring-tests
	@$(MAKE) -s -f selftests/unit/ring.mk -j2 -k -Otarget ring-runs

ring-runs: $(RING_RUNS)

$(RING_BEHAVIOUR:%=run-%): run-%: $(RING_O)/%
	$<
run-test_ring_explore: $(RING_O)/test_ring_explore
	$<
run-test_ring_explore_san: $(RING_O)/test_ring_explore_san
	$< -b 2
