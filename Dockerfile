# NanoClaw in one image: the built server and page, bubblewrap and slirp4netns for isolated tools, one volume for all data.
# The base is one release of Node 24 (maintained until April 2028) on Debian 12, on which the isolation is tested. To pin its
# digest as well, use `--build-arg NODE=24.21.0-bookworm-slim@sha256:…`; `NODE=22.23.3-bookworm-slim` works too.
ARG NODE=24.21.0-bookworm-slim
# `uvx`, with which many MCP servers are started; `npx` comes with Node.
ARG UV=ghcr.io/astral-sh/uv:0.9.7
FROM ${UV} AS uv
FROM node:${NODE} AS build
WORKDIR /app
COPY package.json package-lock.json .npmrc ./
COPY packages ./packages
RUN npm ci
COPY . .
RUN npm run build && npm prune --omit=dev

FROM node:${NODE}
RUN apt-get update \
  && apt-get install -y --no-install-recommends bubblewrap slirp4netns iproute2 tini \
  && rm -rf /var/lib/apt/lists/* \
  && mkdir -m 777 /data && chown node:node /data
WORKDIR /app
# Without JWT_SECRET, `nanoclaw` finds or creates a secret in NANOCLAW_DATA.
# /data may be written by any `--user`; what is in it can be read by its owner only.
# Programs of MCP servers keep their packages in a home on the volume: the rest of the file system may be read-only.
ENV NODE_ENV=production NANOCLAW_DATA=/data HOME=/data/home
COPY --from=uv /uv /uvx /usr/local/bin/
COPY --from=build --chown=root:root /app/package.json ./
# What holds unless /data/config.yml or a variable says otherwise: accounts, reachable from outside the container.
COPY --from=build --chown=root:root /app/docker/presets.yml ./
COPY --from=build --chown=root:root /app/node_modules ./node_modules
COPY --from=build --chown=root:root /app/migrations ./migrations
COPY --from=build --chown=root:root /app/dist ./dist
COPY --from=build --chown=root:root /app/bin ./bin
RUN ln -s /app/bin/nanoclaw.mjs /usr/local/bin/nanoclaw
# Runs on a read-only root file system; writes only to /data and /tmp.
USER node
VOLUME /data
EXPOSE 3000 3001
HEALTHCHECK --interval=30s --timeout=5s --start-period=20s \
  CMD ["node", "-e", "fetch('http://127.0.0.1:3000/healthz').then((response) => process.exit(response.ok ? 0 : 1), () => process.exit(1))"]
ENTRYPOINT ["tini", "--", "nanoclaw"]
CMD ["start"]
