#!/usr/bin/env bash
# A sweep: stopped by Ctrl-C and called again it goes on where it was, to the bit; a run that fails does not end it; the
# ledger has a line a run and the same call does nothing twice; what is wrong is said before anything is written;
# several at once share their runs.
set -euo pipefail
programs=$1
work=$(mktemp -d)
trap 'rm -rf "$work"' EXIT
cd "$work"
die() { echo "$*"; exit 1; }
# calls STATUS ARGUMENTS...: stdout goes to out, stderr to err.
calls() {
  local status=$1 got=0
  shift
  timeout 100 "$programs/renar_train" "$@" >out 2>err </dev/null || got=$?
  [[ $got == "$status" ]] || die "renar_train $*: status $got, expected $status: $(cat out err)"
}
ledger_has() {  # COUNT WORDS
  local count
  count=$(grep -c -- "$2" results/ledger.jsonl || true)
  [[ $count == "$1" ]] || die "the ledger has $count lines with $2, expected $1: $(cat results/ledger.jsonl)"
}
# awaits FILE: until another program has written something there.
awaits() {
  for _ in $(seq 2000); do [[ -s $1 ]] && return; sleep 0.05; done
  die "nothing came to $1"
}
losses() { sed 's/,"seconds":[^,}]*//' "$1/metrics.jsonl"; }  # without the times

# Of the variants the first is short, the second long enough to be stopped, the third diverges.
cat >grid.toml <<'END'
threads = 1
hidden = 8
batch = 2
train-lengths = [4]
test-lengths = [8]
test-samples = 4
val-samples = 4
eval-every = 500
checkpoint-every = 100
[grid]
algo = ["minimum", "bfs"]
[[variant]]
seed = [1, 2]
steps = 20
[[variant]]
processor = "mpnn"
steps = 3000
[[variant]]
seed = 3
steps = 90
lr = 1000.0
clip = 0
no-ln = true
END
long=minimum-baseline-42-processor=mpnn-steps=3000

# A call that is wrong, or only asks, writes nothing.
calls 2 --sweep nowhere.toml
calls 2 --sweep grid.toml --seed 3
calls 2 --sweep grid.toml --resume runs
calls 2 --table --algo bfs
calls 1 --sweep grid.toml --ledger /proc/nowhere/ledger
mkdir -p other/$long && touch other/$long/notes
calls 2 --sweep grid.toml --out other
[[ $(find other | wc -l) == 3 ]] || die "a refused sweep wrote $(find other)"
calls 0 --sweep grid.toml --table
grep -q '^0 of 8 runs' out || die "the table of nothing is $(cat out)"
[[ ! -e runs && ! -e results ]] || die "a call that runs nothing wrote $(ls)"

# A folder that cannot be written to is told once, and no run fails of it.
touch taken
for folder in taken /proc/nowhere; do
  calls 2 --sweep grid.toml --out $folder --ledger unused.jsonl
  [[ $(cat err) == "error: --out: cannot write to $folder/"* ]] || die "not told about $folder: $(cat err)"
  [[ ! -s unused.jsonl ]] || die "a refused sweep wrote $(cat unused.jsonl)"
done

# Ctrl-C in the third run: two are in the ledger, and the same call goes on.
"$programs/renar_train" --sweep grid.toml >out 2>err &
pid=$!
for _ in $(seq 600); do
  [[ $(wc -l 2>/dev/null <runs/$long/metrics.jsonl || echo 0) -ge 12 ]] && break
  sleep 0.05
done
kill -INT $pid
status=0; wait $pid || status=$?
[[ $status == 130 ]] || die "Ctrl-C ended with status $status: $(cat err)"
grep -q "the same call goes on: $programs/renar_train --sweep grid.toml" err || die "not told how to go on: $(cat err)"
[[ ! -s out ]] || die "a stopped sweep printed $(cat out)"
ledger_has 2 config_hash
grep -q '^run 3 of 8: algo=minimum processor=mpnn steps=3000 (2 done, about ' err || die "no such run: $(cat err)"
stopped_at=$(wc -l <runs/$long/metrics.jsonl)
first_line=$(head -n 1 runs/$long/metrics.jsonl)  # its seconds are of that call
[[ $stopped_at -lt 3000 ]] || { echo "stopped only after $stopped_at steps"; exit 77; }

# The crash of another program left half a line; two runs fail, and the others do not mind.
printf '{"config_hash":"12' >>results/ledger.jsonl
calls 1 --sweep grid.toml
grep -q 'line 3, the last, is cut off' err || die "the cut line is not told: $(cat err)"
grep -q '^run [12] of' err && die "finished runs ran again: $(cat err)"
[[ $(head -n 1 runs/$long/metrics.jsonl) == "$first_line" ]] || die "the stopped run began anew: $(cat err)"
grep -q 'error: 2 of 8 runs failed' err || die "the failures are not told: $(cat err)"
tail -n 1 err | grep -q '^  runs/bfs-baseline-3-.*: .*nan' || die "a failure without its reason: $(cat err)"
grep -q '^6 of 8 runs are in results/ledger.jsonl' out || die "no table: $(cat out)"
cp out before
score=$(grep "${long/minimum/bfs}" results/ledger.jsonl | grep -o '"score":[0-9.]*' | head -n 1 | cut -d: -f2)
percent=$(awk -v score="$score" 'BEGIN { printf "%.2f", 100 * score }')
grep -q "^ *bfs .* ± .* $percent\b" out || die "$score of ${long/minimum/bfs} is not in the table: $(cat out)"
ledger_has 6 '"score"'
ledger_has 2 '"error"'
for key in config_hash date commit device processor; do ledger_has 8 "\"$key\":\"[^\"]*\"[,}]"; done

# The stopped run is the run that was never stopped.
single=(--algo minimum --processor mpnn --steps 3000 --hidden 8 --batch 2 --train-lengths 4 --test-lengths 8
  --test-samples 4 --val-samples 4 --eval-every 500 --threads 1 --out whole --quiet --ledger single.jsonl)
calls 0 "${single[@]}"
calls 0 "${single[@]}"  # prints the result again
[[ $(wc -l <single.jsonl) == 1 ]] || die "a single run's ledger is $(cat single.jsonl)"
short=(--algo bfs --hidden 8 --batch 2 --train-lengths 4 --test-lengths 4 --steps 3 --out short --quiet --ledger short.jsonl)
calls 0 "${short[@]}"
calls 0 "${short[@]}" --overwrite
[[ $(wc -l <short.jsonl) == 2 ]] || die "a run that was trained again has no line of its own: $(cat short.jsonl)"
cmp <(losses whole) <(losses runs/$long) || die "a stop changes the run"
hash_of() { sed 's/.*"config_hash":"\([^"]*\)".*/\1/'; }
[[ $(hash_of <single.jsonl) == "$(grep "$long" results/ledger.jsonl | hash_of)" ]] ||
  die "the same run has two hashes"

# Again: only what failed is tried, the table is the same, and so it is without running.
calls 1 --sweep grid.toml
[[ $(grep -c '^run ' err) == 2 ]] || die "not just the failed runs were tried again: $(cat err)"
cmp before out || die "another table: $(cat out)"
calls 0 --sweep grid.toml --table
cmp before out || die "another table: $(cat out)"
sed '/^seed = 3/,$d' grid.toml | sed '$d' >fine.toml
calls 0 --sweep fine.toml
[[ $(grep -c '^run ' err) == 0 ]] || die "a finished sweep ran something: $(cat err)"
grep -q '^6 of 6 runs' out || die "a finished sweep has no table: $(cat out)"

# A single run that fails has its line, too.
calls 1 --algo bfs --hidden 8 --batch 2 --train-lengths 4 --lr 1000 --clip 0 --no-ln --steps 400 --out diverged \
  --quiet --ledger failed.jsonl
grep -q '"error":"' failed.jsonl || die "no line of a failed run: $(cat failed.jsonl)"

# A finished directory that the ledger does not know is taken as it is; another configuration needs --overwrite.
calls 0 --sweep fine.toml --ledger second.jsonl --quiet
[[ $(wc -l <second.jsonl) == 6 && ! -s err ]] || die "a second ledger: $(cat second.jsonl err)"
calls 2 --sweep fine.toml --batch 3
calls 0 --sweep fine.toml --batch 3 --overwrite --quiet
ledger_has 6 '"batch":3'

# Nobody reads what it says: it goes on all the same.
timeout 100 "$programs/renar_train" --sweep fine.toml --batch 3 --ledger unheard.jsonl >out 2>/dev/full ||
  die "a stderr that takes nothing stops a sweep"
[[ $(wc -l <unheard.jsonl) == 6 ]] || die "a sweep that nobody hears has the ledger $(cat unheard.jsonl)"

# grid_of FILE STEPS LINES: a sweep of bfs.
grid_of() { { sed '/^.grid/,$d' grid.toml; printf 'steps = %s\n[grid]\nalgo = ["bfs"]\n%s\n' "$2" "$3"; } >"$1"; }

# A run fails as there is no such machine: it is one that failed, and has no other in its way.
grid_of machine.toml 20 'precision = ["bf16", "fp32"]'
calls 1 --sweep machine.toml --device cpu --out machine --ledger machine.jsonl
grep -q '"device":"cpu, bf16","error":"--precision bf16 ' machine.jsonl || die "no line: $(cat machine.jsonl err)"
grep -q '^1 of 2 runs' out || die "the run after the failure: $(cat out)"

# A run that another program is at work on is left to it, and is no failure.
grid_of pair.toml 20 'seed = [1, 2]'
mkdir -p pair/bfs-baseline-1
(flock 9 && exec sleep 100) 9<pair/bfs-baseline-1 &
holder=$!
while flock -n pair/bfs-baseline-1 true; do sleep 0.05; done
calls 0 --sweep pair.toml --out pair --ledger pair.jsonl
grep -q '^left to another program: pair/bfs-baseline-1$' err || die "not told whose it is: $(cat err)"
grep -q '^note: still left to another program: pair/bfs-baseline-1$' err || die "not told what is missing: $(cat err)"
grep -q '^1 of 2 runs' out || die "the other run: $(cat out)"
[[ $(wc -l <pair.jsonl) == 1 ]] || die "a line of another's run: $(cat pair.jsonl)"
calls 1 --algo bfs --steps 20 --out pair/bfs-baseline-1 --ledger single_in_use.jsonl
grep -q 'another program is at work' err || die "a folder in use: $(cat err)"
[[ ! -s single_in_use.jsonl ]] || die "a call that was refused has a line: $(cat single_in_use.jsonl)"
kill $holder
wait $holder || true

# Two at once in one folder: neither fails, and no run is done twice.
grid_of shared.toml 2000 'seed = [1, 2]'
both=(--sweep shared.toml --out both --ledger both.jsonl)
"$programs/renar_train" "${both[@]}" >first.out 2>first.err &
pid=$!
awaits both/bfs-baseline-1/metrics.jsonl
calls 0 "${both[@]}"
wait $pid || die "the first of two sweeps failed: $(cat first.err)"
[[ $(cat first.err err | grep -c '^score') == 2 ]] || die "not each run once: $(cat first.err err)"
[[ $(grep -c '"score"' both.jsonl) == 2 && $(wc -l <both.jsonl) == 2 ]] || die "not a line a run: $(cat both.jsonl)"
calls 0 "${both[@]}"
grep -q '^2 of 2 runs' out || die "what two sweeps did: $(cat out)"

# What another sweep does in its folder meanwhile, a sweep takes from the ledger.
grid_of second.toml 2000 'seed = [2]'
"$programs/renar_train" --sweep shared.toml --out here --ledger shared.jsonl >first.out 2>first.err &
pid=$!
awaits here/bfs-baseline-1/metrics.jsonl
kill -STOP $pid
calls 0 --sweep second.toml --out there --ledger shared.jsonl
kill -CONT $pid
wait $pid || die "the sweep beside another failed: $(cat first.err)"
[[ ! -e here/bfs-baseline-2 ]] || die "a run was trained twice: $(cat first.err)"
grep -q '^2 of 2 runs' first.out || die "the other's run is not in the table: $(cat first.out)"

# Names may be any bytes; but --init-from is kept in config.toml, which takes UTF-8 alone.
calls 0 --sweep pair.toml --out $'bad\xff' --ledger bytes.jsonl --quiet
[[ $(grep -c '"score"' bytes.jsonl) == 2 ]] || die "a folder of bytes has the ledger $(cat bytes.jsonl err)"
calls 2 --algo bfs --steps 1 --init-from $'i\xff.safetensors' --out begun
[[ ! -e begun ]] || die "a config.toml that nobody can read: $(ls begun)"
