#!/usr/bin/env bash
# --profile writes a table and a trace and changes nothing else, on the CPU and with the kernels.
set -euo pipefail
programs=$1
work=$(mktemp -d)
trap 'rm -rf "$work"' EXIT
cd "$work"
die() { echo "$*"; exit 1; }
train() { "$programs/renar_train" --algo bfs --hidden 16 --test-lengths 5 --test-samples 2 "$@"; }
# The share column of the first table, added up; the total's own line ends it.
shares() { awk '/^op /{on=1; next} /^total/{exit} on{for(i=1;i<=NF;i++) if($i ~ /%$/) s+=$i} END{print s}' "$1"; }
adds_up() { awk -v s="$(shares "$1")" 'BEGIN{exit !(s > 99.5 && s < 100.5)}' || die "shares of $1: $(shares "$1") %"; }

run=(--batch 8 --train-lengths 4,7 --steps 10 --device cpu --threads 2)
train "${run[@]}" --out plain --quiet >plain.txt
train "${run[@]}" --out profiled --profile >profiled.txt 2>/dev/null
for file in best.safetensors config.toml; do cmp plain/$file profiled/$file || die "--profile changes $file"; done
losses() { sed 's/,"seconds":[^,}]*//' "$1/metrics.jsonl"; }
cmp <(losses plain) <(losses profiled) || die "--profile changes the losses"
[[ ! -e plain/profile.txt && -s profiled/profile.json ]] || die "the files are not where they should be"
adds_up profiled/profile.txt
grep -q 'steps 4 to 8 of 10' profiled.txt || die "the summary does not say what was measured"
grep -q '^linear *forward' profiled.txt || die "the summary has no op"
grep -q '^    processor ' profiled/profile.txt || die "the table by range has no processor"
head -c 30 profiled/profile.json | grep -q '^{"displayTimeUnit":"ms"' || die "no trace"
tail -n 1 profiled/profile.json | grep -qx ']}' || die "the trace is cut off"

status=0; train "${run[@]}" --out profiled --profile >/dev/null 2>err || status=$?
[[ $status == 2 ]] && grep -q overwrite err || die "a finished run was profiled: status $status, $(cat err)"
train "${run[@]}" --out profiled --overwrite --quiet >/dev/null
[[ ! -e profiled/profile.txt ]] || die "--overwrite keeps an old profile"

# With the kernels: a build with CUDA has them on a GPU alone, any other on fibers.
kernels=(--batch 2 --train-lengths 4 --steps 2 --val-samples 2 --out kernels --profile --quiet)
device=simt
train "${kernels[@]}" --device simt >/dev/null 2>err || device=cuda
[[ $device == simt ]] || grep -q 'build without CUDA' err || die "--device simt: $(cat err)"
if [[ $device == simt ]] || train "${kernels[@]}" --device cuda >/dev/null 2>err; then
  adds_up kernels/profile.txt
  awk -v column=$([[ $device == cuda ]] && echo 1 || echo 0) '/^total/{n = $(NF-column) > 100} END{exit !n}' kernels/profile.txt || die "no launches were counted"
else
  grep -q 'no GPU' err || die "--device cuda: $(cat err)"
fi

# What a step's kernels are: counted without a GPU, at the full size, or measured on one.
if "$programs/renar_bench" kernels --algo bfs >kernels.txt 2>err; then
  grep -q '^products *forward' kernels.txt || die "the table of kernels: $(cat kernels.txt)"
  grep -q '^multiply_uses *backward' kernels.txt || die "the sums for weights are not in the table"
  awk '/^all kernels of an update/{n = $6 > 100 && $NF != ""} END{exit !n}' kernels.txt || die "no launches: $(cat kernels.txt)"
  "$programs/renar_bench" kernels --algo bfs --json | grep -q '"least_s":' || die "no JSON"
else
  grep -q 'kernels are counted on a GPU' err || die "renar_bench kernels: $(cat err)"
fi
