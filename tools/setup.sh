#!/usr/bin/env bash
# Installs from Debian what renar needs to build and test, and nothing that is already there.
# Works as root and through sudo; safe to run again and again.
set -euo pipefail

packages=(
  build-essential cmake make git pkg-config clang-format
  doctest-dev            # tests
  libfmt-dev             # texts
  libhwy-dev             # SIMD with run-time dispatch
  libcli11-dev           # command lines
  libtomlplusplus-dev    # config.toml
  nlohmann-json3-dev     # metrics, summaries, safetensors headers
  libzip-dev             # .npz files
  zlib1g-dev             # checksums of .safetensors
  libboost-context-dev   # fibers, on which kernels run without a GPU
)

missing=()
for package in "${packages[@]}"; do
  status=$(dpkg-query -W -f '${Status}' "$package" 2>/dev/null || true)
  [[ $status == "install ok installed" ]] || missing+=("$package")
done

if ((${#missing[@]})); then
  as_root=()
  if [[ $(id -u) -ne 0 ]]; then
    if ! command -v sudo >/dev/null; then
      echo "setup: neither root nor sudo; have these packages installed: ${missing[*]}" >&2
      exit 1
    fi
    as_root=(sudo)
  fi
  echo "setup: installing ${missing[*]}"
  log=$(mktemp)
  trap 'rm -f "$log"' EXIT
  apt=("${as_root[@]}" env DEBIAN_FRONTEND=noninteractive apt-get -qq)
  if ! { "${apt[@]}" update && "${apt[@]}" install -y --no-install-recommends "${missing[@]}"; } \
      >"$log" 2>&1 </dev/null; then
    cat "$log" >&2
    echo "setup: apt-get failed; see above" >&2
    exit 1
  fi
fi

cuda=$(command -v nvcc || ls /usr/local/cuda/bin/nvcc 2>/dev/null || true)
if [[ -n $cuda ]]; then
  echo "setup: ready; a CUDA toolkit is here, so this is a build for CPU and GPU"
else
  echo "setup: ready; no CUDA toolkit, so this is a CPU build"
fi
