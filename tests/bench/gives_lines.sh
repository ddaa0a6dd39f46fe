#!/usr/bin/env bash
# gives_lines.sh BENCH: every kind of measurement prints one JSON line with its keys.
set -euo pipefail
bench=$1
check() {
    local line
    line=$("$bench" --seconds 0.05 "${@:2}")
    for key in $1; do
        grep -q "\"$key\":" <<<"$line" || { echo "no \"$key\" in: $line (from $*)"; exit 1; }
    done
}
training="what model precision threads ranks impl recording steps_per_s stages parameter_bytes peak_rss_mb other_busy_cores"
check "$training" --what single --model mlp --precision 16-mixed
check "$training" --what ddp --model mlp --impl fused
check "$training" --what fsdp_full --model mlp --recording on
check "what ranks collective gb_per_s memcpy_gb_per_s" --what comm --ranks 2
if "$bench" --what nonsense 2>/dev/null; then echo "an unknown --what passed"; exit 1; fi
