#!/usr/bin/env bash
# Every processor with every method trains for 20 steps and is tested; tiny nets, so that the
# sanitized programs get through too.
set -euo pipefail
programs=$1
work=$(mktemp -d)
trap 'rm -rf "$work"' EXIT

kinds=$("$programs/renar_train" --help |
  sed -n 's/.*kind of message passing: \(.*\) (default.*/\1/p' | tr -d ,)
count=0 start=$SECONDS
for kind in $kinds; do
  for method in baseline renar mrenar renar-linear; do
    if ! "$programs/renar_train" --algo bfs --method "$method" --processor "$kind" --steps 20 \
        --hidden 8 --triplet-fts 2 --batch 4 --train-lengths 4,5 --eval-every 20 \
        --val-samples 4 --test-lengths 6 --test-samples 4 --quiet \
        --out "$work/$kind-$method" >"$work/log" 2>&1; then
      echo "--processor $kind --method $method failed:"
      cat "$work/log"
      exit 1
    fi
    grep -q "^score  *[01]\.[0-9]* " "$work/log" || { cat "$work/log"; exit 1; }
    count=$((count + 1))
  done
done
# An algorithm whose hints are all at edges recovers none, and says so.
for masking in paper authors; do
  "$programs/renar_train" --algo lcs_length --method mrenar --masking $masking --steps 1 --hidden 8 --triplet-fts 2 --batch 2 \
    --train-lengths 4 --val-samples 2 --test-lengths 4 --test-samples 2 --out "$work/lcs-$masking" >"$work/log" 2>&1
  grep -q 'no hint of lcs_length .*nothing is recovered' "$work/log" || { cat "$work/log"; exit 1; }
done
((count >= 4 * 19)) || { echo "only $count runs: the kinds were $kinds"; exit 1; }
echo "$count runs of 20 steps in $((SECONDS - start)) s"
