# SPDX-License-Identifier: GPL-2.0-only
#
# The tests of module/probe/filter.c in user space, under the address and undefined behaviour
# sanitizers:
#
#	make -f selftests/unit/filter/filter.mk check-filter
#
# and whether these tests and those of user-space writers catch mutants:
#
#	make -f selftests/unit/filter/filter.mk check-mutants
#
# FILTER_RUNS: number of random programs, half a million by default; FILTER_SEED: another seed.

FILTER_O	?= build/unit
FILTER_FLAGS	:= -std=gnu11 -O2 -g -Wall -Wextra -Wshadow -fno-strict-aliasing -Iuapi -Imodule \
		   -Iselftests/unit/ring -Iselftests/unit/filter -Iselftests/unit/filter/include \
		   -fsanitize=address,undefined -fno-sanitize-recover=undefined
FILTER_DEPS	:= $(wildcard module/probe/filter*.[ch]) uapi/linux/tracebuf.h \
		   selftests/unit/filter/filter.mk \
		   $(wildcard selftests/unit/filter/filter_*.h) selftests/unit/ring/ring_ktap.h
FILTER_TESTS	:= $(FILTER_O)/test_filter $(FILTER_O)/test_filter_fuzz

.PHONY: filter-tests check-filter check-mutants
filter-tests: $(FILTER_TESTS)

$(FILTER_TESTS): $(FILTER_O)/%: selftests/unit/filter/%.c $(FILTER_DEPS)
	@mkdir -p $(@D)
	$(CC) $(FILTER_FLAGS) -o $@ $< module/probe/filter.c

check-filter: filter-tests
	@s=0; $(FILTER_O)/test_filter || s=1; \
		$(FILTER_O)/test_filter_fuzz $(or $(FILTER_RUNS),500000) $(FILTER_SEED) || s=1; exit $$s

check-mutants:
	python3 selftests/unit/test_mutants.py -j 2 $(FILTER_O)/mutants-user
