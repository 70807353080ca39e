# The commands of the README and of CONTRIBUTING.md. All of them share one environment, .venv.
#
# The package is installed there, compiled where a C compiler is found; PYTHONPATH=src puts the plain
# sources in front of it. So one environment tests both builds.
#
#   make PYTHON=python3.13 ...       the Python to make .venv with (after `make clean`)
#   make test ARGS="-k law_3"        further arguments for pytest (or for the benchmarks)
#   UNSPOOL_PURE=1 make ...          install without compiling
#   UNSPOOL_REQUIRE_COMPILED=1 make ...    fail where compiling fails, instead of installing the plain modules

VENV    := .venv
BIN     := $(VENV)/bin
PIP     := $(BIN)/python -m pip -qq --disable-pip-version-check
PYTEST  := $(BIN)/python -m pytest -q -n 2 --dist worksteal
PYTHON  ?= python3.11 python3 python3.12 python3.13 python3.14 python
ARGS    ?=
ONLY    ?=
SECONDS ?= 60

WITHOUT_PEERS := --ignore=tests/peers

# What the compiled package is made of.
SOURCES := $(shell find src -type f -not -name '*.pyc') $(wildcard build_tools/*.py) setup.py pyproject.toml
PLAYGROUND := $(wildcard build_tools/playground/*.* build_tools/playground/page/*)

# The tests of the core that need no package but the test runner.
FAST := $(filter-out tests/test_fuzz.py tests/test_public.py,$(wildcard tests/test_*.py))
FAST += tests/grammar tests/tree tests/text tests/chunker
FAST += $(filter-out %_json_schema_laws.py %_laws_llm.py %_laws_relay.py %_laws_typed.py,$(wildcard tests/laws/test_*.py))

# These modules must have full branch coverage.
COVERED := src/unspool/_grammar/*,src/unspool/_errors.py,src/unspool/_events.py,src/unspool/_state.py
COVERED := $(COVERED),src/unspool/_path.py,src/unspool/_quoting.py,src/unspool/select.py

unexport PYTHONPATH
# pytest keeps its bytecode of the tests for the next run, whatever the user prefers elsewhere: compiling it again takes
# each worker ten seconds.
unexport PYTHONDONTWRITEBYTECODE
.NOTPARALLEL:
.DELETE_ON_ERROR:
MAKEFLAGS += --no-print-directory

.PHONY: help demo demo-relay studio pictures install test test-fast test-compiled test-pure test-peers test-long test-chaos test-fleet test-all check coverage mutation fuzz bench bench-check bench-relay docs
.PHONY: playground test-playground test-sanitized lock dist dist-check test-dist sbom clean

help:
	@echo "make demo           watch a recorded answer grow, then see when each field became usable; compiles nothing"
	@echo "make studio         the same and more in the browser; compiles nothing"
	@echo "make demo-relay     a chat whose answers survive the kill of their worker; compiles nothing"
	@echo "make install        compile the package and install it into .venv; one to three minutes"
	@echo "make test           the tests, on the compiled build and on the plain sources"
	@echo "make test-fast      the tests of the core, on one build, in less than a minute; compiles nothing"
	@echo "make test-compiled  the tests, on the compiled build"
	@echo "make test-pure      the tests, on the plain sources"
	@echo "make test-peers     the tests that compare with exact versions of other libraries, on both builds"
	@echo "make test-long      all tests with many more examples, and the tests that take minutes"
	@echo "make test-chaos     kill workers, followers and Redis at random, and see that nothing is lost; two minutes"
	@echo "make test-fleet     10,000 streams over four worker processes, with a kill every second"
	@echo "make test-all       both builds on every Python from 3.11 up that is found (nox)"
	@echo "make check          ruff, mypy, basedpyright"
	@echo "make coverage       branch coverage; the core must have all of it"
	@echo "make mutation       mutation testing of the core (mutmut)"
	@echo "make fuzz           fuzzing for SECONDS=$(SECONDS)"
	@echo "make bench          the benchmarks, next to the peers"
	@echo "make bench-check    the same; fails where a goal is missed"
	@echo "make bench-relay    the benchmarks of the relay, next to its peers (needs redis-server and Node)"
	@echo "make docs           the documentation, into site/"
	@echo "make pictures       the pictures of the README and the documentation, from real runs, into docs/pictures/"
	@echo "make playground     the studio as a static folder, into playground/: Python runs in the browser (needs npm)"
	@echo "make test-playground build it, and test it in Chromium; then the tests of the core on that Python (needs Node)"
	@echo "make test-sanitized the tests of the core on a build with the address and undefined-behaviour sanitizers"
	@echo "make dist           the published files, into dist/, built with locked tools"
	@echo "make dist-check     build them twice, in two folders, and compare"
	@echo "make test-dist      install the wheel of make dist in a new environment and run the tests of the source archive"
	@echo "make sbom           the software bill of materials, dist/sbom.json"
	@echo "make lock           resolve the build tools into build_tools/locked/*.txt"
	@echo "make clean          remove .venv and everything made"

# ---- the environment: a stamp for each thing that is in it ------------------------------------------

STAMP_PYTHON    := $(VENV)/.stamp-python
STAMP_PIP       := $(VENV)/.stamp-pip
STAMP_GROUP     := $(VENV)/.stamp-group-
TESTING         := $(STAMP_GROUP)test
PEERS           := $(STAMP_GROUP)peers $(STAMP_GROUP)instructor $(STAMP_GROUP)litellm
BENCHING        := $(STAMP_GROUP)bench $(STAMP_GROUP)instructor $(STAMP_GROUP)litellm
STAMP_INSTALLED := $(VENV)/.stamp-installed-$(if $(filter-out 0,$(UNSPOOL_PURE)),pure,default)

$(STAMP_PYTHON):
	@for python in $(PYTHON); do \
	    if $$python -c 'import sys; sys.exit(sys.version_info < (3, 11))' 2>/dev/null; then \
	        echo "Creating $(VENV) with $$($$python --version)"; \
	        $$python -m venv --clear $(VENV) && touch $@; \
	        exit; \
	    fi; \
	done; \
	echo "unspool needs Python 3.11 or newer; tried: $(PYTHON)."; \
	echo "Name one yourself: make PYTHON=/path/to/python ..."; \
	exit 1

# Older ones know no groups.
$(STAMP_PIP): | $(STAMP_PYTHON)
	@$(PIP) install --upgrade 'pip>=25.1'
	@touch $@

# What `make demo` needs, as fast as possible: with the pip that is there, and without compiling what is not imported.
CLI = import tomllib; print(*tomllib.load(open("pyproject.toml", "rb"))["dependency-groups"]["cli"])
$(STAMP_GROUP)cli: pyproject.toml | $(STAMP_PYTHON)
	@echo "Installing what the command needs (rich, typer)"
	@$(PIP) install --no-compile $$($(BIN)/python -c '$(CLI)')
	@touch $@

# The groups that are installed without their dependencies; see pyproject.toml.
$(STAMP_GROUP)instructor: pyproject.toml | $(STAMP_PIP)
	@echo "Installing instructor"
	@$(PIP) install --no-deps --group instructor
	@touch $@

$(STAMP_GROUP)litellm: pyproject.toml | $(STAMP_PIP)
	@echo "Installing litellm, in a folder of its own"
	@rm -rf $(VENV)/litellm
	@$(PIP) install --no-deps --target $(VENV)/litellm --group litellm
	@touch $@

$(STAMP_GROUP)%: pyproject.toml | $(STAMP_PIP)
	@echo "Installing the packages of '$*'"
	@$(PIP) install --group $*
	@touch $@

# build/ is removed first: files that an earlier build left there would be installed, too.
$(STAMP_INSTALLED): $(SOURCES) | $(STAMP_PIP)
	@echo "Installing unspool into $(VENV): compiling its hot modules to C takes one to three minutes"
	@rm -rf build $(VENV)/.stamp-installed-*
	@begin=$$(date +%s); $(PIP) install --no-deps --force-reinstall . && \
	    echo "Installed after $$(($$(date +%s) - begin)) seconds; the next run compiles only if the sources have changed"
	@touch $@

# True when the installed package is the compiled one; a package that cannot be imported stops make.
IF_COMPILED = compiled=$$($(BIN)/python -c 'import unspool; print(unspool.COMPILED)') || exit 1; \
	if [ "$$compiled" = True ]

define NOT_COMPILED
echo "No compiled build: UNSPOOL_PURE is set, or there is no working C compiler (gcc or clang, and the headers"; \
echo "of Python). '$(BIN)/pip install -v .' shows what happened; 'make clean' starts anew."
endef

# ---- the commands of the README ---------------------------------------------------------------------

# Both run the plain sources: a first look should not wait for a compiler.
PLAIN := PYTHONPATH=$(CURDIR)/src $(BIN)/python -m unspool

demo: $(STAMP_GROUP)cli
	@$(PLAIN) watch sample:trip
	@$(PLAIN) profile --depth 1 sample:trip

studio: $(STAMP_GROUP)studio
	@$(PLAIN) studio $(ARGS)

demo-relay: $(STAMP_GROUP)demo
	@PYTHONPATH=$(CURDIR)/src $(BIN)/python examples/chat_app $(ARGS)

install: $(STAMP_INSTALLED)

# Both builds run the same tests, with few random examples, so that it takes a few minutes. The second run has even fewer
# examples and leaves out the code that is never compiled (the marker `either`). .ci/run tries more, and runs those, too.
test: $(STAMP_INSTALLED) $(TESTING)
	@$(IF_COMPILED); then \
	    HYPOTHESIS_PROFILE=$${HYPOTHESIS_PROFILE:-quick} $(MAKE) test-compiled && \
	    HYPOTHESIS_PROFILE=$${HYPOTHESIS_PROFILE:-brief} $(MAKE) test-pure ONLY="not long and not either"; \
	elif [ "$${UNSPOOL_REQUIRE_COMPILED:-0}" != 0 ]; then \
	    $(NOT_COMPILED); exit 1; \
	else \
	    $(NOT_COMPILED); \
	    echo "== Tests: the installed package, which is the plain one"; \
	    UNSPOOL_EXPECT=pure $(PYTEST) $(WITHOUT_PEERS) $(ARGS); \
	fi

# ---- the commands for working on it -----------------------------------------------------------------

# The compiled build if it is installed and newer than the sources, otherwise the plain sources.
test-fast: export HYPOTHESIS_PROFILE := $(or $(HYPOTHESIS_PROFILE),brief)
test-fast: $(STAMP_GROUP)fast
	@if $(MAKE) -q $(STAMP_INSTALLED) && $(BIN)/python -c 'import sys, unspool; sys.exit(not unspool.COMPILED)'; then \
	    echo "== Fast tests: the compiled build"; \
	    UNSPOOL_EXPECT=compiled $(PYTEST) $(FAST) $(ARGS); \
	else \
	    echo "== Fast tests: the plain sources"; \
	    UNSPOOL_EXPECT=pure PYTHONPATH=$(CURDIR)/src $(PYTEST) $(FAST) $(ARGS); \
	fi

# One worker more than there are cores: many of these tests wait, for a process or a page.
test-compiled: $(STAMP_INSTALLED) $(TESTING)
	@$(IF_COMPILED); then :; else $(NOT_COMPILED); exit 1; fi
	@echo "== Tests: the compiled build"
	@UNSPOOL_EXPECT=compiled $(PYTEST) -n 3 $(WITHOUT_PEERS) $(ARGS)

test-pure: $(TESTING)
	@echo "== Tests: the plain sources"
	@UNSPOOL_EXPECT=pure PYTHONPATH=$(CURDIR)/src $(PYTEST) $(WITHOUT_PEERS) $(if $(ONLY),-m "$(ONLY)") $(ARGS)

# `make test` leaves these out, because they fail with any other version of a peer.
test-peers: export HYPOTHESIS_PROFILE := $(or $(HYPOTHESIS_PROFILE),quick)
test-peers: $(STAMP_INSTALLED) $(PEERS)
	@$(IF_COMPILED); then \
	    echo "== Tests beside the peers: the compiled build"; \
	    UNSPOOL_EXPECT=compiled $(PYTEST) tests/peers $(ARGS) || exit 1; \
	elif [ "$${UNSPOOL_REQUIRE_COMPILED:-0}" != 0 ]; then \
	    $(NOT_COMPILED); exit 1; \
	fi
	@echo "== Tests beside the peers: the plain sources"
	@UNSPOOL_EXPECT=pure PYTHONPATH=$(CURDIR)/src $(PYTEST) tests/peers $(ARGS)

test-long: $(STAMP_INSTALLED) $(TESTING) $(PEERS) $(STAMP_GROUP)docs
	@$(IF_COMPILED); then expect=compiled; else expect=pure; fi; \
	echo "== Long tests: the installed package ($$expect)"; \
	HYPOTHESIS_PROFILE=long UNSPOOL_EXPECT=$$expect $(PYTEST) -m "long or not long" $(ARGS)

test-chaos: $(STAMP_INSTALLED) $(TESTING)
	@$(BIN)/python -m pytest -q -rA -n 2 -m long tests/relay/test_chaos.py $(ARGS)

test-fleet: $(STAMP_INSTALLED) $(TESTING)
	@$(BIN)/python -m pytest -q -s -m long tests/relay/test_fleet.py $(ARGS)

test-all: $(STAMP_GROUP)nox
	@$(BIN)/nox $(ARGS)

check: $(STAMP_GROUP)check
	@echo "== ruff check";   $(BIN)/ruff check --quiet --output-format=concise .
	@echo "== ruff format";  $(BIN)/ruff format --quiet --check .
	@echo "== mypy";         $(BIN)/mypy --no-error-summary
	@echo "== basedpyright"; $(BIN)/basedpyright

coverage: $(TESTING) $(PEERS)
	@rm -f .coverage .coverage.*
	@UNSPOOL_EXPECT=pure PYTHONPATH=$(CURDIR)/src $(BIN)/coverage run -m pytest -q -n 2 $(ARGS)
	@$(BIN)/coverage combine --quiet
	@echo "== Everything";  $(BIN)/coverage report
	@echo "== The core, which must be at 100 %"
	@$(BIN)/coverage report --include='$(COVERED)' --fail-under=100

mutation: $(STAMP_GROUP)mutation
	@UNSPOOL_EXPECT=pure $(BIN)/mutmut run $(ARGS)
	@$(BIN)/mutmut results

fuzz: $(STAMP_INSTALLED) $(STAMP_GROUP)fuzz
	@$(BIN)/python tests/fuzz/run.py --seconds $(SECONDS) $(ARGS)

bench: $(STAMP_INSTALLED) $(BENCHING)
	@$(BIN)/python -m bench $(ARGS)

bench-check: $(STAMP_INSTALLED) $(BENCHING)
	@$(BIN)/python -m bench --check $(ARGS)

bench-relay: $(STAMP_INSTALLED) $(STAMP_GROUP)bench-relay
	@$(BIN)/python -m bench.relay $(ARGS)

pictures: $(TESTING)
	@PYTHONPATH=$(CURDIR)/src $(BIN)/python -m build_tools.pictures

docs: $(STAMP_GROUP)docs
	@NO_MKDOCS_2_WARNING=1 $(BIN)/mkdocs --quiet build --strict
	@if [ -f playground/index.html ]; then cp -r playground/. site/playground/; fi
	@echo "The documentation is in site/"

# ---- the playground -----------------------------------------------------------------------------------

# The page is made of the studio's files, and Pyodide comes from npm by name, in a temporary folder.
playground: playground/manifest.json
	@echo "The playground is in playground/; to see it: $(BIN)/python -m http.server --bind 127.0.0.1 -d playground"

playground/manifest.json: $(SOURCES) $(PLAYGROUND) | $(STAMP_PYTHON)
	@echo "Building the playground (Pyodide is 14 MB)"
	@$(BIN)/python -m build_tools.playground playground

test-playground: playground/manifest.json $(TESTING)
	@echo "== The playground in Chromium"
	@UNSPOOL_EXPECT=pure PYTHONPATH=$(CURDIR)/src $(BIN)/python -m pytest -q tests/tools/test_playground.py $(ARGS)
	@echo "== Tests: the core, on the Python of the playground"
	@$(BIN)/python -m build_tools.playground.core_tests $(FAST)

# ---- the published files ----------------------------------------------------------------------------

# A new environment with exactly the packages of build_tools/locked/, each with its hash.
RELEASE       := $(VENV)/release
STAMP_RELEASE := $(VENV)/.stamp-release
export SOURCE_DATE_EPOCH ?= $(shell git log -1 --format=%ct 2>/dev/null || echo 315532800)

$(STAMP_RELEASE): build_tools/locked/build.txt build_tools/locked/release.txt | $(STAMP_PYTHON)
	@echo "Installing the locked build tools"
	@$(BIN)/python -m venv --clear $(RELEASE)
	@$(RELEASE)/bin/python -m pip -qq --disable-pip-version-check install --require-hashes \
	    -r build_tools/locked/build.txt -r build_tools/locked/release.txt
	@touch $@

lock: $(STAMP_GROUP)lock
	@for name in build release; do \
	    $(BIN)/uv pip compile --quiet --upgrade --universal --python-version 3.11 --generate-hashes --no-annotate \
	        --no-header --no-emit-index-url build_tools/locked/$$name.in -o build_tools/locked/$$name.txt || exit 1; \
	done

# The wheel is built from the source distribution. Both depend on the files and on SOURCE_DATE_EPOCH alone.
dist: $(STAMP_RELEASE)
	@rm -rf build dist
	@echo "Building dist/ (compiling takes a minute or two)"
	@umask 022 && UNSPOOL_REQUIRE_COMPILED=1 $(RELEASE)/bin/python -m build --no-isolation . > /dev/null
	@$(RELEASE)/bin/python -m twine check --strict dist/*

dist-check: $(STAMP_RELEASE)
	@BIN=$(abspath $(RELEASE)/bin) build_tools/build_twice

test-dist: dist $(TESTING)
	@rm -rf $(VENV)/dist build/tests && mkdir -p build/tests
	@$(BIN)/python -m venv $(VENV)/dist
	@$(VENV)/dist/bin/python -m pip -qq install --upgrade 'pip>=25.1'
	@$(VENV)/dist/bin/python -m pip -qq install --group test
	@$(VENV)/dist/bin/python -m pip -qq install --no-deps dist/*.whl
	@tar -xzf dist/*.tar.gz -C build/tests --strip-components 1
	@cd build/tests && HYPOTHESIS_PROFILE=$${HYPOTHESIS_PROFILE:-quick} UNSPOOL_EXPECT=compiled \
	    $(abspath $(VENV))/dist/bin/python -m pytest -q -n 2 --dist worksteal $(WITHOUT_PEERS) $(ARGS)

# What a user gets with all extras: the package and everything below it.
sbom: dist
	@rm -rf $(VENV)/sbom
	@$(BIN)/python -m venv --without-pip $(VENV)/sbom
	@wheel=$$(echo dist/*.whl) && $(BIN)/python -m pip -qq --python $(VENV)/sbom/bin/python install \
	    "unspool[pydantic,msgspec,jsonschema,cli,studio,redis,relay] @ file://$(CURDIR)/$$wheel"
	@$(RELEASE)/bin/cyclonedx-py environment --output-reproducible --pyproject pyproject.toml \
	    --output-file dist/sbom.json $(VENV)/sbom/bin/python
	@echo "The bill of materials is dist/sbom.json"

# ---- memory errors in the generated C ---------------------------------------------------------------

# The sanitizers must be loaded before Python. Python itself leaks on exit by design, so leaks are not looked for.
SANITIZED := build/sanitized

test-sanitized: $(STAMP_GROUP)fast $(STAMP_RELEASE)
	@echo "Building with the sanitizers (this takes some minutes)"
	@rm -rf build
	@UNSPOOL_REQUIRE_COMPILED=1 UNSPOOL_SANITIZE=1 \
	    $(RELEASE)/bin/python -m pip -qq install --no-deps --no-build-isolation --target $(SANITIZED) .
	@echo "== Fast tests: the build with the sanitizers"
	@LD_PRELOAD="$$(gcc -print-file-name=libasan.so) $$(gcc -print-file-name=libubsan.so)" \
	    ASAN_OPTIONS=detect_leaks=0 UBSAN_OPTIONS=print_stacktrace=1 PYTHONMALLOC=malloc \
	    HYPOTHESIS_PROFILE=brief UNSPOOL_EXPECT=compiled PYTHONPATH=$(abspath $(SANITIZED)) $(PYTEST) $(FAST) $(ARGS)

clean:
	rm -rf $(VENV) build dist site playground mutants .nox .coverage .coverage.* .hypothesis
	rm -rf .mypy_cache .pytest_cache .ruff_cache
	find src tests bench build_tools examples -name __pycache__ -type d -prune -exec rm -rf {} + 2>/dev/null || true
