# Headproof: `make run` does the main job, `make check` tests it, `make help` lists the rest.
#
#   MODE=release|debug|coverage   what to build                      (release)
#   FLINT=auto|yes|no             FLINT/Arb: if found, required, off (auto)
#   MPI=1 MPICC=mpicc             sweeps over the ranks of an MPI job (off)
#   CC CFLAGS CPPFLAGS LDFLAGS    as everywhere; what a build must have is added to them
#   TESTS="test_a test_b"         the test programs to run           (all)
#   FUZZ_SECONDS                  how long make fuzz takes a subject (600)
#   V=1                           show every command
#   PREFIX DESTDIR                where `make install` puts things   (/usr/local)
#
# Everything made goes under build/; make's own exit code for any failure is 2.

VERSION := 0.1.0
MODE    ?= release
FLINT   ?= auto
MPI     ?= no
MPICC   ?= mpicc
PREFIX  ?= /usr/local
TESTS   ?= $(notdir $(basename $(wildcard tests/test_*.c)))

ifeq ($(filter $(MODE),release debug coverage fuzz tsan),)
$(error MODE=$(MODE): expected release, debug, coverage, fuzz or tsan)
endif
ifeq ($(filter $(FLINT),auto yes no),)
$(error FLINT=$(FLINT): expected auto, yes or no)
endif

ifeq ($(filter $(MPI),0 no 1 yes),)
$(error MPI=$(MPI): expected yes (1) or no (0))
endif

# One job a core, unless -j says otherwise.
ifeq ($(MAKELEVEL)$(filter clean,$(MAKECMDGOALS)),0)
MAKEFLAGS += -j$(shell nproc 2>/dev/null || echo 1)
endif

SUBMAKE := $(MAKE) --no-print-directory
NOFLINT := $(if $(filter no,$(FLINT)),-noflint)
WITHMPI := $(if $(filter 1 yes,$(MPI)),-mpi)
BUILD   := build/$(MODE)$(NOFLINT)$(WITHMPI)
PROBED  := build/deps

.DEFAULT_GOAL := build
.DELETE_ON_ERROR:
.PHONY: build run check test seeds mutants bench bench-gpt2 coverage lint format fuzz tsan nightly deps \
        deps-lint deps-fuzz install uninstall clean help objects FORCE

# ---- Flags ---------------------------------------------------------------------------------

OPTIMISE_release  := -O2 -g
OPTIMISE_debug    := -O1 -g -fno-omit-frame-pointer
OPTIMISE_coverage := -O0 -g
OPTIMISE_fuzz     := -O1 -g -fno-omit-frame-pointer
OPTIMISE_tsan     := -O1 -g -fno-omit-frame-pointer
MODE_FLAGS_debug    := -fsanitize=address,undefined -fno-sanitize-recover=all -DHEADPROOF_CHECK
# One sanitizers' runtime in the program: with two shared ones, reports miss their log files.
MODE_LDFLAGS_debug  := $(if $(findstring clang,$(CC)),,-static-libasan -static-libubsan)
MODE_FLAGS_coverage := --coverage -fprofile-update=atomic
# These two are clang's: `make fuzz` and `make tsan` call for them.  Its warnings are lint's affair.
OTHER_CLANG := -Wno-pass-failed -Wno-missing-field-initializers
MODE_FLAGS_fuzz     := -fsanitize=fuzzer-no-link,address,undefined -fno-sanitize-recover=all \
                       -DHEADPROOF_CHECK $(OTHER_CLANG)
MODE_FLAGS_tsan     := -fsanitize=thread $(OTHER_CLANG)

ifeq ($(origin CC),default)
CC := gcc
endif
CFLAGS ?= $(OPTIMISE_$(MODE))
WARNINGS := -Wall -Wextra -Wpedantic -Wconversion
# No contraction, so that a result is a function of the source and not of the instruction set.
REQUIRED := -std=c11 -D_POSIX_C_SOURCE=200809L -ffp-contract=off -fopenmp

ifneq ($(findstring fast,$(CFLAGS) $(CPPFLAGS) $(CC)),)
$(error CFLAGS: fast maths is not allowed, every result here depends on exact IEEE arithmetic)
endif

# Set by the probes below: FLINT_FOUND (no, 2 or 3), FLINT_CPPFLAGS, FLINT_LIBS; MPI_CPPFLAGS,
# MPI_LIBS.
NO_PROBE := help clean deps deps-lint deps-fuzz uninstall check mutants coverage lint format fuzz tsan \
            nightly
ifneq ($(filter-out $(NO_PROBE),$(or $(MAKECMDGOALS),build)),)
ifeq ($(findstring n,$(filter-out --%,$(firstword -$(MAKEFLAGS)))),)
include $(PROBED)/flint-$(FLINT).mk
include $(if $(WITHMPI),$(PROBED)/mpi-$(notdir $(MPICC)).mk)
endif
endif

FLAGS   := $(strip $(CFLAGS) $(REQUIRED) $(WARNINGS) $(WERROR) $(MODE_FLAGS_$(MODE)) \
               $(FLINT_CPPFLAGS) $(if $(WITHMPI),$(MPI_CPPFLAGS)) $(CPPFLAGS))
COMPILE := $(CC) $(FLAGS) -DHEADPROOF_VERSION='"$(VERSION)"'
EXTRA   :=
LIBS    := $(strip $(FLINT_LIBS) -lmpfr -lgmp -lopenblas -linih -ljansson -lm \
               $(if $(WITHMPI),$(MPI_LIBS)))
COMMIT  := $(shell test -e .git && \
               git -c safe.directory='$(CURDIR)' describe --always --dirty 2>/dev/null || \
               echo unknown)

# One short line a step; V=1 shows the commands.
SHOW = $(if $(V),,@echo '  $(1)	$@';)

# ---- Programs ------------------------------------------------------------------------------

SOURCES := $(wildcard cases/*.c kernels/*.c reference/*.c reference/product/*.c harness/*.c)
OBJECTS := $(SOURCES:%.c=$(BUILD)/%.o)
PROJECT := $(filter-out $(BUILD)/harness/main.o,$(OBJECTS))
HELPERS := $(patsubst %.c,$(BUILD)/%.o,\
               $(filter-out tests/test_%.c tests/fuzz_driver.c tests/bench%.c tests/kill_points.c,\
                   $(wildcard tests/*.c)))
PROGRAMS := $(TESTS:%=$(BUILD)/tests/%)
BENCHES  := bench bench_growth bench_product
TESTED   := $(patsubst %.c,$(BUILD)/%.o,$(wildcard tests/*.c))

build: $(BUILD)/headproof ## Build build/MODE/headproof (with deps); the default

objects: $(OBJECTS) $(TESTED)

$(BUILD)/headproof: $(OBJECTS)
$(BUILD)/bench: $(BUILD)/tests/bench_share.o $(BUILD)/tests/bench_gemms.o
$(BUILD)/bench: private LDFLAGS += -Wl,--wrap=cblas_dgemm
$(BUILD)/bench_product: $(patsubst %,$(BUILD)/tests/bench_%.o,exp numbers shape)
# Their own system calls go by it.
$(patsubst %,$(BUILD)/tests/test_%,checkpoint killed resume): $(BUILD)/tests/kill_points.o
$(BENCHES:%=$(BUILD)/%): $(BUILD)/%: $(BUILD)/tests/%.o $(BUILD)/tests/bench_run.o $(PROJECT)
$(BUILD)/tests/test_%: $(BUILD)/tests/test_%.o $(HELPERS) $(PROJECT)
	$(call SHOW,LINK) $(CC) $(FLAGS) $(MODE_LDFLAGS_$(MODE)) $(LDFLAGS) -o $@ $^ $(LIBS) -lcmocka

# What tests preload into the program, so that its allocations and calls fail.
INJECTOR := $(wildcard tests/inject/*.c)
$(BUILD)/tests/inject.so: $(INJECTOR) $(wildcard tests/inject/*.h) $(BUILD)/flags
	@mkdir -p $(@D)
	$(call SHOW,LINK) $(CC) -O2 -g -std=c11 $(WARNINGS) $(WERROR) -fPIC -shared -o $@ $(INJECTOR) -ldl
$(BUILD)/tests/test_injection: | $(BUILD)/tests/inject.so

$(BUILD)/headproof $(BENCHES:%=$(BUILD)/%):
	$(call SHOW,LINK) $(CC) $(FLAGS) $(MODE_LDFLAGS_$(MODE)) $(LDFLAGS) -o $@ $(filter %.o,$^) $(LIBS)

$(BUILD)/%.o: %.c $(BUILD)/flags
	@mkdir -p $(@D)
	$(call SHOW,CC) $(COMPILE) $(EXTRA) -MMD -MP -c -o $@ $<

# What only `headproof info` and the sidecars say, so that a commit rebuilds one object.
$(BUILD)/harness/info.o: $(BUILD)/commit
$(BUILD)/harness/info.o: private EXTRA = -DHEADPROOF_COMMIT='"$(COMMIT)"' \
                                         -DHEADPROOF_CFLAGS='"$(subst ",,$(subst ',,$(FLAGS)))"'

# Files that change only when what they hold changes.
$(BUILD)/flags: private TEXT = $(COMPILE) $(LDFLAGS) $(LIBS)
$(BUILD)/commit: private TEXT = $(COMMIT)
$(BUILD)/flags $(BUILD)/commit: FORCE
	@mkdir -p $(@D)
	@printf '%s\n' '$(subst ','\'',$(TEXT))' | cmp -s - $@ || \
	    printf '%s\n' '$(subst ','\'',$(TEXT))' >$@

-include $(OBJECTS:.o=.d) $(TESTED:.o=.d)

.SECONDARY: $(TESTED)

# ---- What is run ---------------------------------------------------------------------------

run: $(BUILD)/headproof ## Do the main job: error against depth, into results/depth.csv
	@mkdir -p results
	OMP_PROC_BIND=true $(BUILD)/headproof depth cases/depth.case -o results/depth.csv

check: ## Build with and without FLINT, and with sanitizers; run the tests in each
	@+$(CHECK_FLINT)
	@+$(SUBMAKE) test-programs MODE=debug
	@+$(SUBMAKE) test-programs MODE=release FLINT=no
	@+test ! -e $(PROBED)/flint-yes.mk || $(SUBMAKE) test-programs MODE=release FLINT=yes
	@+$(CHECK_MPI)
	@if test -e $(PROBED)/flint-yes.mk; then \
	    sh tests/run $(TESTS:%=build/debug$(NOFLINT)/tests/%) $(TESTS:%=build/release/tests/%) \
	        $(filter $(FLINT_MATTERS:%=build/release-noflint/tests/test_%), \
	                 $(TESTS:%=build/release-noflint/tests/%)); \
	 else \
	    sh tests/run $(TESTS:%=build/debug$(NOFLINT)/tests/%) \
	        $(TESTS:%=build/release-noflint/tests/%); \
	 fi

# The tests of what is computed with FLINT in one build and without it in the other.
FLINT_MATTERS := ap activation closed_forms damage depth difference export \
                 identities masks oracles product reference regression seeds stored sweep vexp

test: test-programs ## Run the tests in one build (MODE, FLINT)
	@sh tests/run $(PROGRAMS)

SEED_TESTS = $(if $(filter seeds,$(MAKECMDGOALS)),$(shell sh tests/seeds --programs))
seeds: $(BUILD)/headproof $(SEED_TESTS:%=$(BUILD)/tests/%) ## Every claim in docs/seeds.md against its check
	@sh tests/seeds $(BUILD)

.PHONY: test-programs
test-programs: $(BUILD)/headproof $(PROGRAMS)

# FLINT is optional, so a machine that cannot have it still passes; it is told what it missed.
CHECK_FLINT = rm -f $(PROBED)/flint-yes.mk; \
    test $(FLINT) = no || $(SUBMAKE) -s deps FLINT=yes || test $(FLINT) = auto || exit 1; \
    test -e $(PROBED)/flint-yes.mk || \
        echo "check: without FLINT: only the build that does not use it is tested"

# MPI is optional too; test_mpi runs this build where it is there.
CHECK_MPI = if command -v $(MPICC) >/dev/null 2>&1; then $(SUBMAKE) build MODE=release MPI=1; else \
    echo "check: no $(MPICC): sweeps over MPI are not tested (make MPI=1 installs it)"; fi

mutants: ## Plant every fault of the sources, one at a time; each must be caught
	@+$(SUBMAKE) test-programs BUILD=build/mutants MODE=release \
	    CPPFLAGS='$(CPPFLAGS) -DHEADPROOF_FAULTS'
	@sh tests/mutants build/mutants $(TESTS)

bench: $(BUILD)/headproof $(BENCHES:%=$(BUILD)/%) ## Time everything, into results/ (10 minutes)
	@mkdir -p results
	HEADPROOF=$(BUILD)/headproof OMP_PROC_BIND=true $(BUILD)/bench -o results/bench.csv
	$(BUILD)/bench_product -o results/products.csv
	$(BUILD)/bench_growth -o results/growth.csv

# The reference at the size of GPT-2 small: r(T), the construction error, m(T) and m(T').
GPT2 := --construction transformer --depth 12 --n 1024 --d 768 --heads 12 --d-head 64 --d-ff 3072 \
        --mask causal --omega 40 --kernel structured --precision 256

bench-gpt2: $(BUILD)/headproof ## Time a stack of GPT-2 small's size at 256 bits (minutes)
	@mkdir -p results
	start=$$(date +%s); \
	OMP_PROC_BIND=true $(BUILD)/headproof sweep $(GPT2) -o results/gpt2-small.csv && \
	    echo "$$(($$(date +%s) - start)) s"

coverage: ## Line coverage of the tests, per file
	@find build/coverage$(NOFLINT) -name '*.gcda' -delete 2>/dev/null || true
	@+GCOV_ERROR_FILE=/dev/null $(SUBMAKE) test MODE=coverage; tested=$$?; \
	 for dir in cases kernels reference reference/product harness; do \
	    gcov -n build/coverage$(NOFLINT)/$$dir/*.gcda 2>/dev/null; done | \
	 awk '/^File/ { gsub(/\x27/, "", $$2); file = $$2 } \
	      /^Lines executed/ && file ~ /^(cases|kernels|reference|harness)\// { \
	          split($$2, a, /[:%]/); printf "%7.2f%%  %5d lines  %s\n", a[2], $$4, file; \
	          hit += a[2] * $$4 / 100; all += $$4; file = "" } \
	      END { if (all) printf "%7.2f%%  %5d lines  all\n", 100 * hit / all, all }'; \
	 exit $$tested

lint: deps-lint ## Layering, forbidden flags and calls, format, every warning an error
	@+$(SUBMAKE) -s objects BUILD=build/lint-noflint WERROR=-Werror MODE=release FLINT=no
	@+$(SUBMAKE) -s lint-objects BUILD=build/lint WERROR=-Werror MODE=release

.PHONY: lint-objects
lint-objects: objects
	@sh tests/selftest
	@sh tests/lint $(BUILD) $(REQUIRED) $(WARNINGS) $(FLINT_CPPFLAGS) $(CPPFLAGS) \
	    $(foreach name,VERSION COMMIT CFLAGS,-DHEADPROOF_$(name)='""')

format: ## Rewrite the sources as .clang-format has them
	clang-format -i $(wildcard $(foreach d,cases kernels reference reference/product harness tests tests/inject,\
                                $(d)/*.[ch]))

FUZZ_SECONDS ?= 600
FUZZ_SUBJECTS ?= values cases commands baselines merges journals sidecars checkpoints models

# The program and its readers of input under libFuzzer; what a test needs besides is cmocka's.
$(BUILD)/fuzz: $(patsubst %.c,$(BUILD)/%.o,$(wildcard tests/fuzz_*.c)) \
               $(patsubst %,$(BUILD)/tests/%.o,safetensors_samples scratch) $(PROJECT)
	$(call SHOW,LINK) $(CC) $(FLAGS) -fsanitize=fuzzer $(LDFLAGS) -o $@ $(filter %.o,$^) $(LIBS)

fuzz: deps-fuzz ## Fuzz every reader of input, FUZZ_SECONDS each, one a core
	@+$(SUBMAKE) build/fuzz/fuzz MODE=fuzz CC='$(CLANG)'
	@sh tests/fuzz build/fuzz/fuzz $(FUZZ_SECONDS) $(FUZZ_SUBJECTS)

tsan: deps-fuzz ## Run sweep, verify, min-omega and others with 4 threads under ThreadSanitizer
	@+$(SUBMAKE) build MODE=tsan CC='$(CLANG)'
	@sh tests/tsan '$(CLANG)' build/tsan/headproof

# Each part runs whatever became of the one before; the last line counts what failed.
NIGHTLY_PARTS := check seeds fuzz tsan mutants
nightly: ## All that takes long: the tests' long forms, fuzzing, threads, mutants (hours)
	@+failed=; for part in $(NIGHTLY_PARTS); do \
	    HEADPROOF_NIGHTLY=1 TEST_TIMEOUT=$${TEST_TIMEOUT:-7200} $(SUBMAKE) $$part || \
	        failed="$$failed $$part"; done; \
	 echo "nightly: $(words $(NIGHTLY_PARTS)) parts, failed:$${failed:- none}"; test -z "$$failed"

install: $(BUILD)/headproof ## Install the program, its documentation and case files
	install -d '$(DESTDIR)$(PREFIX)/bin' '$(DESTDIR)$(PREFIX)/share/doc/headproof' \
	    '$(DESTDIR)$(PREFIX)/share/headproof/cases/models'
	install -m 755 $(BUILD)/headproof '$(DESTDIR)$(PREFIX)/bin/headproof'
	install -m 644 $(wildcard README.md CHANGELOG.md LICENSE docs/*.md) \
	    '$(DESTDIR)$(PREFIX)/share/doc/headproof'
	install -m 644 $(wildcard cases/*.case) '$(DESTDIR)$(PREFIX)/share/headproof/cases'
	install -m 644 $(wildcard cases/models/*) '$(DESTDIR)$(PREFIX)/share/headproof/cases/models'

uninstall: ## Remove what install put there
	rm -f '$(DESTDIR)$(PREFIX)/bin/headproof'
	rm -rf '$(DESTDIR)$(PREFIX)/share/doc/headproof' '$(DESTDIR)$(PREFIX)/share/headproof'

clean: ## Remove build/
	rm -rf build

help: ## This list
	@sed -n 's/^#   /  /p' Makefile
	@echo
	@sed -n 's/^\([a-z-]*\):.*## \(.*\)/  make \1|\2/p' Makefile | \
	 awk -F'|' '{ printf "%-24s%s\n", $$1, $$2 }'

# ---- What must be there --------------------------------------------------------------------

# A library is there when a program that uses it compiles and links: gcc is all this needs.
# $1: headers, $2: a call, $3: what to link.
define PROBE
probe() {
    mkdir -p $(PROBED) || exit 1
    { for header in $$1; do printf '#include <%s>\n' "$$header"; done
      printf 'int main(void) { (void)(%s); return 0; }\n' "$$2"; } >$(PROBED)/probe.$$$$.c
    $(CC) -fopenmp $(CPPFLAGS) -o $(PROBED)/probe.$$$$ $(PROBED)/probe.$$$$.c \
        $(LDFLAGS) $$3 2>$(PROBED)/probe.log
    linked=$$?
    rm -f $(PROBED)/probe.$$$$ $(PROBED)/probe.$$$$.c
    return $$linked
}
install_packages() {
    echo "deps: not found: $$*"
    as_root=
    if ! command -v apt-get >/dev/null 2>&1; then
        cannot "this is not a Debian system" $$*
        return 1
    elif test "$$(id -u)" -ne 0; then
        as_root=sudo
        if ! command -v sudo >/dev/null 2>&1; then
            cannot "that takes root, and sudo is not here" $$*
            return 1
        fi
    fi
    echo "deps: installing them with $${as_root:+$$as_root }apt-get"
    $$as_root apt-get -q update
    $$as_root env DEBIAN_FRONTEND=noninteractive \
        apt-get -q -y --no-install-recommends install $$* ||
        { cannot "apt-get failed" $$*; return 1; }
}
cannot() {
    why=$$1; shift
    echo "deps: $$why; install these Debian packages, or what your system calls them:" >&2
    echo "    apt-get install $$*" >&2
}
endef

define PROBE_LIBRARIES
$(PROBE)
look_for() {
    probe "$$2" "$$3" "$$4" || missing="$$missing $$1"
}
everything="stddef.h gmp.h mpfr.h cblas.h ini.h jansson.h omp.h stdarg.h setjmp.h stdint.h"
calls="mpfr_get_version(), mpz_sizeinbase(0, 2), openblas_get_num_threads(), ini_parse_string(0, 0, 0)"
probe "$$everything cmocka.h" "$$calls, json_null(), cmocka_set_message_output(CM_OUTPUT_TAP)" \
    "-lmpfr -lgmp -lopenblas -linih -ljansson -lcmocka -lm" && exit 0
if ! probe "stdlib.h math.h" "abs(1)" "-lm"; then
    echo "deps: the compiler does not work: $(CC)" >&2
    cat $(PROBED)/probe.log >&2
    exit 1
fi
find_all() {
    missing=
    look_for libgmp-dev "stddef.h gmp.h" "mpz_sizeinbase(0, 2)" -lgmp
    look_for libmpfr-dev "mpfr.h" "mpfr_get_version()" "-lmpfr -lgmp"
    look_for libopenblas-dev "cblas.h" "openblas_get_num_threads()" -lopenblas
    look_for libinih-dev "ini.h" "ini_parse_string(0, 0, 0)" -linih
    look_for libjansson-dev "jansson.h" "json_null()" -ljansson
    look_for libcmocka-dev "stdarg.h stddef.h setjmp.h stdint.h cmocka.h" \
        "cmocka_set_message_output(CM_OUTPUT_TAP)" -lcmocka
}
find_all
test -z "$$missing" && exit 0
install_packages $$missing || exit 1
find_all
test -z "$$missing" && exit 0
echo "deps: installed, and still no program can use:$$missing" >&2
cat $(PROBED)/probe.log >&2
exit 1
endef

# FLINT 3 has Arb inside; before it, Arb is a library of its own (flint-arb on Debian).
define PROBE_FLINT
$(PROBE)
call="arb_exp((arb_ptr)0, (arb_ptr)0, 64)"
find_flint() {
    found=no cppflags= libs=
    if probe "flint/flint.h flint/arb.h" "$$call" "-lflint -lmpfr -lgmp"; then
        found=3 cppflags="-DHAVE_FLINT -DHAVE_ARB_IN_FLINT" libs=-lflint
        return
    fi
    for arb in -lflint-arb -larb; do
        if probe "flint/flint.h arb.h" "$$call" "$$arb -lflint -lmpfr -lgmp"; then
            found=2 cppflags=-DHAVE_FLINT libs="$$arb -lflint"
            return
        fi
    done
}
found=no cppflags= libs=
test $(FLINT) = no || find_flint
if test $(FLINT)$$found = yesno; then
    install_packages libflint-dev && find_flint
    test $$found != no || { install_packages libflint-arb-dev && find_flint; }
fi
if test $(FLINT)$$found = yesno; then
    echo "deps: FLINT=yes, and there is no FLINT 3, nor FLINT 2 with Arb" >&2
    exit 1
fi
test $(FLINT) != yes || rm -f $(PROBED)/flint-auto.mk
printf '%s := %s\n' FLINT_FOUND $$found FLINT_CPPFLAGS "$$cppflags" FLINT_LIBS "$$libs" >$$out
endef

# Open MPI's compiler and MPICH's both print what they would run.
define PROBE_MPI
$(PROBE)
find_mpi() {
    command -v $(MPICC) >/dev/null 2>&1 || return 1
    cppflags=-DHAVE_MPI libs=
    for word in $$($(MPICC) -show); do
        case $$word in
        -I*) cppflags="$$cppflags -isystem $${word#-I}" ;;
        -D*) cppflags="$$cppflags $$word" ;;
        -L* | -l* | -Wl,*) libs="$$libs $$word" ;;
        esac
    done
    probe mpi.h "MPI_Init(0, 0)" "$$cppflags $$libs"
}
if ! find_mpi; then
    case $(MPICC) in
    *mpich) install_packages libmpich-dev mpich ;;
    *) install_packages libopenmpi-dev openmpi-bin ;;
    esac
    find_mpi || { echo "deps: no program can use MPI through $(MPICC)" >&2
                  cat $(PROBED)/probe.log >&2; exit 1; }
fi
printf '%s := %s\n' MPI_CPPFLAGS "$$cppflags" MPI_LIBS "$$libs" >$$out
endef

deps: ## Find what is missing and install Debian's packages for it (root, or sudo)
	@rm -f $(PROBED)/libraries $(PROBED)/flint-$(FLINT).mk
	@+$(SUBMAKE) -s $(PROBED)/flint-$(FLINT).mk
	@awk '/FLINT_FOUND/ { print "deps: all there; FLINT: " $$3 }' $(PROBED)/flint-$(FLINT).mk

$(PROBED)/libraries: private export SCRIPT = $(PROBE_LIBRARIES)
$(PROBED)/libraries: Makefile
	@sh -c "$$SCRIPT"
	@touch $@

$(PROBED)/flint-$(FLINT).mk: private export SCRIPT = $(PROBE_FLINT)
$(PROBED)/flint-$(FLINT).mk: $(PROBED)/libraries
	@out=$@ sh -c "$$SCRIPT"

$(PROBED)/mpi-$(notdir $(MPICC)).mk: private export SCRIPT = $(PROBE_MPI)
$(PROBED)/mpi-$(notdir $(MPICC)).mk: $(PROBED)/libraries
	@out=$@ sh -c "$$SCRIPT"

CLANG ?= clang
# clang, with its libFuzzer, and LLVM's OpenMP, which its ThreadSanitizer knows.
define FIND_FUZZER
$(PROBE)
links() {
    mkdir -p $(PROBED) || exit 1
    echo 'int LLVMFuzzerTestOneInput(const char *d, long n) { return d && n < 0; }' \
        >$(PROBED)/fuzz.$$$$.c
    $(CLANG) -w -fopenmp -fsanitize=fuzzer,address,undefined -o $(PROBED)/fuzz.$$$$ \
        $(PROBED)/fuzz.$$$$.c >$(PROBED)/probe.log 2>&1
    linked=$$?
    rm -f $(PROBED)/fuzz.$$$$ $(PROBED)/fuzz.$$$$.c
    return $$linked
}
links && exit 0
install_packages clang libclang-rt-dev libomp-dev || exit 1
links && exit 0
echo "deps: installed, and clang still cannot build a fuzzer:" >&2
cat $(PROBED)/probe.log >&2
exit 1
endef

deps-fuzz: private export SCRIPT = $(FIND_FUZZER)
deps-fuzz: ## Find what fuzz and tsan take (clang, its runtime, libomp) and install it
	@sh -c "$$SCRIPT"

LINT_TOOLS := clang clang-format clang-tidy cppcheck
define FIND_LINT_TOOLS
$(PROBE)
find_tools() {
    missing=
    for tool in $(LINT_TOOLS); do
        command -v $$tool >/dev/null 2>&1 || missing="$$missing $$tool"
    done
}
find_tools
test -n "$$missing" || exit 0
install_packages $$missing && exit 0
echo "deps: lint goes on without:$$missing" >&2
endef

deps-lint: private export SCRIPT = $(FIND_LINT_TOOLS)
deps-lint: ## Find what lint runs besides gcc and install it; lint does without what cannot be had
	@sh -c "$$SCRIPT"
