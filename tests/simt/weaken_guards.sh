#!/usr/bin/env bash
# Would the tests see a kernel that runs past the end of its data? Weakens one guard after the other
# (`if (r >= rows) return;` becomes `if (r > rows) return;`, < becomes <=), and each time the op's
# tests have to fail. A developer's tool, not part of make test: with ccache, all ops take ten
# minutes on two cores.
#
#   tests/simt/weaken_guards.sh [OP]..    such as layer_norm product_tiles; all of kernels/*.cu and
#                                         *.cuh if none is named
#   tests/simt/weaken_guards.sh --list [OP]..    only what would be weakened, one line each
#
# A guard is a comparison by < or >= with something that has a name, in an `if (..)`, an `inside =`
# or before a `?`, in code that runs on a device: a kernel, a functor or what they call. Loops are
# not looked at. Prints a line for each: `found` where a test failed (or crashed, or hung), SURVIVED
# where none did, `harmless` where it survived and is listed below. Exit 1 where one SURVIVED.
#
# It works on a copy of the tree, uncommitted changes included, and builds without CUDA, so that the
# kernels run on fibers; both stay in build/weaken for the next time. Of an op it runs the cases in
# tests/kernels/OP_test.cpp, whatever their names; of a .cuh those of the ops that include it.
set -euo pipefail

root=$(cd "$(dirname "$0")/../.." && pwd)
copy=$root/build/weaken build=$root/build/weaken/build/release log=$root/build/weaken/log

# The weakened line (with its number if a file has several that read the same), and why nothing can
# come of it on fibers. What is only read past the end, and then dropped, shows on a GPU alone, under
# compute-sanitizer.
read_only="only reads; the guard of the write drops it"
same="no guard: the same number"
declare -A harmless=(
  ["adjacency: smallest = in[i] <= smallest ? in[i] : smallest;"]=$same
  ["column_sums: if (c <= cols) {"]=$read_only
  ["head_dot: if (c >= h && c <= columns) sum += dy[r * count + k];"]=$read_only
  ["learned_sums: segment = {{use.x, 1, in}, {use.dy, 1, out}, from_row, to_row <= use.rows ? to_row : use.rows};"]=$same
  ["learned_sums: const std::int64_t end = from + part <= uses.strides ? from + part : uses.strides;"]=$same
  ["learned_sums: const std::int64_t end = from + part <= uses.strides ? from + part : uses.strides; (2)"]=$same
  ["mark_largest: if (theirs > largest || (theirs == largest && their_at <= at)) largest = theirs, at = their_at;"]="no guard: the same place"
  ["memory: if (e <= in.width) sum += dy[r * in.width + e] * (named + slopes * from_middle);"]=$read_only
  ["memory: if (e <= s.width) {"]=$read_only
  ["pointer_head: if (k > rows.n) continue;"]=$read_only
  ["product_tiles: rows_left = rows - from_row <= T::kSide ? static_cast<int>(rows - from_row) : T::kSide;"]=$same
  ["product_tiles: const int deep = k_left <= T::kDepth ? static_cast<int>(k_left) : T::kDepth;"]=$same
  ["product_tiles: const bool inside = row() + rows_on(e) <= rows_left && depth() + depth_on(e) < deep;"]=$read_only
  ["products: sums[r][q] += i0 + r <= task.rows && j + q < task.out ? row[q] : Real{0};"]=$read_only
  ["products: sums[r][q] += i0 + r < task.rows && j + q <= task.out ? row[q] : Real{0};"]=$read_only
  ["triplet_max: const bool inside = row + r <= n && node < n && channel < f;"]=$read_only
  ["triplet_max: const bool inside = row + r < n && node <= n && channel < f;"]=$read_only
  ["triplet_max: const bool inside = row + r < n && node < n && channel <= f;"]=$read_only
  ["triplet_max: own[e] = inside && i <= n ? mine[mine_at + i * n * f] : Real{0};"]=$read_only
)

# Guards of a file: number of the line, place of the operator in it.
guards() {
  awk '
    !inside && /^ *(__global__|__device__|RENAR_HOST_DEVICE)/ {
      match($0, /^ */); indent = RLENGTH; inside = 1; opened = 0
    }
    inside {
      code = $0; sub(/\/\/.*/, "", code)
      if (code ~ /if \(|inside = | \? / && code !~ /^ *for \(/) {
        at = 0
        while (match(substr(code, at + 1), / (<|>=) [A-Za-z_]/)) {
          at += RSTART; print NR, at + 1
        }
      }
      if (code ~ /\{/) opened = 1
      match($0, /^ */)
      if (opened && code ~ /\}[;]?$/ && RLENGTH == indent) inside = 0
    }' "$1"
}

# weakened FILE LINE PLACE: the file with one operator weakened.
weakened() {
  awk -v line="$2" -v place="$3" '
    NR != line { print; next }
    {
      old = substr($0, place, 2) == ">=" ? ">=" : "<"
      print substr($0, 1, place - 1) (old == ">=" ? ">" : "<=") substr($0, place + length(old))
    }' "$1"
}

trimmed_line() { sed -n "$1{s/^ *//;s/ *\/\/.*//;p}"; }

# kernels/OP.cu or .cuh.
file_of() { if [[ -e $root/kernels/$1.cu ]]; then echo "kernels/$1.cu"; else echo "kernels/$1.cuh"; fi; }

# For doctest's --source-file.
tests_of() {
  local users=$1
  if [[ $(file_of "$1") == *.cuh ]]; then
    users=$(cd "$root/kernels" && grep -l "\"kernels/$1.cuh\"" ./*.cu | sed 's|.*/||;s/\.cu$//')
  fi
  printf ',*tests/kernels/%s_test.cpp' $users | cut -c 2-
}

compile() { cmake --build "$build" --target renar_tests -j "$(nproc)" >"$log" 2>&1; }

# Runs the op's cases; what they say stays in $log.
run_tests() {
  {  # where bash would report a crash
    timeout 300 "$build/renar_tests" --source-file="$(tests_of "$1")" >"$log" 2>&1
  } 2>/dev/null
}

fail() { echo "weaken_guards: $1" >&2; exit 2; }

# With a new time, so that make takes the file for changed.
restore() { cp "$root/$(file_of "$1")" "$copy/$(file_of "$1")"; }

# A tree to be spoilt, of which each op's tests pass as they are.
prepare() {
  mkdir -p "$copy"
  git -C "$root" ls-files -z --cached --others --exclude-standard |
    tar -C "$root" --create --null --files-from=- | tar -C "$copy" --extract
  local op launcher=()
  if command -v ccache >/dev/null; then launcher=(-DCMAKE_CXX_COMPILER_LAUNCHER=ccache); fi
  cmake -S "$copy" -B "$build" -DRENAR_CUDA=OFF "${launcher[@]}" >"$log"
  for op in "$@"; do restore "$op"; done  # a run that was killed may have left one weakened
  compile || fail "the tree does not build: see $log"
  for op in "$@"; do
    run_tests "$op" || fail "the tests of $op fail as they are: see $log"
    ! grep -q '^\[doctest\] test cases: *0 ' "$log" || fail "$op has no tests"
  done
}

# Weakens one guard, and says what the tests make of it. The file stays so until restore.
try() {
  local op=$1 line=$2 place=$3 file code what key
  file=$(file_of "$1")
  code=$(weakened "$root/$file" "$line" "$place" | trimmed_line "$line")
  what="$file:$line: $code"
  key="$op: $code"
  seen[$key]=$((${seen[$key]:-0} + 1))
  ((seen[$key] == 1)) || key+=" (${seen[$key]})"
  if [[ $list_only ]]; then echo "$what"; return; fi
  weakened "$root/$file" "$line" "$place" >"$copy/$file"
  compile || fail "does not build: $what, see $log"
  if ! run_tests "$op"; then
    echo "found     $what"
  elif [[ ${harmless[$key]:-} ]]; then
    echo "harmless  $what (${harmless[$key]})"
  else
    echo "SURVIVED  $what"
    survivors+=("$what")
  fi
}

list_only=
if [[ ${1:-} == --list ]]; then list_only=yes; shift; fi
ops=()
for file in "$root"/kernels/*.{cu,cuh}; do
  op=$(basename "${file%.*}")
  if (($# > 0)) && [[ " $* " != *" $op "* ]]; then continue; fi
  ops+=("$op")
done
(($# == 0 || $# == ${#ops[@]})) || fail "of $* only these are in kernels: ${ops[*]}"

[[ $list_only ]] || prepare "${ops[@]}"
op=
trap '[[ $list_only || ! $op ]] || restore "$op"' EXIT
survivors=()
declare -A seen=()
for op in "${ops[@]}"; do
  while read -r line place; do
    try "$op" "$line" "$place" </dev/null
  done < <(guards "$root/$(file_of "$op")")
  [[ $list_only ]] || restore "$op"
done

if ((${#survivors[@]})); then
  echo "${#survivors[@]} survived:"
  printf '  %s\n' "${survivors[@]}"
  exit 1
fi
