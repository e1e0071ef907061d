import { describe, expect, it } from '@jest/globals';
import { ownerOf, readClusterNodes } from './cluster-view.js';

const [A, B, C] = ['a'.repeat(40), 'b'.repeat(40), 'c'.repeat(40)] as const;
const REPLY = [
  `${A} 127.0.0.1:7001@17001 myself,master - 0 0 3 connected 0-99 200 [5-<-${B}] [7->-${B}]`,
  `${B} 127.0.0.1:7002@9,host master,fail? - 0 1700000000000 2 disconnected 100-199`,
  `${C} :0@0 slave,noaddr ${A} 0 0 3 disconnected`,
  '',
].join('\n');

describe('readClusterNodes', () => {
  it('reads addresses, flags, epochs and the slots that a node has', () => {
    expect(readClusterNodes(REPLY)).toEqual([
      {
        id: A,
        port: 7001,
        flags: ['myself', 'master'],
        configEpoch: 3,
        slots: [
          [0, 99],
          [200, 200],
        ],
      },
      { id: B, port: 7002, flags: ['master', 'fail?'], configEpoch: 2, slots: [[100, 199]] },
      { id: C, port: 0, flags: ['slave', 'noaddr'], configEpoch: 3, slots: [] },
    ]);
  });
});

describe('ownerOf', () => {
  const view = readClusterNodes(REPLY);

  it('finds the owner of a slot', () => {
    expect([99, 100, 200, 201].map((slot) => ownerOf(slot, [view]))).toEqual([A, B, A, undefined]);
  });

  it('believes the newer of two claims', () => {
    const newer = readClusterNodes(`${C} 127.0.0.1:7003@17003 myself,master - 0 0 4 connected 100-199`);
    expect(ownerOf(150, [view, newer, view])).toBe(C);
  });
});
