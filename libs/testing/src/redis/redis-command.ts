import { Redis } from 'ioredis';

/** One command over a connection of its own, closed again. @throws Error: the server's error reply, or no connection within 1 s. */
export async function redisCommand(port: number, args: readonly string[]): Promise<unknown> {
  const client = new Redis({
    host: '127.0.0.1',
    port,
    lazyConnect: true,
    connectTimeout: 1000,
    enableReadyCheck: false,
    maxRetriesPerRequest: 0,
    retryStrategy: () => null,
  });
  client.on('error', () => undefined);
  try {
    await client.connect();
    const [name = '', ...rest] = args;
    return await client.call(name, ...rest);
  } finally {
    // On a connection that has closed already, disconnect would leave a timer of 2 s behind.
    if (client.status !== 'end') client.disconnect();
  }
}
