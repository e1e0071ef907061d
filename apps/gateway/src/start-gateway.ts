import { ValidationPipe, type ModuleMetadata, type NestApplicationOptions } from '@nestjs/common';
import { NestFactory } from '@nestjs/core';
import { FastifyAdapter, type NestFastifyApplication } from '@nestjs/platform-fastify';
import { Admission } from '#libs/admission';
import { Identifier } from '#libs/identity';
import { RedisClient } from '#libs/redis';
import { loadEdgeDocument, toEdgeConfig, type EdgeDocument } from '#libs/rules';
import { AdminModule } from './admin/admin.module.js';
import { Lifecycle } from './admin/lifecycle.js';
import { configureGateway, createGatewayAdapter } from './configure-gateway.js';
import { EdgeRules } from './edge/edge-rules.js';
import { EnvError, type GatewayEnv } from './gateway.env.js';
import { GatewayModule } from './gateway.module.js';
import { EdgeListener } from './listener/edge-listener.js';
import { makeLogger } from './logger.js';
import { Upgrades } from './proxy/upgrades.js';
import { inOrder } from './shutdown.js';
import { DecisionMetrics } from './telemetry/decision-metrics.js';
import { ListenerMetrics } from './telemetry/listener-metrics.js';

export interface RunningGateway {
  /** Where callers knock. */
  readonly url: string;
  /** Metrics, health, keys. */
  readonly adminUrl: string;
  readonly app: NestFastifyApplication;
  /** Stops accepting, lets requests in flight finish, closes what is open; within the grace period, once. */
  close(): Promise<void>;
}

/** After so long, connections that are still busy are cut: the whole stop stays within 10 s. */
const DRAIN_MS = 8000;

/**
 * Starts a gateway and its admin port.
 * @param features modules with controllers that the edge owns
 * @throws DocumentError, or an Error that says what to change
 */
export async function startGateway(env: GatewayEnv, features: NonNullable<ModuleMetadata['imports']> = []): Promise<RunningGateway> {
  const logger = makeLogger(env);
  const adminOptions: Readonly<NestApplicationOptions> = { logger, abortOnError: false };
  const edge = loadEdgeDocument(env.EDGE_CONFIG);
  const metrics = new DecisionMetrics();
  const listener = openListener(edge, env, metrics);
  const module = GatewayModule.register({ env, edge, metrics, features });
  // A start that fails is told once, by whoever called: Nest's own account of it stays in the buffer.
  const edgeOptions: Readonly<NestApplicationOptions> = { bufferLogs: true, autoFlushLogs: false, abortOnError: false, bodyParser: false };
  const app = await NestFactory.create<NestFastifyApplication>(module, createGatewayAdapter(listener), edgeOptions);
  app.useLogger(logger);
  app.flushLogs();
  configureGateway(app, listener);
  const upgrades = app.get(Upgrades);
  listener.onUpgrade((request, socket, head) => upgrades.take(request, socket, head));
  const lifecycle = new Lifecycle();
  const admin = await NestFactory.create<NestFastifyApplication>(
    AdminModule.of({ env, lifecycle, metrics, rules: app.get(EdgeRules), admission: app.get(Admission) }),
    new FastifyAdapter({ forceCloseConnections: true }),
    // Not buffered: a second buffer would hold back what the whole process logs.
    adminOptions,
  );
  admin.useGlobalPipes(new ValidationPipe({ transform: true, whitelist: true, forbidNonWhitelisted: true }));
  await listen(admin, 'ADMIN_PORT', env.ADMIN_PORT, env.ADMIN_TOKEN === undefined ? '127.0.0.1' : env.HOST);
  await listen(app, 'PORT', env.PORT, env.HOST);
  const close = inOrder(logger, [
    ['stop accepting, let requests finish', () => drain(app, lifecycle, listener, upgrades)],
    [
      'close identity',
      () => {
        app.get(Identifier).close();
      },
    ],
    ['close Redis', () => app.get<RedisClient | undefined>(RedisClient)?.close()],
    ['close the admin port', () => admin.close()],
  ]);
  return { url: urlOf(app, edge.listener.tls === undefined ? 'http' : 'https'), adminUrl: urlOf(admin), app, close };
}

/** @throws EnvError where a file that the listener needs cannot be read */
function openListener(edge: EdgeDocument, env: GatewayEnv, metrics: DecisionMetrics): EdgeListener {
  const { name, listener } = toEdgeConfig(edge);
  const requests = new ListenerMetrics(metrics);
  return new EdgeListener(listener, { edge: name, dialect: env.RATELIMIT_HEADERS }, requests);
}

/** @throws EnvError where the address cannot be had */
async function listen(app: NestFastifyApplication, variable: 'PORT' | 'ADMIN_PORT', port: number, host: string): Promise<void> {
  await app.listen(port, host).catch((error: unknown) => {
    const why = error instanceof Error ? error.message : String(error);
    throw new EnvError(`${variable}=${port} on HOST=${host} cannot be used: ${why}`);
  });
}

async function drain(app: NestFastifyApplication, lifecycle: Lifecycle, listener: EdgeListener, upgrades: Upgrades): Promise<void> {
  lifecycle.stopping = true;
  upgrades.close();
  // A kept-alive connection falls idle after its last answer: it is closed then, not at its own time-out.
  const idle = setInterval(() => {
    listener.closeIdle();
  }, 50);
  const cut = setTimeout(() => {
    listener.cut();
  }, DRAIN_MS);
  await app.close().finally(() => {
    clearInterval(idle);
    clearTimeout(cut);
  });
}

function urlOf(app: NestFastifyApplication, scheme = 'http'): string {
  const address = app.getHttpServer().address();
  if (address === null || typeof address === 'string') return String(address);
  const host = address.address === '0.0.0.0' || address.address === '::' ? '127.0.0.1' : address.address;
  return `${scheme}://${host.includes(':') ? `[${host}]` : host}:${address.port}`;
}
