# Two commands for a fresh Debian or Ubuntu with Python and git: `make demo` and `make test`.
.PHONY: demo test test-full bench lint format golden fuzz clean

PY := .venv/bin/python
# tests run in two processes: this is what a small machine has, and the builds inside them use the rest
PYTEST := $(PY) -m pytest -n 2 --dist worksteal -q
DEADLINE ?=
# for each reader
FUZZ_SECONDS ?= 600

demo: ; @tools/setup.sh demo && $(PY) examples/digits/run.py

test: .setup lint
	$(PYTEST) -m "not slow"

test-full: .setup
	$(PYTEST) -m slow $(if $(DEADLINE),--deadline $(DEADLINE))

bench: .setup
	$(PY) -m tinydeploy bench --write docs/benchmarks.md

lint: .setup
	$(PY) -m ruff check .
	$(PY) -m ruff format --check .
	$(PY) -m mypy
	.venv/bin/lint-imports
	.venv/bin/clang-format --dry-run --Werror runtime_c/include/*.h runtime_c/src/*.c boards/common/*.c boards/common/*.h

format: .setup
	$(PY) -m ruff check --fix .
	$(PY) -m ruff format .
	.venv/bin/clang-format -i runtime_c/include/*.h runtime_c/src/*.c boards/common/*.c boards/common/*.h

golden: .setup
	$(PY) -m pytest -q tests/golden --rewrite-golden

fuzz: .setup
	for suffix in .tflite .h5 .keras .onnx; do $(PY) -m tests.fuzz.run $$suffix --seconds $(FUZZ_SECONDS) || exit 1; done

clean:
	rm -rf out dist .pytest_cache .mypy_cache .ruff_cache

.PHONY: .setup
.setup: ; @tools/setup.sh test
