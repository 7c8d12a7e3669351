#!/usr/bin/env bash
# make dist: puts the programs, the test program and every library that they need, but glibc's and
# the GPU driver's, into one folder and a tar file of it. They run on an x86-64 Linux with glibc as
# new as here, without Debian packages; with an NVIDIA driver also on its GPU.
#
#   tools/dist.sh [FOLDER]     default: build/dist/renar-<version>; one that an earlier call made is replaced
#
# The programs look for libraries in lib/ beside them first (their RPATH, see CMakeLists.txt). The
# tests there: RENAR_SOURCE_DIR=. ./renar_tests
set -euo pipefail
[[ -z ${1:-} ]] || set -- "$(realpath -ms "$1")"  # of where it is called; without a / at its end
cd "$(dirname "$0")/.."

# What stands there is removed: it must be nothing, or what this script made.
check_replaceable() {
  [[ -e $1 || -L $1 ]] || return 0
  [[ ! -L $1 && -x $1/renar_train && -x $1/renar_tests && -d $1/lib ]] && return
  echo "error: $1 is there and tools/dist.sh did not make it: name another folder" >&2
  exit 2
}

[[ -z ${1:-} ]] || check_replaceable "$1"
build=build/release
cmake -S . -B $build -DRENAR_PROGRAM_DIR="$PWD" >/dev/null
cmake --build $build --target programs renar_tests -j "$(nproc)" | tail -n 1
folder=${1:-build/dist/renar-$(./renar_train --version | sed -n '1s/^renar \([^ ,]*\).*/\1/p')}
check_replaceable "$folder"
rm -rf "$folder"
mkdir -p "$folder/lib"
cp renar_train renar_eval renar_data renar_check renar_bench $build/renar_tests README.md LICENSE \
  "$folder"
mkdir -p "$folder/tests" "$folder/tools"
cp -r tests/golden "$folder/tests"
cp -r algos "$folder"  # a test looks where an algorithm's file stands
cp tools/sweep_example.toml tools/sweep_paper.toml "$folder/tools"

# glibc belongs to the machine: its parts must be of one version, the kernel's loader among them.
glibc='linux-vdso|ld-linux|libc|libm|libdl|librt|libpthread|libresolv'
for program in "$folder"/renar_*; do ldd "$program"; done |
  awk '$2 == "=>" { print $3 }' | sort -u | grep -vE "/($glibc)\.so" |
  while read -r library; do cp -L "$library" "$folder/lib"; done

# Every library must now come from lib/, in a shell that knows no other place.
if env -i ldd "$folder"/renar_tests | awk '$2 == "=>" { print $3 }' |
    grep -vE "/($glibc)\.so" | grep -v "^$(realpath "$folder")/lib/"; then
  echo "these libraries do not come from $folder/lib" >&2
  exit 1
fi
tar -C "$(dirname "$folder")" -czf "$folder.tar.gz" "$(basename "$folder")"
du -sh "$folder" "$folder.tar.gz"
