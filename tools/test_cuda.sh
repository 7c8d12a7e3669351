#!/usr/bin/env bash
# make test-cuda: what only a GPU can show. Builds with CUDA, then runs the doctest cases (those of
# the kernels run on the GPU), the golden cases on it, and the kernels' cases under
# compute-sanitizer where it is installed.
set -euo pipefail
cd "$(dirname "$0")/.."

cmake -S . -B build/release -DRENAR_PROGRAM_DIR="$PWD" -DRENAR_CUDA=ON >/dev/null
cmake --build build/release --target programs renar_tests -j "$(nproc)" | tail -n 1
./renar_train --algo bfs --steps 1 --device cuda --out "$(mktemp -d)/run" --quiet

. tools/kernel_cases.sh
kernels="$kernel_cases,product_arithmetic:*"
build/release/renar_tests --no-intro
for set in tests/golden/model ../shared/golden/model/{algorithms,processors,options,renar,mrenar}; do
  [[ -d $set ]] && ./renar_check golden "$set" --device cuda | sed '/^ok /d; /^ /d'  # no ok
done
sanitizer=$(command -v compute-sanitizer || echo /usr/local/cuda/bin/compute-sanitizer)
if [[ -x $sanitizer ]]; then
  selected=$(build/release/renar_tests -tc="$kernels" --count | sed -n 's/.*filters: //p')
  ((${selected:-0} > 100)) || { echo "FAILED: only ${selected:-0} cases of kernels"; exit 1; }
  for tool in memcheck racecheck synccheck; do
    echo "compute-sanitizer $tool"
    "$sanitizer" --tool "$tool" --error-exitcode 1 build/release/renar_tests --no-intro \
      -tc="$kernels" | tail -n 3
  done
else
  echo "SKIPPED compute-sanitizer is not installed"
fi
