#!/usr/bin/env bash
# make test: builds renar three times (float, double, sanitized) and the kernels once more, runs the doctest cases in each
# (in double without the algorithms'), the system tests and the golden cases, and closes with one line: N passed, N failed, N skipped.
#
# A doctest case that cannot run prints a line that starts with SKIPPED. A system test
# tests/system/*.sh gets the directory of the programs as its argument; it exits with 0 (passed),
# 77 (skipped, its last line says why) or anything else (failed).
set -uo pipefail
cd "$(dirname "$0")/.."

passed=0 failed=0 skipped=0
fail() { failed=$((failed + 1)); echo "FAILED $*"; }
skip() { skipped=$((skipped + 1)); echo "SKIPPED $*"; }
pass() { passed=$((passed + 1)); }

log=$(mktemp) logs=$(mktemp -d)
trap 'rm -rf "$log" "$logs"' EXIT
cores=$(nproc) slice=8
# Large blocks are kept for the next that asks: given back they would have to be cleared again.
export MALLOC_MMAP_THRESHOLD_=1073741824 MALLOC_TRIM_THRESHOLD_=4294967296

# side_by_side COMMAND...: runs `COMMAND... LINE` for each line of the input, as many at a time as
# there are cores. What the k-th writes goes to $logs/k, its status and seconds to $logs/k.end.
side_by_side() {
  local line k=0
  rm -f "$logs"/*
  while read -r line; do
    k=$((k + 1))
    {
      start=$SECONDS
      "$@" "$line" >"$logs/$k" 2>&1 </dev/null
      echo "$? $((SECONDS - start))" >"$logs/$k.end"
    } &
    (($(jobs -rp | wc -l) < cores)) || wait -n
  done
  wait
}

# build NAME TARGETS [CMAKE OPTIONS]: configures and builds build/NAME; prints only on failure.
build() {
  local name=$1 targets=$2 start=$SECONDS
  shift 2
  if cmake -S . -B "build/$name" "$@" >"$log" 2>&1 &&
      cmake --build "build/$name" --target $targets -j "$(nproc)" >>"$log" 2>&1; then
    echo "built build/$name in $((SECONDS - start)) s"
  else
    tail -n 60 "$log"
    fail "build/$name does not build"
    return 1
  fi
}

# summary FIELD FILE: a number of doctest's last lines, which read
# [doctest] test cases: 9 | 4 passed | 1 failed | 4 skipped
summary() { sed -n "s/^\[doctest\] test cases:.*| *\([0-9]*\) $1.*/\1/p" "$2"; }

run_slice() { "$1" --no-colors --no-intro --first="$2" --last=$(($2 + slice - 1)); }

# doctests NAME: runs the doctest cases of build/NAME in slices, of which each core takes the next.
# Those that doctest itself leaves out (doctest::skip) are the gradient checks, which need double, and
# under the sanitizers the longest nets on fibers, which the double build has, too: there they would
# count as skipped. (And the fingerprint, in float alone: the release build says so where it is not pinned.)
doctests() {
  local name=$1 program=build/$1/renar_tests start=$SECONDS count first status bad rest
  local k=0 left=0 ok=0 failures=0 skips
  count=$("$program" --count 2>&1 | sed -n 's/.*filters: //p')
  ((${count:-0} > 0)) || { fail "$program counts no cases"; return; }
  seq 1 "$slice" "$count" | side_by_side run_slice "$program"
  for ((first = 1; first <= count; first += slice)); do
    k=$((k + 1))
    read -r status _ <"$logs/$k.end"
    bad=$(summary failed "$logs/$k") rest=$(summary skipped "$logs/$k")
    if [[ -z $bad || -z $rest ]] || ((status != 0 && bad == 0)); then
      cat "$logs/$k"
      fail "$program --first=$first ended with status $status before its summary"
      continue
    fi
    ((bad == 0)) || cat "$logs/$k"
    left=$rest
    failures=$((failures + bad))
    ok=$((ok + (first + slice > count ? count - first + 1 : slice) - bad))
  done
  # A program says once what it cannot run, and here each slice is one.
  grep -h '^SKIPPED' "$logs"/* | sort -u >"$log"
  sed "s/^SKIPPED/SKIPPED $name:/" "$log"
  skips=$(wc -l <"$log")
  ok=$((ok - skips))
  if [[ $name == real64 ]] && ((left > 0)); then
    skips=$((skips + left))
    echo "SKIPPED real64: $left cases marked doctest::skip in every build"
    left=0
  fi
  passed=$((passed + ok)) failed=$((failed + failures)) skipped=$((skipped + skips))
  echo "$name: $ok cases passed, $failures failed, $skips skipped, $left left to the other builds," \
    "in $((SECONDS - start)) s"
}

run_golden() { "$1" golden "$3" --device "$2"; }

# golden NAME PROGRAM DEVICE FILE...: forward, backward and score of stored cases against the
# reference.
golden() {
  local name=$1 program=$2 device=$3 file status k=0 start=$SECONDS
  shift 3
  (($# > 0)) || return
  printf '%s\n' "$@" | side_by_side run_golden "$program" "$device"
  for file in "$@"; do
    k=$((k + 1)) status=
    read -r status _ <"$logs/$k.end"
    if [[ $status == 0 ]]; then
      pass
      echo "$name: golden ${file#../} passed"
    else
      cat "$logs/$k"
      fail "$name: renar_check golden $file"
    fi
  done
  echo "$name: $# golden files in $((SECONDS - start)) s"
}

run_script() { bash "$2" ${1:+"$1"}; }

# system_tests PROGRAMS SCRIPT...: runs system tests on the programs of that directory.
system_tests() {
  local programs=$1 script status seconds k=0
  shift
  printf '%s\n' "$@" | side_by_side run_script "$programs"
  for script in "$@"; do
    k=$((k + 1))
    read -r status seconds <"$logs/$k.end"
    case $status in
      0) pass; echo "$script passed in $seconds s${programs:+ ($programs)}" ;;
      77) skip "$script: $(tail -n 1 "$logs/$k")" ;;
      *) cat "$logs/$k"; fail "$script ($programs)" ;;
    esac
  done
}

golden_files=(tests/golden/model/*.npz)
[[ -e ${golden_files[0]} ]] || golden_files=()
# The full sets of the reference stand beside the tree where the project is developed.
shared=../shared/golden/model
if [[ -d $shared ]]; then
  golden_files+=("$shared"/{algorithms,processors,options,renar,mrenar}/*.npz)
else
  skip "the full golden sets: $shared is not on this machine"
fi

if build release "programs renar_tests" "-DRENAR_PROGRAM_DIR=$PWD"; then
  doctests release
  golden float ./renar_check cpu "${golden_files[@]}"
  system_tests "$PWD" tests/system/*.sh
fi
system_tests "" tools/kernel_table.sh
# Gradients in double are not a matter of speed: -O1 costs less to compile than it takes to run.
if build real64 "renar_check renar_tests" -DRENAR_REAL64=ON -DCMAKE_BUILD_TYPE=Release \
    -DCMAKE_CXX_FLAGS_RELEASE="-O1 -DNDEBUG"; then
  doctests real64
  golden double build/real64/renar_check cpu "${golden_files[@]}"
  golden "double, kernels on fibers" build/real64/renar_check simt "${golden_files[@]}"
fi
# -g1: the lines that a report of the sanitizers names; values are not looked at in a debugger here.
if build sanitize "renar_train renar_tests" -DCMAKE_BUILD_TYPE=RelWithDebInfo \
    -DCMAKE_CXX_FLAGS_RELWITHDEBINFO="-O1 -g1" -DRENAR_SANITIZE=address,undefined; then
  doctests sanitize
  system_tests "$PWD/build/sanitize" tests/system/all_algorithms.sh tests/system/all_methods.sh
fi
system_tests "" tools/test_races.sh

echo "$passed passed, $failed failed, $skipped skipped"
((failed == 0))
