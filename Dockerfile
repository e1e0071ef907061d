# One image for all apps; the command says which. By default a gateway, configured by its environment alone.
FROM node:20-slim AS build
WORKDIR /app
COPY package.json package-lock.json .npmrc ./
RUN npm ci
COPY nest-cli.json tsconfig.json ./
COPY apps apps
COPY libs libs
RUN npm run build

FROM node:20-slim AS production-modules
WORKDIR /app
COPY package.json package-lock.json .npmrc ./
RUN npm ci --omit=dev

FROM node:20-slim
ENV NODE_ENV=production
WORKDIR /app
COPY --from=production-modules /app/node_modules node_modules
COPY --from=build /app/dist dist
COPY lua lua
# Its "imports" tell node where #libs/… and #lua/… are.
COPY package.json ./
USER node
EXPOSE 8080 9090
HEALTHCHECK --interval=5s --timeout=2s --start-period=10s --retries=3 \
  CMD ["node", "-e", "fetch(`http://127.0.0.1:${process.env.ADMIN_PORT || 9090}/health/live`).then((r) => process.exit(r.ok ? 0 : 1), () => process.exit(1))"]
CMD ["node", "--enable-source-maps", "dist/apps/gateway/src/main.js"]
