import { connect, type Socket } from 'node:net';
import { Lane, reset, type LaneRules } from './lane.js';
import type { Wire } from './wire.js';

/** What the connections of a proxy have in common. */
export interface Network {
  readonly target: { readonly host: string; readonly port: number };
  readonly rules: LaneRules;
  readonly requests: Wire;
  readonly replies: Wire;
  /** How long a reply that arrives now stays under way, ms. */
  readonly replyDelayMs: () => number;
}

/** A client's connection and the one to the server that goes with it. */
export class Connection {
  /** It ought to have carried something that is lost. */
  hasLost = false;
  private readonly server: Socket;
  private readonly lanes: readonly Lane[];

  /** @param onOver called once, when both sides are gone. */
  constructor(
    private readonly client: Socket,
    network: Network,
    onOver: () => void,
  ) {
    const { target, rules, requests, replies, replyDelayMs } = network;
    this.server = connect({ ...target, noDelay: true, allowHalfOpen: true });
    const onLoss = () => {
      this.hasLost = true;
    };
    this.lanes = [
      new Lane(this.client, this.server, { rules, wire: requests, delayMs: () => 0, onLoss }),
      new Lane(this.server, this.client, { rules, wire: replies, delayMs: replyDelayMs, onLoss }),
    ];
    for (const socket of [this.client, this.server]) {
      socket.unref();
      socket.once('close', () => {
        if (this.client.destroyed && this.server.destroyed) onOver();
      });
    }
  }

  /** The client has not left. */
  get isOpen(): boolean {
    return !this.client.destroyed && !this.client.readableEnded;
  }

  move(): void {
    for (const lane of this.lanes) lane.move();
  }

  hurry(): void {
    for (const lane of this.lanes) lane.hurry();
  }

  lose(): void {
    for (const lane of this.lanes) lane.lose();
  }

  reset(): void {
    reset(this.client);
    reset(this.server);
  }
}
