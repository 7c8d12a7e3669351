# Verbs only; CMakeLists.txt is the build. `make` alone lists the verbs.
.DEFAULT_GOAL := help
.PHONY: help setup build train test test-races bench test-cuda bench-cuda dist format check clean

ALGO ?= dfs
MAKEFLAGS += --no-print-directory
JOBS := $(shell nproc)

help: ## list the verbs
	@sed -n 's/^\([a-z-]*\): .*## /  make \1	/p' Makefile | expand -t 16

setup: ## install what is missing from Debian (as root or through sudo)
	@tools/setup.sh

build: setup ## build the programs; they appear in this folder
	@cmake -S . -B build/release -DRENAR_PROGRAM_DIR=$(CURDIR)
	@cmake --build build/release --target programs -j $(JOBS)

train: build ## train and test: make train ALGO=dfs STEPS=300 [SEED=42 ARGS='--batch 16']
	./renar_train --algo $(ALGO) $(if $(STEPS),--steps $(STEPS)) $(if $(SEED),--seed $(SEED)) $(ARGS)

test: setup ## build and test in float, in double and under the sanitizers
	@tools/test.sh

test-races: setup ## races in the kernels, by ThreadSanitizer, without a GPU; a part of test
	@tools/test_races.sh

bench: build ## time one training step
	./renar_bench step --algo $(ALGO) $(ARGS)

test-cuda: setup ## with a GPU: its kernels against the CPU, and the golden cases on it
	@tools/test_cuda.sh

bench-cuda: build ## with a GPU: a training step by algorithm, length, method, precision and lanes, each kernel and op
	@for algo in dfs insertion_sort bfs; do for length in 16 64; do for method in baseline mrenar; do \
	  ./renar_bench step --device cuda --algo $$algo --length $$length --method $$method $(ARGS) || echo 'not measured'; \
	done; done; done
	@for algo in dfs insertion_sort bfs; do for precision in tf32 bf16; do \
	  ./renar_bench step --device cuda --algo $$algo --precision $$precision $(ARGS) || echo 'not measured'; \
	done; done
	@for lanes in 0 1; do for algo in dfs bfs; do for method in baseline mrenar; do \
	  echo "RENAR_LANES=$$lanes"; RENAR_LANES=$$lanes ./renar_bench step --device cuda --algo $$algo --method $$method $(ARGS) || echo 'not measured'; \
	done; done; done
	@for algo in dfs insertion_sort bfs; do ./renar_bench kernels --device cuda --algo $$algo || echo 'not measured'; done
	@for length in 16 64; do ./renar_bench ops --device cuda --batch 32 --length $$length --repeats 20 || echo 'not measured'; done

dist: setup ## a folder that runs on any machine like this one, and with a GPU's driver on its GPU
	@tools/dist.sh

format: setup ## clang-format every source file in place
	@tools/check.sh --list-sources | xargs clang-format -i

check: setup ## the house rules: format, include directions, file lengths, tests beside ops
	@tools/check.sh

clean: ## remove what was built (runs/ stays)
	rm -rf build renar_train renar_eval renar_data renar_check renar_bench
