#!/usr/bin/env bash
# A run leaves its files and its score; the same call prints the result again; threads, a memory budget, evaluations
# and a stop in the middle change no bit of it, dropout and teacher forcing included.
set -euo pipefail
programs=$1
work=$(mktemp -d)
trap 'rm -rf "$work"' EXIT
small=(--algo dfs --hidden 16 --batch 8 --train-lengths 4,7 --checkpoint-every 7
  --test-lengths 5,8 --test-samples 6 --lstm --dropout 0.1 --hint-teacher-forcing 0.5 --quiet)
train() { "$programs/renar_train" "${small[@]}" --steps 60 --eval-every "${every:-10}" "$@"; }
# What must be the same: everything but the times.
losses() { grep -v val_score "$1/metrics.jsonl" | sed 's/,"seconds":.*//'; }
all() { sed 's/,"seconds":[^,}]*//' "$1/metrics.jsonl"; }
die() { echo "$*"; exit 1; }

train --out "$work/whole" --threads 2 >"$work/first"
for file in config.toml metrics.jsonl best.safetensors last.safetensors summary.json curves.svg; do
  [[ -s $work/whole/$file ]] || die "$file is missing"
done
grep -q '^score ' "$work/first" || die "no score was printed"
before=$(cat "$work/whole/"*.jsonl | wc -l)
train --out "$work/whole" >"$work/again"
cmp "$work/first" "$work/again" || die "a finished run does not print the same result"
[[ $(cat "$work/whole/"*.jsonl | wc -l) == "$before" ]] || die "a finished run was trained again"

train --out "$work/one_thread" --threads 1 >/dev/null
cmp <(all "$work/whole") <(all "$work/one_thread") || die "1 and 2 threads differ"

train --out "$work/recomputed" --memory-budget 1 >/dev/null
cmp <(all "$work/whole") <(all "$work/recomputed") || die "a memory budget changes the run"

every=50 train --out "$work/rarely" >/dev/null
cmp <(losses "$work/whole") <(losses "$work/rarely") || die "evaluating more often changes the losses"

"$programs/renar_train" "${small[@]}" --eval-every 10 --steps 100000 --out "$work/stopped" \
  2>"$work/err" >/dev/null &
pid=$!
for _ in $(seq 300); do
  [[ $(wc -l 2>/dev/null <"$work/stopped/metrics.jsonl" || echo 0) -ge 12 ]] && break
  sleep 0.1
done
kill -INT $pid
status=0; wait $pid || status=$?
[[ $status == 130 ]] || die "Ctrl-C ended with status $status"
grep -q "renar_train --resume $work/stopped" "$work/err" || die "not told how to resume: $(cat "$work/err")"
done_steps=$(losses "$work/stopped" | wc -l)
[[ $done_steps -lt 60 ]] || { echo "stopped only after $done_steps steps"; exit 77; }
# Its configuration says 100000 steps: the shorter run is the same configuration but for that.
sed -i 's/^steps = 100000/steps = 60/' "$work/stopped/config.toml"
"$programs/renar_train" --resume "$work/stopped" --quiet >/dev/null
cmp <(all "$work/whole") <(all "$work/stopped") || die "a stop and a resume change the run"
for part in best last; do
  [[ $(stat -c %s "$work/whole/$part.safetensors") -gt 0 ]]
done
cmp "$work/whole/best.safetensors" "$work/stopped/best.safetensors" || die "the best parameters differ"

"$programs/renar_train" --resume "$work/whole" --steps 65 --quiet >/dev/null
[[ $(losses "$work/whole" | wc -l) == 65 ]] || die "--resume --steps 65 did not go on to 65"
