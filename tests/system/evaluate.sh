#!/usr/bin/env bash
# renar_eval as a user calls it: the scores of renar_train again, tables and JSON that agree, a stop, parameters
# out and in again, and wrong calls that end in one line on stderr and status 2 or 1.
set -uo pipefail
programs=$1
work=$(mktemp -d)
trap 'rm -rf "$work"' EXIT
mkdir "$work/files" && cd "$work/files"
failures=0
fail() { failures=$((failures + 1)); echo "$*"; }
eval_run() { timeout 300 "$programs/renar_eval" "$@"; }
train() { timeout 300 "$programs/renar_train" --hidden 8 --batch 2 --train-lengths 4 --quiet "$@"; }
# number KEY FILE: the first number of that key.
number() { sed -n "s/.*\"$1\": \([-0-9.e]*\),\{0,1\}$/\1/p" "$2" | head -n 1; }

train --algo bfs,heapsort --steps 20 --eval-every 4 --test-lengths 5,9 --test-samples 6 --oracle --out run \
  >trained || exit 1
grep -q '^oracle ' trained || fail "no oracle: $(cat trained)"

# The scores of the run's own test, at the same lengths; means and JSON agree.
eval_run --run run --json out.json >table 2>err || fail "renar_eval: status $?; $(cat err)"
[[ -s err ]] && fail "renar_eval wrote to stderr: $(cat err)"
[[ $(number score run/summary.json) == $(sed -n '/"mean"/,$p' out.json | sed -n 's/.*"score": \(.*\),/\1/p' | head -n 1) ]] ||
  fail "another score than the run's: $(number score run/summary.json), $(sed -n '/"mean"/,$p' out.json)"
grep -q '^mean of 2 algorithms' table || fail "no mean: $(cat table)"
grep -Eq '^ +9 +9 +6 +[01]\.[0-9]{4} ' table || fail "no row of length 9: $(cat table)"
eval_run --run run --threads 1 --json one.json >/dev/null
same() { diff <(sed '/"seconds"\|"device"/d' "$1") <(sed '/"seconds"\|"device"/d' "$2") >/dev/null; }
same out.json one.json || fail "threads change a score"

# Hints, one algorithm, other data, the last checkpoint.
eval_run --run run --algo heapsort --lengths 4 --samples 3 --hints --json hints.json >table ||
  fail "--hints: status $?"
grep -q '^  all hints ' table || fail "no hints: $(cat table)"
grep -q '"along_time": \[' hints.json || fail "no hints along time in the JSON"
eval_run --run run --algo bfs --lengths 7 --split val --json val.json >val || fail "--split val: $?"
[[ $(number data_seed val.json) == 2 && $(number samples val.json) == 32 ]] || fail "another set than val"
# row ARGUMENTS...: the line of bfs goes to $line.
row() {
  eval_run --run run --algo bfs "$@" >row || fail "renar_eval $*: status $?"
  line=$(tail -n 1 row)
}
of=(--lengths 7 --samples 32)
row "${of[@]}"
plain=$line
row "${of[@]}" --data-seed 2
[[ $line == $(tail -n 1 val) ]] || fail "seed 2 is not the validation data"
row "${of[@]}" --data-seed 4
[[ $line != "$plain" ]] || fail "--data-seed changed nothing"
row --lengths 07 --samples 032 --data-seed 02
[[ $line == $(tail -n 1 val) ]] || fail "07, 032 and 02 are not 7, 32 and 2"
row "${of[@]}" --p 0.9
[[ $line != "$plain" ]] || fail "--p changed nothing"
eval_run --run run --algo bfs --lengths 7 --p 0 --hints --json edgeless.json >/dev/null ||
  fail "graphs without edges: status $?"
grep -q '"score": null' edgeless.json || fail "a score of hints where there is no second frame"
eval_run --run run --checkpoint last --lengths 5 --samples 1 >table
grep -q 'last parameters, after 20 of 20' table || fail "not the last checkpoint: $(cat table)"

# Ctrl-C ends it, and leaves no file.
"$programs/renar_eval" --run run --lengths 64 --samples 100000 --json stopped.json >out 2>err &
pid=$!
for _ in $(seq 100); do grep -q length out && break; sleep 0.1; done
sleep 0.3
kill -INT $pid
status=0; wait $pid || status=$?
[[ $status == 130 && $(tail -n 1 err) == "stopped; stopped.json was not written" ]] || fail "Ctrl-C: status $status, $(cat err)"
[[ -e stopped.json ]] && fail "a stopped evaluation wrote its JSON"

# A name that is not UTF-8 is no reason to lose the scores.
cp -r run $'run\xff'
eval_run --run $'run\xff' --lengths 4 --samples 1 --json bytes.json >out 2>err || fail "a path of bytes: $(cat err)"
LC_ALL=C grep -q $'"run": "run\xef\xbf\xbd"' bytes.json || fail "$(head -n 2 bytes.json)"

# Parameters out and in again: another run begins where this one's best were.
eval_run --run run --export best.npz >out || fail "--export: status $?"
grep -q '^best.npz: [0-9]* arrays' out || fail "--export said $(cat out)"
(($(wc -l <out) == 1)) || fail "--export alone scored: $(cat out)"
eval_run --run run --export best.npz --algo bfs --hints >out || fail "--export --hints: status $?"
grep -q '^  all hints ' out || fail "--export --hints did not score: $(cat out)"
for source in best.npz run/best.safetensors; do
  train --algo bfs,heapsort --steps 1 --lr 1e-30 --init-from $source --out again --overwrite >/dev/null \
    --test-lengths 5 --test-samples 6 || fail "--init-from $source: status $?"
  eval_run --run again --lengths 5,9 --samples 6 --json again.json >/dev/null
  diff <(sed -n '/"algorithms"/,/"seconds"/p' again.json | grep -v seconds) \
    <(sed -n '/"algorithms"/,/"seconds"/p' out.json | grep -v seconds) >diff ||
    fail "--init-from $source scores differently: $(head -n 5 diff)"
done
timeout 60 "$programs/renar_train" --algo dfs --hidden 8 --batch 2 --train-lengths 4 --steps 1 --test-lengths 4 \
  --test-samples 1 --init-from run/last.safetensors --out other >out 2>err || fail "another algorithm's run: $?"
grep -q 'began with the processor of run/last.safetensors; encoders and decoders start anew: dfs; left out: bfs, heapsort' err ||
  fail "it was not said what was loaded: $(cat err)"

# refused STATUS WORDS PROGRAM ARGUMENTS...: one line that holds WORDS, and no new file.
refused() {
  local status=$1 words=$2 program=$3 got before
  shift 3
  before=$(ls -A)
  timeout 60 "$programs/$program" "$@" >../out 2>../err </dev/null
  got=$?
  if [[ $got != "$status" ]] || [[ $(wc -l <../err) != 1 ]] || ! grep -qF -- "$words" ../err || [[ -s ../out ]]; then
    fail "$program $*: status $got, expected $status and one line with '$words'; stderr: $(head -c 300 ../err); $(head -n 3 ../out)"
  fi
  [[ $(ls -A) == "$before" ]] || fail "$program $* left $(ls -A)"
}
refused 2 '--run is required' renar_eval
refused 2 'no run directory nowhere' renar_eval --run nowhere
refused 2 'no config.toml' renar_eval --run .
refused 2 'did you mean --lengths' renar_eval --run run --lenghts 4
refused 2 'unexpected word "a"' renar_eval a
for value in 0 -1 x 1.5 5000 '' 8, 8,,9 ' 8' 0x8; do refused 2 '--lengths' renar_eval --run run --lengths "$value"; done
refused 2 '4 twice' renar_eval --run run --lengths 4,4
for value in 0 -1 x; do refused 2 '--samples' renar_eval --run run --samples $value; done
refused 2 '--data-seed' renar_eval --run run --data-seed -1
refused 2 'learned bfs, heapsort' renar_eval --run run --algo dfs
refused 2 'heapsort has none' renar_eval --run run --p 0.5
for value in 1.5 nan 0.1, x; do refused 2 '--p' renar_eval --run run --algo bfs --p $value; done
refused 2 '--algo' renar_eval --run run --algo bfs,
refused 2 'bfs has no needle' renar_eval --run run --length-needle 3
refused 2 'not on what it was trained on' renar_eval --run run --split train
refused 2 "the nearest match is 'test'" renar_eval --run run --split tset
refused 2 'did you mean "cuda"' renar_eval --run run --device cud
refused 2 'Valid: fp32, tf32, bf16' renar_eval --run run --precision half
refused 2 '--checkpoint' renar_eval --run run --checkpoint worst
refused 2 '--json: [files] cannot create nowhere/out.json' renar_eval --run run --json nowhere/out.json
refused 2 '--export: [files] cannot create nowhere/out.npz' renar_eval --run run --export nowhere/out.npz
mkfifo pipe
for flag in --json --export; do
  refused 2 "$flag must not be empty" renar_eval --run run $flag ''
  refused 2 'no regular file' renar_eval --run run $flag run
  refused 2 'no regular file' renar_eval --run run $flag pipe  # of no device: a fault would replace it
  refused 2 'cannot create /proc/out' renar_eval --run run $flag /proc/out
done
refused 2 'name one file' renar_eval --run run --json both --export ../files/both
damage() { rm -rf ../broken; cp -r run ../broken; "$@"; }
damage truncate -s 1000 ../broken/best.safetensors
refused 1 'best.safetensors' renar_eval --run ../broken
damage rm ../broken/best.safetensors
refused 1 'best.safetensors' renar_eval --run ../broken
damage sed -i 's/^hidden = 8/hidden = 16/' ../broken/config.toml
refused 1 'expected' renar_eval --run ../broken
damage sed -i 's/^hidden = 8/hidden = "wide"/' ../broken/config.toml
refused 2 'hidden' renar_eval --run ../broken
damage cp best.npz ../broken/config.toml
refused 2 'config.toml' renar_eval --run ../broken
small=(--batch 2 --train-lengths 4 --steps 1 --out x --quiet)
refused 1 'here it is' renar_train --algo bfs,heapsort --hidden 16 "${small[@]}" --init-from best.npz
refused 1 'algo_0 is dfs here' renar_train --algo dfs --hidden 8 "${small[@]}" --init-from best.npz
refused 1 'has the processor triplet_gmpnn' renar_train --algo bfs --hidden 8 --processor mpnn "${small[@]}" \
  --init-from run/best.safetensors
refused 2 'neither' renar_train --algo bfs "${small[@]}" --init-from weights.pkl
refused 1 'none.npz' renar_train --algo bfs "${small[@]}" --init-from none.npz
exit $((failures > 0))
