# Switchyard with everything it runs. On its own it keeps all its data in /data:
#
#   docker build -t switchyard . && docker run --init -p 127.0.0.1:8080:8080 -v switchyard:/data switchyard
#
# The base image brings the Node that runs it, in the version that package.json pins as its platform packages
# (test/deployment/dockerfile.test.ts holds the two together).
FROM node:24.21.0-bookworm-slim AS dependencies
WORKDIR /app
COPY package.json package-lock.json ./
# Without what is optional: that is a second Node. No dependency needs its install script.
RUN npm ci --omit=dev --omit=optional --ignore-scripts

FROM node:24.21.0-bookworm-slim
WORKDIR /app
COPY --from=dependencies /app/node_modules node_modules
COPY package.json ./
COPY commands commands
COPY examples examples
COPY projections projections
COPY queries queries
COPY src src
# The commit that /healthz shows: docker build --build-arg COMMIT=$(git rev-parse HEAD)
ARG COMMIT=
RUN [ -z "$COMMIT" ] || echo "$COMMIT" > commit
RUN install --directory --owner=1000 --group=1000 --mode=700 /data /spool /app/compiled
# Uploads wait on a volume of their own: /tmp may be memory, and they must not fill the one of the log.
ENV HOST=0.0.0.0 DATA_DIR=/data SPOOL_DIR=/spool TMPDIR=/spool
# Texts pass from thread to thread: an arena for each thread would keep tens of megabytes that are free.
ENV MALLOC_ARENA_MAX=2
# What Node compiles is part of the image: a start is a third shorter, and no thread needs memory for a compiler.
ENV NODE_COMPILE_CACHE=/app/compiled
# Only /data and /spool are written to when it runs: the rest may be read-only.
USER 1000:1000
RUN node --min-semi-space-size=8 --max-semi-space-size=16 --max-old-space-size=2048 src/cli/fill-compile-cache.ts
VOLUME /data /spool
EXPOSE 8080
HEALTHCHECK --interval=5s --timeout=4s --start-period=90s --retries=3 CMD ["node", "-e", "fetch(`http://127.0.0.1:${process.env.PORT || 8080}/healthz`, { signal: AbortSignal.timeout(3000) }).then(({ ok }) => process.exit(ok ? 0 : 1), () => process.exit(1))"]
# The flags of `npm start`, also above: with some flags of V8, code that was compiled without them does not count.
CMD ["node", "--min-semi-space-size=8", "--max-semi-space-size=16", "--max-old-space-size=2048", "src/main.ts"]
