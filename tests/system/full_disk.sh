#!/usr/bin/env bash
# A file that may not grow further (ulimit -f), and a disk that fills up while a checkpoint is written: one line, status 1,
# and the old checkpoint is still whole.
set -uo pipefail
programs=$1
work=$(mktemp -d)
trap 'umount "$work" 2>/dev/null; rm -rf "$work"' EXIT
run=(--algo bfs --hidden 16 --batch 2 --train-lengths 4 --test-lengths 4 --test-samples 2 --quiet)

# refused WORD: what $work's last call said and left.
refused() {
  local message
  message=$(cat "/tmp/full_disk.$$"); rm -f "/tmp/full_disk.$$"
  [[ $status == 1 ]] || { echo "status $status: $message"; exit 1; }
  [[ $(wc -l <<<"$message") == 1 && $message == *"$1"* ]] || { echo "said: $message"; exit 1; }
  [[ $(sha256sum <"$work/run/last.safetensors") == "$before" ]] || { echo "the old checkpoint was harmed"; exit 1; }
  [[ -z $(find "$work/run" -name '*tmp*') ]] || { echo "left behind: $(ls "$work/run")"; exit 1; }
}

"$programs/renar_train" "${run[@]}" --steps 2 --out "$work/run" >/dev/null || exit 1
before=$(sha256sum <"$work/run/last.safetensors")
(ulimit -f 16; exec "$programs/renar_train" --resume "$work/run" --steps 4 --quiet) >"/tmp/full_disk.$$" 2>&1
status=$?
refused "File too large"
rm -r "$work/run"

if ! mount -t tmpfs -o size=1m none "$work" 2>/dev/null; then
  echo "no right to mount a small file system"
  exit 77
fi
"$programs/renar_train" "${run[@]}" --steps 2 --out "$work/run" >/dev/null || exit 1
before=$(sha256sum <"$work/run/last.safetensors")
head -c 1m /dev/zero >"$work/filler" 2>/dev/null
"$programs/renar_train" --resume "$work/run" --steps 4 --quiet >"/tmp/full_disk.$$" 2>&1
status=$?
refused "No space left"
rm "$work/filler"
"$programs/renar_train" --resume "$work/run" --steps 4 --quiet >/dev/null
