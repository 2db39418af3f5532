#!/usr/bin/env bash
# Builds the Python module into a fresh virtual environment, target/python/module, and runs its tests. Arguments are pytest's.
# SUBROSA_PYTHON_KEEP=1 uses the environment that is there. Without Python or its packages nothing is tested, which is an
# error where SUBROSA_PYTHON_REQUIRED=1.
set -euo pipefail
cd "$(dirname "$0")/.."
skip() {
    echo "$1: the tests of the Python module are skipped" >&2
    exit "${SUBROSA_PYTHON_REQUIRED:-0}"
}
if ! command -v python3 > /dev/null || ! python3 -c 'import sys; sys.exit(sys.version_info < (3, 10))'; then
    skip 'no Python 3.10 or newer here'
fi
target="${CARGO_TARGET_DIR:-$PWD/target}"
environment="$target/python/module"
if [ -z "${SUBROSA_PYTHON_KEEP:-}" ]; then
    rm -rf "$environment"
fi
if [ ! -x "$environment/bin/python" ] && ! python3 -m venv "$environment"; then
    skip 'a virtual environment cannot be made here'
fi
python="$environment/bin/python"
# BoTorch (5 GB with torch) and Opacus are tried where they are installed: SUBROSA_PYTHON_MORE="botorch opacus".
# shellcheck disable=SC2086
if ! "$python" -m pip install --quiet --disable-pip-version-check 'maturin>=1.9,<2' pandas pytest mypy pandas-stubs pyarrow polars \
    matplotlib nbclient nbformat ipykernel scikit-learn dp-accounting optuna tqdm ${SUBROSA_PYTHON_MORE:-}; then
    skip 'the packages cannot be installed here'
fi
# The profile of the tests, and both packages: what `cargo test -p subrosa -p subrosa-python` built is used again.
export CARGO_TARGET_DIR="$target"
cargo build -p subrosa -p subrosa-python --bin subrosa
VIRTUAL_ENV="$environment" "$environment/bin/maturin" develop --profile dev --manifest-path python/Cargo.toml
SUBROSA_PROGRAM="$target/debug/subrosa" "$python" -m pytest python "$@"
