import { Redis } from 'ioredis';
import { withinDeadline } from './deadline.js';
import { LoopLag } from './loop-lag.js';
import { redisUrlProblem } from './redis-url.js';
import { ServerClock } from './server-clock.js';
import { StoreFault } from './store-fault.js';
import type { Script } from './script.js';

/** What became of a call, for metrics. `late` arrived after its deadline and was discarded. */
export type CallResult = 'ok' | 'deadline' | 'connection' | 'overload' | 'reply' | 'late';

export interface RedisClientOptions {
  readonly url: string;
  /** Per call, in ms. */
  readonly deadlineMs: number;
  /** Loaded on every connect. */
  readonly scripts: readonly Script[];
  readonly connectionName: string;
  /** Told once per change, not once per failed attempt. */
  readonly onStateChange?: (state: 'connected' | 'disconnected', detail: string) => void;
  readonly onCall?: (result: CallResult) => void;
}

/** Calls without a reply; more than that means that the server has stopped reading. */
const MAX_UNANSWERED = 4096;
const STATUS_LATE = 2;

const monotonicUs = (): number => Math.floor(performance.now() * 1000);

/**
 * The connection to one Redis: reconnects for ever by itself, queues nothing while away, resends nothing, bounds every call.
 * It never waits for the server to be up: calls before that fail at once with a `connection` fault.
 */
export class RedisClient {
  private readonly redis: Redis;
  private readonly clock = new ServerClock();
  private readonly lag = new LoopLag();
  private unanswered = 0;
  /** Undefined until the first connection stands or fails. */
  private usable: boolean | undefined;
  private lastError = 'not connected yet';

  constructor(private readonly options: RedisClientOptions) {
    const problem = redisUrlProblem(options.url);
    if (problem !== undefined) throw new Error(`REDIS_URL ${problem}`);
    this.redis = new Redis(options.url, {
      connectionName: options.connectionName,
      enableOfflineQueue: false,
      autoResendUnfulfilledCommands: false,
      maxRetriesPerRequest: 0,
      connectTimeout: 2000,
      retryStrategy: (attempt) => Math.min(50 * attempt, 1000) * (0.75 + Math.random() / 2),
      noDelay: true,
    });
    this.redis.on('error', (error: Error) => (this.lastError = error.message));
    this.redis.on('ready', () => void this.prepare());
    this.redis.on('close', () => {
      this.changeState(false, this.lastError);
    });
  }

  get connected(): boolean {
    return this.usable === true;
  }

  /**
   * Runs a script that takes `notAfter` (server time, µs) as its first argument and returns `[now, status, …]` as integers.
   * @returns the whole reply, from the one execution that was not too late.
   * @throws StoreFault; the script then takes nothing later, even if the server still runs it.
   */
  async run(script: Script, keys: readonly string[], args: readonly (string | number)[]): Promise<readonly number[]> {
    try {
      const reply = await this.runOnce(script, keys, args);
      this.options.onCall?.('ok');
      return reply;
    } catch (error) {
      const fault = toFault(error);
      this.options.onCall?.(fault.kind);
      throw fault;
    }
  }

  /** A plain command for administration, bound by the same deadline. @throws StoreFault */
  async command(name: string, ...args: readonly (string | number)[]): Promise<unknown> {
    try {
      return await this.within(monotonicUs(), this.send(name, [...args]));
    } catch (error) {
      throw toFault(error);
    }
  }

  /** Closes after pending replies, within the deadline. */
  async close(): Promise<void> {
    this.usable = false;
    await Promise.race([this.redis.quit().catch(() => undefined), new Promise((done) => setTimeout(done, 200).unref())]);
    this.redis.disconnect();
  }

  private async runOnce(script: Script, keys: readonly string[], args: readonly (string | number)[]): Promise<readonly number[]> {
    if (this.usable !== true) throw new StoreFault('connection', this.lastError);
    const startedAtUs = monotonicUs();
    const call = (command: 'EVALSHA' | 'EVAL', text: string) => this.attempt(command, text, keys, args, startedAtUs);
    let reply = await call('EVALSHA', script.sha).catch((error: unknown) => {
      // The script had not run, so running it now charges once; EVAL also brings it back into the cache.
      if (isNoScript(error)) return call('EVAL', script.source);
      throw error;
    });
    // Late by the server's clock and not by ours: our estimate was off, or our own turns were long. Nothing was taken, so the
    // call may be made again until its deadline, by which `attempt` gives up.
    while (reply[1] === STATUS_LATE) reply = await call('EVALSHA', script.sha);
    return reply;
  }

  private async attempt(
    command: 'EVALSHA' | 'EVAL',
    script: string,
    keys: readonly string[],
    args: readonly (string | number)[],
    startedAtUs: number,
  ): Promise<readonly number[]> {
    const endsAtUs = this.endOf(startedAtUs);
    const sentAtUs = monotonicUs();
    if (sentAtUs >= endsAtUs) throw new StoreFault('deadline', 'the deadline passed before the call was sent');
    const notAfter = Math.floor(this.clock.at(endsAtUs));
    const reply = (await this.within(startedAtUs, this.send(command, [script, keys.length, ...keys, notAfter, ...args]))) as number[];
    this.clock.sample(reply[0] ?? 0, sentAtUs, monotonicUs());
    return reply;
  }

  /** When a call's deadline ends, as far as is known now; our own long turns may move it back, never forth. */
  private endOf(startedAtUs: number): number {
    return startedAtUs + Math.floor((this.options.deadlineMs + this.lag.extensionMs) * 1000);
  }

  private send(command: string, args: (string | number)[]): Promise<unknown> {
    if (this.unanswered >= MAX_UNANSWERED) {
      return Promise.reject(new StoreFault('overload', `${this.unanswered} calls are waiting for replies`));
    }
    this.unanswered += 1;
    const answered = (): void => {
      this.unanswered -= 1;
    };
    this.lag.note();
    const reply = this.redis.call(command, args);
    reply.then(answered, answered);
    return reply;
  }

  private within<T>(startedAtUs: number, reply: Promise<T>): Promise<T> {
    const deadline = { startedAtUs, endOf: (at: number) => this.endOf(at), onLate: () => this.options.onCall?.('late') };
    return withinDeadline(reply, deadline);
  }

  /** Scripts are loaded and the server's time is known before the first call counts on either. */
  private async prepare(): Promise<void> {
    try {
      for (const script of this.options.scripts) await this.redis.script('LOAD', script.source);
      const sentAtUs = monotonicUs();
      const [seconds, micros] = await this.redis.time();
      this.clock.sample(Number(seconds) * 1_000_000 + Number(micros), sentAtUs, monotonicUs());
      this.changeState(true, 'ready');
    } catch (error) {
      this.lastError = error instanceof Error ? error.message : String(error);
      this.redis.disconnect(true);
    }
  }

  private changeState(usable: boolean, detail: string): void {
    if (this.usable === usable) return;
    this.usable = usable;
    this.options.onStateChange?.(usable ? 'connected' : 'disconnected', detail);
  }
}

function isNoScript(error: unknown): boolean {
  return error instanceof Error && error.message.startsWith('NOSCRIPT');
}

/** ioredis tells the server's error replies apart by class name only; everything else it throws is about the connection. */
function toFault(error: unknown): StoreFault {
  if (error instanceof StoreFault) return error;
  const message = error instanceof Error ? error.message : String(error);
  if (error instanceof Error && error.name === 'ReplyError') return new StoreFault('reply', message, message.split(' ', 1)[0]);
  return new StoreFault('connection', message);
}
