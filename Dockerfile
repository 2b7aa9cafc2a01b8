# Rigbridge in a container, for amd64 and arm64. Written where no Docker was at hand: not run yet.
#
#   docker build -t rigbridge .
#   docker run --name rigbridge -p 17790:17790 -v rigbridge:/data rigbridge
#
# The first start makes an API key and shows it once in the log. /data holds everything: the store, the key, and
# rigbridge.yaml if you put one there.

FROM node:24-bookworm-slim AS build
WORKDIR /build
COPY package.json package-lock.json tsconfig.json README.md CHANGELOG.md LICENSE NOTICE SECURITY.md ./
COPY nodes nodes
COPY homebridge homebridge
COPY docs docs
COPY examples examples
COPY src src
RUN npm ci --no-audit --no-fund --ignore-scripts \
    && npx tsc -p src \
    && npm pack

FROM node:24-bookworm-slim
COPY --from=build /build/rigbridge-*.tgz /tmp/
RUN npm install --global --omit=dev --no-audit --no-fund /tmp/rigbridge-*.tgz \
    && rm -rf /tmp/rigbridge-*.tgz /root/.npm \
    && install -d -o node -g node -m 0700 /data
USER node
WORKDIR /data
VOLUME /data
EXPOSE 17790
HEALTHCHECK --interval=30s --timeout=5s --start-period=20s \
    CMD ["node", "-e", "fetch('http://127.0.0.1:17790/health').then((r) => process.exit(r.ok ? 0 : 1), () => process.exit(1))"]
ENTRYPOINT ["rigbridge"]
CMD ["serve", "--data", "/data", "--host", "0.0.0.0", "--make-key"]
