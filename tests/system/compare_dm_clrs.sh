#!/usr/bin/env bash
# tools/compare_dm_clrs without a network: wrong calls, and a whole run in which a script that says
# what dm-clrs would say stands in for the venv's Python.
set -uo pipefail
programs=$1
compare=$PWD/tools/compare_dm_clrs
python3 -c 'import sys; sys.exit(sys.version_info < (3, 9))' 2>/dev/null ||
  { echo "no Python 3.9 or newer for tools/compare_dm_clrs"; exit 77; }
work=$(mktemp -d)
trap 'rm -rf "$work"' EXIT
cd "$work"
failures=0

# ends STATUS WORDS ARGUMENTS...: the last line on stderr holds WORDS.
ends() {
  local status=$1 words=$2 got
  shift 2
  timeout 100 "$compare" --programs "$programs" --venv venv "$@" >out 2>err </dev/null
  got=$?
  if [[ $got != "$status" ]] || [[ $(tail -n 1 err) != *"$words"* ]]; then
    echo "compare_dm_clrs $*: status $got, expected $status and '$words'; stderr: $(cat err)"
    failures=$((failures + 1))
  fi
}
shows() {
  grep -qE -- "$1" out || { echo "no line '$1' in: $(cat out)"; failures=$((failures + 1)); }
}

ends 2 'unrecognized arguments: --bogus' --bogus
ends 2 '--threads 9999: this process has' --threads 9999
ends 2 '--threads 0: ' --threads 0
ends 2 'must be positive' --rounds 0
ends 1 "unknown algorithm 'dsf'" --only dsf
ends 2 'not allowed with argument' --all --quick
ends 2 'no such folder' --json nowhere/x.json
ends 1 "'make build' makes renar's programs" --programs nowhere
[[ -e venv ]] && { echo "a wrong call made a venv"; failures=$((failures + 1)); }

# said LINE...: the venv's Python has the versions and answers each round with the next line.
said() {
  mkdir -p venv/bin
  printf '%s\n' '#!/bin/sh' '[ "$1" = -c ] && { echo dm-clrs 7 on jax 8; exit; }' \
    '[ -s "$6" ] || { echo "no batch in $6" >&2; exit 1; }' "$@" >venv/bin/python
  chmod +x venv/bin/python
}
quick=(--quick --rounds 2 --seconds 0.01 --threads 1)
said 'echo A warning >&2; echo "batches differ" >&2; exit 1'
ends 1 'dm-clrs ended: batches differ' "${quick[@]}"

said "echo '{\"first_s\": 40}'" 'read seconds' \
  "echo '{\"ms\": [9e6, 4e6], \"peak_rss_mib\": 4e6}'" 'read seconds' \
  "echo '{\"ms\": [5e6], \"peak_rss_mib\": 5e6}'" 'read seconds'
ends 0 '' "${quick[@]}" --json all.json
shows '^\| \| dm-clrs 7 on jax 8 \| renar [0-9.]+ \| ratio \|$'
shows '^\| bfs, n = 16, one training step \(T = 7\) \| 4,000,000 ms \| .* ms \| [0-9.]+ \|$'
shows '^\| bfs, n = 64, prediction of a batch \(T = 8\) \| 4,000,000 ms \| .* ms \| [0-9.]+ \|$'
shows '^\| bfs, training, peak memory of the process \| 5,000,000 MiB \| .* MiB \| [0-9.]+ \|$'
shows '^\| bfs, from the start to the end of the first step \| 40 s \| .* s \| [0-9.]+ \|$'
shows '1 threads? on cores'
grep -q '"dm_clrs_ms": \[' all.json || { echo "all.json lacks the times"; failures=$((failures + 1)); }
ends 0 '' --only kmp_matcher --xla-flags= --rounds 2 --seconds 0.01 --threads 1
shows '^\| kmp_matcher, n = 20, one training step .*T = 2[0-9]'
shows '^\| kmp_matcher, n = 64, prediction of a batch '
((failures == 0))
