import type { BreakerState } from './circuit-breaker.js';
import type { Script } from './script.js';
import { StoreFault, type StoreFaultKind } from './store-fault.js';

/** What became of a call, for metrics. `late` arrived after its deadline and was discarded. */
export type CallResult = 'ok' | 'late' | StoreFaultKind;

export interface RedisClientOptions {
  /** As `parseRedisUrl` takes it. */
  readonly url: string;
  /** Per call, in ms. */
  readonly deadlineMs: number;
  /** Loaded on every connect, on every node. */
  readonly scripts: readonly Script[];
  readonly connectionName: string;
  /** Told once per change of a node, not once per failed attempt. */
  readonly onConnection?: (node: string, connected: boolean, detail: string) => void;
  /** The node is asked no more: it left the Cluster, or this client closes. */
  readonly onGone?: (node: string) => void;
  readonly onBreaker?: (node: string, state: BreakerState, why: string) => void;
  readonly onCall?: (result: CallResult) => void;
}

/**
 * Redis, be it one server, one behind Sentinels or a Cluster: reconnects for ever by itself, queues nothing while away, resends nothing, bounds every
 * call. It never waits for a server to be up: calls before that fail at once with a `connection` fault.
 */
export abstract class RedisClient {
  constructor(private readonly onCall: RedisClientOptions['onCall']) {}

  /** Whether every key could be asked for now, as far as connections go. */
  abstract get connected(): boolean;

  /**
   * Runs a script that takes `notAfter` (server time, µs) as its first argument and returns `[now, status, …]` as integers.
   * @param keys in one slot
   * @returns the whole reply, from the one execution that was not too late
   * @throws StoreFault; the script then takes nothing later, even if the server still runs it
   */
  async run(script: Script, keys: readonly string[], args: readonly (string | number)[]): Promise<readonly number[]> {
    try {
      const reply = await this.ask(script, keys, args);
      this.onCall?.('ok');
      return reply;
    } catch (error) {
      if (error instanceof StoreFault) this.onCall?.(error.kind);
      throw error;
    }
  }

  /** A plain command for administration, bound by the same deadline; its first argument is a key. @throws StoreFault */
  abstract command(name: string, ...args: readonly (string | number)[]): Promise<unknown>;

  /** Keys of one slot may be asked together; all keys are of one slot where there is no Cluster. */
  abstract slotOf(key: string): number;

  /** Closes after pending replies, within a short time. */
  abstract close(): Promise<void>;

  protected abstract ask(script: Script, keys: readonly string[], args: readonly (string | number)[]): Promise<readonly number[]>;
}
