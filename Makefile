# minimd: see `make help`.

# As many jobs as processors, unless the user said otherwise.
JOBS := $(shell nproc 2>/dev/null || echo 2)
ifeq ($(MAKELEVEL)$(filter -j%,$(MAKEFLAGS)),0)
MAKEFLAGS += -j$(JOBS)
endif

BUILD  ?= build
PREFIX ?= /usr/local
ifeq ($(origin CC),default)
CC := gcc
endif
NVCC   ?= $(shell command -v nvcc 2>/dev/null)
# Architectures to compile kernels for, sm_90 or newer; of the last also PTX, which the driver of a newer device compiles.
CUDA_ARCH ?= sm_90
# CUDA_LINES=-lineinfo: lines of source in kernels for profilers; they make objects of kernels two to three times as large.
CUDA_LINES ?=
WARN   := -Werror=switch -Werror=implicit -Wall -Wextra -Wshadow -Wpointer-arith -Wstrict-prototypes
# Lines, but no variables for debuggers: the code is the same, kernels compile in 12 instead of 17 s.  CFLAGS='-O3 -g' has all.
CFLAGS ?= -O3 -g1
# One set of objects for the program and the shared library; without interposition that costs nothing (docs/decisions/40).
PIC    := -fPIC -fno-semantic-interposition
STD    := -std=c11 -I. -D_GNU_SOURCE -fopenmp -ffp-contract=fast -fno-math-errno $(PIC)
LDLIBS  = $(call archive,config) -lm -lpthread

# A static archive where the system has one, so that a built tree runs on machines without it.
archive = $(or $(filter /%,$(shell $(CC) -print-file-name=lib$(1).a)),-l$(1))

# A line for each file that is made; V=1 prints whole commands, make -s nothing.
quiet = $(if $(V)$(findstring s,$(firstword -$(MAKEFLAGS))),,@echo '  $(1) $@'; )

ROOMS := $(wildcard core ordering neighbor force comm cachemodel spread stokes engine minimd)
# Rooms have folders.
in_rooms = $(wildcard $(ROOMS:%=%/*.$(1)) $(ROOMS:%=%/*/*.$(1)))

# PME on the CPU where FFTW3 is.
FFTW := $(shell printf '\043include <fftw3.h>\n' | $(CC) -E -x c - >/dev/null 2>&1 && echo yes)

# Dense algebra with LAPACK, or a file that says it is missing.
LAPACK     := $(shell printf '\043include <lapacke.h>\n\043include <cblas.h>\n' | $(CC) -E -x c - >/dev/null 2>&1 && echo yes)
# Several ranks with Open MPI, or a file that says it is missing; its library is loaded under a launcher.
MPI_FLAGS := $(shell mpicc --showme:compile 2>/dev/null)
MPI       := $(if $(MPI_FLAGS),yes)
# Compressed traces with zlib, or a file that says it is missing.
ZLIB := $(shell printf '\043include <zlib.h>\n' | $(CC) -E -x c - >/dev/null 2>&1 && echo yes)
# What this machine cannot compile.
LACKING := cachemodel/trace/trace_gzip$(if $(ZLIB),_none).c stokes/solver/dense$(if $(LAPACK),_none).c $(if $(FFTW),,spread/pme/pme_cpu.prec.c stokes/mobility/far_cpu.real.c) comm/world/world_$(if $(MPI),none,mpi).c
# Names say for what sources are compiled: x.prec.c and x.prec.cu for each precision, x.real.c and x.real.cu for single
# and double (nothing in them depends on the type of positions: mixed precision uses those of single), x.single.cu for
# single; x.isa.c, x.prec.c and x.real.c for each instruction set.
C          := $(filter-out $(LACKING),$(call in_rooms,c))
CU         := $(call in_rooms,cu)
NUMERIC_C  := $(filter %.prec.c,$(C))
REAL_C     := $(filter %.real.c,$(C))
ISA_C      := $(filter %.isa.c,$(C))
PLAIN_C    := $(filter-out $(NUMERIC_C) $(REAL_C) $(ISA_C),$(C))
NUMERIC_CU := $(filter %.prec.cu,$(CU))
REAL_CU    := $(filter %.real.cu,$(CU))
SINGLE_CU  := $(filter %.single.cu,$(CU))
PLAIN_CU   := $(filter-out $(NUMERIC_CU) $(REAL_CU) $(SINGLE_CU),$(CU))
PRECS := 0 1 2
REALS := 0 2
ISAS  := 0 1 2
ISA_FLAGS_0 :=
ISA_FLAGS_1 := -mavx2 -mfma -mbmi2 -mlzcnt
ISA_FLAGS_2 := $(ISA_FLAGS_1) -mavx512f -mavx512dq -mavx512bw -mavx512vl -mprefer-vector-width=512

OBJ := $(PLAIN_C:%.c=$(BUILD)/obj/%.o) \
       $(foreach p,$(PRECS),$(foreach i,$(ISAS),$(NUMERIC_C:%.c=$(BUILD)/obj/%.p$(p).i$(i).o))) \
       $(foreach p,$(REALS),$(foreach i,$(ISAS),$(REAL_C:%.c=$(BUILD)/obj/%.p$(p).i$(i).o))) \
       $(foreach i,$(ISAS),$(ISA_C:%.c=$(BUILD)/obj/%.i$(i).o))
# Objects of kernels that checks leave out, of a build $(1) on a machine of instruction set $(2): other sets, and single precision.
unchecked = $(filter %.p0.i$(2).o $(patsubst %,\%.i%.o,$(filter-out $(2),$(ISAS))),$(OBJ:$(BUILD)/%=$(1)/%))
ifdef CHECKED_ISA
OBJ := $(filter-out $(call unchecked,$(BUILD),$(CHECKED_ISA)),$(OBJ)) $(call unchecked,$(UNCHECKED),$(CHECKED_ISA))
endif
CUDA_OBJ := $(PLAIN_CU:%.cu=$(BUILD)/obj/%.cu.o) \
       $(foreach p,$(PRECS),$(NUMERIC_CU:%.cu=$(BUILD)/obj/%.p$(p).cu.o)) \
       $(foreach p,$(REALS),$(REAL_CU:%.cu=$(BUILD)/obj/%.p$(p).cu.o)) \
       $(SINGLE_CU:%.cu=$(BUILD)/obj/%.p0.cu.o)
ifneq ($(NVCC),)
CUDA_HOME := $(abspath $(dir $(realpath $(NVCC)))..)
arches := $(CUDA_ARCH:sm_%=%)
CUDA_CARRIES := "$(CUDA_ARCH), PTX of $(lastword $(CUDA_ARCH))"
NVFLAGS := $(foreach a,$(arches),-gencode arch=compute_$(a),code=sm_$(a)) \
           -gencode arch=compute_$(lastword $(arches)),code=compute_$(lastword $(arches)) \
           -DMD_CUDA_ARCH='$(CUDA_CARRIES)' -O3 $(CUDA_LINES) -I. -DMD_HAVE_CUDA -Werror all-warnings \
           -Xcompiler -fPIC,-fno-gnu-unique,-Wall,-Wextra,-Wno-unused-parameter
STD    += -DMD_HAVE_CUDA
OBJ    += $(CUDA_OBJ)
CUDA_LIBS := -L$(CUDA_HOME)/lib64 -Wl,-rpath,$(CUDA_HOME)/lib64 -lcudart_static -lrt -ldl -lstdc++
# A program that brings its own libstdc++ starts in half the time: there are no names to look up.
LDLIBS += $(CUDA_LIBS:-lstdc++=$(call archive,stdc++))
endif
ifneq ($(LAPACK),)
# Static OpenBLAS needs the Fortran run-time library.
fortran := $(filter /%,$(shell $(CC) -print-file-name=libgfortran.a))
LDLIBS  += $(if $(fortran),$(foreach l,lapacke openblas gfortran quadmath,$(call archive,$(l))) -lm,-llapacke -lopenblas)
endif
ifneq ($(FFTW),)
FFTW_LIBS := $(foreach l,fftw3 fftw3f,$(call archive,$(l))) -lm
LDLIBS += $(FFTW_LIBS)
endif
ifneq ($(ZLIB),)
LDLIBS += $(call archive,z)
endif
LIB     := $(BUILD)/libminimd.a
LIB_OBJ := $(filter-out $(BUILD)/obj/minimd/main.o,$(OBJ))
# Other libraries that bench_gspmv measures beside ours, where pkg-config knows them.
PEERS    := $(foreach p,eigen:eigen3 petsc:petsc+mpi-c librsb:librsb,\
              $(if $(shell pkg-config --exists $(subst +, ,$(lastword $(subst :, ,$(p)))) 2>/dev/null && echo yes),$(p)))
PEER_PACKAGES := $(foreach p,$(PEERS),$(subst +, ,$(lastword $(subst :, ,$(p)))))
PEER_NAMES := $(foreach p,$(PEERS),$(firstword $(subst :, ,$(p))))
BENCHES := $(patsubst bench/%.c,$(BUILD)/bench/%,$(wildcard bench/bench_*.c bench/study_*.c))
# Peers that benchmarks compare with, in an archive so that each links what it uses.
BENCH_LIB := $(BUILD)/libbench.a
BENCH_OBJ := $(if $(NVCC),$(patsubst %.cu,$(BUILD)/obj/%.cu.o,$(wildcard bench/*.cu)))
TEST_C  := $(wildcard tests/*/*.c)
SUITES  := $(patsubst %.c,%,$(wildcard tests/*/check_*.c))
TESTS   := $(addprefix $(BUILD)/tests/,$(notdir $(SUITES)))
# What the suites share: references and drivers, in an archive so that each links what it uses.
TEST_LIB := $(BUILD)/libtests.a
TEST_OBJ := $(patsubst %.c,$(BUILD)/obj/%.o,$(filter-out $(SUITES:%=%.c),$(TEST_C)))
COMPILE  = $(CC) $(STD) $(CFLAGS) $(WARN) -MMD -MP
VERSION := $(shell sh packaging/version.sh)
RELEASE := $(word 1,$(VERSION))
# What objects are made with: all are made again when it changes.  Words of a command line of make.
SETTINGS  := CC='$(CC)' CFLAGS='$(CFLAGS)' PIC='$(PIC)' NVCC='$(NVCC)' CUDA_ARCH='$(CUDA_ARCH)' CUDA_LINES='$(CUDA_LINES)' CHECKED_ISA='$(CHECKED_ISA)' \
             FFTW='$(FFTW)' LAPACK='$(LAPACK)' MPI='$(MPI)' ZLIB='$(ZLIB)' COVERED='$(COVERED)'
MADE_WITH := $(BUILD)/made-with

.PHONY: all
all: $(BUILD)/minimd

$(BUILD)/minimd: $(BUILD)/obj/minimd/main.o $(LIB)
	$(call quiet,LD )$(CC) $(CFLAGS) -fopenmp -o $@ $^ $(LDLIBS)
$(LIB): $(LIB_OBJ)
	@rm -f $@
	$(call quiet,AR )ar rcs $@ $^
$(TEST_LIB): $(TEST_OBJ)
	@rm -f $@
	$(call quiet,AR )ar rcs $@ $^
# The program whose allocators can be made to fail.
FAILING := $(BUILD)/obj/tests/failing
$(FAILING)/%: $(BUILD)/% tests/hostile/failing_memory.syms
	@mkdir -p $(@D)
	$(call quiet,CP )objcopy --redefine-syms=tests/hostile/failing_memory.syms $< $@
$(BUILD)/tests/check_failing_%: $(BUILD)/obj/tests/hostile/check_failing_%.o $(FAILING)/obj/minimd/main.o \
    $(FAILING)/libminimd.a $(TEST_LIB)
	@mkdir -p $(@D)
	$(call quiet,LD )$(CC) $(CFLAGS) -fopenmp -o $@ $(filter %.o,$^) $(filter %.a,$^) $(call archive,check) $(call archive,subunit) $(LDLIBS)
# Its carrier of messages, in place of MPI.
$(BUILD)/tests/check_failing_agreements: $(BUILD)/obj/tests/hostile/pretend_ranks.o

# A hundred suites, each with what it uses of 50 MB: GNU's other linker takes half the time.
TEST_LD := $(if $(shell command -v ld.gold 2>/dev/null),-fuse-ld=gold)
define suite_rule
$(BUILD)/tests/$(notdir $(1)): $(BUILD)/obj/$(1).o $$(TEST_LIB) $$(LIB)
	@mkdir -p $$(@D)
	$$(call quiet,LD )$$(CC) $$(CFLAGS) -fopenmp $$(TEST_LD) -o $$@ $$^ $$(call archive,check) $$(call archive,subunit) $$(LDLIBS)
endef
$(foreach s,$(filter-out tests/hostile/check_failing_%,$(SUITES)),$(eval $(call suite_rule,$(s))))

# Beside an object of kernels lies what ptxas says of each: registers, shared memory, spills.
cuda_compile = $(NVCC) $(NVFLAGS) $(1) -Xptxas -v -MMD -MP -MF $(@:.o=.d) -c -o $@ $< 2>$(@:.o=.ptxas) || \
  { cat $(@:.o=.ptxas) >&2; exit 1; }

$(BUILD)/obj/%.o: %.c $(MADE_WITH)
	@mkdir -p $(@D)
	$(call quiet,CC )$(COMPILE) -c -o $@ $<
$(BUILD)/obj/%.cu.o: %.cu $(MADE_WITH)
	@mkdir -p $(@D)
	$(call quiet,NV )$(call cuda_compile)

define numeric_rule
$(BUILD)/obj/%.p$(1).i$(2).o: %.c $(MADE_WITH)
	@mkdir -p $$(@D)
	$$(call quiet,CC )$$(COMPILE) -DMD_PREC=$(1) -DMD_ISA=$(2) $$(ISA_FLAGS_$(2)) -c -o $$@ $$<
endef
define isa_rule
$(BUILD)/obj/%.i$(1).o: %.c $(MADE_WITH)
	@mkdir -p $$(@D)
	$$(call quiet,CC )$$(COMPILE) -DMD_ISA=$(1) $$(ISA_FLAGS_$(1)) -c -o $$@ $$<
endef
define numeric_cuda_rule
$(BUILD)/obj/%.p$(1).cu.o: %.cu $(MADE_WITH)
	@mkdir -p $$(@D)
	$$(call quiet,NV )$$(call cuda_compile,-DMD_PREC=$(1))
endef
$(foreach p,$(PRECS),$(foreach i,$(ISAS),$(eval $(call numeric_rule,$(p),$(i)))))
$(foreach i,$(ISAS),$(eval $(call isa_rule,$(i))))
$(foreach p,$(PRECS),$(eval $(call numeric_cuda_rule,$(p))))

# Version and commit are compiled into one file each, again whenever they change.
$(BUILD)/version: said = $(VERSION)
$(MADE_WITH): said = $(SETTINGS)
$(BUILD)/version $(MADE_WITH): FORCE
	@mkdir -p $(@D)
	@echo "$(said)" | cmp -s - $@ || echo "$(said)" >$@
.PHONY: FORCE
$(BUILD)/obj/minimd/shell/provenance.o: STD += $(if $(NVCC),-DMD_CUDA_ARCH='$(CUDA_CARRIES)' -DMD_CUDA_VERSION='"$(shell $(NVCC) --version | sed -n "s/.*release \([0-9.]*\).*/\1/p")"') -DMD_COMMIT='"$(word 2,$(VERSION))"'
$(BUILD)/obj/core/version.o: STD += -DMD_VERSION='"$(RELEASE)"'
$(BUILD)/obj/minimd/shell/provenance.o $(BUILD)/obj/core/version.o: $(BUILD)/version
$(BUILD)/obj/comm/world/world_mpi.o: STD += $(MPI_FLAGS)
ifneq ($(FFTW),)
$(BUILD)/obj/spread/pme/pme.o $(BUILD)/obj/stokes/mobility/far.o: STD += -DMD_HAVE_FFTW
endif

$(BENCH_LIB): $(BENCH_OBJ)
	@rm -f $@
	$(call quiet,AR )ar rcs $@ $^
$(BUILD)/bench/%: $(BUILD)/obj/bench/%.o $(BENCH_LIB) $(LIB)
	@mkdir -p $(@D)
	$(call quiet,LD )$(CC) $(CFLAGS) -fopenmp -o $@ $^ $(LDLIBS)

$(BUILD)/bench/bench_gspmv: $(PEER_NAMES:%=$(BUILD)/obj/bench/peer_%.o)
$(BUILD)/bench/bench_gspmv: LDLIBS += $(if $(PEERS),$(shell pkg-config --libs $(PEER_PACKAGES)) -lstdc++)
$(BUILD)/obj/bench/bench_gspmv.o: STD += $(PEER_NAMES:%=-DPEER_%)
PEER_FLAGS = $(shell pkg-config --cflags $(PEER_PACKAGES))
$(BUILD)/obj/bench/peer_%.o: bench/peer_%.c $(MADE_WITH)
	@mkdir -p $(@D)
	$(call quiet,CC )$(COMPILE) $(PEER_FLAGS) -c -o $@ $<
$(BUILD)/obj/bench/peer_%.o: bench/peer_%.cc $(MADE_WITH)
	@mkdir -p $(@D)
	$(call quiet,CXX)$(CXX) -I. -O3 -g -DNDEBUG -march=native $(PEER_FLAGS) -MMD -MP -c -o $@ $<

.PHONY: tests benches deps deps-check deps-ci run check check-gpu bench bench-gpu study study-gpu ladder ladder-gpu \
        lint format asan coverage docs fuzz mutants storms tsan clean help \
        new-ordering new-pair new-command
tests: all $(TESTS) $(if $(findstring -fsanitize,$(CFLAGS))$(COVERED),,lib)
benches: $(BENCHES)

# Debian and Ubuntu packages: to build and run; what the program can do without; to test; what .ci/run needs besides.
PACKAGES := gcc make libc6-dev libconfig-dev
OPTIONAL := gnuplot-nox zlib1g-dev liblapacke-dev libopenblas-dev libfftw3-dev libopenmpi-dev openmpi-bin
PACKAGES_CHECK := $(PACKAGES) check libsubunit-dev
PACKAGES_CI := $(PACKAGES_CHECK) $(OPTIONAL) git pkg-config cmake valgrind zsh fish python3-numpy python3-pip python3-ase doxygen clang libomp-dev libclang-rt-14-dev clang-format clang-tidy cppcheck
deps:       ; @sh tests/deps.sh $(PACKAGES) -- $(OPTIONAL)
deps-check: ; @sh tests/deps.sh $(PACKAGES_CHECK) -- $(OPTIONAL)
deps-ci:    ; @sh tests/deps.sh $(PACKAGES_CI)

run: deps
	@$(MAKE) --no-print-directory all
	$(BUILD)/minimd -i inputs/in.lj --order hilbert

check: deps-check
	@$(MAKE) --no-print-directory tests
	sh tests/run.sh $(BUILD)

# Needs no compiler: runs what lies in $(BUILD), so that a tree built elsewhere can be tested.
check-gpu:
	@test -x $(BUILD)/minimd || $(MAKE) --no-print-directory tests
	MINIMD_TEST_BACKEND=gpu sh tests/run.sh $(BUILD)

bench:
	@$(MAKE) --no-print-directory all benches
	sh bench/run.sh cpu $(BUILD)
bench-gpu:
	@test -x $(BUILD)/bench/bench_engine || $(MAKE) --no-print-directory all benches
	sh bench/run.sh gpu $(BUILD)

# Several ranks beside one; on GPUs as well where there are some.
.PHONY: bench-ranks
bench-ranks:
	@test -x $(BUILD)/minimd || $(MAKE) --no-print-directory all
	sh bench/ranks.sh $(BUILD)
	sh bench/gspmv_ranks.sh $(BUILD)
	sh bench/stokes_ranks.sh $(BUILD)
	@! grep -q ',gpu,[^,]*,[^,]*,2,' docs/results/engine-ranks.csv || sh bench/ranks_model.sh

# What more GPUs would do, by a model fitted to those rows: tables and picture of docs/ranks.md.
.PHONY: ranks-model
ranks-model:
	sh bench/ranks_model.sh

# Tables and figures of the studies that need no GPU; each goes on where it was interrupted.
study:
	@$(MAKE) --no-print-directory all $(BUILD)/bench/study_spread
	sh bench/study_orderings.sh $(BUILD)
	sh bench/study_spread.sh $(BUILD) cpu
	sh bench/study_mrhs.sh $(BUILD) cpu

# The rest, on a GPU; PARTS picks some.  Needs no compiler where a build was carried to.
study-gpu:
	@test -x $(BUILD)/bench/study_spread || $(MAKE) --no-print-directory all $(BUILD)/bench/study_spread
	sh bench/study_orderings_gpu.sh $(BUILD) $(PARTS)
	$(if $(PARTS),,sh bench/study_spread.sh $(BUILD) gpu)
	$(if $(PARTS),,sh bench/study_mrhs.sh $(BUILD) gpu)

# The melt climbed rung by rung: rows, tables and picture of docs/ladder.md.  PARTS as above.
ladder:
	@$(MAKE) --no-print-directory all
	sh bench/ladder.sh $(BUILD) cpu $(PARTS)
ladder-gpu:
	@test -x $(BUILD)/minimd || $(MAKE) --no-print-directory all
	sh bench/ladder.sh $(BUILD) gpu $(PARTS)

# The experiments of docs/teaching.md, and their pictures.
.PHONY: teaching
teaching:
	@$(MAKE) --no-print-directory all
	sh docs/teaching.sh $(BUILD)/minimd $(BUILD)/teaching
	mkdir -p docs/results/teaching && cp $(BUILD)/teaching/*.svg docs/results/teaching

# Every picture of docs/results that comes from committed rows or from a model, drawn again.
.PHONY: pictures
pictures:
	@$(MAKE) --no-print-directory all
	sh bench/pictures.sh $(BUILD)/minimd

# Checks make compiling kernels ten times as long: so only those of this machine's instruction set, mixed and double, with
# lines but no variables for debuggers, and without the checks for what AddressSanitizer or the processor stops anyway.  The
# others are those of the build without checks.
SANITIZE := -fsanitize=address,undefined -fno-sanitize=null,alignment,object-size,pointer-overflow \
            -fno-sanitize-recover=all -fno-omit-frame-pointer
MACHINE_ISA = $(if $(shell grep -m1 -ow avx512vl /proc/cpuinfo),2,$(if $(shell grep -m1 -ow avx2 /proc/cpuinfo),1,0))
# Functions are kept apart (MD_INLINE asks for always_inline): a check belongs to a line of the source, and copies in each
# caller have the same ones again.  check_ordering takes 2.2 s of a processor, not 105; force_cpu 2.9, not 40.
APART := -Dalways_inline=unused
asan: deps-check
	@$(MAKE) --no-print-directory $(call unchecked,$(BUILD),$(MACHINE_ISA))
	@$(MAKE) --no-print-directory BUILD=$(BUILD)-asan NVCC= CFLAGS='-O1 -g1 $(APART) $(SANITIZE)' CHECKED_ISA=$(MACHINE_ISA) UNCHECKED=$(BUILD) tests
	ASAN_OPTIONS=allocator_may_return_null=1 CK_EXCLUDE_TAGS=long CK_TIMEOUT_MULTIPLIER=4 sh tests/run.sh $(BUILD)-asan

# What the tests run of the product's code, by gcov.  Its functions are kept apart (MD_INLINE asks for always_inline) and as
# they are, so that lines and branches are those of the source; tests include some of its headers, and are to be quick.
# What starts another program in its own place writes its counts before.
ifdef COVERED
LDLIBS += --coverage
$(foreach r,$(ROOMS),$(eval $(BUILD)/obj/$(r)/%.o: override CFLAGS := $(COVERED)))
$(BUILD)/obj/tests/%.o: override CFLAGS := $(subst -O0,-O1 -fno-inline,$(COVERED))
endif
coverage: deps-check
	@$(MAKE) --no-print-directory BUILD=$(BUILD)-coverage CC=gcc NVCC= CFLAGS=-O2 \
	  COVERED='-O0 -g --coverage -Dalways_inline=unused -Dexecv=__gcov_execv' tests
	@find $(BUILD)-coverage/obj -name '*.gcda' -delete
	GCOV_ERROR_FILE=$(abspath $(BUILD))-coverage/gcov.log CK_TIMEOUT_MULTIPLIER=10 sh tests/run.sh $(BUILD)-coverage
	sh tests/coverage.sh $(BUILD)-coverage

# Inputs that break a reader or a command (tests/hostile/fuzz_*.c): libFuzzer on each target, or on TARGETS, for FUZZ_SECONDS each
# or FUZZ_RUNS executions in all.  It goes on from the inputs that it left in $(BUILD)/fuzz-corpus.
FUZZ_CC ?= clang
FUZZ_SECONDS ?= 60
# clang 14 takes forever over unrolled loops whose checks do not return: here it is the run-time library that ends.
FUZZ_FLAGS := -O1 -g -fsanitize=fuzzer-no-link $(filter-out -fno-sanitize-recover=all,$(SANITIZE)) -Wno-pass-failed
$(BUILD)/fuzz: $(patsubst %.c,$(BUILD)/obj/%.o,$(wildcard tests/hostile/fuzz*.c)) $(LIB)
	$(call quiet,LD )$(CC) $(CFLAGS) -fsanitize=fuzzer -fopenmp -o $@ $^ $(LDLIBS)
fuzz: deps-ci
	@$(MAKE) --no-print-directory BUILD=$(BUILD)-fuzz/unchecked CC=$(FUZZ_CC) NVCC= CFLAGS=-O1 \
	  $(call unchecked,$(BUILD)-fuzz/unchecked,$(MACHINE_ISA))
	@$(MAKE) --no-print-directory BUILD=$(BUILD)-fuzz CC=$(FUZZ_CC) NVCC= CFLAGS='$(FUZZ_FLAGS)' CHECKED_ISA=$(MACHINE_ISA) \
	  UNCHECKED=$(BUILD)-fuzz/unchecked $(BUILD)-fuzz/fuzz
	FUZZ_SECONDS=$(FUZZ_SECONDS) FUZZ_RUNS=$(FUZZ_RUNS) FUZZ_CSV=$(FUZZ_CSV) \
	  sh tests/hostile/fuzz.sh $(BUILD)-fuzz/fuzz $(BUILD)/fuzz-corpus $(TARGETS)

# Wrong programs, one at a time, that the tests must notice (tests/mutants.txt); hours on a few processors.  ROOMS="spread
# stokes" or MUTANTS="12 17" picks some; JOBS at once.  It goes on where it was interrupted with the same commit.
mutants: deps-check
	@ROOMS='$(if $(findstring command,$(origin ROOMS)),$(ROOMS))' MUTANTS='$(MUTANTS)' sh tests/mutants.sh run $(BUILD) $(JOBS)

# Walks that are killed, or stormed by signals, STORMS times on BACKEND, each gone on with from its checkpoint.
STORMS ?= 1000
storms: all
	sh tests/hostile/storms.sh $(BUILD)/minimd $(STORMS) $(BACKEND)

# Races, as ThreadSanitizer and Archer (OpenMP's tool of LLVM) see them, in whole commands and the suites of TSAN_SUITES.
# This is also how CI compiles with clang: with its warnings as errors, and optimised as a program would be.
TSAN_SUITES ?= comm bins neighbor sort force energy integrate engine physics reruns spread spread_plan spread_tiles \
               pme charges stokes_matrix stokes_products stokes_solve stokes_pack stokes_run rpy_sample sweep hierarchy system \
               cachemodel profile list_trace
tsan: deps-ci
	@$(MAKE) --no-print-directory BUILD=$(BUILD)-tsan CC=clang NVCC= \
	  CFLAGS='-O2 -g1 $(APART) -fsanitize=thread -Werror -Wno-error=pass-failed' \
	  $(BUILD)-tsan/minimd $(TSAN_SUITES:%=$(BUILD)-tsan/tests/check_%)
	sh tests/tsan.sh $(BUILD)-tsan $(TSAN_SUITES)

FORMATTED = $(call in_rooms,[ch]) $(call in_rooms,cu) $(wildcard tests/*.h tests/*/*.[ch] examples/*.[ch] examples/*.cc bench/*.[ch] bench/*.cu) \
            $(wildcard $(foreach at,*/*/*/* */*/*/*/*,$(foreach x,[ch] cu,tests/extending/$(at).$(x))))
lint:
	sh tests/arrows.sh
	clang-format --dry-run -Werror $(FORMATTED)
	! grep -n '.\{101\}' $(FORMATTED)
	cppcheck -j $(JOBS) --quiet --std=c11 --inline-suppr --error-exitcode=1 --enable=warning,portability \
	  --suppressions-list=tests/cppcheck.txt -I. -DMD_PREC=2 -DMD_ISA=0 -DMD_VERSION='"lint"' -DMD_COMMIT='"lint"' \
	  $(PLAIN_C)
	printf '%s\n' $(PLAIN_C) | xargs -P $(JOBS) -n 8 sh -c 'clang-tidy --quiet --warnings-as-errors="bugprone-*,misc-*" "$$@" -- \
	  -std=c11 -I. $(MPI_FLAGS) -D_GNU_SOURCE -fopenmp -DMD_VERSION=\"lint\" -DMD_COMMIT=\"lint\"' lint
format:
	clang-format -i $(FORMATTED)

# Manual page, completion and the reference at the end of the user guide, from the program's tables; the drawing of
# the rooms, from their includes; what docs/extending.md quotes.
docs: all
	$(BUILD)/minimd docs --form man -o docs/minimd.1
	$(BUILD)/minimd docs --form bash -o docs/minimd.bash
	$(BUILD)/minimd docs --form zsh -o docs/minimd.zsh
	$(BUILD)/minimd docs --form fish -o docs/minimd.fish
	$(BUILD)/minimd docs --form style -o bench/style.gp
	sed '/^<!-- .*make docs/q' docs/user-guide.md >$(BUILD)/user-guide.md
	$(BUILD)/minimd docs --form guide >>$(BUILD)/user-guide.md
	mv $(BUILD)/user-guide.md docs/user-guide.md
	sh docs/draw_rooms.sh >$(BUILD)/rooms.svg
	mv $(BUILD)/rooms.svg docs/rooms.svg
	sh tests/extending/extend.sh mend
	sh tests/extending/extend.sh quote >$(BUILD)/extending.md
	mv $(BUILD)/extending.md docs/extending.md

# Skeletons of a given NAME, with a test that fails until they are filled in (docs/extending.md).
new-ordering new-pair new-command:
	@sh tests/extending/extend.sh new $(@:new-%=%) '$(NAME)'

clean:
	rm -rf $(BUILD) $(BUILD)-asan $(BUILD)-coverage $(BUILD)-fuzz $(BUILD)-tsan $(BUILD)-mutants

help::
	@echo 'make            build everything this machine can build (CUDA: $(or $(NVCC),no nvcc found))'
	@echo 'make run        install packages if missing, build, run inputs/in.lj in Hilbert order'
	@echo 'make check      install packages if missing, build, run all tests on the CPU'
	@echo 'make check-gpu  run all tests on the GPU (also from a tree built elsewhere)'
	@echo 'make deps       install the Debian / Ubuntu packages that building needs'
	@echo 'make bench      measure on the CPU: docs/results/*.csv   (bench-gpu: on the GPU; bench-ranks: several ranks)'
	@echo 'make ranks-model  what more GPUs than measured would do, by a model fitted to the rows of bench-ranks: docs/ranks.md'
	@echo 'make study      tables and figures of docs/orderings.md, docs/spreading.md, docs/mrhs.md on the CPU'
	@echo 'make study-gpu  the same on a GPU, with its counters (PARTS="times decay": some of the orderings)'
	@echo 'make ladder     one melt from all pairs to tiles, rung by rung: docs/ladder.md   (ladder-gpu: on the GPU)'
	@echo 'make teaching   run the experiments of docs/teaching.md and redraw their pictures'
	@echo 'make pictures   draw the pictures of docs/results again, from the rows that are there'
	@echo 'make lint       arrows between rooms, format, cppcheck, clang-tidy'
	@echo 'make asan       the tests under AddressSanitizer and UBSan, but for those tagged long'
	@echo 'make coverage   lines and branches of the CPU code that the tests run, by room, and what they leave, by reason'
	@echo 'make tsan       parallel loops under ThreadSanitizer (clang, Archer)'
	@echo 'make storms     runs killed and stormed by signals go on from checkpoints, STORMS=$(STORMS) times (BACKEND=gpu)'
	@echo 'make fuzz       libFuzzer on readers and commands, FUZZ_SECONDS=$(FUZZ_SECONDS) each or FUZZ_RUNS in all (TARGETS="trace market": some)'
	@echo 'make mutants    break one line at a time: every wrong program of tests/mutants.txt must fail (ROOMS="spread stokes")'
	@echo 'make docs       manual page, completion and reference from the tables of the program; drawing of the rooms; quotations'
	@echo 'make new-ordering NAME=x   a skeleton, and a test that fails until it is filled in: docs/extending.md'
	@echo '     new-pair, new-command likewise: a pair formula, a sub-command'
	@echo 'variables: BUILD=$(BUILD) CC=$(CC) NVCC=$(NVCC) CUDA_ARCH="$(CUDA_ARCH)" CFLAGS=$(CFLAGS) V=1 (whole commands)'

include packaging/library.mk packaging/release.mk
.SECONDARY:
-include $(shell find $(BUILD)/obj -name '*.d' 2>/dev/null)
