#!/usr/bin/env bash
# Every algorithm alone, then all of CLRS-30 in one run, small: twenty steps, a validation, a score.
# Prints seconds and memory of each. The sanitized programs go through it too.
set -euo pipefail
programs=$1
work=$(mktemp -d)
trap 'rm -rf "$work"' EXIT
small=(--hidden 8 --batch 2 --steps 20 --eval-every 10 --train-lengths 4,6 --val-samples 4
  --length-needle -2 --test-lengths 8 --test-samples 2 --quiet)
names=$("$programs/renar_train" --algo none 2>&1 | sed 's/.*Valid: //; s/,//g') || true
[[ $(wc -w <<<"$names") == 33 ]] || { echo "not 32 algorithms and all: $names"; exit 1; }

for name in $names; do
  start=$(date +%s%N)
  "$programs/renar_train" --algo "$name" "${small[@]}" --out "$work/$name" >"$work/out" 2>&1 ||
    { cat "$work/out"; echo "$name failed"; exit 1; }
  grep -q '^score ' "$work/out" || { cat "$work/out"; echo "$name has no score"; exit 1; }
  [[ $name != all ]] || { grep -Eq '^  heapsort  +8  ' "$work/out" && grep -Eq '^  segments_intersect  +4  ' "$work/out"; } ||
    { cat "$work/out"; echo "the run of all does not say how many nodes its tests have"; exit 1; }
  printf '%-30s %6.1f s %7.0f MiB\n' "$name" "$((($(date +%s%N) - start) / 1000000))e-3" \
    "$(sed -n 's/^ *"peak_mib": \([0-9.]*\),$/\1/p' "$work/$name/summary.json")"
done
# In the run of all, every algorithm made its twenty updates.
of_all=$(sed -n 's/^algo = \[\([^]]*\)\].*/\1/p' "$work/all/config.toml" | tr -d '",')
[[ $(wc -w <<<"$of_all") == 30 ]] || { echo "not the 30 of CLRS-30: $of_all"; exit 1; }
for name in $of_all; do
  [[ $(grep -c "\"algo\":\"$name\",\"nodes\"" "$work/all/metrics.jsonl") == 20 ]] ||
    { echo "the run of all has not 20 updates of $name"; exit 1; }
done
