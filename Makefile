# Everything a contributor runs; `make` alone lists it. Tools live in the active virtual environment, or in .venv, which
# is made and filled when it is first needed. Settings of the build come from the environment or the command line:
# CC, MAX_JOBS, MY_OPS_CUDA=AUTO|ON|OFF, TORCH_CUDA_ARCH_LIST, CUDA_HOME, CUDACXX, CUDAHOSTCXX.

PYTHON ?= python3
# Make takes paths apart at spaces, the shell does not: both folders may be called `my project (1)`.
export VENV := $(or $(VIRTUAL_ENV),$(CURDIR)/.venv)
BIN := "$$VENV"/bin
RUN := PYTHONPATH="$$PWD"/generated $(BIN)/python
C_FILES = $(shell find csrc tests/conformance/csrc -type f ! -name '*.py')   # generated C is formatted by its templates
ARGS ?=

.PHONY: help demo build generate check test test-gpu bench lint format strict cross wheel wheel-check wheel-report test-matrix doctor clean tools dev-tools

help: ## this list
	@sed -n 's/^\([a-z-]*\):.*## /\1\t/p' Makefile | expand -t 14

demo: build ## train a small language model with my_ops.rms_norm and with PyTorch's (ARGS="--device cuda")
	@$(RUN) examples/train_lm.py $(ARGS)

build: tools ## build in place, for this machine only
	@VIRTUAL_ENV="$$VENV" CMAKE=$(BIN)/cmake NINJA=$(BIN)/ninja sh cmake/dev_build.sh

generate: tools ## write generated/ from ops.yaml
	@$(BIN)/python -m codegen generate

check: tools ## is generated/ what the generator would write, docs/performance.md what was measured?
	@$(BIN)/python -m codegen check
	@$(BIN)/python -m benchmarks.performance --check

test: build ## all tests, a process for each core (ARGS="-k rms_norm", ARGS="-n 0" for one process)
	@$(RUN) -m pytest -n logical --maxprocesses 8 $(ARGS)

test-gpu: build ## those that run on a GPU, there; what needs two GPUs only where they are
	@$(RUN) -m pytest --device cuda -n logical --maxprocesses 28 $(ARGS)

bench: build ## the table of benchmarks/
	@$(RUN) -m benchmarks $(ARGS)

lint: dev-tools ## style and types
	@$(BIN)/ruff check .
	@$(BIN)/ruff format --check .
	@$(BIN)/clang-format --dry-run -Werror $(C_FILES)
	@$(BIN)/mypy

format: dev-tools ## rewrite Python and C in the project's style
	@$(BIN)/ruff check --fix-only --quiet .
	@$(BIN)/ruff format .
	@$(BIN)/clang-format -i $(C_FILES)

# Every level of every CPU unit, warnings as errors; CC is not asked.
STRICT = $(BIN)/cmake -S . -B build/$@ -G Ninja -DCMAKE_MAKE_PROGRAM=$(BIN)/ninja -DOPS_WERROR=ON -DMY_OPS_CUDA=OFF
strict: strict-gcc strict-clang ## compile host C and CPU bodies under gcc and clang, warnings as errors
strict-gcc strict-clang: strict-%: tools
	@$(STRICT) -DCMAKE_C_COMPILER=$* --log-level=WARNING
	@$(BIN)/ninja -C build/$@ --quiet -k 0
	@echo "$@: no warnings"

cross: tools ## the same for aarch64
	@$(STRICT) -DCMAKE_C_COMPILER=aarch64-linux-gnu-gcc -DCMAKE_SYSTEM_NAME=Linux -DCMAKE_SYSTEM_PROCESSOR=aarch64 --log-level=WARNING
	@$(BIN)/ninja -C build/$@ --quiet -k 0
	@echo "$@: no warnings"

wheel: tools ## build/wheel: an sdist, and of it a wheel, where there is no torch
	@$(BIN)/python -m tests.wheel build

wheel-check: dev-tools ## the same; is it what is promised, does it work in another virtual environment?
	@$(BIN)/python -m tests.wheel check

wheel-report: tools ## how large the wheel is, and its parts
	@$(BIN)/python -m tests.wheel report

# PyPI's builds of PyTorch for CUDA take minutes to install, and the environments in build/ gigabytes.
TORCH ?= 2.10.0 2.13.0 2.14.1
test-matrix: tools ## one wheel under several versions of PyTorch (TORCH="2.10.0@python3.12", ARGS="generated/tests -k rope")
	@$(BIN)/python -m tests.wheel matrix "$(TORCH)" $(if $(WHEEL),--wheel "$(WHEEL)") $(ARGS)

doctor: ## what is missing on this machine, and the command that mends it
	@python=$(BIN)/python; [ -x "$$python" ] || python=$(PYTHON); "$$python" -m codegen doctor $(ARGS)

clean: ## remove what was built; .venv stays
	rm -rf build dist *.egg-info .mypy_cache .pytest_cache .ruff_cache .hypothesis generated/my_ops/*.so
	find generated -type l -delete
	find benchmarks codegen generated python tests examples -name __pycache__ -prune -exec rm -rf {} +

# ---- Tools. A stamp inside the environment: it goes when the environment goes. What is only half made is made again.
tools:
	@[ -x $(BIN)/python ] || { \
	  $(PYTHON) -c 'import sys; sys.exit(sys.version_info < (3, 10))' || { echo "$(PYTHON) is older than 3.10: set PYTHON"; exit 1; }; \
	  echo "Making $$VENV"; $(PYTHON) -m venv "$$VENV" || { rm -f $(BIN)/python; exit 1; }; }
	@$(call installed,requirements)

dev-tools: tools
	@$(call installed,requirements-dev)

STAMP = "$$VENV"/.my_ops-$(1)
installed = [ $(STAMP) -nt $(1).txt ] || { \
	  echo "Installing $(1).txt into $$VENV"; \
	  $(BIN)/python -m pip install --quiet --disable-pip-version-check -r $(1).txt && touch $(STAMP); }
