#!/usr/bin/env bash
# --precision tf32 and bf16: a device's runs have them in config.toml, summary.json and renar_eval; the CPU refuses
# them in one line with status 2, and writes nothing.
set -uo pipefail
programs=$1
work=$(mktemp -d)
trap 'rm -rf "$work"' EXIT
cd "$work"
failures=0
fail() { failures=$((failures + 1)); echo "$*"; }

# refused WORDS PROGRAM ARGUMENTS..: one line that holds WORDS, and status 2.
refused() {
  local words=$1 program=$2 status
  shift 2
  timeout 60 "$programs/$program" "$@" >out 2>err </dev/null
  status=$?
  [[ $status == 2 && $(wc -l <err) == 1 && ! -s out ]] && grep -qF -- "$words" err ||
    fail "$program $*: status $status, expected 2 and one line with '$words'; $(cat out err)"
  [[ ! -e runs ]] || { fail "$program $* wrote $(find runs)"; rm -r runs; }
}

small=(--algo bfs --hidden 8 --batch 2 --train-lengths 4 --steps 2 --test-lengths 4 --test-samples 2)
for precision in tf32 bf16; do
  refused "--precision $precision needs --device cuda" renar_train "${small[@]}" --device cpu --precision $precision
  refused "--precision $precision needs --device cuda" renar_bench step --algo bfs --precision $precision
  refused "--precision $precision needs --device cuda" renar_bench ops --precision $precision
done
[[ -e /dev/nvidia0 ]] || refused '--device auto is the CPU here, ' renar_train "${small[@]}" --precision tf32
refused 'Valid: fp32, tf32, bf16' renar_train "${small[@]}" --precision fp16
refused 'Valid: fp32, tf32, bf16' renar_bench step --precision half

# A device that this machine has; simt is in builds without CUDA.
train() { timeout 300 "$programs/renar_train" "${small[@]}" --quiet "$@" >/dev/null 2>err; }
device=simt
train --device simt --out fp32 || device=cuda
[[ $device == simt ]] || train --device cuda --out fp32 || {
  grep -q 'no GPU' err || fail "--device cuda: $(cat err)"
  ((failures > 0)) && exit 1
  echo "(CUDA) no GPU: precisions are refused, and none was tried"
  exit 77
}
for precision in tf32 bf16; do
  train --device $device --precision $precision --out $precision || fail "$precision: $(cat err)"
  grep -q "^precision = \"$precision\"" $precision/config.toml || fail "$precision is not in config.toml"
  grep -q "\"device\": \".*, $precision\"" $precision/summary.json || fail "$precision is not in summary.json"
  cmp -s <(sed 's/"seconds.*//' fp32/metrics.jsonl) <(sed 's/"seconds.*//' $precision/metrics.jsonl) &&
    fail "$precision has fp32's losses"
  "$programs/renar_eval" --run $precision --json $precision.json >/dev/null || fail "renar_eval of $precision: $?"
  grep -q "\"device\": \".*, $precision\"" $precision.json || fail "renar_eval does not go on in $precision"
  refused "needs --device cuda" renar_eval --run $precision --device cpu
  "$programs/renar_eval" --run $precision --device cpu --precision fp32 >/dev/null || fail "fp32 of a $precision run: $?"
done
for precision in fp32 tf32 bf16; do
  "$programs/renar_bench" ops --device $device --precision $precision --length 3 --hidden 8 --repeats 1 --json >ops.json ||
    fail "renar_bench ops in $precision: status $?"
  for op in '"linear, of nodes"' '"cross_entropy"' '"dropout"'; do
    grep -q "{\"op\":$op,\"forward_us_min\":[0-9.]*,\"backward_us_min\":[0-9.]*,\"gflop\":" ops.json || fail "renar_bench ops in $precision: no $op in $(cat ops.json)"
  done
done
grep -q '"device": ".*fp32' fp32/summary.json && fail "fp32, the default, is told"
refused 'precision: "tf32" there, "bf16" here' renar_train --resume tf32 --steps 4 --precision bf16
exit $((failures > 0))
