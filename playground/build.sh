#!/usr/bin/env bash
# Builds the playground, one page that needs no server and loads nothing: playground/target/subrosa.html, or the file that is named.
# Needs Rust with the standard library of wasm32-wasip1, which is installed where rustup can do it; exits with 3 where it is missing.
set -euo pipefail
cd "$(dirname "$0")/.."
triple=wasm32-wasip1
out="${1:-playground/target/subrosa.html}"
has_target() { [ -e "$(rustc --print target-libdir --target "$triple")" ]; }
if ! has_target; then
    echo "installing Rust's standard library for $triple" >&2
    limit=(); if command -v timeout > /dev/null; then limit=(timeout 300); fi
    if ! command -v rustup > /dev/null || ! "${limit[@]}" rustup target add "$triple" || ! has_target; then
        echo "Rust's standard library for $triple is missing: 'rustup target add $triple' installs it, on Debian" \
            "'apt-get install libstd-rust-dev-wasm32 lld'" >&2
        exit 3
    fi
fi
# A separate target folder: building this program does not make cargo build the rest of the repository again, nor the reverse.
export CARGO_TARGET_DIR="${SUBROSA_PLAYGROUND_TARGET:-$PWD/playground/target}"
cargo build --profile playground --target "$triple" -p subrosa-playground
program="$CARGO_TARGET_DIR/$triple/playground/subrosa-playground.wasm"

# Writes a file into the page. Arguments: its name in the page, and its path here.
embed() {
    printf '<script type="application/octet-stream" data-path="%s">' "$1"
    gzip -9 -n < "$2" | base64 | tr -d '\n'
    printf '</script>\n'
}
scenarios() {
    for system in outsourced local release federated; do
        embed "$system.ron" "src/cli/templates/$system.ron"
    done
    # Scenarios of the folder `external` start programs, which a page cannot do.
    find scenarios -name '*.ron' -not -path 'scenarios/external/*' | LC_ALL=C sort | while read -r file; do embed "$file" "$file"; done
}
data() {
    find scenarios -name '*.csv' | LC_ALL=C sort | while read -r file; do embed "$file" "$file"; done
    embed program.wasm "$program"
}
page() {
    while IFS= read -r line; do
        case "$line" in
            '/*STYLE*/') cat playground/page/page.css ;;
            '/*PAGE*/') cat playground/page/page.js ;;
            '/*WORKER*/') cat playground/page/wasi.js playground/page/worker.js ;;
            '<!--SCENARIOS-->') scenarios ;;
            '<!--DATA-->') data ;;
            *) printf '%s\n' "$line" ;;
        esac
    done < playground/page/page.html
}
mkdir -p "$(dirname "$out")"
page > "$out.part"
mv "$out.part" "$out"
echo "$out: $(wc -c < "$out") bytes, $(gzip -9 < "$out" | wc -c) compressed" >&2
