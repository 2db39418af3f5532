#!/usr/bin/env bash
# run.sh TARGET SECONDS: fuzzes one target from the corpus, the repository's scenarios and a run's files, with the names of the
# scenario language as dictionary. Needs cargo-fuzz and a nightly compiler; the nightly workflow runs it. What is found stands in
# fuzz/artifacts, inputs that reach new code in fuzz/run/TARGET.
set -euo pipefail
cd "$(dirname "$0")/.."
target=$1 seconds=$2 longest=16384
inputs=fuzz/run/$target
mkdir -p "$inputs"
grep -ohE '[A-Za-z_]{3,}' docs/reference.md docs/reference-parts.md | sort -u | sed 's/.*/"&"/' > fuzz/run/words.dict
case $target in
scenario) find scenarios -name '*.ron' -size -12k -exec cp --backup=numbered -t "$inputs" {} + ;;
run)
    if [ -z "${SUBROSA_FUZZ_RUN:-}" ]; then
        cargo run -- run tests/golden/federated.ron --replications 2 --out fuzz/run/folder
        SUBROSA_FUZZ_RUN=$(find "$PWD/fuzz/run/folder" -name manifest.json -printf '%h\n' | head -n 1)
    fi
    export SUBROSA_FUZZ_RUN
    longest=65536
    # The first byte says which file, as in targets/run.rs.
    number=0
    for file in manifest.json summary.json records.jsonl scenario.ron opening.json records.jsonl; do
        { printf "\\$number"; cat "$SUBROSA_FUZZ_RUN/$file"; } > "$inputs/seed-$number"
        number=$((number + 1))
    done
    ;;
esac
# The timeout is wall time, which passes while other processes use the CPU.
corpus=()
[ -d "fuzz/corpus/$target" ] && corpus=("fuzz/corpus/$target")
cargo +nightly fuzz run "$target" "$inputs" "${corpus[@]}" -- \
    -max_total_time="$seconds" -timeout=600 -rss_limit_mb=4096 -max_len="$longest" -dict=fuzz/run/words.dict -print_final_stats=1
