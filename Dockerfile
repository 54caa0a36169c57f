# The store nodes, the dashboard and the migrations: one image, told apart by their environment.
FROM node:22.16.0-bookworm-slim AS build
WORKDIR /lab
COPY package.json package-lock.json ./
RUN npm ci --no-audit --no-fund
COPY . .
# Generating needs no database and no download; see docs/decisions/021-migrations-without-a-download.md.
RUN node bin/bootstrap.mjs generate \
 && NODE_ENV=production NEXT_TELEMETRY_DISABLED=1 node node_modules/next/dist/bin/next build \
 && npm prune --omit=dev --no-audit --no-fund

FROM grafana/k6:2.2.0 AS k6

FROM node:22.16.0-bookworm-slim
ENV NODE_ENV=production NEXT_TELEMETRY_DISABLED=1
WORKDIR /lab
COPY --from=k6 /usr/bin/k6 /usr/local/bin/k6
COPY --from=build --chown=node:node /lab /lab
USER node
EXPOSE 3000
CMD ["node", "--import", "tsx", "server.ts"]
