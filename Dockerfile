# The program alone: `docker build -t subrosa . && docker run --rm -v "$PWD:/data" subrosa run /data/scenario.ron`
FROM rust:1-slim AS build
WORKDIR /subrosa
COPY . .
RUN cargo build --profile dist --locked --features png,sign,svm

FROM debian:stable-slim
# Fonts are for charts as PNG.
RUN apt-get update && apt-get install --yes --no-install-recommends fonts-dejavu-core && rm -rf /var/lib/apt/lists/*
COPY --from=build /subrosa/target/dist/subrosa /usr/local/bin/subrosa
COPY scenarios /scenarios
WORKDIR /data
ENTRYPOINT ["subrosa"]
