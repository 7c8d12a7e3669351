#!/usr/bin/env bash
# It learns: bfs for 100 steps reaches 0.95 on the CLRS-30 test set (n = 64) from each of three seeds.
set -uo pipefail
programs=$1
work=$(mktemp -d)
trap 'rm -rf "$work"' EXIT
for seed in 1 2 3; do
  "$programs/renar_train" --algo bfs --steps 100 --seed $seed --out "$work/$seed" --quiet >/dev/null || exit 1
  score=$(sed -n 's/^  "score": \([0-9.]*\),$/\1/p' "$work/$seed/summary.json")
  echo "seed $seed: $score"
  awk -v score="$score" 'BEGIN { exit !(score >= 0.95) }' || exit 1
done
