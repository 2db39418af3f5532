# What one does often. CONTRIBUTING.md says when to use which; `just` alone lists the recipes.

# List the recipes
default:
    @just --list

# All tests, or those of one binary and name, as in `just test systems federated`
test *ARGS:
    cargo test {{ if ARGS == "" { "" } else { "--test " + ARGS } }}

# Format, and every warning of clippy, benchmarks included
lint:
    cargo fmt --all --check
    cargo clippy --workspace --all-targets -- -D warnings

# The library's documentation, every warning of rustdoc refused
doc:
    RUSTDOCFLAGS="-D warnings" cargo doc --no-deps

# Write a generated page anew: `reference` (docs/reference.md and docs/reference-parts.md) or `book` (the examples in docs/extending.md)
bless WHAT="reference":
    SUBROSA_BLESS=1 cargo test --test commands {{ WHAT }}

# Build the Python module into target/python and test it, or the tests of one name
python *ARGS:
    bash python/test.sh {{ ARGS }}

# The playground's page: playground/target/subrosa.html
playground:
    bash playground/build.sh

# What CI runs
ci:
    bash .ci/run

# One benchmark beside its peers: accounting, gp, kernel or memory
bench NAME="kernel":
    cargo bench -p subrosa-benches --bench {{ NAME }}
