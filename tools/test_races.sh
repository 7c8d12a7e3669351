#!/usr/bin/env bash
# make test-races: the kernels' cases on fibers under ThreadSanitizer, which finds what two threads
# of a kernel do to the same memory in no order (core/simt_races.h). No GPU is needed.
#
# Of the cases of tests/kernels only those that run kernels are taken, by their names: the
# definitions on the CPU are not what is looked at. Each core takes the next slice of them. Exit 77 where the sanitizer cannot run.
set -uo pipefail
cd "$(dirname "$0")/.."

build=build/tsan start=$SECONDS
log=$(mktemp -d)
trap 'rm -rf "$log"' EXIT
cores=$(nproc)

. tools/kernel_cases.sh
cases=$kernel_cases
if ! cmake -S . -B $build -DRENAR_SANITIZE=thread -DCMAKE_BUILD_TYPE=RelWithDebInfo \
    -DCMAKE_CXX_FLAGS_RELWITHDEBINFO="-O1 -g1" >"$log/build" 2>&1 ||
    ! cmake --build $build --target race_tests -j "$cores" >>"$log/build" 2>&1; then
  tail -n 60 "$log/build"
  echo "FAILED $build does not build"
  exit 1
fi
echo "built $build in $((SECONDS - start)) s"
start=$SECONDS

# Where addresses are made up of more random bits than it expects, it needs them made up without.
run=($build/race_tests)
if ! "${run[@]}" --version >/dev/null 2>&1; then
  run=(setarch -R $build/race_tests)
  if ! "${run[@]}" --version >/dev/null 2>&1; then
    echo "ThreadSanitizer does not run here: $($build/race_tests --version 2>&1 | head -n 1)"
    exit 77
  fi
fi

count=$("${run[@]}" --test-case="$cases" --count 2>/dev/null | sed -n 's/.*filters: //p')
((${count:-0} > 0)) || { echo "FAILED race_tests counts no cases"; exit 1; }
slice=8
seq 1 $slice "$count" | log=$log slice=$slice cases=$cases xargs -P "$cores" -I{} bash -c \
  '"$@" --no-colors --no-intro --test-case="$cases" --first={} --last=$(({} + slice - 1)) \
    >"$log/{}" 2>&1 || echo "ended with status $?" >>"$log/{}"' - "${run[@]}"
failed=0
for ((first = 1; first <= count; first += slice)); do
  grep -q 'Status: SUCCESS' "$log/$first" && ! grep -q '^ended with status' "$log/$first" && continue
  failed=1
  cat "$log/$first"
done
((failed == 0)) && echo "races: $count cases passed, in $((SECONDS - start)) s"
((failed == 0))
