# SPDX-License-Identifier: GPL-2.0-only
#
# The tests of module/ring/*.c in user space: the files of the module, with a hook before every
# access to shared memory.  A Makefile in the top directory includes this, or:
#
#	make -f selftests/unit/ring/ring.mk check-ring
#
# RING_O has ring/, objects with the address and undefined behaviour sanitizers, and fast/, objects
# without, because the explorer runs millions of executions.  stress_ring_signals is native code, as
# in the kernel.  RING_SECONDS: its duration, 5 by default.  RING_OLD: how many more loads may see
# older values in test_ring_weak, none by default.

RING_O		?= build/unit
RING_CC		?= $(CC)
# reproducible programs wherever the tree is: known.py compares their contents
RING_BARE	:= -std=gnu11 -O2 -g -Wall -Wextra -Wshadow -fno-strict-aliasing \
		   -ffile-prefix-map=$(CURDIR)=. -DTB_RING_PATHS -Iuapi $(RING_EXTRA)
RING_BASE	:= $(RING_BARE) -DTB_RING_HOOKS -Iselftests/unit/ring
RING_SAN	:= -fsanitize=address,undefined -fno-sanitize-recover=undefined
RING_DIR	?= module/ring
RING_PARTS	:= writer claim reader
RING_MODEL	:= ring_model ring_model_read
RING_DEPS	:= $(wildcard module/ring/*.h selftests/unit/ring/ring_*.h) uapi/linux/tracebuf.h \
		   selftests/unit/ring/ring.mk
RING_BEHAVIOUR	:= test_ring test_ring_loss test_ring_limits
RING_TESTS	:= $(addprefix $(RING_O)/,$(RING_BEHAVIOUR) test_ring_damage test_ring_explore \
		   test_ring_explore_san test_ring_weak test_ring_threads stress_ring_signals)
# the longest first
RING_RUNS	:= $(addprefix run-,test_ring_explore test_ring_explore_san test_ring_weak \
		   $(RING_BEHAVIOUR) test_ring_damage test_ring_threads)
# known.py does not run a deterministic test again that has passed
RING_KNOWN	:= scripts/lib/known.py

.PHONY: ring-tests check-ring check-ring-tests check-ring-mutants ring-runs $(RING_RUNS)
.SECONDARY:
ring-tests: $(RING_TESTS)

$(RING_PARTS:%=$(RING_O)/ring/%.o): $(RING_O)/ring/%.o: $(RING_DIR)/%.c $(RING_DEPS)
	@mkdir -p $(@D)
	$(RING_CC) $(RING_BASE) $(RING_SAN) -c -o $@ $<

$(RING_PARTS:%=$(RING_O)/fast/%.o): $(RING_O)/fast/%.o: $(RING_DIR)/%.c $(RING_DEPS)
	@mkdir -p $(@D)
	$(RING_CC) $(RING_BASE) -c -o $@ $<

$(RING_O)/ring/%.o: selftests/unit/ring/%.c $(RING_DEPS)
	@mkdir -p $(@D)
	$(RING_CC) $(RING_BASE) $(RING_SAN) -c -o $@ $<

$(RING_O)/fast/%.o: selftests/unit/ring/%.c $(RING_DEPS)
	@mkdir -p $(@D)
	$(RING_CC) $(RING_BASE) -c -o $@ $<

$(RING_BEHAVIOUR:%=$(RING_O)/%): $(RING_O)/%: $(RING_O)/ring/%.o \
		$(patsubst %,$(RING_O)/ring/%.o,$(RING_MODEL) $(RING_PARTS))
	$(RING_CC) $(RING_SAN) -o $@ $^

$(RING_O)/test_ring_damage: $(patsubst %,$(RING_O)/ring/%.o,test_ring_damage $(RING_PARTS))
	$(RING_CC) $(RING_SAN) -o $@ $^

$(RING_O)/test_ring_explore: $(patsubst %,$(RING_O)/fast/%.o,test_ring_explore $(RING_MODEL) $(RING_PARTS))
	$(RING_CC) -o $@ $^

$(RING_O)/test_ring_explore_san: $(patsubst %,$(RING_O)/ring/%.o,test_ring_explore $(RING_MODEL) \
		$(RING_PARTS))
	$(RING_CC) $(RING_SAN) -o $@ $^

# -fsanitize=thread makes the compiler call functions at each access, which ring_weak.c defines
RING_WEAK	:= $(RING_BASE) -DTB_RING_WEAK -Iselftests/unit/ring/weak -Imodule

$(RING_PARTS:%=$(RING_O)/weak/%.o): $(RING_O)/weak/%.o: $(RING_DIR)/%.c $(RING_DEPS)
	@mkdir -p $(@D)
	$(RING_CC) $(RING_WEAK) -fsanitize=thread -c -o $@ $<

$(RING_O)/weak/block_walk.o: module/crash/block_walk.c module/crash/block_walk.h $(RING_DEPS)
	@mkdir -p $(@D)
	$(RING_CC) $(RING_WEAK) -c -o $@ $<

$(RING_O)/weak/%.o: selftests/unit/ring/%.c $(RING_DEPS)
	@mkdir -p $(@D)
	$(RING_CC) $(RING_WEAK) -c -o $@ $<

$(RING_O)/test_ring_weak: $(patsubst %,$(RING_O)/weak/%.o,test_ring_explore ring_weak block_walk \
		$(RING_MODEL) $(RING_PARTS))
	$(RING_CC) -o $@ $^

RING_NATIVE	:= $(patsubst %,$(RING_DIR)/%.c,$(RING_PARTS)) $(RING_DEPS)

$(RING_O)/stress_ring_signals: selftests/unit/ring/stress_ring_signals.c $(RING_NATIVE) \
		selftests/bench/user/ring_user.h
	@mkdir -p $(@D)
	$(RING_CC) $(RING_BARE) -Iselftests/bench/user -pthread -o $@ $(filter %.c,$^)

$(RING_O)/test_ring_threads: selftests/unit/ring/test_ring_threads.c $(RING_NATIVE)
	@mkdir -p $(@D)
	$(RING_CC) $(RING_BARE) -fsanitize=thread -Iselftests/unit/ring -pthread -o $@ $(filter %.c,$^)

check-ring: check-ring-tests check-ring-mutants

# tests side by side, then the signals alone, which need the processors for themselves
check-ring-tests: ring-tests
	@s=0; $(MAKE) -s -f selftests/unit/ring/ring.mk -j2 -k -Otarget ring-runs || s=1; \
		$(RING_O)/stress_ring_signals $(or $(RING_SECONDS),5) || s=1; exit $$s

check-ring-mutants:
	python3 selftests/unit/ring/test_ring_mutants.py -j 2 $(RING_O)/mutants

ring-runs: $(RING_RUNS)

$(RING_BEHAVIOUR:%=run-%): run-%: $(RING_O)/%
	$(RING_KNOWN) $<
run-test_ring_explore: $(RING_O)/test_ring_explore
	$(RING_KNOWN) $<
run-test_ring_damage: $(RING_O)/test_ring_damage
	$(RING_KNOWN) $<
run-test_ring_threads: $(RING_O)/test_ring_threads
	$<
run-test_ring_weak: $(RING_O)/test_ring_weak
	$(RING_KNOWN) $< -w $(or $(RING_OLD),0)
run-test_ring_explore_san: $(RING_O)/test_ring_explore_san
	$(RING_KNOWN) $< -b 2
