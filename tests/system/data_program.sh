#!/usr/bin/env bash
# renar_data as a user calls it: files that hold what they should, runs that are shown, and wrong
# calls or inputs that end in one line on stderr, status 2 or 1, and write nothing.
set -uo pipefail
programs=$1
work=$(mktemp -d)
trap 'rm -rf "$work"' EXIT
mkdir "$work/files" && cd "$work/files"
failures=0
fail() { failures=$((failures + 1)); echo "$*"; }
data() { timeout 120 "$programs/renar_data" "$@"; }

# refused STATUS WORDS ARGUMENTS...: one line that holds WORDS, and no new file.
refused() {
  local status=$1 words=$2 got before
  shift 2
  before=$(ls -A)
  data "$@" >../out 2>../err </dev/null
  got=$?
  if [[ $got != "$status" ]] || [[ $(wc -l <../err) != 1 ]] || ! grep -qF -- "$words" ../err || [[ -s ../out ]]; then
    fail "renar_data $*: status $got, expected $status and one line with '$words'; stderr: $(head -c 300 ../err)"
  fi
  [[ $(ls -A) == "$before" ]] || fail "renar_data $* left $(ls -A)"
}
# shows WORDS ARGUMENTS...: status 0 and WORDS on stdout.
shows() {
  local words=$1
  shift
  data "$@" >../out 2>../err || fail "renar_data $*: status $?; $(cat ../err)"
  grep -qF -- "$words" ../out || fail "renar_data $*: '$words' is not in: $(head -c 1000 ../out)"
  [[ -s ../err ]] && fail "renar_data $* wrote to stderr: $(cat ../err)"
}

# Exports: the line that says what was written, the same bytes each time, and the same data as trace's.
shows 'x.npz: 15 arrays, 3 samples of 5 nodes, 15 frames, ' export --algo dfs --length 5 --samples 3 --seed 1 --out x.npz
data export --algo dfs --length 5 --samples 3 --seed 1 --out again.npz >/dev/null
cmp x.npz again.npz || fail "two exports differ"
data export --algo dfs --length 5 --samples 1 --seed 1 --out one.npz >/dev/null
shows 'one2.npz: 15 arrays, 1 sample of 5 nodes' trace --algo dfs --length 5 --seed 1 --out one2.npz
cmp one.npz one2.npz || fail "trace and export write different data"
for name in input/pos input/A input/adj output/pi hint/pi_h hint/time lengths; do
  grep -aqF "$name.npy" x.npz || fail "x.npz has no $name"
done
# changes FILE ARGUMENTS...: the export is another than x.npz.
changes() {
  data export --algo=dfs --length=5 --samples=3 --seed=1 "${@:2}" --out "$1" >/dev/null || fail "export ${*:2}: status $?"
  ! cmp -s x.npz "$1" || fail "${*:2} changed nothing"
}
changes p.npz --p 0.9
changes train.npz --train
changes pipeline.npz --pipeline 7
shows 'test.npz: 15 arrays, 32 samples of 64 nodes, 192 frames' export --algo dfs --split test --out test.npz
shows 'val.npz: 8 arrays, 32 samples of 16 nodes' export --algo bfs --split val --out val.npz
data export --algo bfs --length 16 --samples 32 --seed 2 --out val2.npz >/dev/null
cmp val.npz val2.npz || fail "the validation set is not 32 samples of 16 nodes from seed 2"

# A run on the user's own input.
echo '{"A": [[0, 1, 0], [0, 0, 1], [0, 0, 0]], "s": 0}' >graph.json
shows 'bfs: 3 nodes, 3 frames; algos/graphs/bfs.cpp' trace --algo bfs --input graph.json
shows '  reach_h   {0..2}  +2' trace --algo bfs --input graph.json
shows 'g.npz: 8 arrays, 1 sample of 3 nodes, 3 frames' trace --algo bfs --input graph.json --out g.npz
shows 'dfs (graphs), input A, 32 test samples' list
shows '"name":"dfs","category":"graphs","inputs":["A"]' list --json
shows 'Usage: renar_data export' export --help
shows 'renar ' --version

# Wrong calls.
refused 2 'A subcommand is required'
refused 2 'did you mean trace' trac
refused 2 'did you mean --length' export --algo dfs --lenght 4
refused 2 "the nearest match is 'dfs'" export --algo dsf --length 4 --samples 1 --seed 1 --out y.npz
refused 2 "the nearest match is 'test'" export --algo dfs --split tset --out y.npz
refused 2 '--algo is required' export --out y.npz
refused 2 '--out is required' export --algo dfs --split test
row=$(printf '1,%.0s' {1..128})
printf '{"edges": [%s]}' "$(printf "[${row}1],%.0s" {1..127})[${row}1]" >wide.json
refused 2 '128 nodes on the left and 129 on the right' trace --algo bipartite_matching --input wide.json
refused 2 'give --split' export --algo dfs --out y.npz
refused 2 'give --split' export --algo dfs --length 4 --seed 1 --out y.npz
refused 2 'leave out' export --algo dfs --split test --seed 1 --out y.npz
refused 2 'leave out' export --algo dfs --split test --train --out y.npz
refused 2 'is of the string matchers' export --algo dfs --length 4 --samples 1 --seed 1 --length_needle -8 --out y.npz
data export --algo dfs --length 05 --samples 03 --seed 0001 --out decimal.npz >/dev/null
cmp -s x.npz decimal.npz || fail "05, 03 and 0001 are not 5, 3 and 1"
for value in 0 -1 x 1.5 99999999999 0x8 8, ' 8' +8 ''; do
  refused 2 '--length' export --algo dfs --length "$value" --samples 1 --seed 1 --out y.npz
  refused 2 '--samples' export --algo dfs --length 4 --samples "$value" --seed 1 --out y.npz
done
for value in -1 x 4294967296; do
  refused 2 '--seed' export --algo dfs --length 4 --samples 1 --seed $value --out y.npz
done
for value in -0.1 1.1 nan x 0.1,2 0.1, 0.1,,0.2 0.1,0.1; do
  refused 2 '--p' export --algo dfs --length 4 --samples 1 --seed 1 --p $value --out y.npz
done
refused 2 'a file may hold 4096' export --algo bridges --length 1000 --samples 1000 --seed 1 --out y.npz
refused 2 'a file may hold 4096' export --algo bridges --length 64 --samples 10000 --seed 1 --out y.npz
refused 2 '--out must not be empty' export --algo dfs --length 4 --samples 1 --seed 1 --out ''
refused 2 '--out must not be empty' trace --algo dfs --length 4 --seed 1 --out ''
for call in 'export --samples 1' trace; do  # before the work, of which nothing is shown then
  refused 2 '--out: [files] cannot create nowhere/y.npz' $call --algo dfs --length 4 --seed 1 --out nowhere/y.npz
done
refused 2 'give --length and --seed' trace --algo dfs
refused 2 'give --length and --seed' trace --algo dfs --length 4
refused 2 'give --length and --seed' trace --algo dfs --length 4 --seed 1 --input graph.json
refused 2 '--length' trace --algo dfs --length 257 --seed 1
data trace --algo dfs --length 4 --seed 1 >/dev/full 2>../err && fail "a full disk behind stdout goes unseen"
grep -q 'cannot write' ../err || fail "a full disk: $(cat ../err)"

# Wrong inputs: the line names the file.
refused 2 'none.json' trace --algo bfs --input none.json
refused 2 'graph.json: unknown key "s"' trace --algo dfs --input graph.json
echo '{"A": [[0, 1], [1, 0]], "s": 7}' >far.json
refused 1 'far.json: [bfs] the source 7' trace --algo bfs --input far.json
echo '{"A": [[0, 1], [1, 0]], "s": "zero\n\u001b[31m"}' >word.json
refused 2 "word.json: the input 's' is the string \"zero??[31m\"" trace --algo bfs --input word.json --out y.npz
echo '{"haystack": "A\nC", "needle": "A"}' >letter.json
refused 2 "has the letter '?'" trace --algo naive_string_matcher --input letter.json
echo '{"A": [[0, -1], [-1, 0]], "s": 0}' >negative.json
refused 1 'negative.json: [dijkstra] an edge of weight -1' trace --algo dijkstra --input negative.json
printf '{"A": [[0, 1]\n' >cut.json
refused 2 'cut.json, line 2, column 1: ' trace --algo bfs --input cut.json
head -c 100000 /dev/urandom >noise.json
refused 2 'noise.json' trace --algo bfs --input noise.json
mkfifo pipe.json
refused 2 'pipe.json is not a regular file' trace --algo bfs --input pipe.json

# The samplers' speed as JSON.
"$programs/renar_bench" data --algo bfs,dfs --length 8 --json >bench.json || fail "renar_bench data: status $?"
grep -q '"algo":"dfs","samples":32,"frames":24,' bench.json || fail "renar_bench data: $(cat bench.json)"

# And that of the ops.
"$programs/renar_bench" step --algo kmp_matcher --batch 1 --hidden 8 --steps 1 --threads 1 --json >step.json || fail "renar_bench step: status $?"
grep -q '"nodes":20,"batch":1,"steps_T":[12][0-9],' step.json || fail "a string matcher is not timed at its length in training: $(cat step.json)"
"$programs/renar_bench" ops --length 3 --hidden 8 --repeats 2 --json >ops.json || fail "renar_bench ops: status $?"
for op in '"linear_max"' '"pointer_head"' '"squared_error"' '"memory_read"'; do
  grep -q "{\"op\":$op,\"forward_us_min\":[0-9.]*,\"backward_us_min\":[0-9.]*,\"gflop\":" ops.json || fail "renar_bench ops: no $op in $(cat ops.json)"
done
"$programs/renar_bench" ops --length 3 --hidden 8 --repeats 2 >ops.txt || fail "renar_bench ops: status $?"
grep -q '^triplet_max  *[0-9.]*  *[0-9.]*' ops.txt || fail "renar_bench ops: $(cat ops.txt)"
"$programs/renar_bench" ops --hidden 6 >ops6.txt 2>&1 && fail "renar_bench ops --hidden 6: status 0"
for call in 'ops --length 0x4' 'ops --repeats 1.5' 'step --mask-ratio nan' 'step --length 4,' 'data --algo bfs,'; do
  "$programs/renar_bench" $call >bad.txt 2>&1
  status=$?
  [[ $status == 2 && $(wc -l <bad.txt) == 1 ]] || fail "renar_bench $call: status $status, $(cat bad.txt)"
done
[[ $(cat ops6.txt) == *"--hidden 6: not a multiple of 4 heads"* && $(wc -l <ops6.txt) == 1 ]] || fail "renar_bench ops --hidden 6: $(cat ops6.txt)"

if python3 -c 'import numpy' 2>/dev/null; then
  python3 - <<'PY' || fail "numpy reads something else"
import numpy as np
with np.load("x.npz") as x:
    assert x["hint/pi_h"].shape == (15, 3, 5) and x["input/A"].shape == (3, 5, 5), "shapes"
    assert all(a.dtype == np.float64 for a in x.values()) and (x["lengths"] == 15).all()
PY
fi
exit $((failures > 0))
