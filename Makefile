# Verbs only; CMakeLists.txt is the build. `make` alone lists the verbs.
.DEFAULT_GOAL := help
.PHONY: help setup build train test bench format check clean

ALGO ?= dfs
MAKEFLAGS += --no-print-directory
JOBS := $(shell nproc)

help: ## list the verbs
	@sed -n 's/^\([a-z]*\): .*## /  make \1	/p' Makefile | expand -t 16

setup: ## install what is missing from Debian (as root or through sudo)
	@tools/setup.sh

build: setup ## build the programs; they appear in this folder
	@cmake -S . -B build/release -DRENAR_PROGRAM_DIR=$(CURDIR)
	@cmake --build build/release --target programs -j $(JOBS)

train: build ## train and test: make train ALGO=dfs STEPS=300 [SEED=42 ARGS='--batch 16']
	./renar_train --algo $(ALGO) $(if $(STEPS),--steps $(STEPS)) $(if $(SEED),--seed $(SEED)) $(ARGS)

test: setup ## build and test in float, in double and under the sanitizers
	@tools/test.sh

bench: build ## time one training step
	./renar_bench step --algo $(ALGO) $(ARGS)

format: setup ## clang-format every source file in place
	@tools/check.sh --list-sources | xargs clang-format -i

check: setup ## the house rules: format, include directions, file lengths, tests beside ops
	@tools/check.sh

clean: ## remove what was built (runs/ stays)
	rm -rf build renar_train renar_eval renar_data renar_check renar_bench
