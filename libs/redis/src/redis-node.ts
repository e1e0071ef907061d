import { Redis, type RedisOptions } from 'ioredis';
import { CircuitBreaker } from './circuit-breaker.js';
import { monotonicUs, type DeadlineQueue } from './deadline-queue.js';
import type { LoopLag } from './loop-lag.js';
import type { RedisClientOptions } from './redis-client.js';
import type { Script } from './script.js';
import { ServerClock } from './server-clock.js';
import { StoreFault, toFault } from './store-fault.js';

export interface NodeOptions extends Omit<RedisClientOptions, 'url' | 'deadlineMs'> {
  readonly name: string;
  readonly connection: Omit<RedisOptions, 'replyMapping'>;
  readonly deadlines: DeadlineQueue;
  readonly lag: LoopLag;
}

/** Calls without a reply; more than that means that the server has stopped reading. */
const MAX_UNANSWERED = 4096;
const STATUS_LATE = 2;
/** Without a word for so long while asked, a connection is given up: its other end may be gone. A connection has as long to become usable. */
const SILENCE_MS = 1000;
const PROBE_KEY = 'rl1:{probe}';

/** Replies that are about where a key lies, and say nothing against the node. */
const REDIRECTIONS = new Set(['MOVED', 'ASK', 'TRYAGAIN']);

/** One server: its connection, its clock, its breaker. */
export class RedisNode {
  readonly name: string;
  private readonly redis: Redis;
  private readonly clock = new ServerClock();
  private readonly breaker: CircuitBreaker;
  private unanswered = 0;
  /** Undefined until the first connection stands or fails. */
  private usable: boolean | undefined;
  private lastError = 'not connected yet';
  private heardAtMs = performance.now();
  private probing: NodeJS.Timeout | undefined;
  private preparing: NodeJS.Timeout | undefined;
  /** Of a key that failed, so that the probe asks for what callers asked for. */
  private probeKey = PROBE_KEY;
  private closed = false;

  constructor(private readonly options: NodeOptions) {
    this.name = options.name;
    this.breaker = new CircuitBreaker({
      onChange: (state, why) => {
        this.options.onBreaker?.(this.name, state, why);
        if (state === 'open') this.probeSoon();
      },
    });
    this.redis = new Redis({
      ...options.connection,
      connectionName: options.connectionName,
      enableOfflineQueue: false,
      autoResendUnfulfilledCommands: false,
      maxRetriesPerRequest: 0,
      connectTimeout: 2000,
      retryStrategy: (attempt) => Math.min(50 * attempt, 1000) * (0.75 + Math.random() / 2),
      noDelay: true,
    });
    this.redis.on('error', (error: Error) => (this.lastError = error.message));
    this.redis.on('connect', () => {
      this.preparing = setTimeout(() => {
        this.reconnect('connected, but it does not answer');
      }, SILENCE_MS);
    });
    this.redis.on('ready', () => void this.prepare());
    this.redis.on('close', () => {
      clearTimeout(this.preparing);
      this.changeState(false, this.lastError);
    });
  }

  get connected(): boolean {
    return this.usable === true;
  }

  /** As `RedisClient.run`, on this server. `asking`: the key's slot is on its way here. @throws StoreFault */
  async run(
    script: Script,
    keys: readonly string[],
    args: readonly (string | number)[],
    startedAtUs: number,
    asking = false,
  ): Promise<readonly number[]> {
    if (this.usable !== true) throw new StoreFault('connection', this.lastError);
    if (!this.breaker.allows()) throw new StoreFault('breaker', `not asked: ${this.breaker.why}`);
    const attempt = (command: 'EVALSHA' | 'EVAL', text: string) => this.attempt(command, text, keys, args, startedAtUs, asking);
    try {
      let reply = await attempt('EVALSHA', script.sha).catch((error: unknown) => {
        // The script had not run, so running it now charges once; EVAL also brings it back into the cache.
        if (toFault(error).code === 'NOSCRIPT') return attempt('EVAL', script.source);
        throw error;
      });
      // Late by the server's clock and not by ours: our estimate was off, or our own turns were long. Nothing was taken, so the
      // call may be made again until its deadline, by which `attempt` gives up.
      while (reply[1] === STATUS_LATE) reply = await attempt('EVALSHA', script.sha);
      this.breaker.succeeded();
      return reply;
    } catch (error) {
      throw this.blame(toFault(error), keys[0]);
    }
  }

  /** @throws StoreFault */
  async command(name: string, args: readonly (string | number)[]): Promise<unknown> {
    try {
      return await this.options.deadlines.within(monotonicUs(), this.send(name, args));
    } catch (error) {
      throw toFault(error);
    }
  }

  async close(): Promise<void> {
    this.closed = true;
    this.usable = false;
    this.options.onGone?.(this.name);
    clearTimeout(this.probing);
    await Promise.race([this.redis.quit().catch(() => undefined), new Promise((done) => setTimeout(done, 200).unref())]);
    this.redis.disconnect();
    clearTimeout(this.preparing);
  }

  private async attempt(
    command: 'EVALSHA' | 'EVAL',
    script: string,
    keys: readonly string[],
    args: readonly (string | number)[],
    startedAtUs: number,
    asking: boolean,
  ): Promise<readonly number[]> {
    const { deadlines } = this.options;
    const endsAtUs = deadlines.endOf(startedAtUs);
    const sentAtUs = monotonicUs();
    if (sentAtUs >= endsAtUs) throw new StoreFault('deadline', 'the deadline passed before the call was sent');
    const notAfter = Math.floor(this.clock.at(endsAtUs));
    // Both go out in one piece: nothing comes between them on this connection.
    if (asking) this.send('ASKING', []).catch(() => undefined);
    const reply = (await deadlines.within(startedAtUs, this.send(command, [script, keys.length, ...keys, notAfter, ...args]))) as number[];
    this.clock.sample(reply[0] ?? 0, sentAtUs, monotonicUs());
    return reply;
  }

  private send(command: string, args: readonly (string | number)[]): Promise<unknown> {
    if (this.unanswered >= MAX_UNANSWERED) {
      return Promise.reject(new StoreFault('overload', `${this.unanswered} calls are waiting for replies`));
    }
    if (this.unanswered === 0) this.heardAtMs = performance.now();
    this.unanswered += 1;
    const answered = (): void => {
      this.unanswered -= 1;
      this.heardAtMs = performance.now();
    };
    this.options.lag.note();
    const reply = this.redis.call(command, [...args]);
    reply.then(answered, answered);
    return reply;
  }

  private blame(fault: StoreFault, key: string | undefined): StoreFault {
    if (fault.code !== undefined && REDIRECTIONS.has(fault.code)) return fault;
    if (key !== undefined) this.probeKey = key;
    this.breaker.failed(fault.message);
    return fault;
  }

  private probeSoon(): void {
    if (this.closed) return;
    this.probing = setTimeout(() => void this.probe(), this.breaker.probeAfterMs).unref();
  }

  /** A write beside a key that callers asked for: a server that is full, read-only or has lost the slot does not take it either. */
  private async probe(): Promise<void> {
    const problem =
      this.usable === true
        ? await this.command('SET', [`${this.probeKey}:probe`, 1, 'PX', 1000]).then(
            () => undefined,
            (error: unknown) => toFault(error),
          )
        : new StoreFault('connection', this.lastError);
    // A slot that has moved away is nothing to wait for here.
    const good = problem === undefined || (problem.code !== undefined && REDIRECTIONS.has(problem.code));
    this.breaker.probed(good, problem?.message);
    if (!good && this.usable === true && this.unanswered > 0 && performance.now() - this.heardAtMs > SILENCE_MS) {
      this.reconnect(`silent for more than ${SILENCE_MS} ms`);
    }
    if (this.breaker.state === 'open') this.probeSoon();
  }

  private reconnect(why: string): void {
    this.lastError = why;
    this.redis.disconnect(true);
  }

  /** Scripts are loaded and the server's time is known before the first call counts on either. */
  private async prepare(): Promise<void> {
    try {
      for (const script of this.options.scripts) await this.redis.script('LOAD', script.source);
      const sentAtUs = monotonicUs();
      const [seconds, micros] = await this.redis.time();
      this.clock.sample(Number(seconds) * 1_000_000 + Number(micros), sentAtUs, monotonicUs());
      clearTimeout(this.preparing);
      this.changeState(true, 'ready');
    } catch (error) {
      this.reconnect(error instanceof Error ? error.message : String(error));
    }
  }

  private changeState(usable: boolean, detail: string): void {
    if (this.closed || this.usable === usable) return;
    this.usable = usable;
    this.options.onConnection?.(this.name, usable, detail);
  }
}
