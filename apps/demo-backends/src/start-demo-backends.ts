import 'reflect-metadata';
import type { DynamicModule, NestApplicationOptions, Type } from '@nestjs/common';
import { NestFactory } from '@nestjs/core';
import { FastifyAdapter, type NestFastifyApplication } from '@nestjs/platform-fastify';
import { countBody } from './arrival.js';
import { OrdersModule } from './orders.controller.js';
import { SearchModule } from './search.controller.js';
import type { ServiceRange } from './service-times.js';

export interface DemoBackendsOptions {
  /** 127.0.0.1 by default. */
  readonly host?: string;
  /** 9101 by default; 0 takes a free one. */
  readonly ordersPort?: number;
  /** 9102 by default; 0 takes a free one. */
  readonly searchPort?: number;
  /** How many searches run at a time; 8 by default. */
  readonly searchSlots?: number;
  /** 20 to 60 ms by default. */
  readonly searchService?: ServiceRange;
  /** Of the random service times; 1 by default. */
  readonly seed?: number;
}

export interface DemoBackends {
  /** `http://HOST:PORT`, no trailing slash. */
  readonly ordersUrl: string;
  readonly searchUrl: string;
  /** Lets requests in flight finish. */
  close(): Promise<void>;
}

/** Starts Orders and Search in this process. @throws Error, with neither left running, e.g. if a port is taken. */
export async function startDemoBackends(options: DemoBackendsOptions = {}): Promise<DemoBackends> {
  const { host = '127.0.0.1', ordersPort = 9101, searchPort = 9102, searchSlots: slots = 8, seed = 1 } = options;
  const { searchService: service = { minMs: 20, maxMs: 60 } } = options;
  const orders = await listen(OrdersModule, host, ordersPort);
  try {
    const search = await listen(SearchModule.with({ slots, service, seed }), host, searchPort);
    return {
      ordersUrl: urlOf(orders, host),
      searchUrl: urlOf(search, host),
      close: async () => {
        await Promise.all([orders.close(), search.close()]);
      },
    };
  } catch (error) {
    await orders.close();
    throw error;
  }
}

async function listen(module: Type | DynamicModule, host: string, port: number): Promise<NestFastifyApplication> {
  const adapter = new FastifyAdapter({ forceCloseConnections: 'idle' });
  adapter.getInstance().removeAllContentTypeParsers();
  adapter.getInstance().addContentTypeParser('*', countBody);
  // Nothing to log: what fails here is thrown, and the standalone edge does not want a second voice.
  const options: Readonly<NestApplicationOptions> = { logger: false, abortOnError: false, bodyParser: false };
  const app = await NestFactory.create<NestFastifyApplication>(module, adapter, options);
  try {
    await app.listen(port, host);
    return app;
  } catch (error) {
    await app.close();
    throw error;
  }
}

function urlOf(app: NestFastifyApplication, host: string): string {
  const address = app.getHttpServer().address();
  const port = typeof address === 'object' && address !== null ? address.port : 0;
  return `http://${host.includes(':') ? `[${host}]` : host}:${port}`;
}
