# Rigbridge in a container, for amd64 and arm64. Not yet built with Docker; each command was run by hand.
#
#   docker build -t rigbridge .
#   docker run --name rigbridge -p 17790:17790 -v rigbridge:/data rigbridge
#
# The first start makes an API key and logs it once. /data contains the store, the key, and your rigbridge.yaml if any.

FROM node:24-bookworm-slim AS build
WORKDIR /build
COPY package.json package-lock.json tsconfig.json README.md CHANGELOG.md LICENSE NOTICE SECURITY.md ./
COPY nodes nodes
COPY homebridge homebridge
COPY docs docs
COPY examples examples
COPY scripts scripts
COPY src src
RUN npm ci --no-audit --no-fund --ignore-scripts \
    && node scripts/packages.mjs src \
    && npm pack \
    && mkdir /app \
    && tar -xzf rigbridge-*.tgz --strip-components=1 -C /app \
    && cp package-lock.json /app/ \
    && chmod +x /app/dist/cli/main.js

# Dependencies from the lock file, by digest, without the packages for Node-RED and Homebridge.
FROM node:24-bookworm-slim
WORKDIR /app
COPY --from=build /app/package.json /app/package-lock.json ./
RUN npm ci --omit=dev --workspaces=false --ignore-scripts --no-audit --no-fund \
    && rm -rf /root/.npm \
    && ln -s /app/dist/cli/main.js /usr/local/bin/rigbridge \
    && install -d -o node -g node -m 0700 /data
COPY --from=build /app ./
USER node
WORKDIR /data
VOLUME /data
EXPOSE 17790
HEALTHCHECK --interval=30s --timeout=5s --start-period=20s \
    CMD ["node", "-e", "fetch('http://127.0.0.1:17790/health').then((r) => process.exit(r.ok ? 0 : 1), () => process.exit(1))"]
ENTRYPOINT ["rigbridge"]
CMD ["serve", "--data", "/data", "--host", "0.0.0.0", "--make-key"]
