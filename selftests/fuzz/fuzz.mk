# SPDX-License-Identifier: GPL-2.0-only
#
# Fuzzing of the trace readers: see fuzz_trace.c. userspace/Makefile includes this file.
#
#   make check-fuzz FUZZ_SECONDS=600    run libFuzzer (clang) for 600 s; findings go to
#                                       build/user/fuzz/found
#   make fuzz-seeds                     make the first seeds again

FUZZ         := $(ROOT)/selftests/fuzz
FUZZ_SECONDS ?= 60
FUZZ_CC      ?= clang
FUZZ_FLAGS   := -O1 -g -fno-omit-frame-pointer -fno-sanitize-recover=all
FUZZ_TOOL    := $(filter-out %/main.o,$(TOOL_OBJ))

# compile everything again: the fuzzer must see which branches an input takes
FUZZ_OBJ := $(patsubst $(OUT)/obj/%,$(OUT)/fuzz/obj/%,$(LIB_OBJ) $(FUZZ_TOOL))

# generated sources
$(OUT)/fuzz/obj/%.o: $(OUT)/%.c
	@mkdir -p $(@D)
	$(call SAY,CC  ,$@)
	$(Q)$(FUZZ_CC) $(FLAGS) $(FUZZ_FLAGS) -fsanitize=address,undefined,fuzzer-no-link -c -o $@ $<

$(OUT)/fuzz/obj/%.o: $(ROOT)/userspace/%.c
	@mkdir -p $(@D)
	$(call SAY,CC  ,$@)
	$(Q)$(FUZZ_CC) $(FLAGS) $(FUZZ_FLAGS) -fsanitize=address,undefined,fuzzer-no-link -c -o $@ $<

$(OUT)/fuzz/obj/lib/read/names.o: $(OUT)/syscalls.inc
$(PERFETTO_OBJ:$(OUT)/obj/%=$(OUT)/fuzz/obj/%): $(PERFETTO_GEN).h

$(OUT)/fuzz/fuzz_trace: $(FUZZ)/fuzz_trace.c $(FUZZ_OBJ)
	$(call SAY,LD  ,$@)
	$(Q)$(FUZZ_CC) $(FLAGS) $(FUZZ_FLAGS) \
		-fsanitize=address,undefined,fuzzer -o $@ $< $(FUZZ_OBJ) $(TOOL_LIBS)

# the same without libFuzzer, which reads each file of a folder once
$(OUT)/asan/fuzz_trace.o: $(FUZZ)/fuzz_trace.c
	@mkdir -p $(@D)
	$(call SAY,CC  ,$@)
	$(Q)$(CC) $(FLAGS) -O1 -DFUZZ_MAIN $(SANITIZE) -c -o $@ $<

$(OUT)/fuzz_corpus: $(OUT)/asan/fuzz_trace.o $(FUZZ_TOOL:$(OUT)/obj/%=$(OUT)/asan/%) $(ASAN_OBJ)
	$(call SAY,LD  ,$@)
	$(Q)$(CC) $(SANITIZE) $(LDFLAGS) -o $@ $^ $(TOOL_LIBS)

$(OUT)/make_seeds: $(FUZZ)/make_seeds.c
	$(call SAY,CC  ,$@)
	$(Q)$(CC) $(FLAGS) $(UNIT_INC) -o $@ $<

.PHONY: check-fuzz fuzz-seeds

# The fuzzer keeps interesting inputs in build/user/fuzz/corpus, and starts with them the next time.
check-fuzz: $(OUT)/fuzz/fuzz_trace
	@mkdir -p $(OUT)/fuzz/corpus $(OUT)/fuzz/found
	@echo "TAP version 14"; echo "1..1"
	@$(OUT)/fuzz/fuzz_trace -max_total_time=$(FUZZ_SECONDS) -max_len=65536 -timeout=20 \
		-rss_limit_mb=2048 -print_final_stats=1 \
		-artifact_prefix=$(OUT)/fuzz/found/ $(OUT)/fuzz/corpus $(FUZZ)/corpus \
		>$(OUT)/fuzz/log 2>&1 && \
		{ grep '^stat::number_of_executed' $(OUT)/fuzz/log | sed 's/^/# /'; \
		  echo "ok 1 fuzz_trace for $(FUZZ_SECONDS) s"; } || \
		{ tail -n 60 $(OUT)/fuzz/log | sed 's/^/# /'; \
		  echo "not ok 1 fuzz_trace for $(FUZZ_SECONDS) s: see $(OUT)/fuzz/found"; exit 1; }

fuzz-seeds: $(OUT)/make_seeds
	$(OUT)/make_seeds $(FUZZ)/corpus

tests: $(OUT)/fuzz_corpus

-include $(FUZZ_OBJ:.o=.d) $(OUT)/asan/fuzz_trace.d $(OUT)/make_seeds.d $(OUT)/fuzz/fuzz_trace.d
