#!/usr/bin/env bash
# Would the tests see what is wrong in a kernel? Makes one mistake after the other, and each time the
# op's tests have to fail. A developer's tool, not part of make test: with ccache, all ops take
# guards ten minutes on two cores and touched an hour.
#
#   tests/simt/mutate_kernels.sh guards [OP]..     runs past the end of data: one guard after the other
#                                                  is weakened (`if (r >= rows) return;` becomes
#                                                  `if (r > rows) return;`, < becomes <=)
#   tests/simt/mutate_kernels.sh touched [OP]..    does not say all that it reads or writes, so that
#                                                  kernels may be started too early or too late
#                                                  (core/collected.h): each `.reads(x, count)` and
#                                                  `.writes(..)` in turn has a count of 0
#   tests/simt/mutate_kernels.sh guards --list [OP]..     only what would be changed, one line each
#
# An OP is the stem of a file in kernels, such as layer_norm or product_tiles; all if none is named.
# A guard is a comparison by < or >= with something that has a name, in an `if (..)`, an `inside =`
# or before a `?`, in code that runs on a device: a kernel, a functor or what they call. Loops are
# not looked at. Prints a line for each: `found` where a test failed (or crashed, or hung), SURVIVED
# where none did, `harmless` where it survived and is listed below. Exit 1 where one SURVIVED.
#
# It works on a copy of the tree, uncommitted changes included, and builds without CUDA, so that the
# kernels run on fibers; both stay in build/mutate for the next time. Of an op it runs the cases in
# tests/kernels/OP_test.cpp, whatever their names; of a .cuh or .h those of the ops that include it.
# What is left out of what a kernel touches may show in the whole net alone: what the op's cases do
# not see, all of the kernels' and the net's on fibers have to.
set -euo pipefail

root=$(cd "$(dirname "$0")/../.." && pwd)
copy=$root/build/mutate build=$root/build/mutate/build/release log=$root/build/mutate/log

# The changed line (with its number if a file has several that read the same), and why nothing can
# come of it on fibers. What is only read past the end, and then dropped, shows on a GPU alone, under
# compute-sanitizer.
read_only="only reads; the guard of the write drops it"
same="no guard: the same number"
declare -A harmless=(
  ["adjacency: smallest = in[i] <= smallest ? in[i] : smallest;"]=$same
  ["learned_sums: segment = {{use.x, 1, in}, {use.dy, 1, out}, from_row, to_row <= use.rows ? to_row : use.rows};"]=$same
  ["learned_sums: return {uses, in, out, from, end <= uses.strides ? end : uses.strides};"]=$same
  ["mark_largest: if (theirs > largest || (theirs == largest && their_at <= at)) largest = theirs, at = their_at;"]="no guard: the same place"
  ["memory: if (e <= in.width) sum += dy[r * in.width + e] * (named + slopes * from_middle);"]=$read_only
  ["memory: if (e <= width) {"]=$read_only
  ["pointer_head: if (k > rows.n) continue;"]=$read_only
  ["product_tiles: rows_left = rows - from_row <= T::kSide ? static_cast<int>(rows - from_row) : T::kSide;"]=$same
  ["product_tiles: const int deep = k_left <= T::kDepth ? static_cast<int>(k_left) : T::kDepth;"]=$same
  ["product_tiles: const bool inside = row() + rows_on(e) <= rows_left && depth() + depth_on(e) < deep;"]=$read_only
  ["products: sums[r][q] += i0 + r <= task.rows && j + q < task.out ? row[q] : Real{0};"]=$read_only
  ["products: sums[r][q] += i0 + r < task.rows && j + q <= task.out ? row[q] : Real{0};"]=$read_only
  ["triplet_max: const bool inside = row + r <= n && node < n && channel < f;"]=$read_only
  ["triplet_max: const bool inside = row + r < n && node <= n && channel < f;"]=$read_only
  ["triplet_max: const bool inside = row + r < n && node < n && channel <= f;"]=$read_only
  ["triplet_max: own[e] = inside && i <= n ? side.mine[mine_at + i * n * f] : Real{0};"]=$read_only
)

# Mutations of a file, one a line: the number of the line, the first byte of what is replaced, how
# many bytes, and what stands there instead.
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
          at += RSTART
          if (substr(code, at + 1, 2) == ">=") print NR, before + at, 2, ">"
          else print NR, before + at, 1, "<="
        }
      }
      if (code ~ /\{/) opened = 1
      match($0, /^ */)
      if (opened && code ~ /\}[;]?$/ && RLENGTH == indent) inside = 0
    }
    { before += length($0) + 1 }' "$1"
}
touched() {  # nothing in place of what is touched: a stretch of no numbers
  perl -0777 -ne '
    while (m{^ *//.*|((?:\.|last_collected_)(?:reads|writes)\((?:[^(),]++|(\((?:[^()]++|(?2))*\)))+),\s*((?:[^(),]++|(?2))+)\)}mg) {
      next unless defined $1;
      my ($from, $to, $text) = ($-[0], $+[0], "$1, 0 * ($3))");
      my $line = 1 + (substr($_, 0, $from) =~ tr/\n//);
      $text =~ s/\s+/ /g;
      print "$line $from ", $to - $from, " $text\n";
    }' "$1"
}

# mutated FILE FROM LENGTH TEXT: the file with that change.
mutated() {
  head -c "$2" "$1"
  printf '%s' "$4"
  tail -c "+$(($2 + $3 + 1))" "$1"
}

# told FILE LINE FROM LENGTH TEXT: what a change leaves there, of guards the whole line.
told() {
  if [[ $kind == touched ]]; then
    echo "$5"
  else
    mutated "$1" "$3" "$4" "$5" | sed -n "$2{s/^ *//;s/ *\/\/.*//;p}"
  fi
}

# tests_of FILE: for doctest's --source-file.
tests_of() {
  local users
  users=$(basename "${1%.*}")
  if [[ $1 != *.cu ]]; then
    users+=" $(cd "$root/kernels" && grep -l "\"$1\"" ./*.cu | sed 's|.*/||;s/\.cu$//' | tr '\n' ' ')"
  fi
  printf ',*tests/kernels/%s_test.cpp' $users | cut -c 2-
}

compile() { cmake --build "$build" --target renar_tests -j "$(nproc)" >"$log" 2>&1; }

# run_tests SOURCES: those files' cases; what they say stays in $log.
run_tests() {
  {  # where bash would report a crash
    timeout 600 "$build/renar_tests" --source-file="$1" >"$log" 2>&1
  } 2>/dev/null
}

# Whether the tests fail while a file is mutated.
is_found() {
  ! run_tests "$(tests_of "$1")" && return
  [[ $kind == touched ]] && ! run_tests '*tests/kernels/*,*tests/nn/net_on_device*'
}

fail() { echo "mutate_kernels: $1" >&2; exit 2; }

# With a new time, so that make takes the file for changed.
restore() { cp "$root/$1" "$copy/$1"; }

# A tree to be spoilt, of which each file's tests pass as they are.
prepare() {
  mkdir -p "$copy"
  find "$copy" -mindepth 1 -maxdepth 1 ! -name build -exec rm -rf {} +  # what was deleted since, too
  git -C "$root" ls-files -z --cached --others --exclude-standard |
    tar -C "$root" --create --null --files-from=- | tar -C "$copy" --extract
  local file launcher=()
  if command -v ccache >/dev/null; then launcher=(-DCMAKE_CXX_COMPILER_LAUNCHER=ccache); fi
  cmake -S "$copy" -B "$build" -DRENAR_CUDA=OFF "${launcher[@]}" >"$log"
  for file in "$@"; do restore "$file"; done  # a run that was killed may have left one changed
  compile || fail "the tree does not build: see $log"
  for file in "$@"; do
    run_tests "$(tests_of "$file")" || fail "the tests of $file fail as they are: see $log"
    ! grep -q '^\[doctest\] test cases: *0 ' "$log" || fail "$file has no tests"
  done
}

# try FILE LINE FROM LENGTH TEXT: makes one change, and says what the tests make of it. The file
# stays so until restore.
try() {
  local file=$1 what key
  what=$(told "$root/$file" "${@:2}")
  key="$(basename "${file%.*}"): $what"
  seen[$key]=$((${seen[$key]:-0} + 1))
  ((seen[$key] == 1)) || key+=" (${seen[$key]})"
  what="$file:$2: $what"
  if [[ $list_only ]]; then echo "$what"; return; fi
  mutated "$root/$file" "${@:3}" >"$copy/$file"
  compile || fail "does not build: $what, see $log"
  if is_found "$file"; then
    echo "found     $what"
  elif [[ ${harmless[$key]:-} ]]; then
    echo "harmless  $what (${harmless[$key]})"
  else
    echo "SURVIVED  $what"
    survivors+=("$what")
  fi
}

kind=${1:-}
[[ $kind == guards || $kind == touched ]] || fail "the first word is guards or touched, not '$kind'"
shift
list_only=
if [[ ${1:-} == --list ]]; then list_only=yes; shift; fi
files=() named=" "
for file in "$root"/kernels/*.{cu,cuh,h}; do
  op=$(basename "${file%.*}")
  if (($# > 0)) && [[ " $* " != *" $op "* ]]; then continue; fi
  named+="$op "
  if [[ $($kind "$file") ]]; then files+=("kernels/${file##*/}"); fi
done
for op in "$@"; do
  [[ $named == *" $op "* ]] || fail "there is no $op in kernels"
done

[[ $list_only ]] || prepare "${files[@]}"
spoilt=
trap '[[ ! $spoilt ]] || restore "$spoilt"' EXIT
survivors=()
declare -A seen=()
for file in "${files[@]}"; do
  [[ $list_only ]] || spoilt=$file
  while read -r line from length text; do
    try "$file" "$line" "$from" "$length" "$text" </dev/null
  done < <($kind "$root/$file")
  [[ $list_only ]] || restore "$file"
  spoilt=
done

if ((${#survivors[@]})); then
  echo "${#survivors[@]} survived:"
  printf '  %s\n' "${survivors[@]}"
  exit 1
fi
