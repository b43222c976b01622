# The service on one machine: docker run -p 3000:3000 -v data:/data IMAGE --extract https://.../lvbag-extract-nl.zip
# BASE is any image with glibc, for instance debian:trixie-slim; Node comes from npm, in the version of the Lambdas.
ARG BASE=node:24-trixie-slim

FROM ${BASE} AS build
WORKDIR /app
COPY package.json package-lock.json .npmrc ./
COPY packages/admin/package.json ./packages/admin/
RUN npm ci --omit=dev --ignore-scripts --no-audit --no-fund \
 # Only a deployment needs these. The image has its own Node.
 && rm -rf node_modules/aws-cdk-lib node_modules/@aws-cdk node_modules/node-linux-*
COPY . .
RUN rm -rf test docs/portal packages/admin/dist

FROM ${BASE}
# The root file system may be read-only: all that changes is in /data, and what Node compiles in /tmp.
ENV NODE_ENV=production NODE_COMPILE_CACHE=/tmp/compile MALLOC_ARENA_MAX=2
COPY --from=build /app /app
RUN groupadd --system --gid 10001 bag && useradd --system --uid 10001 --gid bag --home-dir /data bag \
 && mkdir -p /data && chown bag:bag /data
WORKDIR /app
USER 10001:10001
VOLUME /data
EXPOSE 3000
HEALTHCHECK --interval=30s --timeout=5s --start-period=60s \
  CMD ["node", "-e", "const { baseUrl } = JSON.parse(fs.readFileSync('/data/local.json')); fetch(`${baseUrl}/v1/openapi.json`).then((r) => process.exit(r.ok ? 0 : 1), () => process.exit(1))"]
ENTRYPOINT ["node", "--max-semi-space-size=16", "local/launch.js", "local/start.ts", "--host", "0.0.0.0", "--data", "/data"]
