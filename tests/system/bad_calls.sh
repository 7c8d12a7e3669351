#!/usr/bin/env bash
# A wrong call or a damaged file ends in one line on stderr and status 2 or 1, and writes nothing. What goes wrong
# outside the program (no room for the result, no memory, closed streams, a stop) is said as well.
set -uo pipefail
programs=$1
source=$PWD
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
refused 2 'does not know "b?s"' --algo $'b\ns'
refused 2 'did you mean --batch' --algo bfs --bacth 3
refused 2 'did you mean "mpnn"' --algo bfs --processor mpn
for value in 0 -1 x 1.5 99999999999; do refused 2 '--batch' --algo bfs --batch $value; done
for value in -1 0 nan inf x; do refused 2 '--lr' --algo bfs --lr $value; done
for value in 0 -4 abc 4,,7 ''; do refused 2 '--train-lengths' --algo bfs --train-lengths "$value"; done
for value in -1 2 x; do refused 2 '--p' --algo bfs --p $value; done
refused 2 '--steps' --algo bfs --steps -3
refused 2 '--train-lengths 200: bfs: .*at most 127 nodes' --algo bfs --processor memnet_full --train-lengths 4,200 --val-length 4
refused 2 '--val-length 200: .*at most 127 nodes' --algo bfs --processor memnet_full --train-lengths 4 --val-length 200
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
echo 'learning_rat = 1' >wrong.toml && refused 2 'learning_rat' --algo bfs --config wrong.toml
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

complain() { failures=$((failures + 1)); echo "$*"; }

# Closed streams: their numbers are not given to the run's files.
timeout 60 "$programs/renar_train" "${small[@]}" --hidden 8 --out closed <&- >&- 2>&- || complain "closed streams: status $?"
grep -qv '^{.*}$' closed/metrics.jsonl && complain "in metrics.jsonl: $(grep -v '^{' closed/metrics.jsonl)"
[[ -s closed/summary.json ]] || complain "with closed streams a run cannot finish"

# A result that does not arrive is no success.
unread() {
  local program=$1 got
  shift
  timeout 60 "$programs/$program" "$@" >/dev/full 2>err
  got=$?
  [[ $got == 1 && $(wc -l <err) == 1 ]] && grep -q 'cannot write' err ||
    complain "$program $* with a full disk behind stdout: status $got, $(cat err)"
}
unread renar_train --resume made
unread renar_train --help
unread renar_data list
unread renar_data --help
unread renar_check golden "$source/tests/golden/model/bfs.npz"
unread renar_bench step --algo bfs --length 4 --batch 1 --hidden 8 --steps 1 --threads 1
unread renar_bench ops --length 3 --hidden 8 --repeats 1
unread renar_bench data --algo bfs --length 8
unread renar_eval --version
timeout 60 "$programs/renar_train" --algo dsf 2>/dev/full; got=$?
[[ $got == 2 ]] || complain "a full disk behind stderr: status $got"

# On the CPU a program cannot take more memory than there is, so it ends with a line and is not killed. The address
# sanitizer's programs have no such limit.
limited() {
  local program=$1 pid found=
  shift
  "$programs/$program" "$@" >/dev/null 2>&1 &
  pid=$!
  for _ in $(seq 200); do
    grep -q '^Max data size  *[0-9]' "/proc/$pid/limits" 2>/dev/null && { found=yes; break; }
    sleep 0.02
  done
  kill $pid 2>/dev/null; wait $pid 2>/dev/null
  [[ $found ]] || complain "$program $* may take any amount of memory"
}
long=(--algo bfs --hidden 8 --device cpu)
if ! grep -q __asan_init "$programs/renar_train"; then
  limited renar_train "${long[@]}" --quiet --steps 100000 --out long
  limited renar_bench step "${long[@]}" --steps 100000
  limited renar_check fingerprint
  limited renar_eval --run made --lengths 64 --samples 100000
  limited renar_data export --algo dfs --length 64 --samples 1000 --seed 1 --out many.npz
  printf 'algo = ["bfs"]\nsteps = 100000\nhidden = 8\ndevice = "cpu"\n[grid]\nseed = [1]\n' >grid.toml
  limited renar_train --sweep grid.toml
  rm -rf runs

  # A ledger knows of a run that had no memory.
  (ulimit -d 200000; refused 1 'out of memory' --algo bfs --threads 1 --device cpu --hidden 2048 --quiet \
    --out hungry --ledger ledger.jsonl; exit $failures)
  failures=$?
  [[ $(grep -c '"error":"out of memory' ledger.jsonl) == 1 ]] || complain "not in the ledger: $(cat ledger.jsonl)"
fi
refused 2 'tf32' "${small[@]}" --device cpu --precision tf32 --out wrong --ledger calls.jsonl
[[ -s calls.jsonl ]] && complain "a wrong call is in the ledger: $(cat calls.jsonl)"

# Ctrl-C: the line can be given to a shell as it is.
stopped() {
  local out=$1 pid got
  shift
  "$programs/renar_train" "$@" >/dev/null 2>err &
  pid=$!
  for _ in $(seq 300); do [[ $(wc -l 2>/dev/null <"$out/metrics.jsonl") -ge 3 ]] && break; sleep 0.05; done
  kill -INT $pid
  wait $pid; got=$?
  [[ $got == 130 ]] || complain "Ctrl-C: status $got, $(cat err)"
}
stopped "my runs/it's" --algo bfs --hidden 8 --steps 100000 --out "my runs/it's" --ledger 'my ledger' --quiet
[[ $(tail -n 1 err) == "stopped; go on with: $programs/renar_train --resume 'my runs/it'\\''s' --ledger 'my ledger'" ]] ||
  complain "how to go on: $(cat err)"
printf 'algo = ["bfs"]\nsteps = 100000\nhidden = 8\n[grid]\nseed = [1]\n' >'my grid.toml'
stopped swept/bfs-baseline-1 --sweep 'my grid.toml' --out swept --quiet
grep -qxF "stopped; the same call goes on: $programs/renar_train --sweep 'my grid.toml' --out swept --quiet" err ||
  complain "how to go on with a sweep: $(cat err)"

# --profile where no step is left.
rm made/summary.json
"$programs/renar_train" --resume made --profile >out 2>err || complain "--profile of no steps: status $?, $(cat err)"
grep -q '^score' out || complain "no result: $(cat out)"
grep -q 'none was left to measure' err || complain "--profile of no steps: $(cat err)"

"$programs/renar_train" -h >out && grep -q -- '--algo' out || complain "renar_train does not know -h"

"$programs/renar_check" golden nowhere >out 2>err; got=$?
[[ $got == 1 && $(wc -l <err) == 1 && ! -s out ]] && grep -q 'there is no nowhere' err ||
  complain "renar_check golden nowhere: status $got, $(cat out err)"

# Golden cases: one that cannot be read does not keep the others from being run.
mkdir golden && cp "$source"/tests/golden/model/{bfs.npz,manifest.json} golden && echo broken >golden/a.npz
"$programs/renar_check" golden golden >out 2>err; got=$?
[[ $got == 1 ]] && grep -q '^FAILED a .*a.npz' out && grep -q '^ok  *bfs' out && grep -q '^1 of 2 cases' out ||
  complain "renar_check golden: status $got, $(cat out err)"
for value in nan 0 -1 x 1e-4x; do
  "$programs/renar_check" golden golden --tolerance $value >out 2>err; got=$?
  [[ $got == 2 && $(wc -l <err) == 1 && ! -s out ]] && grep -q -- --tolerance err ||
    complain "renar_check --tolerance $value: status $got, $(cat err)"
done

# tools/dist.sh removes only what it made.
bash "$source/tools/dist.sh" "$work/foreign" >out 2>err; got=$?
[[ $got == 2 && $(wc -l <err) == 1 && -s foreign/notes.txt ]] || complain "tools/dist.sh foreign: status $got, $(cat err)"
exit $((failures > 0))
