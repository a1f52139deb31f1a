# Everything sets itself up: python3, a C++ compiler and make are all a machine needs, and the network only once.
VENV ?= .venv
PY := $(VENV)/bin/python
PIP := $(PY) -m pip --disable-pip-version-check --quiet
SOURCES := $(shell find cpp src -name '*.[ch]pp' -o -name '*.py') CMakeLists.txt README.md cpp/pegasos/solve.cpp.in
CPP := $(shell find cpp paper -name '*.[ch]pp')
WARN := -Wall -Wextra -Wconversion
SANITIZE := -std=c++20 -g -O1 -ffp-contract=off -fsanitize=address,undefined -fno-sanitize-recover=all \
  -fno-omit-frame-pointer $(WARN) -pthread -Icpp
# The core is headers, but for what would be compiled again for every loss.
CORE := $(shell find cpp/pegasos -name '*.cpp')
CPP_TESTS := $(wildcard cpp/tests/*_test.cpp) cpp/tests/main.cpp $(CORE)
JOBS := $(shell nproc 2>/dev/null || echo 2)

.PHONY: help demo examples test test-oldest campaign kills dask-faults mutants lint style warnings format unit sanitize sanitize-threads replay fuzz \
  compilers arm64 docs wheel paper paper-quick paper-native bench bench-peers bench-everyday figures picture clean

help:
	@echo "make demo      set up, train on generated text, compare with scikit-learn, save demo.png"
	@echo "make examples  draw the pictures of docs/variants.md and docs/losses.md again, and write the table of docs/zoo.md"
	@echo "make test      set up, lint, sanitized core tests, the whole test suite"
	@echo "make test-oldest   the same with the oldest versions that pyproject.toml declares, as far as they matter"
	@echo "make campaign N=10000   so many random fits, linear, joint and kernel, against independent optima in long double"
	@echo "make kills CYCLES=200   kill -9 a fit so often; it goes on from its checkpoints, and ends with the same bytes"
	@echo "make dask-faults N=100   kill -9 a worker at a random moment of a fit on a cluster, so often: the same bytes?"
	@echo "make mutants   wrong formulas in the core, one at a time: does the suite notice? (half an hour; goes on where it stopped)"
	@echo "make bench-peers   install the peers, measure against them (about 25 minutes)"
	@echo "make bench-everyday   a course of ordinary inputs against scikit-learn (about 20 minutes)"
	@echo "make fuzz SECONDS=900   libFuzzer on every reader of files, native ones with sanitizers, so many seconds each (needs clang)"
	@echo "make lint      style and types, and the module and the core's tests compiled with every warning an error"
	@echo "make compilers | arm64   build and run the core's tests with every compiler installed; for arm64, in an emulator"
	@echo "make docs      the site, in build/docs/html: guide, reference, gallery; warnings are errors, links are followed"
	@echo "make wheel     sdist and wheel into dist/, checked, installed without a compiler and tried; for 3.11, or 3.12 and newer"
	@echo "make paper     every table and figure of the papers, with every system they compare: build/paper/full/report.html (90 minutes)"
	@echo "make paper-quick   the same at reduced sizes: build/paper/quick/report.html (5 minutes); RESUME=1 does what is missing"
	@echo "make figures   write the figures of README.md and benchmarks/README.md from the published results"
	@echo "make unit | sanitize | sanitize-threads | format | bench | picture | clean"

demo: $(VENV)/.installed $(VENV)/.demo
	$(PY) examples/demo.py

examples: $(VENV)/.installed $(VENV)/.demo
	@for script in examples/plot_*.py; do $(PY) $$script || exit 1; done
	@$(PY) examples/zoo.py --write

test: style sanitize replay unit

# A process for each core, up to eight; a file's tests stay together, and with them what they share.
unit: $(VENV)/.installed $(VENV)/.test paper-native
	$(PY) -m pytest --numprocesses $(JOBS) --maxprocesses 8 --dist loadfile

N ?= 10000
campaign: $(VENV)/.installed $(VENV)/.test
	$(PY) tests/claims/linear_campaign.py $(N)
	$(PY) tests/claims/joint_campaign.py $(N)
	$(PY) tests/claims/kernel_campaign.py $(N)

# So many fits killed with -9 at random moments, each going on from where the one before was: do the bytes stay the same?
CYCLES ?= 200
kills: $(VENV)/.installed $(VENV)/.test
	$(PY) tests/kill_cycles.py $(CYCLES)
	$(PY) tests/kill_cycles.py $(CYCLES) kernel
	$(PY) tests/kill_cycles.py $(CYCLES) sequences

# Workers of a cluster killed with -9 in each phase of a fit. (N is 10000 for `campaign`; here 100 unless it is given.)
dask-faults: $(VENV)/.installed $(VENV)/.test
	$(PY) tests/cluster/kills.py $(if $(filter command line,$(origin N)),$(N),100)

# Wrong formulas, one at a time: does a test notice? MUTANTS="--sample 100" tries so many, drawn at random.
mutants: $(VENV)/.installed $(VENV)/.test
	$(PY) tests/mutants.py $(MUTANTS)

# The oldest python and the oldest of everything else that pyproject.toml declares. Left out: polars, which scikit-learn 1.6
# knows only in old versions, sparse arrays of one dimension, which old scipy has not, and a question of routing that
# scikit-learn 1.6 answers with an error.
OLDEST ?= .venv-oldest
OLDEST_PYTHON ?= python3.11
OLDEST_TESTS := $(addprefix tests/unit/test_,sklearn.py sklearn_input.py kernel_models.py expectations.py bad_input.py \
  sparse_weights.py objects.py progress.py going_on.py datasets.py joint.py docs.py ecosystem.py) tests/contract
test-oldest: $(OLDEST)/.installed
	$(OLDEST)/bin/python -m pytest $(OLDEST_TESTS) -k "not polars and not routes_weights and not dimension"

$(OLDEST)/.installed: tests/oldest.py $(SOURCES) pyproject.toml
	test -x $(OLDEST)/bin/python || $(OLDEST_PYTHON) -m venv $(OLDEST)
	$(OLDEST)/bin/python -m pip --quiet install --upgrade "pip>=25.1"
	@mkdir -p build && $(OLDEST)/bin/python tests/oldest.py > build/oldest.txt
	$(OLDEST)/bin/python -m pip --quiet install --group build --group test --constraint build/oldest.txt -r build/oldest.txt
	$(OLDEST)/bin/python -m pip --quiet install --no-build-isolation --no-deps .
	@touch $@

# A compiler newer than ours may warn of something new: that must never stop a user's build, or `make test`.
# pyright fetches its engine at its first run, which a test must not depend on.
lint: style warnings
	$(VENV)/bin/pyright --pythonpath $(PY) --project tests/types

warnings: $(CPP_TESTS:cpp/%.cpp=build/warnings/%.ok) build/warnings/module.ok

build/warnings/%.ok: cpp/%.cpp $(CPP)
	@mkdir -p $(@D)
	$(CXX) -std=c++20 -O2 $(WARN) -Werror -pthread -Icpp -c $< -o /dev/null
	@touch $@

# The module itself, as a user builds it: the bindings and the file that CMake writes for each loss.
build/warnings/module.ok: $(VENV)/.base $(SOURCES)
	$(VENV)/bin/cmake -S . -B build/warnings/module -G Ninja -DPEGASOS_WERROR=ON -DCMAKE_CXX_COMPILER="$(lastword $(CXX))" \
	  -DCMAKE_MAKE_PROGRAM=$(abspath $(VENV))/bin/ninja -DPython_EXECUTABLE=$(abspath $(PY)) \
	  -Dnanobind_DIR=$$($(PY) -m nanobind --cmake_dir) $(if $(findstring ccache,$(CXX)),-DCMAKE_CXX_COMPILER_LAUNCHER=ccache)
	$(VENV)/bin/cmake --build build/warnings/module --target _core
	@touch $@

# Every g++ and clang++ with a version in its name that is installed; COMPILERS="g++-14 clang++-19" chooses.
compilers:
	python3 cpp/tests/compilers.py $(COMPILERS)

arm64:
	python3 cpp/tests/compilers.py aarch64-linux-gnu-g++ --flags=-static --runner=qemu-aarch64

style: $(VENV)/.installed $(VENV)/.test $(VENV)/.lint
	$(VENV)/bin/ruff check .
	$(VENV)/bin/ruff format --check .
	$(PY) -m mypy
	$(PY) -m mypy tests/types/user.py
	$(VENV)/bin/clang-format --dry-run --Werror $(CPP)

format: $(VENV)/.lint
	$(VENV)/bin/ruff check --fix .
	$(VENV)/bin/ruff format .
	$(VENV)/bin/clang-format -i $(CPP)

bench: $(VENV)/.installed $(VENV)/.demo
	$(PY) benchmarks/linear.py
	$(PY) benchmarks/kernels.py
	$(PY) benchmarks/sequences.py
	$(PY) benchmarks/readers.py
	$(PY) benchmarks/larger_than_memory.py
	$(PY) benchmarks/choosing.py --linear-svc --data generated texts digits cancer iris
	$(PY) benchmarks/choosing.py --data arxiv --rounds 1 --save choosing_full
	$(PY) benchmarks/choosing.py --kernels --save choosing_kernels

# The peers are nobody's dependency: where one of them cannot be installed, its contests are skipped and say so.
bench-peers: $(VENV)/.peers bench

bench-everyday: $(VENV)/.installed
	$(PY) benchmarks/everyday.py

# README.md and benchmarks/README.md, from benchmarks/results/published.json; how figures get there: benchmarks/README.md.
figures:
	python3 benchmarks/report.py
	python3 paper/publish.py

picture: $(VENV)/.installed $(VENV)/.demo $(VENV)/.peers
	$(PY) benchmarks/picture.py

# The core without Python under AddressSanitizer and UndefinedBehaviorSanitizer. The canaries commit the two crimes
# on purpose: a build in which they go unnoticed proves nothing.
sanitize: build/sanitize/tests build/sanitize/canary
	build/sanitize/tests
	@! build/sanitize/canary address 2> build/sanitize/address.txt && grep -q AddressSanitizer build/sanitize/address.txt
	@! build/sanitize/canary undefined 2> build/sanitize/undefined.txt && grep -q 'runtime error' build/sanitize/undefined.txt
	@echo "sanitize: both canaries were caught"

build/sanitize/tests: $(CPP)
	@$(MAKE) --no-print-directory -j $(JOBS) $(CPP_TESTS:cpp/%.cpp=build/sanitize/objects/%.o)
	$(CXX) $(SANITIZE) $(CPP_TESTS:cpp/%.cpp=build/sanitize/objects/%.o) -o $@

build/sanitize/objects/%.o: cpp/%.cpp $(CPP)
	@mkdir -p $(@D)
	$(CXX) $(SANITIZE) -c $< -o $@

build/sanitize/canary: cpp/tests/canary.cpp
	@mkdir -p $(@D)
	$(CXX) $(SANITIZE) $< -o $@

# What was found, and what is worth trying again: each target of cpp/fuzz on its corpus, with g++'s sanitizers.
FUZZ := $(patsubst cpp/fuzz/%.cpp,%,$(filter-out cpp/fuzz/replay.cpp,$(wildcard cpp/fuzz/*.cpp)))
.PHONY: replay fuzz
replay: $(FUZZ:%=build/sanitize/replay_%)
	@for target in $(FUZZ); do echo "replay $$target"; build/sanitize/replay_$$target cpp/fuzz/corpus/$$target || exit 1; done

build/sanitize/replay_%: cpp/fuzz/%.cpp cpp/fuzz/replay.cpp $(CPP)
	@mkdir -p $(@D)
	$(CXX) $(SANITIZE) $< cpp/fuzz/replay.cpp -o $@

# New inputs go to build/fuzz, and one that fails, by the name of crash-... What is read in Python is fuzzed there.
SECONDS ?= 900
CLANG ?= clang++
FUZZ_OPTIONS := -max_total_time=$(SECONDS) -timeout=60 -print_final_stats=1 -artifact_prefix=build/fuzz/
fuzz: $(FUZZ:%=build/fuzz/%) $(VENV)/.installed $(VENV)/.test $(VENV)/.fuzz
	@for target in $(FUZZ); do mkdir -p build/fuzz/found_$$target; \
	  build/fuzz/$$target $(FUZZ_OPTIONS) -max_len=4096 build/fuzz/found_$$target cpp/fuzz/corpus/$$target || exit 1; done
	@for target in data models; do mkdir -p build/fuzz/found_$$target; \
	  $(PY) tests/fuzz_files.py $$target $(FUZZ_OPTIONS) -max_len=16384 build/fuzz/found_$$target tests/corpus/$$target || exit 1; done

build/fuzz/%: cpp/fuzz/%.cpp $(CPP)
	@mkdir -p $(@D)
	$(CLANG) $(filter-out -fsanitize=%,$(SANITIZE)) -O2 -fsanitize=fuzzer,address,undefined $< -o $@

# The same under ThreadSanitizer, which takes a minute and is no part of `make test`. __SANITIZE_ADDRESS__ leaves out the
# clones of the dense loops, which are chosen before main, when ThreadSanitizer is not there yet.
TSAN := $(filter-out -fsanitize% -fno-sanitize%,$(SANITIZE)) -fsanitize=thread -D__SANITIZE_ADDRESS__
sanitize-threads: $(CPP)
	@mkdir -p build/sanitize
	$(CXX) $(TSAN) $(CPP_TESTS) -o build/sanitize/threads
	$(CXX) $(TSAN) cpp/tests/canary.cpp -o build/sanitize/threads_canary
	build/sanitize/threads
	@! build/sanitize/threads_canary race 2> build/sanitize/race.txt && grep -q 'data race' build/sanitize/race.txt
	@echo "sanitize-threads: the canary was caught"

# The papers, reproduced (paper/README.md). The systems they compare with are a module of their own, no part of the package.
paper paper-quick: $(VENV)/.installed $(VENV)/.paper paper-native
	OMP_NUM_THREADS=1 OPENBLAS_NUM_THREADS=1 $(PY) paper/run.py $(if $(findstring quick,$@),--quick) $(if $(RESUME),--resume)

PAPER := build/paper/native
paper-native: $(PAPER)/.built

$(PAPER)/.built: $(VENV)/.base paper/CMakeLists.txt $(wildcard paper/native/*) $(wildcard cpp/pegasos/data/*.hpp)
	$(VENV)/bin/cmake -S paper -B $(PAPER) -G Ninja -DCMAKE_CXX_COMPILER="$(lastword $(CXX))" \
	  -DCMAKE_MAKE_PROGRAM=$(abspath $(VENV))/bin/ninja -DPython_EXECUTABLE=$(abspath $(PY)) \
	  -Dnanobind_DIR=$$($(PY) -m nanobind --cmake_dir) $(if $(findstring ccache,$(CXX)),-DCMAKE_CXX_COMPILER_LAUNCHER=ccache)
	$(VENV)/bin/cmake --build $(PAPER)
	@touch $@

docs: $(VENV)/.installed $(VENV)/.docs
	$(PY) docs/site/build.py build/docs

# From a copy, whose README has absolute links. Python 3.11 makes a wheel for itself, a newer one that for 3.12 and newer.
# It is tried in an environment of its own, where PATH leads to no compiler.
WHEEL := build/wheel
wheel: $(VENV)/.base $(VENV)/.wheel
	rm -rf $(WHEEL) && mkdir -p $(WHEEL)/tree dist
	git ls-files -z | tar --null -T - -c | tar -x -C $(WHEEL)/tree
	$(PY) packaging/readme.py absolute $(WHEEL)/tree/README.md
	$(PY) -m build --no-isolation --outdir $(WHEEL)/built $(WHEEL)/tree
	PATH="$(abspath $(VENV))/bin:$$PATH" $(PY) -m auditwheel repair --wheel-dir $(WHEEL)/packages $(WHEEL)/built/*.whl
	cp $(WHEEL)/built/*.tar.gz $(WHEEL)/packages/
	$(PY) -m twine check --strict $(WHEEL)/packages/*
	$(PY) packaging/readme.py check $(WHEEL)/packages/*
	$(PY) -m venv $(WHEEL)/empty
	PATH=$(abspath $(WHEEL))/empty/bin $(WHEEL)/empty/bin/python -m pip --quiet install --only-binary :all: $(WHEEL)/packages/*.whl
	PATH=$(abspath $(WHEEL))/empty/bin $(WHEEL)/empty/bin/python -I packaging/try_installed.py
	cp $(WHEEL)/packages/* dist/
	@ls -l dist

$(VENV)/.base: pyproject.toml
	test -x $(PY) || python3 -m venv $(VENV)
	$(PIP) install --upgrade "pip>=25.1"
	$(PIP) install --group build numpy scipy scikit-learn
	@touch $@

$(VENV)/.demo $(VENV)/.test $(VENV)/.fuzz $(VENV)/.lint $(VENV)/.docs $(VENV)/.paper $(VENV)/.wheel: $(VENV)/.%: $(VENV)/.base
	$(PIP) install --group $*
	@touch $@

$(VENV)/.peers: benchmarks/requirements.txt $(VENV)/.base
	@grep -v '^#' $< | while read peer; do $(PIP) install "$$peer" || echo "$$peer cannot be installed here"; done
	@touch $@

$(VENV)/.installed: $(VENV)/.base $(SOURCES)
	$(PIP) install --no-build-isolation --no-deps .
	@touch $@

clean:
	rm -rf build $(VENV) demo.png
