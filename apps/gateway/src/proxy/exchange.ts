import type { IncomingMessage, ServerResponse } from 'node:http';
import type { Duplex } from 'node:stream';
import { setTimeout as sleep } from 'node:timers/promises';
import type { Dispatcher } from 'undici';
import { askForBody, hasBody, leaveUnread } from '../edge/unread-body.js';
import { CallerGone, Discarded, ForwardHandler } from './forward-handler.js';
import { RequestBody } from './request-body.js';
import { asksForRetry, backoffMs, isIdempotent } from './retry-budget.js';
import type { AddressRequest, UpstreamAddress } from './upstream-address.js';
import { UpstreamFault, faultOf } from './upstream-faults.js';
import type { Upstream } from './upstream.js';

/** A connection that an upstream has agreed to hand over. */
export interface Joined {
  /** Of the 101, for the caller, name and value in turn. */
  readonly fields: readonly string[];
  readonly upstream: Duplex;
  readonly idleMs: number;
}

export interface UpgradeWish {
  /** As the Upgrade field names it, lower case. */
  readonly protocol: string;
  /** Resolves when the connection is closed. */
  readonly take: (joined: Joined) => Promise<void>;
}

/** One admitted request and its answer, over as many attempts as it takes. */
export interface ExchangeOptions {
  readonly request: IncomingMessage;
  readonly response: ServerResponse;
  readonly upstream: Upstream;
  /** Path and query as they are sent. */
  readonly path: string;
  /** Fields of a request that is sent now, name and value in turn. */
  readonly headers: () => string[];
  /** Fields of the answer, name and value in turn. */
  readonly head: (rawHeaders: readonly Buffer[], status: number) => string[];
  /** When the route's deadline ends, on the monotonic clock; undefined where it has none. */
  readonly endsAtMs: number | undefined;
  /** How long the caller may pause in its body, or take nothing of the answer. */
  readonly bodyIdleMs: number;
  /** Of every attempt; with the error that the fault was read from. */
  readonly onFault: (fault: UpstreamFault, error: Error) => void;
  readonly onRetry: () => void;
  readonly upgrade: UpgradeWish | undefined;
}

/** What an attempt came to: the answer is written or nobody waits for it; another one follows; or a fault is still to be answered. */
type Outcome = 'over' | 'again' | UpstreamFault;

export class Exchange {
  private readonly idempotent: boolean;
  private readonly withBody: boolean;
  private body: RequestBody | undefined;
  private handler: ForwardHandler | undefined;
  private address: UpstreamAddress | undefined;
  /** Of what the attempt waits for: a connection, or the head of the answer. */
  private timer: NodeJS.Timeout | undefined;
  private deadline: NodeJS.Timeout | undefined;
  private retries = 0;
  private cancelled: Error | undefined;
  /** The fault of the last attempt. */
  private met: UpstreamFault | undefined;

  constructor(private readonly options: ExchangeOptions) {
    this.withBody = hasBody(options.request);
    this.idempotent = isIdempotent(options.request.method ?? '');
    options.upstream.budget.request();
  }

  /** Resolves when the response is over, whole or broken off; to the fault where the answer is still to be written. */
  async run(): Promise<UpstreamFault | undefined> {
    const { response, endsAtMs } = this.options;
    response.once('close', this.onClose);
    this.deadline = endsAtMs === undefined ? undefined : setTimeout(this.onDeadline, endsAtMs - performance.now());
    let outcome = await this.attempt();
    while (outcome === 'again') {
      this.options.onRetry();
      await sleep(backoffMs(this.retries));
      this.retries += 1;
      outcome = this.cancelled === undefined ? await this.attempt() : this.outcomeOf(this.cancelled);
    }
    clearTimeout(this.deadline);
    return outcome === 'over' ? undefined : outcome;
  }

  private attempt(): Promise<Outcome> {
    const { upstream, response, request, head, bodyIdleMs } = this.options;
    const address = upstream.pick(this.address);
    // Where nothing is left for another attempt, what the first one met is the answer.
    if (address instanceof UpstreamFault) return Promise.resolve(this.met ?? this.outcomeOf(address));
    this.address = address;
    return new Promise((resolve) => {
      const handler = new ForwardHandler(response, bodyIdleMs, {
        sent: () => {
          clearTimeout(this.timer);
          if (!this.withBody) this.awaitHead();
        },
        head: (rawHeaders, status) => {
          clearTimeout(this.timer);
          return head(rawHeaders, status);
        },
        discards: (status, rawHeaders) => this.discards(status, rawHeaders),
        released: () => {
          address.released();
        },
        upgraded: (rawHeaders, socket) => {
          clearTimeout(this.timer);
          this.handler = undefined;
          address.came('answered');
          void this.join(rawHeaders, socket).then(resolve);
        },
        ended: (error) => {
          clearTimeout(this.timer);
          this.handler = undefined;
          address.came(this.blame(error));
          this.body?.release();
          if (response.headersSent) leaveUnread(request, response);
          resolve(error === undefined ? 'over' : this.outcomeOf(error));
        },
      });
      this.handler = handler;
      address.dispatch(this.request(), handler);
      if (handler.waiting) this.awaitConnection(handler);
    });
  }

  private async join(rawHeaders: readonly Buffer[], upstream: Duplex): Promise<Outcome> {
    const {
      upgrade,
      head,
      upstream: { config },
    } = this.options;
    if (upgrade === undefined || valueOf(rawHeaders, 'upgrade')?.toLowerCase() !== upgrade.protocol) {
      upstream.destroy();
      return this.outcomeOf(new UpstreamFault('http_protocol_error'));
    }
    // From here on it is not one request any more.
    clearTimeout(this.deadline);
    await upgrade.take({ fields: head(rawHeaders, 101), upstream, idleMs: config.timeouts.upgradeIdleMs });
    return 'over';
  }

  private request(): AddressRequest {
    const { request, response, path, bodyIdleMs } = this.options;
    const onWanted = (): void => {
      askForBody(request, response);
    };
    this.body = this.withBody ? new RequestBody(request, onWanted, bodyIdleMs) : undefined;
    this.body?.once('end', () => {
      this.awaitHead();
    });
    return {
      path,
      method: request.method as Dispatcher.HttpMethod,
      headers: this.options.headers(),
      body: this.body ?? null,
      upgrade: this.options.upgrade?.protocol ?? null,
    };
  }

  /** All connections are taken, or one is being made: then it stands behind the timer of that. */
  private awaitConnection(handler: ForwardHandler): void {
    const { connectMs, headersMs } = this.options.upstream.config.timeouts;
    this.timer = setTimeout(() => {
      handler.cancel(new UpstreamFault('connection_limit_reached', true));
    }, connectMs + headersMs);
  }

  /** The upstream has the whole request. (undici's own timer is kept to about a second, and stands behind this one for the time before.) */
  private awaitHead(): void {
    const { handler } = this;
    if (this.options.response.headersSent) return;
    this.timer = setTimeout(
      () => handler?.cancel(new UpstreamFault('http_response_timeout')),
      this.options.upstream.config.timeouts.headersMs,
    );
  }

  /** What the end of a call says about its address. */
  private blame(error: Error | undefined): UpstreamFault | 'answered' | 'nothing' {
    if (error === undefined || error instanceof Discarded) return 'answered';
    if (error instanceof CallerGone) return 'nothing';
    const fault = faultOf(error);
    return fault.error === 'http_request_error' || fault.error === 'connection_limit_reached' ? 'nothing' : fault;
  }

  private outcomeOf(error: Error): Outcome {
    if (error instanceof Discarded) return 'again';
    if (error instanceof CallerGone) return 'over';
    const fault = faultOf(error);
    this.met = fault;
    this.options.onFault(fault, error);
    if (isGone(this.options.response)) return 'over';
    return this.mayRepeat(fault) && this.takeRetry() ? 'again' : fault;
  }

  /** Whether another attempt repeats nothing that must not be repeated. */
  private mayRepeat({ error, unsent }: UpstreamFault): boolean {
    if (error === 'destination_unavailable' || error === 'connection_limit_reached') return false;
    return this.body?.untouched !== false && (unsent || (error === 'connection_terminated' && this.idempotent));
  }

  /** Whether an answer is dropped for another attempt; where there is none left it is passed on as it is. */
  private discards(status: number, rawHeaders: readonly Buffer[]): boolean {
    return this.idempotent && !this.withBody && asksForRetry(status, valueOf(rawHeaders, 'retry-after') !== undefined) && this.takeRetry();
  }

  private takeRetry(): boolean {
    const { config, budget, available } = this.options.upstream;
    return this.cancelled === undefined && this.retries < config.retries.attempts && available && budget.take();
  }

  private readonly onClose = (): void => {
    this.cancel(new CallerGone('the caller closed the connection'));
  };

  private readonly onDeadline = (): void => {
    this.cancel(new UpstreamFault('http_response_timeout'));
  };

  private cancel(reason: Error): void {
    this.cancelled ??= reason;
    this.handler?.cancel(reason);
  }
}

/** The head is out, or nobody reads it any more. */
function isGone(response: ServerResponse): boolean {
  return response.headersSent || response.destroyed;
}

function valueOf(rawHeaders: readonly Buffer[], name: string): string | undefined {
  for (let i = 0; i < rawHeaders.length; i += 2) {
    if (rawHeaders[i]?.length === name.length && rawHeaders[i]?.toString('latin1').toLowerCase() === name) {
      return rawHeaders[i + 1]?.toString('latin1').trim();
    }
  }
  return undefined;
}
