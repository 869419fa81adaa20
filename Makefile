# The one list of commands. Each works on a fresh Debian or Ubuntu with Python >= 3.11 and make.
SHELL := /bin/bash
.SHELLFLAGS := -euo pipefail -c
.DEFAULT_GOAL := help

VENV := .venv
BIN := $(VENV)/bin
# CI prints where the time goes.
PYTEST := $(BIN)/pytest $(if $(CI),--durations=50 --durations-min=1)
# Tests wait, for processes and for threads, more than half of their time: eight of them keep two cores busy.
WORKERS ?= $(shell echo $$(( $$(getconf _NPROCESSORS_ONLN) * 2 + 4 )))
# A test that hangs says where, and counts as failed, while the others go on.
UNHUNG := -o faulthandler_timeout=900 -o faulthandler_exit_on_timeout=true
SOURCES := $(shell find src -name '*.py' -o -name '*.yaml' 2>/dev/null)
# The dashboard is built where there is Node: tools/dashboard.py.
DASHBOARD := src/trainway/server/dashboard/index.html
DASHBOARD_SOURCES := $(shell find dashboard \( -name node_modules -o -name build \) -prune -o -type f -print 2>/dev/null)

# The test cluster: see test/cluster/README.md.
CLUSTER := PYTHONPATH=test/cluster $(BIN)/python -m cluster
SIZE ?= node
CLUSTER_TESTS ?= test/kubernetes
# What tests get themselves where it is missing: see test/e2e/provisions.py.
PROVISIONS := PYTHONPATH=test/cluster:test/e2e $(BIN)/python test/e2e/provisions.py
# How often `make test-flaky` runs the tests below, which wait for processes, files or connections.
N ?= 20
TIMING_TESTS ?= test/integration test/e2e/faults_test.py test/e2e/store_faults_test.py test/e2e/jobs_test.py \
	test/e2e/run_test.py test/e2e/clusters_test.py test/e2e/sdk_test.py src/trainway/agent src/trainway/backends \
	src/trainway/server src/trainway/sdk
CLUSTER_EXTRAS := helm kueue kwok lws scheduler-plugins scheduler-plugins-controller
# Where tests are that need an engine: see conftest.py.
ENGINE_TESTS := test src/trainway/engine
# Tests on hosts and on clusters wait for more than half of their time.
HOSTS_WORKERS ?= $(shell echo $$(( $$(getconf _NPROCESSORS_ONLN) * 3 / 2 )))
# Each worker has a cluster of its own, of up to 2.5 GB; one that is there already is used by one test at a time.
CLUSTER_WORKERS ?= $(if $(filter existing,$(TRAINWAY_TEST_CLUSTER)),0,4)
# How much garbage Go's programs keep, in percent: an API server takes a gigabyte, and a quarter less of the processor.
CLUSTER_GOGC ?= 400

.PHONY: help install dashboard screenshots demo test test-quick test-engines test-hosts test-stress test-cluster test-flaky conformance fuzz test-environments cluster-programs cluster-up cluster-down lint fmt generate lock bench clean

help: ## list the commands
	@grep -hE '^[a-z-]+:.*## ' Makefile | sed -E 's/^([a-z-]+):.*## (.*)/  make \1\t\2/' | expand -t 20

install: $(VENV)/.compiled $(DASHBOARD) ## create .venv with .venv/bin/trainway, and build the dashboard where there is Node

$(VENV)/.installed: pyproject.toml requirements/dev.txt tools/bootstrap.sh
	@tools/bootstrap.sh $(VENV)
	@touch $@

# Compiled ahead, since containers and CI often forbid Python to write bytecode at import.
$(VENV)/.compiled: $(VENV)/.installed $(SOURCES)
	@$(BIN)/python -m compileall -q src
	@touch $@

$(DASHBOARD): $(DASHBOARD_SOURCES) | $(VENV)/.installed
	@$(BIN)/python tools/dashboard.py build

dashboard: $(VENV)/.installed ## build the dashboard anew
	@$(BIN)/python tools/dashboard.py build

screenshots: install ## save pictures of every page of the dashboard, light, dark and on a phone; needs Chromium
	@PYTHONPATH=test/e2e $(BIN)/python tools/screenshots.py

demo: install ## train a small torch job on two nodes of this machine
	@$(BIN)/python tools/demo.py

test: install ## run all tests that need only Python and this machine
	@$(BIN)/python tools/dashboard.py test
	@$(PYTEST) --processes $(WORKERS) $(UNHUNG) -m "not engine"
	@$(BIN)/python tools/quick_tests.py --passed

test-quick: install ## run the tests of the pure packages, and those of what changed since `make test` passed
	@$(BIN)/python tools/quick_tests.py | xargs $(PYTEST) --processes $(WORKERS) $(UNHUNG) -m "not engine" -q

test-engines: test-hosts test-cluster ## run the tests on everything real: hosts, Slurm, databases, torch, Kubernetes

test-hosts: install ## run the tests on SSH hosts, Slurm, PostgreSQL, torch, images and in a browser; needs root
	@$(PYTEST) -n $(HOSTS_WORKERS) --dist loadgroup -m "engine and not conformance and not stress" \
		--ignore test/kubernetes $(ENGINE_TESTS)

test-stress: install ## run the tests with hundreds of jobs and dozens of kills, where the others have a few
	@$(PYTEST) -n auto --dist loadgroup -m stress

conformance: install ## run every recorded JobSet and MPIJob on the agent, SSH, Slurm and Kubernetes; needs what test-engines does
	@$(PYTEST) -n auto --dist loadgroup test/integration/agent_conformance_test.py test/e2e/ssh_conformance_test.py \
		test/e2e/slurm_conformance_test.py test/e2e/conformance_test.py
	@GOGC=$(CLUSTER_GOGC) $(PYTEST) -n $(CLUSTER_WORKERS) --dist loadgroup --no-loadscope-reorder \
		test/kubernetes/node/jobset_conformance_test.py test/kubernetes/node/mpijob_conformance_test.py

test-cluster: install ## run the tests on Kubernetes, with pods; needs root, Go and Debian's containerd
	@! command -v go >/dev/null || $(CLUSTER) build node $(CLUSTER_EXTRAS) || true
	@GOGC=$(CLUSTER_GOGC) $(PYTEST) -n $(CLUSTER_WORKERS) --dist loadgroup --no-loadscope-reorder $(CLUSTER_TESTS)

fuzz: install ## run the property tests with many examples
	@$(PYTEST) -n auto --hypothesis-profile=many -m "hypothesis and not engine" src test/e2e

test-flaky: install ## repeat the timing-sensitive tests N times, half of them on a busy machine
	@$(BIN)/python tools/repeat_tests.py --times $(N) $(TIMING_TESTS)

test-environments: install ## fetch all that tests install on first use: torch and its like, an emulator
	@$(PROVISIONS) environments

cluster-programs: install ## build all that the tests on S3, Kubernetes and Slurm run; what is built already stays
	@$(PROVISIONS) programs || true # the tests that need them say what is missing
	@$(CLUSTER) build apptainer || true # first, since the tests on Slurm wait for it, and say what is missing
	@$(CLUSTER) build api
	@$(CLUSTER) build node $(CLUSTER_EXTRAS) operator-image initializer-images

cluster-up: install ## start a Kubernetes on this machine that stays (SIZE=api: only its API server)
	@$(CLUSTER) up --size $(SIZE)

cluster-down: install ## remove what cluster-up started
	@$(CLUSTER) down

lint: install ## style, types, layers, and generated files that are not up to date
	@$(BIN)/ruff check .
	@$(BIN)/ruff format --check .
	@$(BIN)/mypy
	@$(BIN)/lint-imports
	@$(BIN)/python tools/generate.py --check
	@$(BIN)/python tools/dashboard.py lint

fmt: install ## format and fix what can be fixed
	@$(BIN)/python tools/dashboard.py format
	@$(BIN)/ruff format .
	@$(BIN)/ruff check --fix .

generate: install ## write manifests/, parts of charts/ and the stored help text from the code
	@$(BIN)/python tools/generate.py

lock: install ## pin the dependencies of development and of the image anew
	@$(BIN)/uv pip compile -q --universal --python-version 3.11 --extra dev --generate-hashes --no-emit-index-url --no-header \
		--upgrade -o requirements/dev.txt pyproject.toml
	@$(BIN)/uv pip compile -q --universal --python-version 3.11 --extra kubernetes --generate-hashes --no-emit-index-url \
		--no-header --constraint requirements/dev.txt --no-annotate -o requirements/operator.txt pyproject.toml
	@$(BIN)/uv pip compile -q --universal --python-version 3.11 --extra kubernetes --extra data --generate-hashes --no-emit-index-url \
		--no-header --constraint requirements/dev.txt --no-annotate -o requirements/initializer.txt pyproject.toml

bench: install ## print what start-up, compilation and running cost
	@$(BIN)/python benchmarks/run.py
	@$(BIN)/python benchmarks/local.py
	@$(BIN)/python benchmarks/attack.py
	@$(BIN)/python benchmarks/managed.py
	@$(BIN)/python benchmarks/clusters.py
	@$(BIN)/python benchmarks/pools.py
	@$(BIN)/python benchmarks/clouds.py kills launches status
	@$(BIN)/python benchmarks/metrics.py sqlite list
	@$(BIN)/python benchmarks/sampling.py
	@$(BIN)/python benchmarks/cache.py
	@$(BIN)/python benchmarks/deadline.py $(if $(wildcard ../shared/data/spot-traces),,random)
	@$(BIN)/python benchmarks/tune.py # installs torch once (5 GB)
	@[ "$$(id -u)" -ne 0 ] || $(BIN)/python benchmarks/ssh.py # needs network namespaces
	@[ "$$(id -u)" -ne 0 ] || ! command -v mpicc >/dev/null || $(BIN)/python benchmarks/mpi.py
	@[ "$$(id -u)" -ne 0 ] || $(BIN)/python benchmarks/recovery.py
	@[ "$$(id -u)" -ne 0 ] || ! command -v slurmctld >/dev/null || $(BIN)/python benchmarks/slurm.py

clean: ## remove everything that was built
	@rm -rf $(VENV) dist build .pytest_cache .mypy_cache .ruff_cache .hypothesis .import_linter_cache \
		dashboard/node_modules dashboard/build src/trainway/server/dashboard
	@find src test tools benchmarks -name __pycache__ -type d -prune -exec rm -rf {} + 2>/dev/null || true
