#!/usr/bin/env bash
# tools/check.sh must find what it looks for: a tree with one violation of each kind, each one
# reported, and the same tree without them, in which it finds nothing.
set -euo pipefail
check=$PWD/tools/check.sh
tree=$(mktemp -d)
trap 'rm -rf "$tree"' EXIT
cp .clang-format "$tree"
cd "$tree"
mkdir -p core kernels nn algos tools tests/kernels

echo '#include "core/b.h"' >core/a.cpp
echo '#include "core/a.h"' >kernels/op.h
printf '#ifdef __CUDACC__\n#endif\n' >kernels/op.cu
echo '#include "kernels/op.h"' >tests/kernels/op_test.cpp
echo '#include "algos/spec.h"' >nn/net.cpp
"$check" "$tree" >clean.log || { echo "reported without cause:"; cat clean.log; exit 1; }

echo '#include "nn/net.h"' >>core/a.cpp              # against the direction
echo '#include "algos/trace.h"' >>nn/net.cpp         # more of algos than its spec
echo '#include "spec.h"' >algos/relative.cpp         # not from the root
echo 'int  x;' >core/format.cpp
yes 'int x;' | head -n 601 >core/long.cpp || true
echo "// TO""DO: later" >core/later.cpp
printf '#ifdef __CUDACC__\n#endif\n' >>kernels/op.cu
printf '#ifdef __CUDACC__\n#endif\n' >nn/cuda.cpp
touch kernels/lonely.h
printf '// %0.s-' {1..34} >core/wide.cpp  # 102 columns
echo 'if true; then' >tools/broken.sh

if "$check" "$tree" >found.log; then echo "exit status 0 in spite of violations"; exit 1; fi
for expected in \
  'core/a.cpp:2: core must not include "nn/net.h"' \
  'nn/net.cpp:2: nn must not include "algos/trace.h"' \
  'algos/relative.cpp:1: algos must not include "spec.h"' \
  'core/format.cpp: not formatted (make format)' \
  'core/long.cpp: 601 lines, at most 600' \
  'core/wide.cpp:1: over 100 columns' \
  'core/later.cpp:1:TO''DO: unfinished work' \
  'kernels/op.cu: __CUDACC__ stands 2 times, at most once' \
  "nn/cuda.cpp: __CUDACC__ belongs in kernels/*.cu and core's launch.h, device_code.h and warp_mma.h" \
  'kernels/lonely.h: kernels/lonely.cu is missing' \
  'kernels/lonely.h: tests/kernels/lonely_test.cpp is missing' \
  'tools/broken.sh: bash cannot parse it'; do
  grep -qxF "$expected" found.log || { echo "not reported: $expected"; cat found.log; exit 1; }
done
[[ $(wc -l <found.log) -eq 12 ]] || { echo "more than was planted:"; cat found.log; exit 1; }
