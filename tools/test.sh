#!/usr/bin/env bash
# make test: builds renar three times (float, double, sanitized) and the kernels once more, runs the doctest cases in each,
# the system tests and the golden cases, and closes with one line: N passed, N failed, N skipped.
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

log=$(mktemp)
trap 'rm -f "$log"' EXIT

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

# summary FIELD: a number of doctest's last lines in $log, which read
# [doctest] test cases: 9 | 4 passed | 1 failed | 4 skipped
summary() { sed -n "s/^\[doctest\] test cases:.*| *\([0-9]*\) $1.*/\1/p" "$log"; }

# doctests NAME: runs the doctest cases of build/NAME. Those that doctest itself leaves out
# (doctest::skip) are the gradient checks, which need double: there they would count as skipped.
doctests() {
  local name=$1 status ok bad left skips start=$SECONDS
  "build/$name/renar_tests" --no-colors --no-intro >"$log" 2>&1
  status=$?
  ok=$(summary passed) bad=$(summary failed) left=$(summary skipped)
  skips=$(grep -c '^SKIPPED' "$log")
  grep '^SKIPPED' "$log" | sed "s/^SKIPPED/SKIPPED $name:/"
  if [[ -z $ok || -z $bad || -z $left ]] || ((status != 0 && bad == 0)); then
    cat "$log"
    fail "build/$name/renar_tests ended with status $status before its summary"
    return
  fi
  ((bad == 0)) || cat "$log"
  ok=$((ok - skips))
  if [[ $name == real64 ]] && ((left > 0)); then
    skips=$((skips + left))
    echo "SKIPPED real64: $left cases marked doctest::skip in every build"
    left=0
  fi
  passed=$((passed + ok)) failed=$((failed + bad)) skipped=$((skipped + skips))
  echo "$name: $ok cases passed, $bad failed, $skips skipped, $left left to the double build," \
    "in $((SECONDS - start)) s"
}

# golden NAME PROGRAM DEVICE FILE...: forward, backward and score of stored cases against the
# reference.
golden() {
  local name=$1 program=$2 device=$3 file
  shift 3
  for file in "$@"; do
    if "$program" golden "$file" --device "$device" >"$log" 2>&1; then
      pass
      echo "$name: golden ${file#../} passed"
    else
      cat "$log"
      fail "$name: renar_check golden $file"
    fi
  done
}

# system_test SCRIPT [PROGRAMS]: runs a system test on the programs of that directory.
system_test() {
  local script=$1 programs=${2:-} start=$SECONDS
  bash "$script" ${programs:+"$programs"} >"$log" 2>&1
  case $? in
    0) pass; echo "$script passed in $((SECONDS - start)) s${programs:+ ($programs)}" ;;
    77) skip "$script: $(tail -n 1 "$log")" ;;
    *) cat "$log"; fail "$script ($programs)" ;;
  esac
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
  for script in tests/system/*.sh; do
    [[ -e $script ]] && system_test "$script" "$PWD"
  done
fi
system_test tools/kernel_table.sh
if build real64 "renar_check renar_tests" -DRENAR_REAL64=ON; then
  doctests real64
  golden double build/real64/renar_check cpu "${golden_files[@]}"
  golden "double, kernels on fibers" build/real64/renar_check simt "${golden_files[@]}"
fi
if build sanitize "renar_train renar_tests" -DCMAKE_BUILD_TYPE=RelWithDebInfo \
    -DCMAKE_CXX_FLAGS_RELWITHDEBINFO="-O1 -g" -DRENAR_SANITIZE=address,undefined; then
  doctests sanitize
  system_test tests/system/all_algorithms.sh "$PWD/build/sanitize"
  system_test tests/system/all_methods.sh "$PWD/build/sanitize"
fi
system_test tools/test_races.sh

echo "$passed passed, $failed failed, $skipped skipped"
((failed == 0))
