#!/usr/bin/env bash
# Runs the Rust tests of the crates under AddressSanitizer, leaks included:
#
#     scripts/asan.sh [ARGUMENT OF cargo test...]
#
# Linux only. Builds into a folder of its own, since everything is built with other flags.
set -euo pipefail
cd "$(dirname "$0")/.."

# Sanitizers are an option of rustc that is not stable. With `--target`, build scripts and macros,
# which run within the compiler, are built without.
target=$(rustc -vV | sed -n 's/^host: //p')
RUSTC_BOOTSTRAP=1 RUSTFLAGS='-Zsanitizer=address' \
    cargo test --locked --target "$target" --target-dir target/asan \
    -p imqueue-udp-core -p imqueue-udp-net --lib --tests "$@"
