#!/usr/bin/env bash
# Builds the playground and tests it in a headless Chromium, beside the native program. Arguments are names of tests in test.py.
# Without Rust's standard library for WebAssembly, Python or a browser nothing is tested, which is an error where
# SUBROSA_PLAYGROUND_REQUIRED=1.
set -euo pipefail
cd "$(dirname "$0")/.."
export PYTHONDONTWRITEBYTECODE=1
skip() {
    echo "SKIPPED: $1: the playground is not tested" >&2
    exit "${SUBROSA_PLAYGROUND_REQUIRED:-0}"
}
if ! command -v python3 > /dev/null || ! python3 -c 'import sys; sys.exit(sys.version_info < (3, 10))'; then
    skip 'no Python 3.10 or newer here'
fi
if ! PYTHONPATH=playground python3 -c 'import browser, sys; sys.exit(browser.program() is None)'; then
    skip 'no Chromium or Chrome here'
fi
page=playground/target/subrosa.html
status=0
bash playground/build.sh "$page" || status=$?
if [ "$status" = 3 ]; then
    skip 'no Rust for WebAssembly here'
elif [ "$status" != 0 ]; then
    exit "$status"
fi
# The profile of the tests, and the packages that they name: what `cargo test -p subrosa -p subrosa-python` built is used again.
cargo build -p subrosa -p subrosa-python --bin subrosa
python3 playground/test.py "$page" "${CARGO_TARGET_DIR:-target}/debug/subrosa" "$@"
