#!/usr/bin/env bash
# Runs the addon under valgrind through all that can happen to it in a process's life, and fails on
# any error of memory, lost memory included. Needs a build, and as root on Debian installs valgrind
# where it is missing.
#
#     scripts/valgrind.sh [path of a Node.js]
set -euo pipefail
cd "$(dirname "$0")/.."

if ! command -v valgrind >/dev/null; then
    apt-get update -qq && apt-get install -y -qq valgrind >/dev/null
fi

# --jitless, since valgrind gets lost in code that V8 makes at run time; --fair-sched, or the busiest
# thread would keep the others from running.
valgrind --error-exitcode=9 --smc-check=all-non-file --fair-sched=yes \
    --leak-check=full --show-leak-kinds=definite --errors-for-leak-kinds=definite \
    --suppressions=scripts/valgrind.supp \
    "${1:-node}" --jitless __test__/life/whole-life.js
