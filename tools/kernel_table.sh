#!/usr/bin/env bash
# kernel_table.sh [BUILD]: what ptxas made of every kernel when BUILD (default: build/release) was built.
#
# A line a kernel and architecture: registers a thread, bytes spilled, and the share of a
# multiprocessor's 64 warps that the registers leave room for. Exit 1 where a kernel goes beyond its
# limits in tools/kernel_limits.txt, a file with kernels has no report or there are no kernels in them, 77 where there is no nvcc.
set -euo pipefail
cd "$(dirname "$0")/.."
build=${1:-build/release}
[[ -n $(command -v nvcc) || -x /usr/local/cuda/bin/nvcc ]] || { echo "(CUDA) no nvcc: the kernels were compiled as C++ only"; exit 77; }

reports=()
for file in core/*.cu kernels/*.cu; do
  report=$build/CMakeFiles/renar_${file%/*}.dir/$file.o.ptxas
  [[ -e $report ]] || { echo "no ${report#"$build"/} in $build, which nvcc leaves when $file is compiled: \`make clean\` and build again"; exit 1; }
  reports+=("$report")
done

# ptxas names a kernel and the architecture, then its spills, then its registers.
for report in "${reports[@]}"; do
  file=${report#*.dir/}
  sed -nE "s|.*Compiling entry function '([^']*)' for '([^']*)'.*|kernel \2 ${file%.o.ptxas} \1|p
           s/.* ([0-9]+) bytes spill stores, ([0-9]+) bytes spill loads.*/spills \1 \2/p
           s/.*Used ([0-9]+) registers.*/registers \1/p" "$report"
done |
  awk '$1 == "kernel" { arch = $2; file = $3; name = $4 } $1 == "spills" { spills = $2 + $3 }
       $1 == "registers" { print arch, $2, spills, file, name }' |
  sort -u | c++filt |
  sed -E 's/\(anonymous namespace\)::|_GLOBAL__N__[0-9a-zA-Z_]*:://g; s/renar:://g; s/void //' |
  awk '
    function room(registers,   each) {  # warps that fit 65536 registers, given out 8 a thread at a time
      each = int((registers + 7) / 8) * 8 * 32
      warps = int(65536 / each)
      return warps > 64 ? 64 : warps
    }
    FILENAME == ARGV[1] {
      if ($0 !~ /^#/ && NF == 3) { limit[$1] = $2; spill[$1] = $3 }
      next
    }
    {
      name = $0
      sub(/^[^ ]+ [^ ]+ [^ ]+ [^ ]+ /, "", name)
      sub(/\(.*/, "", name)
      stem = name
      sub(/<.*/, "", stem)
      sized = name  # with its first number, as multiply_tasks<Tiles<128
      sub(/,.*/, "", sized)
      of = (sized in limit) ? sized : (stem in limit) ? stem : "default"
      bad = $2 > limit[of] || $3 > spill[of]
      failed += bad
      kernels++
      printf "%-6s %4d registers %5d bytes spilled %4d %% of the warps  %s: %s%s\n", $1, $2, $3,
             100 * room($2) / 64, $4, name, bad ? "   BEYOND ITS LIMIT" : ""
    }
    END {
      printf "%d kernels, %d beyond tools/kernel_limits.txt\n", kernels, failed
      exit (failed > 0 || kernels == 0)
    }' tools/kernel_limits.txt -
