# Headproof: `make run` does the main job, `make check` tests it, `make help` lists the rest.
#
#   MODE=release|debug|coverage   what to build                      (release)
#        doors                    as debug, but for reference/ and kernels/, which are release's
#   MPI=1 MPICC=mpicc             sweeps over the ranks of an MPI job (off)
#   CC CFLAGS CPPFLAGS LDFLAGS    as everywhere; what a build must have is added to them
#   TESTS="norms growth"          the subjects of tests to run       (all)
#   FUZZ_SECONDS                  how long make fuzz takes a subject (600)
#   V=1                           show every command
#   PREFIX DESTDIR PYTHONDIR      where `make install` puts things   (/usr/local)
#
# Everything made goes under build/; make's own exit code for any failure is 2.

VERSION := 0.2.0
MODE    ?= release
MPI     ?= no
MPICC   ?= mpicc
CLANG   ?= clang
PREFIX  ?= /usr/local
TESTS   ?= $(SUBJECTS)

$(if $(filter $(MODE),release debug doors coverage fuzz tsan),,\
    $(error MODE=$(MODE): expected release, debug, doors, coverage, fuzz or tsan))
$(if $(filter $(MPI),0 no 1 yes),,$(error MPI=$(MPI): expected yes (1) or no (0)))

# One job a core, unless -j says otherwise.
ifeq ($(MAKELEVEL)$(filter clean,$(MAKECMDGOALS)),0)
MAKEFLAGS += -j$(shell nproc 2>/dev/null || echo 1)
endif

SUBMAKE := $(MAKE) --no-print-directory
# What scripts that call make again are given.
WITH_MAKE = MAKE='$(SUBMAKE)' MPICC=$(MPICC)
WITHMPI := $(if $(filter 1 yes,$(MPI)),-mpi)
BUILD   := build/$(MODE)$(WITHMPI)
# Objects are of both builds of a mode; MPI enters one, team-mpi.o.
SHARED  := $(BUILD:%-mpi=%)
PROBED  := build/deps

.DEFAULT_GOAL := build
.DELETE_ON_ERROR:
# Those that `make help` lists, and what they call.
.PHONY: $(shell sed -n 's/^\([a-z0-9-]*\):.*\#\#.*/\1/p' Makefile) core install \
        test-programs lint-objects uninstall FORCE

# ---- Flags ---------------------------------------------------------------------------------

# -g1: a trace has its lines.
OPTIMISE_release  := -O2 -g1
OPTIMISE_coverage := -O1 -g
OPTIMISE          := $(or $(OPTIMISE_$(MODE)),-O1 -g1 -fno-omit-frame-pointer)
OPTIMISE_TESTS    := $(if $(filter release debug doors,$(MODE)),-O0)
SANITIZE   := -fsanitize=address,undefined -fno-sanitize-recover=all -DHEADPROOF_CHECK
# fuzz and tsan are clang's: `make fuzz` and `make tsan` call for them.
MODE_FLAGS := $(strip $(if $(filter debug doors,$(MODE)),$(SANITIZE)) \
                  $(if $(filter fuzz,$(MODE)),-fsanitize=fuzzer-no-link $(SANITIZE)) \
                  $(if $(filter tsan,$(MODE)),-fsanitize=thread -DHEADPROOF_TSAN) \
                  $(if $(filter coverage,$(MODE)),--coverage -fprofile-update=atomic))
# One sanitizers' runtime in the program: with two shared ones, reports miss their log files.
MODE_LDFLAGS := $(if $(filter debug doors,$(MODE)),\
                    -no-pie $(if $(findstring clang,$(CC)),,-static-libasan -static-libubsan))

CC     := $(if $(filter default,$(origin CC)),gcc,$(CC))
CFLAGS ?= $(OPTIMISE)
# A loop that clang leaves scalar, in spite of `omp simd`, is slow and not wrong.
WARNINGS := -Wall -Wextra -Wpedantic -Wconversion \
            $(if $(findstring clang,$(CC)),-Wno-pass-failed)
# No contraction, so that a result is a function of the source and not of the instruction set.
REQUIRED := -std=c11 -D_POSIX_C_SOURCE=200809L -ffp-contract=off -fopenmp

$(if $(findstring fast,$(CFLAGS) $(CPPFLAGS) $(CC)),\
    $(error CFLAGS: fast maths is not allowed, every result here depends on exact IEEE arithmetic))

# Test programs are many: a quick linker, where there is one, takes a third of the time.
QUICK_LINK := $(shell $(CC) -fuse-ld=gold -Wl,--version >/dev/null 2>&1 && echo -fuse-ld=gold)

FLAGS   := $(strip $(CFLAGS) $(REQUIRED) $(WARNINGS) $(WERROR) $(MODE_FLAGS) $(CPPFLAGS))
DEFINED := -DHEADPROOF_VERSION='"$(VERSION)"'
EXTRA   :=
LIBS    := -lmpfr -lgmp -lopenblas -ljansson -lm $(if $(WITHMPI),@$(PROBED)/mpi.libs)
# Of an archive that `make dist` wrote it is in a file.
COMMIT  := $(shell { test -e .git && \
    git -c safe.directory='$(CURDIR)' describe --always --dirty || cat .commit; } 2>/dev/null || \
    echo unknown)

, := ,
# One short line a step; V=1 shows the commands.  Where it goes is made first.
SHOW = $(if $(V),mkdir -p $(@D);,@mkdir -p $(@D); echo '  $(1)	$@';)

# ---- Programs ------------------------------------------------------------------------------

ROOMS   := memory cases kernels $(patsubst %/,%,$(wildcard reference/ reference/*/ reference/*/*/ \
               harness/*/ harness/*/*/))
SOURCES := $(wildcard $(ROOMS:%=%/*.c))
# Tests of a room are one program, build/MODE/test-ROOM; a file's are a subject of it.
TESTED   := $(sort $(patsubst tests/%/,%,$(dir $(wildcard tests/*/test_*.c))))
SUBJECTS := $(patsubst test_%,%,$(basename $(notdir $(wildcard $(TESTED:%=tests/%/test_*.[cp]*)))))
ASKED    := $(TESTS:test_%=%)
PROGRAMS := $(foreach room,$(TESTED),$(if $(wildcard $(ASKED:%=tests/$(room)/test_%.c)),\
                $(BUILD)/test-$(room)))
HELPING  := $(filter-out tests/subjects.c tests/count_at_end.c,$(wildcard tests/*.c)) \
            $(filter-out %/fuzz_driver.c,$(wildcard tests/fuzzing/*.c))
TESTING  := $(wildcard tests/*.c $(TESTED:%=tests/%/*.c) tests/bench/*.c tests/fuzzing/*.c)
objects_of = $(patsubst %.c,$(SHARED)/%.o,$(1))
# What says Scalar is compiled for double and, as NAME_f32.o, for float (kernels/scalar.h).
SCALARS := $(shell grep -lw Scalar kernels/*.c)
FLOATS  := $(patsubst %.c,$(SHARED)/%_f32.o,$(SCALARS))
# What is in a folder called wide/ is compiled for every tier, as NAME_avx2.o (numbers/tier.h).
TIERED  := $(wildcard reference/*/wide/*.c)
TIERED_TESTS := $(wildcard tests/numbers/wide/*.c)
# Of these, what pays with vectors alone.
VECTORS := $(patsubst %,reference/product/wide/%.c,\
               multiply pack pack_beside round rows tile tile_row tile_store)
TIERS   := portable $(if $(filter x86_64-%,$(shell $(CC) -dumpmachine)),avx2 avx512)
tiers_of = $(foreach tier,$(TIERS),$(patsubst %.c,$(SHARED)/%_$(tier).o,\
               $(filter-out $(if $(filter portable,$(tier)),$(VECTORS)),$(1))))
TIER_FLAGS_avx2   := -mavx2 -mfma
TIER_FLAGS_avx512 := -mavx512f -mavx512cd -mavx512dq -mavx512ifma
# Of sanitizers, checks of pointers that are constants there double the time to compile, and so do
# checks of memory that are not calls; and clang takes minutes for a file where it optimises what it
# also watches for a fuzzer.
TIER_SANITIZED := $(if $(filter debug fuzz,$(MODE)),\
    -fno-sanitize=null$(,)alignment$(,)object-size$(,)pointer-overflow$(,)bounds \
    $(if $(findstring clang,$(CC)),-mllvm -asan-instrumentation-with-call-threshold=0,\
        --param asan-instrumentation-with-call-threshold=0) \
    $(if $(filter fuzz,$(MODE)),-O0))
OBJECTS := $(call objects_of,$(filter-out $(TIERED),$(SOURCES))) $(FLOATS) \
           $(call tiers_of,$(TIERED))
OBJECTS := $(OBJECTS:%/base/team.o=%/base/team$(WITHMPI).o)
# What MODE=doors has of the release build, which makes it.
CORE    := $(filter build/doors/kernels/% build/doors/reference/%,$(OBJECTS))
OBJECTS := $(filter-out $(CORE),$(OBJECTS)) $(CORE:build/doors%=build/release%)
PROJECT := $(filter-out %/harness/commands/main.o,$(OBJECTS))
HELPERS := $(call objects_of,$(HELPING))
BENCHES := bench bench_product
TEST_OBJECTS := $(call objects_of,$(TESTING)) $(call tiers_of,$(TIERED_TESTS))

build: $(BUILD)/headproof ## Build build/MODE/headproof (with deps); the default
	@echo '$<: run it as that, or install it: sudo make install'

$(CORE:build/doors%=build/release%): core ;
core:
	@+$(SUBMAKE) -s MODE=release $(CORE:build/doors%=build/release%)

$(BUILD)/headproof: $(OBJECTS)
ifeq ($(MODE),coverage)
$(BUILD)/headproof $(BUILD)/test-harness: $(SHARED)/tests/count_at_end.o
$(BUILD)/headproof $(BUILD)/test-harness: private LDFLAGS += -Wl,--wrap=_exit,--wrap=raise
endif
$(BUILD)/bench: private LDFLAGS += -Wl,--wrap=cblas_dgemm
$(BUILD)/bench: $(call objects_of,$(patsubst %,tests/bench/bench_%.c,share gemms arithmetics))
$(BUILD)/bench_product: $(call objects_of,$(patsubst %,tests/bench/bench_%.c,exp numbers shape))
$(BENCHES:%=$(BUILD)/%): $(BUILD)/%: $(patsubst %,$(SHARED)/tests/bench/%.o,% bench_run) $(PROJECT)

$(BUILD)/test-numbers: $(call tiers_of,$(TIERED_TESTS))
$(BUILD)/test-program: private LDFLAGS += -Wl,--wrap=ref_run_layer
$(BUILD)/test-harness: private LDFLAGS += -Wl,--wrap=shared_make,--wrap=rows_evaluate
define ROOM_RULE
$(BUILD)/test-$(1): $(call objects_of,tests/subjects.c $(wildcard tests/$(1)/*.c)) $(BUILD)/tested.a
	$$(call SHOW,LINK) $$(CC) $$(FLAGS) $$(MODE_LDFLAGS) $(QUICK_LINK) $$(LDFLAGS) -o $$@ \
	    $$(filter %.o,$$^) $(BUILD)/tested.a $$(LIBS) -lcmocka
endef
$(foreach room,$(TESTED),$(eval $(call ROOM_RULE,$(room))))

# Of which a test program takes what it needs.
$(BUILD)/tested.a: $(HELPERS) $(PROJECT)
	$(call SHOW,AR) rm -f $@; $(AR) rcsT $@ $^

# What tests preload into the program, so that its allocations and calls fail.
INJECTOR := $(wildcard tests/inject/*.c)
$(BUILD)/inject.so: $(INJECTOR) $(wildcard tests/inject/*.h) $(SHARED)/flags
	$(call SHOW,LINK) $(CC) -O2 -g -std=c11 $(WARNINGS) $(WERROR) -fPIC -shared -o $@ $(INJECTOR) -ldl

$(BUILD)/headproof $(BENCHES:%=$(BUILD)/%):
	$(call SHOW,LINK) $(CC) $(FLAGS) $(MODE_LDFLAGS) $(LDFLAGS) -o $@ $(filter %.o,$^) $(LIBS)

# Tests wait for the project: what is not optimised of them is compiled in half the time.
$(call objects_of,$(TESTING)): private EXTRA = $(OPTIMISE_TESTS)

# Sources are compiled to NAME.o, to NAME_f32.o, for a tier, and with MPI.
define COMPILED # what is behind NAME; sources; flags
$(2:%.c=$(SHARED)/%$(1).o): $(SHARED)/%$(1).o: %.c $(SHARED)/flags
	$$(call SHOW,CC) $$(CC) $$(FLAGS) $$(DEFINED) $(3) $$(EXTRA) -MMD -MP -c -o $$@ $$<
endef
$(eval $(call COMPILED,,$(SOURCES) $(TESTING)))
$(eval $(call COMPILED,_f32,$(SCALARS),-DHEADPROOF_FLOAT))
$(eval $(call COMPILED,-mpi,harness/base/team.c,@$(PROBED)/mpi.cppflags))
$(foreach tier,$(TIERS),$(eval $(call COMPILED,_$(tier),$(TIERED) $(TIERED_TESTS),\
    $(TIER_FLAGS_$(tier)) $(TIER_SANITIZED) -DHEADPROOF_TIER=$(tier))))
$(SHARED)/harness/base/team-mpi.o: $(PROBED)/mpi.libs

# What only `headproof info` and the sidecars say, so that a commit rebuilds one object.
$(SHARED)/harness/base/info.o: $(SHARED)/commit
$(SHARED)/harness/base/info.o: private EXTRA = -DHEADPROOF_COMMIT='"$(COMMIT)"' \
                                         -DHEADPROOF_CFLAGS='"$(subst ",,$(subst ',,$(FLAGS)))"'

# Files that change only when what they hold changes.
$(SHARED)/flags: private TEXT = $(CC) $(FLAGS) $(DEFINED) $(LDFLAGS)
$(SHARED)/commit: private TEXT = $(COMMIT)
$(PROBED)/compiler: private TEXT = $(CC) $(CPPFLAGS) $(LDFLAGS)
$(PROBED)/mpi: private TEXT = $(MPICC)
$(SHARED)/flags $(SHARED)/commit $(PROBED)/compiler $(PROBED)/mpi: FORCE
	@mkdir -p $(@D)
	@printf '%s\n' '$(subst ','\'',$(TEXT))' | cmp -s - $@ || \
	    printf '%s\n' '$(subst ','\'',$(TEXT))' >$@
$(SHARED)/flags: | $(PROBED)/libraries

-include $(OBJECTS:.o=.d) $(TEST_OBJECTS:.o=.d)
.SECONDARY: $(TEST_OBJECTS)

# ---- What is run ---------------------------------------------------------------------------

run: $(BUILD)/headproof ## Do the main job: error against depth, into results/depth.csv
	OMP_PROC_BIND=true $(BUILD)/headproof depth cases/depth.case -o results/depth.csv
	@sh tools/figures $(BUILD)/headproof depth
	@echo 'table: results/depth.csv'

figures: $(BUILD)/headproof ## Fit the laws anew (minutes), and draw the pictures of results/
	@sh tools/figures $(BUILD)/headproof

check: ## The quick tests, in this machine's way and in those that smaller ones have
check-rest: ## The others: with sanitizers, over MPI, without memory; long ones
check-night: ## What neither runs: everything with sanitizers; long forms
check check-rest check-night:
	@$(DEPS) programs python3
	@+$(WITH_MAKE) python3 tests/run $(@:check-%=%) $(ASKED)

check-arm64: ## Tests and the baseline for aarch64, emulated (minutes)
	@$(DEPS) arm64 build/arm64/sysroot
	@+$(WITH_MAKE) sh tests/arm64 build/arm64

test: test-programs ## Run the tests in one build (MODE)
	@$(DEPS) programs python3
	@python3 tests/run in $(BUILD) $(ASKED)

seeds: $(BUILD)/headproof $(if $(TEST_LOG),,$(PROGRAMS)) ## What tests/seeds.md claims
	@python3 tests/seeds $(BUILD)

test-programs: $(BUILD)/headproof $(BUILD)/inject.so $(PROGRAMS)

mutants: ## Plant every fault of tests/faults/, one at a time; each must be caught
	@+$(SUBMAKE) test-programs BUILD=build/mutants MODE=release
	@MAKE='$(MAKE) MODE=release' python3 tests/mutants build/mutants $(ASKED:%=test_%)

bench: $(BUILD)/headproof $(BENCHES:%=$(BUILD)/%) ## Time everything, into results/ (10 minutes)
	HEADPROOF=$(BUILD)/headproof OMP_PROC_BIND=true $(BUILD)/bench -o results/bench.csv
	$(BUILD)/bench_product -o results/products.csv
	python3 tests/bench_growth.py $(BUILD)/headproof results/growth.csv

# Sizes of tests/model_sizes.py; behind colons, inputs if not 1, and layers if not all.
LARGE ?= layer
bench-large: $(BUILD)/headproof ## Time models of published sizes: LARGE="stack llama-3.2-1b:1:2"
	OMP_PROC_BIND=true python3 tests/bench_large.py $(BUILD)/headproof $(LARGE)

coverage: ## Line coverage of the tests, per file and directory; 95 % of each are expected
	@+$(WITH_MAKE) sh tests/coverage $(ASKED)

LINTED ?= build/lint
lint: ## Layering, forbidden flags and calls, format; clang-tidy on what changed
	@$(DEPS) programs clang clang-format clang-tidy
	@+$(SUBMAKE) -s lint-objects BUILD=$(LINTED) WERROR=-Werror MODE=release

# Of tests, what no test program has; the others are compiled for those.
lint-objects: $(OBJECTS) $(call objects_of,$(wildcard tests/bench/*.c) tests/count_at_end.c \
                  tests/fuzzing/fuzz_driver.c)
	@sh tests/lint $(BUILD) $(REQUIRED) $(WARNINGS) $(CPPFLAGS) \
	    $(foreach name,VERSION COMMIT CFLAGS,-DHEADPROOF_$(name)='""')

format: ## Rewrite the sources as .clang-format has them
	clang-format -i $(wildcard $(foreach d,$(ROOMS) tests tests/* tests/numbers/wide,$(d)/*.[ch]))

FUZZ_SUBJECTS ?= $(notdir $(wildcard tests/corpus/*))
# The program and its readers of input under libFuzzer.
$(BUILD)/fuzz: $(SHARED)/tests/fuzzing/fuzz_driver.o $(BUILD)/tested.a
	$(call SHOW,LINK) $(CC) $(FLAGS) -fsanitize=fuzzer $(LDFLAGS) -o $@ $^ $(LIBS) -lcmocka

fuzz: ## Fuzz every reader of input, FUZZ_SECONDS each, one a core
	@$(DEPS) fuzz
	@+$(SUBMAKE) build/fuzz/fuzz MODE=fuzz CC='$(CLANG)'
	@sh tests/fuzz build/fuzz/fuzz $(or $(FUZZ_SECONDS),600) $(FUZZ_SUBJECTS)

tsan: ## Run sweep, verify, min-omega and others with 4 threads under ThreadSanitizer
	@$(DEPS) fuzz
	@+$(SUBMAKE) build MODE=tsan CC='$(CLANG)'
	@sh tests/tsan '$(CLANG)' build/tsan/headproof

slow-points: $(BUILD)/headproof ## Look for points that take far longer than others of their size
	@python3 tests/slow_points.py $(BUILD)/headproof

nightly: ## All that takes long: the tests' long forms, fuzzing, threads, mutants (hours)
	@+$(WITH_MAKE) sh tests/nightly check check-rest check-night check-arm64 seeds lint \
	    slow-points fuzz tsan mutants

INSTALL = PREFIX='$(PREFIX)' DESTDIR='$(DESTDIR)' PYTHONDIR='$(PYTHONDIR)' sh tools/install
install uninstall: $(BUILD)/headproof ## Program, manual, completion, Python module, pages, cases
	@$(INSTALL) $@ $(BUILD)/headproof

dist: ## Write build/headproof-VERSION.tar.gz, the sources of the last commit
deb: ## Write build/headproof_VERSION-1_ARCH.deb, of the last commit or an unpacked archive
dist deb:
	@sh tools/package $@ $(VERSION)

manual: $(BUILD)/headproof ## Write docs/columns.md and keys.md anew from the program's tables
	$(BUILD)/headproof help --json >$(BUILD)/help.json
	python3 tools/manual columns <$(BUILD)/help.json >docs/columns.md
	python3 tools/manual keys <$(BUILD)/help.json >docs/keys.md

clean: ## Remove build/
	rm -rf build

help: ## This list
	@sh tools/help Makefile

# ---- What must be there: tools/deps finds and installs it -----------------------------------

DEPS = CC='$(CC)' CPPFLAGS='$(CPPFLAGS)' LDFLAGS='$(LDFLAGS)' MPICC=$(MPICC) \
       PROBED=$(PROBED) CLANG='$(CLANG)' sh tools/deps

deps: ## Find what is missing and install Debian's packages for it (root, or sudo)
	@rm -f $(PROBED)/libraries
	@+$(SUBMAKE) -s $(PROBED)/libraries
	@echo 'deps: all there'

$(PROBED)/libraries: Makefile tools/deps $(PROBED)/compiler
	@$(DEPS) libraries
	@touch $@

$(PROBED)/mpi.libs: $(PROBED)/libraries $(PROBED)/mpi
	@$(DEPS) mpi
