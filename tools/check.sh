#!/usr/bin/env bash
# The house rules that a machine can look after: one line a violation, exit 1 if there is any.
# check.sh [--list-sources] [ROOT]: ROOT is another tree to look at, as this script's test does.
set -euo pipefail
shopt -s nullglob globstar

list_only=
if [[ ${1:-} == --list-sources ]]; then list_only=yes; shift; fi
cd "${1:-$(dirname "$0")/..}"

rooms=(core kernels nn algos trainer tools tests)
sources=()
for room in "${rooms[@]}"; do sources+=("$room"/**/*.{h,cpp,cu,cuh}); done
texts=()
scripts=(Makefile CMakeLists.txt .ci/run tools/*.{sh,cmake} tools/compare_dm_clrs tests/{system,simt}/*.sh)
for script in "${scripts[@]}"; do [[ -e $script ]] && texts+=("$script"); done
texts+=("${sources[@]}")
if [[ $list_only ]]; then printf '%s\n' "${sources[@]}"; exit; fi

violations=0
violation() { violations=$((violations + 1)); echo "$1"; }
each_line() { while IFS= read -r line; do violation "$line$1"; done; }

# Format. clang-format leaves comments alone (it would break formulas): their width is checked apart.
for file in "${sources[@]}"; do
  clang-format --dry-run -Werror "$file" 2>/dev/null ||
    violation "$file: not formatted (make format)"
done
each_line ": over 100 columns" < <(
  LC_ALL=C.UTF-8 grep -nHE '^.{101,}$' "${sources[@]}" | cut -d: -f1,2)

# Includes point one way: core <- kernels <- nn <- trainer <- tools, and core <- algos only.
declare -A may_include=(
  [core]="core/ generated/"
  [kernels]="core/ kernels/"
  [nn]="core/ kernels/ nn/ algos/spec.h"
  [algos]="core/ algos/"
  [trainer]="core/ kernels/ nn/ algos/ trainer/"
  [tools]="core/ kernels/ nn/ algos/ trainer/ tools/"
  [tests]="core/ kernels/ nn/ algos/ trainer/ tools/ tests/"
)
for file in "${sources[@]}"; do
  while IFS=: read -r number include; do
    for allowed in ${may_include[${file%%/*}]}; do [[ $include == "$allowed"* ]] && continue 2; done
    violation "$file:$number: ${file%%/*} must not include \"$include\""
  done < <(sed -n '/^ *# *include "/{=;s/^[^"]*"\([^"]*\)".*/\1/p}' "$file" | paste -d: - -)
done

# Length and leftovers.
for file in "${texts[@]}"; do
  lines=$(wc -l <"$file")
  ((lines <= 600)) || violation "$file: $lines lines, at most 600"
done
each_line ": unfinished work" < <(grep -nHowE 'TO[D]O|FIX[M]E|X[X]X' "${texts[@]}" || true)

# __CUDACC__ stands once in an op file and where core hides the compilers' difference, nowhere else.
for file in "${sources[@]}"; do
  count=$(grep -c '__CUDACC__' "$file" || true)
  case $file in
    core/launch.h|core/device_code.h|core/warp_mma.h) ;;
    kernels/*.cu)
      ((count <= 1)) || violation "$file: __CUDACC__ stands $count times, at most once" ;;
    *) ((count == 0)) || violation "$file: __CUDACC__ belongs in kernels/*.cu and core's launch.h, device_code.h and warp_mma.h" ;;
  esac
done

# An op is one stem: header, definition, test.
for header in kernels/*.h; do
  stem=$(basename "$header" .h)
  for needed in "kernels/$stem.cu" "tests/kernels/${stem}_test.cpp"; do
    [[ -e $needed ]] || violation "$header: $needed is missing"
  done
done

# Scripts are at least well-formed.
for script in .ci/run tools/*.sh tests/{system,simt}/*.sh; do
  [[ -e $script ]] || continue
  bash -n "$script" 2>/dev/null || violation "$script: bash cannot parse it"
done

((violations == 0)) && echo "check: ${#sources[@]} files, no violation"
((violations == 0))
