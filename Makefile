# Everything sets itself up: python3, a C++ compiler and make are all a machine needs, and the network only once.
VENV ?= .venv
PY := $(VENV)/bin/python
PIP := $(PY) -m pip --disable-pip-version-check --quiet
SOURCES := $(shell find cpp src -name '*.[ch]pp' -o -name '*.py') CMakeLists.txt README.md cpp/pegasos/solve.cpp.in
CPP := $(shell find cpp -name '*.[ch]pp')
WARN := -Wall -Wextra -Wconversion
SANITIZE := -std=c++20 -g -O1 -ffp-contract=off -fsanitize=address,undefined -fno-sanitize-recover=all \
  -fno-omit-frame-pointer $(WARN) -pthread -Icpp
CPP_TESTS := $(wildcard cpp/tests/*_test.cpp) cpp/tests/main.cpp
JOBS := $(shell nproc 2>/dev/null || echo 2)

.PHONY: help demo examples test test-oldest campaign lint style warnings format unit sanitize sanitize-threads bench bench-peers \
  bench-everyday picture clean

help:
	@echo "make demo      set up, train on generated text, compare with scikit-learn, save demo.png"
	@echo "make examples  draw the pictures of docs/variants.md and docs/losses.md again"
	@echo "make test      set up, lint, sanitized core tests, the whole test suite"
	@echo "make test-oldest   the same with the oldest versions that pyproject.toml declares, as far as they matter"
	@echo "make campaign N=10000   so many random fits, linear and kernel, against independent optima in long double"
	@echo "make bench-peers   install the peers, measure against them (about 25 minutes)"
	@echo "make bench-everyday   a course of ordinary inputs against scikit-learn (about 20 minutes)"
	@echo "make lint      style and types, and the core's tests compiled with every warning an error"
	@echo "make unit | sanitize | sanitize-threads | format | bench | picture | clean"

demo: $(VENV)/.installed $(VENV)/.demo
	$(PY) examples/demo.py

examples: $(VENV)/.installed $(VENV)/.demo
	@for script in examples/plot_*.py; do $(PY) $$script || exit 1; done

test: style sanitize unit

unit: $(VENV)/.installed $(VENV)/.test
	$(PY) -m pytest

N ?= 10000
campaign: $(VENV)/.installed $(VENV)/.test
	$(PY) tests/claims/linear_campaign.py $(N)
	$(PY) tests/claims/kernel_campaign.py $(N)

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

warnings: $(CPP_TESTS:cpp/tests/%.cpp=build/warnings/%.ok)

build/warnings/%.ok: cpp/tests/%.cpp $(CPP)
	@mkdir -p $(@D)
	$(CXX) -std=c++20 -O2 $(WARN) -Werror -pthread -Icpp -c $< -o /dev/null
	@touch $@

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

# The peers are nobody's dependency: where one of them cannot be installed, its contests are skipped and say so.
bench-peers: $(VENV)/.peers bench

bench-everyday: $(VENV)/.installed
	$(PY) benchmarks/everyday.py

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
	@$(MAKE) --no-print-directory -j $(JOBS) $(CPP_TESTS:cpp/tests/%.cpp=build/sanitize/%.o)
	$(CXX) $(SANITIZE) $(CPP_TESTS:cpp/tests/%.cpp=build/sanitize/%.o) -o $@

build/sanitize/%.o: cpp/tests/%.cpp $(CPP)
	@mkdir -p $(@D)
	$(CXX) $(SANITIZE) -c $< -o $@

build/sanitize/canary: cpp/tests/canary.cpp
	@mkdir -p $(@D)
	$(CXX) $(SANITIZE) $< -o $@

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

$(VENV)/.base: pyproject.toml
	test -x $(PY) || python3 -m venv $(VENV)
	$(PIP) install --upgrade "pip>=25.1"
	$(PIP) install --group build numpy scipy scikit-learn
	@touch $@

$(VENV)/.demo $(VENV)/.test $(VENV)/.lint: $(VENV)/.%: $(VENV)/.base
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
