#!/usr/bin/env bash
# Fuzzes the reader and the tracker, and fails on a finding:
#
#     scripts/fuzz.sh [--seconds N] [TARGET...]
#
# N seconds for each target, 60 by default; all targets by default. Starts from the seeds in the
# repository and from what earlier runs have found interesting (fuzz/corpus, not committed). A finding
# is left in fuzz/artifacts: `RUSTC_BOOTSTRAP=1 cargo fuzz fmt TARGET FILE` shows it, and `cargo fuzz
# run` in place of `fmt` repeats it.
set -euo pipefail
cd "$(dirname "$0")/.."

# Fuzzing needs options of rustc that are not stable.
export RUSTC_BOOTSTRAP=1
# The core has no unsafe code, so a sanitizer would find nothing in it and cost most of the speed.
# What is below it is for scripts/asan.sh.
readonly FLAGS=(--sanitizer none)
# What a target may take beyond its seconds: it first goes through all of its corpus.
readonly PATIENCE=300
# An input that takes longer than this many seconds is a finding.
readonly HANG=100
# Long enough for the longest datagrams and for stories of some hundred steps.
readonly MAX_LENGTH=1024

seconds=60
targets=()
while [[ $# -gt 0 ]]; do
    case $1 in
        --seconds)
            [[ ${2-} =~ ^[1-9][0-9]*$ ]] || { echo "fuzz.sh: --seconds wants a number, not '${2-}'" >&2; exit 2; }
            seconds=$2
            shift 2
            ;;
        -*) echo "fuzz.sh: unknown option $1" >&2; exit 2 ;;
        *) targets+=("$1"); shift ;;
    esac
done
[[ ${#targets[@]} -gt 0 ]] || targets=(datagram fleet)

command -v cargo-fuzz >/dev/null || cargo install --locked cargo-fuzz
# cargo-fuzz cannot be told `--locked`.
cargo metadata --locked --format-version 1 --manifest-path fuzz/Cargo.toml >/dev/null
cargo fmt --check --manifest-path fuzz/Cargo.toml

log=$(mktemp)
trap 'rm -f "$log"' EXIT

for target in "${targets[@]}"; do
    cargo fuzz build "${FLAGS[@]}" "$target"
    mkdir -p "fuzz/corpus/$target"
    status=0
    timeout --kill-after=10 $((seconds + PATIENCE)) \
        cargo fuzz run "${FLAGS[@]}" "$target" "fuzz/corpus/$target" "fuzz/seeds/$target" -- \
        -max_total_time="$seconds" -timeout="$HANG" -max_len="$MAX_LENGTH" >"$log" 2>&1 || status=$?
    if [[ $status -ne 0 ]]; then
        tail -n 50 "$log"
        grep -A 3 -E 'panicked at|ERROR: ' "$log" || true
        echo "fuzz.sh: $target: a finding, or it could not run (status $status)" >&2
        exit 1
    fi
    printf '%s: no finding. %s\n' "$target" "$(tail -n 1 "$log")"
done
