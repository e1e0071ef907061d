/** The way to a Redis server on this machine. */
export type RedisProgram = { readonly via: 'binary'; readonly path: string } | { readonly via: 'docker'; readonly image: string };

/** The means to find or get one; real ones in `redis-means.ts`, others in tests. */
export interface RedisMeans {
  /** The path of a redis-server on PATH. */
  onPath(): string | undefined;
  /** The name of a Redis image that a Docker engine can run here and now. */
  dockerImage(): Promise<string | undefined>;
  /** Why the system's package manager cannot be used; undefined if it can. */
  noPackagesBecause(): string | undefined;
  /** Installs redis-server without leaving a service running. @throws Error with what the package manager printed. */
  installPackage(): Promise<void>;
  /** Runs one at a time over all processes of this machine. */
  alone<T>(act: () => Promise<T>): Promise<T>;
}

/** There is no Redis to test with; the message says what to do. */
export class NoRedisError extends Error {
  override readonly name = 'NoRedisError';
}

/**
 * Takes redis-server from PATH, else from Docker if an engine answers, else from the system's packages.
 * @throws NoRedisError
 */
export async function provideRedis(means: RedisMeans): Promise<RedisProgram> {
  const found = means.onPath();
  if (found !== undefined) return { via: 'binary', path: found };
  return means.alone(async () => {
    // Somebody else may have installed it while this process waited.
    const installedMeanwhile = means.onPath();
    if (installedMeanwhile !== undefined) return { via: 'binary', path: installedMeanwhile };
    const image = await means.dockerImage();
    if (image !== undefined) return { via: 'docker', image };
    const obstacle = means.noPackagesBecause();
    if (obstacle !== undefined) throw noRedis(obstacle);
    await means.installPackage().catch((error: unknown) => {
      throw noRedis(error instanceof Error ? error.message : String(error));
    });
    const path = means.onPath();
    if (path === undefined) throw noRedis('the package was installed, but there is still no redis-server on PATH');
    return { via: 'binary', path };
  });
}

function noRedis(reason: string): NoRedisError {
  return new NoRedisError(
    'The integration tests need a Redis server, 7 or later: put redis-server on PATH (Debian: apt-get install redis-server), ' +
      `or start a Docker engine, or set ESCLUSA_TEST_REDIS_URL to a Redis that may be emptied.\nNot installed by the tests: ${reason}`,
  );
}
