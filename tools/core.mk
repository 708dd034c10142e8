# Builds the core, its tool and its tests into $(OUT).  Called by ./dev, which
# sets CC, FLAGS and OUT for each flavour (gcc, clang, sanitizers, fuzzing).

OUT ?=     build
CC ?=      cc
FLAGS ?=   -O2 -g

# the core

ROOMS :=   $(wildcard src/core/*/)

WARNINGS = -Wall -Wextra -Werror -Wshadow -Wpointer-arith -Wcast-qual \
           -Wstrict-prototypes -Wmissing-prototypes -Wwrite-strings \
           -Wswitch-enum

CFLAGS =   -std=gnu11 $(WARNINGS) $(FLAGS) -MMD -MP \
           $(ROOMS:%/=-I%) -Itools \
           -I$(OUT)/proto -It/unit -It/lib -It/fuzz -Ibench/generate
LIBS =     -lprotobuf-c -lz -lelf -lm -ldl

SOURCES := $(wildcard $(ROOMS:%=%*.c))
OBJECTS := $(SOURCES:src/%.c=$(OUT)/%.o) $(OUT)/proto/profile.pb-c.o

TOOL :=    $(patsubst %.c,$(OUT)/%.o,$(wildcard tools/*.c))
UNITS :=   $(patsubst t/unit/%.c,$(OUT)/t/%,$(wildcard t/unit/*_test.c))
SAMPLED := $(filter $(OUT)/t/jpp_sampler_%,$(UNITS))
FUZZERS := $(patsubst t/fuzz/%.c,$(OUT)/fuzz/%,$(wildcard t/fuzz/*_fuzz.c))
CHECKER := $(OUT)/t/lib/jpp_contract.o $(OUT)/t/lib/jpp_contract_wire.o

# a program of bench/ is what lies in a folder; another may take its files, but
# not its main()

BENCH =    $(patsubst %.c,$(OUT)/%.o,$(wildcard bench/$(1)/*.c))
LOAD :=    $(call BENCH,load)
GENERATE := $(call BENCH,generate)
REPORT :=  $(call BENCH,report) $(filter-out %_main.o,$(GENERATE))
UNWIND :=  $(call BENCH,unwind)
SAMPLER := $(call BENCH,sampler)
CPU :=     $(call BENCH,cpu)
BENCHES := $(addprefix $(OUT)/bench/,jpp_load jpp_generate jpp_bench \
             jpp_unwind_bench jpp_sampler_bench jpp_cpu_bench)
PRELOADED := $(addprefix $(OUT)/bench/,jpp_equal.so jpp_burn.so)


.PHONY: all tool units beside_units fuzzers benches
.SECONDARY:

all: tool

tool: $(OUT)/jemalloc-pprof

units: $(UNITS)

# what a unit may load or run

$(UNITS): | beside_units

beside_units: $(OUT)/libjpp.a $(addprefix $(OUT)/t/,jpp_contract liveset \
  liveset-static $(addsuffix .so,jpp_fake jpp_walk jpp_clock jpp_profiler \
  jpp_runtimes jpp_throw jpp_operators jpp_plugin))

fuzzers: $(FUZZERS)

benches: $(BENCHES) $(PRELOADED)


$(OUT)/jemalloc-pprof: $(TOOL) $(OUT)/libjpp.a
	$(CC) $(FLAGS) -o $@ $^ $(LIBS)

$(OUT)/libjpp.a: $(OBJECTS)
	rm -f $@
	$(AR) rcs $@ $^

$(OUT)/%.o: src/%.c $(OUT)/proto/profile.pb-c.h | $(OUT)/proto/jpp_page.h
	@mkdir -p $(@D)
	$(CC) $(CFLAGS) -c -o $@ $<

$(OUT)/tools/%.o: tools/%.c | $(OUT)/proto/profile.pb-c.h
	@mkdir -p $(@D)
	$(CC) $(CFLAGS) -c -o $@ $<

$(OUT)/proto/profile.pb-c.c $(OUT)/proto/profile.pb-c.h &: proto/profile.proto
	@mkdir -p $(@D)
	protoc-c --proto_path=proto --c_out=$(@D) $<

$(OUT)/proto/jpp_page.h: tools/page.sh $(wildcard src/web/*)
	@mkdir -p $(@D)
	sh tools/page.sh src/web >$@.new
	mv $@.new $@

$(OUT)/proto/%.o: $(OUT)/proto/%.c
	$(CC) $(CFLAGS) -c -o $@ $<

$(OUT)/t/lib/%.o: t/lib/%.c
	@mkdir -p $(@D)
	$(CC) $(CFLAGS) -c -o $@ $<

$(OUT)/t/jpp_contract: $(OUT)/t/lib/jpp_contract_main.o $(CHECKER)
	$(CC) $(FLAGS) -o $@ $^ -lz

$(OUT)/t/%.o: t/unit/%.c
	@mkdir -p $(@D)
	$(CC) $(CFLAGS) -c -o $@ $<

$(OUT)/t/%: $(OUT)/t/%.o $(CHECKER) $(OUT)/libjpp.a
	$(CC) $(FLAGS) -o $@ $(filter %.o,$^) $(filter %.a,$^) $(LIBS)

# without the sanitizers: it runs on jemalloc

$(OUT)/t/liveset: t/data/make/liveset.c
	@mkdir -p $(@D)
	$(CC) -O1 -g -rdynamic -o $@ $< -ldl

$(OUT)/t/liveset-static: t/data/make/liveset.c
	@mkdir -p $(@D)
	$(CC) -O1 -g -rdynamic -o $@ $< -l:libjemalloc.a -lm -lpthread -ldl \
	    -lstdc++

# without them too: it is preloaded into programs that may have none

$(OUT)/t/jpp_fake.so: $(wildcard t/lib/fake/*.c) t/lib/fake/jpp_fake.h
	@mkdir -p $(@D)
	$(CC) -std=gnu11 $(WARNINGS) -O1 -g -fPIC -shared -o $@ \
	    $(filter %.c,$^) -ldl -lpthread

$(OUT)/t/jpp_walk.so $(OUT)/t/jpp_clock.so $(OUT)/t/jpp_profiler.so \
$(OUT)/t/jpp_runtimes.so: \
  $(OUT)/t/%.so: t/lib/%.c
	@mkdir -p $(@D)
	$(CC) -std=gnu11 $(WARNINGS) -O1 -g -fPIC -shared -o $@ $< -ldl

# its slots are bound when they are called by, as in most plugins

$(OUT)/t/jpp_plugin.so: t/lib/jpp_plugin.c
	@mkdir -p $(@D)
	$(CC) -std=gnu11 $(WARNINGS) -O1 -g -fPIC -fplt -shared -Wl,-z,lazy \
	    -o $@ $<

# the sanitizers look for exceptions as a program starts

$(OUT)/t/jpp_unwind_threads_test: LIBS += -Wl,--no-as-needed -lstdc++

# it makes up what is loaded

$(OUT)/t/jpp_images_test: LIBS += -Wl,--wrap=dl_iterate_phdr

# beside a hook or a sampler: without the sanitizers, which have a malloc() each

$(OUT)/t/%.so: t/lib/%.cc
	@mkdir -p $(@D)
	g++ -O1 -g -fPIC -shared -o $@ $<

# the same tests with jemalloc linked in, and in a program at a fixed address,
# which takes the address of malloc() from itself: the unit runs both

$(SAMPLED): $(OUT)/t/%: | $(OUT)/t/%_static $(OUT)/t/%_fixed

$(SAMPLED:%=%_static): $(OUT)/t/%_static: t/unit/%.c $(OUT)/libjpp.a
	@mkdir -p $(@D)
	$(CC) $(CFLAGS) -rdynamic -o $@ $^ -l:libjemalloc.a $(LIBS) -lstdc++

$(SAMPLED:%=%_fixed): $(OUT)/t/%_fixed: t/unit/%.c $(OUT)/libjpp.a
	@mkdir -p $(@D)
	$(CC) $(CFLAGS) -fno-pie -no-pie -o $@ $^ $(LIBS)

$(OUT)/fuzz/%: t/fuzz/%.c $(OUT)/libjpp.a
	@mkdir -p $(@D)
	$(CC) $(CFLAGS) -fsanitize=fuzzer -o $@ $(filter-out %.a,$^) \
	    $(filter %.a,$^) $(LIBS)

$(OUT)/t/jpp_archive_test $(OUT)/fuzz/jpp_archive_fuzz: \
  $(OUT)/tools/jpp_archive.o

$(OUT)/fuzz/jpp_saved_fuzz: $(OUT)/tools/jpp_saved.o

$(OUT)/bench/%.o: bench/%.c
	@mkdir -p $(@D)
	$(CC) $(CFLAGS) -c -o $@ $<

$(OUT)/bench/jpp_load: $(LOAD)
$(OUT)/bench/jpp_generate: $(GENERATE) $(OUT)/libjpp.a
$(OUT)/bench/jpp_bench: $(REPORT) $(OUT)/libjpp.a
$(OUT)/bench/jpp_unwind_bench: $(UNWIND) $(OUT)/libjpp.a
$(OUT)/bench/jpp_sampler_bench: $(SAMPLER) $(OUT)/libjpp.a
$(OUT)/bench/jpp_cpu_bench: $(CPU) $(OUT)/libjpp.a

# a library: the unwinder, and the rooms that it needs

$(OUT)/bench/jpp_equal.so: $(wildcard bench/equal/*.c \
  $(addprefix src/core/,$(addsuffix /*.[ch],base elf unwind))) \
  src/core/process/jpp_images.c t/unit/jpp_test_unwind.h
	@mkdir -p $(@D)
	$(CC) $(CFLAGS) -fPIC -shared -Wl,-z,defs -o $@ $(filter %.c,$^) $(LIBS)

# burns what it is told, whatever the optimizer thinks of that

$(OUT)/bench/jpp_burn.so: bench/preload/jpp_burn.c
	@mkdir -p $(@D)
	$(CC) -std=gnu11 $(WARNINGS) -O1 -g -fPIC -shared -o $@ $<

$(BENCHES):
	$(CC) $(FLAGS) -o $@ $^ $(LIBS)


-include $(OBJECTS:.o=.d) $(TOOL:.o=.d) $(CHECKER:.o=.d) $(UNITS:=.d) \
  $(patsubst %.o,%.d,$(sort $(LOAD) $(REPORT) $(UNWIND) $(SAMPLER) $(CPU)))
