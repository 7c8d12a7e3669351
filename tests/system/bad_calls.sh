#!/usr/bin/env bash
# A wrong call or a damaged file ends in one line on stderr and status 2 or 1, and writes nothing.
set -uo pipefail
programs=$1
work=$(mktemp -d)
trap 'rm -rf "$work"' EXIT
cd "$work"
failures=0

# refused STATUS WORDS ARGUMENTS...: the line must hold WORDS.
refused() {
  local status=$1 words=$2 got
  shift 2
  timeout 60 "$programs/renar_train" "$@" >out 2>err </dev/null
  got=$?
  if [[ $got != "$status" ]] || [[ $(wc -l <err) != 1 ]] || ! grep -q -- "$words" err || [[ -s out ]]; then
    echo "renar_train $*: status $got, expected $status and one line with '$words'; stderr:"
    cat err
    failures=$((failures + 1))
  fi
  if [[ -e runs ]]; then
    echo "renar_train $* wrote $(find runs)"
    failures=$((failures + 1))
    rm -r runs
  fi
}

refused 2 'valid: ' 
refused 2 'did you mean "dfs"' --algo dsf
refused 2 'did you mean --batch' --algo bfs --bacth 3
refused 2 'did you mean "mpnn"' --algo bfs --processor mpn
for value in 0 -1 x 1.5 99999999999; do refused 2 '--batch' --algo bfs --batch $value; done
for value in -1 0 nan inf x; do refused 2 '--lr' --algo bfs --lr $value; done
for value in 0 -4 abc 4,,7 ''; do refused 2 '--train-lengths' --algo bfs --train-lengths "$value"; done
for value in -1 2 x; do refused 2 '--p' --algo bfs --p $value; done
refused 2 '--steps' --algo bfs --steps -3
refused 2 '--hidden' --algo bfs --hidden 0
refused 2 '--threads' --algo bfs --threads -1
refused 2 'does not divide' --algo bfs --processor gat --heads 3
refused 2 'no attention' --algo bfs --heads 2
for value in -1 1 nan x; do refused 2 '--dropout' --algo bfs --dropout $value; done
refused 2 'needs --hint-mode' --algo bfs --hint-mode none --hint-teacher-forcing 0.5
for value in 1 0 -2 x; do refused 2 '--chunk-length' --algo bfs --chunked --chunk-length $value; done
refused 2 'of --chunked' --algo bfs --chunk-state reset
refused 2 'trains --method baseline' --algo bfs --chunked --method renar
[[ -e /dev/nvidia0 ]] || refused 1 'device cuda' --algo bfs --device cuda
refused 2 'auto' --algo bfs --device gpu
refused 2 'no run directory' --resume nowhere
refused 2 'not a directory' --algo bfs --out /dev/null
refused 1 'cannot make' --algo bfs --out /proc/renar/run
refused 2 'nowhere.toml' --config nowhere.toml
echo 'learning_rate = 1' >wrong.toml && refused 2 'learning_rate' --algo bfs --config wrong.toml
echo 'lr = "high"' >wrong.toml && refused 2 'lr' --algo bfs --config wrong.toml
mkdir foreign && echo mine >foreign/notes.txt
refused 2 'other files' --algo bfs --out foreign
[[ $(ls foreign) == notes.txt ]] || { echo "a foreign directory was changed"; failures=$((failures + 1)); }

small=(--algo bfs --batch 2 --train-lengths 4 --steps 3 --test-lengths 4 --test-samples 2)
"$programs/renar_train" "${small[@]}" --hidden 8 --out made --quiet >/dev/null || exit 1
refused 2 'hidden: 8 there, 16 here' "${small[@]}" --hidden 16 --out made
refused 2 'overwrite' "${small[@]}" --hidden 8 --lr 0.5 --out made
refused 2 'config' --resume foreign
damage() { rm -rf broken; cp -r made broken; rm broken/summary.json; "$@"; }
damage truncate -s 1000 broken/last.safetensors
refused 1 'last.safetensors' --resume broken
damage cp made/metrics.jsonl broken/last.safetensors
refused 1 'last.safetensors' --resume broken
damage rm broken/last.safetensors
refused 2 'last.safetensors' --resume broken
damage sed -i 's/^algo = \["bfs"\]/algo = ["dfs"]/' broken/config.toml
refused 1 'trained on bfs' --resume broken

# A loss that is not a number stops the run and says when.
timeout 60 "$programs/renar_train" --algo bfs --hidden 8 --batch 2 --train-lengths 4 --lr 1000 --clip 0 \
  --no-ln --steps 400 --checkpoint-every 1 --out diverged --quiet >out 2>err
status=$?
if [[ $status != 1 ]] || ! grep -q 'step' err || [[ $(wc -l <err) != 1 ]]; then
  echo "a diverging run: status $status, $(cat err)"
  failures=$((failures + 1))
fi
[[ -s diverged/last.safetensors ]] || { echo "the last good checkpoint is gone"; failures=$((failures + 1)); }
exit $((failures > 0))
