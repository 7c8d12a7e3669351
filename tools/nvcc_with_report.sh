#!/usr/bin/env bash
# nvcc_with_report.sh NVCC ARGUMENTS...: compiles, and leaves what ptxas made of each kernel beside the object, as OBJECT.ptxas,
# for kernel_table.sh. What else nvcc says goes to stderr.
set -uo pipefail
object=
for ((i = 1; i < $#; i++)); do
  next=$((i + 1))
  [[ ${!i} == -o ]] && object=${!next}
done
[[ $object ]] || exec "$@"
rm -f "$object.ptxas"
said=$("$@" -Xptxas -v 2>&1)
status=$?
is_report='^ptxas info|^ +[0-9]+ bytes stack frame'
grep -vE "$is_report" <<<"$said" | grep . >&2
((status == 0)) && grep -E "$is_report" <<<"$said" >"$object.ptxas"
exit "$status"
