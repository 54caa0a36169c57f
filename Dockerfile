# One image for the store nodes, the dashboard and the migrations. The command and the environment choose the role.
FROM node:22.16.0-bookworm-slim AS build
WORKDIR /lab
COPY package.json package-lock.json ./
RUN npm ci --no-audit --no-fund
COPY . .
# Generates the Prisma client, builds the pages and bundles the server. It needs neither a database nor a download.
RUN node bin/bootstrap.mjs build \
 && npm prune --omit=dev --no-audit --no-fund

FROM grafana/k6:2.2.0 AS k6

FROM node:22.16.0-bookworm-slim
ENV NODE_ENV=production NEXT_TELEMETRY_DISABLED=1
WORKDIR /lab
COPY --from=k6 /usr/bin/k6 /usr/local/bin/k6
COPY --from=build --chown=node:node /lab /lab
USER node
EXPOSE 3000
CMD ["node", "--enable-source-maps", ".next/programs/server.mjs"]
