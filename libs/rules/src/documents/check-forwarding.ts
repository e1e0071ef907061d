import type { RouteOptions } from './edge-document.js';
import type { Findings, Path } from './findings.js';
import type { ListenerOptions } from './listener-options.js';
import { nearest } from './nearest.js';
import { show } from './problem.js';
import type { UpstreamOptions } from './upstream-options.js';

/** What no single field can tell about how requests come in and go on. */

export function checkListener({ hosts = [], headersMs, requestMs }: ListenerOptions, findings: Findings): void {
  if (requestMs < headersMs)
    findings.add(
      ['listener', 'requestMs'],
      show(requestMs),
      `at least headersMs, which is ${headersMs}: the head is a part of the request`,
    );
  hosts.forEach((host, i) => {
    const canonical = canonicalHost(host);
    if (canonical !== host) findings.add(['listener', 'hosts', i], show(host), canonical ?? 'a host name or an address');
  });
  findRepeated(hosts, ['listener', 'hosts'], 'a host', findings);
}

export function checkUpstream(name: string, { url, urls, tls }: UpstreamOptions, findings: Findings): void {
  const at = ['upstreams', name];
  if ((url === undefined) === (urls === undefined)) {
    findings.add(at, show({ url, urls }), 'exactly one of url and urls');
    return;
  }
  const all = (urls ?? [url ?? '']).map((one) => new URL(one));
  findRepeated(urls ?? [], [...at, 'urls'], 'an address', findings, (one) => new URL(one).origin);
  if (tls === undefined) return;
  if (!all.every(({ protocol }) => protocol === 'https:'))
    findings.add([...at, 'tls'], show(tls), 'nothing, unless every URL of the upstream is https');
  else if ((tls.certFile === undefined) !== (tls.keyFile === undefined))
    findings.add([...at, 'tls'], show(tls), 'both certFile and keyFile, or neither');
}

const WEBSOCKET = 'websocket';

export function checkUpgrades({ upgrades = [], methods }: RouteOptions, i: number, findings: Findings): void {
  const at = ['routes', i, 'upgrades'];
  upgrades.forEach((protocol, j) => {
    const meant = /^wss?$/.test(protocol) ? WEBSOCKET : nearest([WEBSOCKET], protocol);
    if (meant !== undefined && meant !== protocol)
      findings.add([...at, j], show(protocol), `${meant}, which this is most likely meant to be`);
  });
  findRepeated(upgrades, at, 'a protocol', findings);
  if (upgrades.includes(WEBSOCKET) && methods !== undefined && !methods.includes('GET'))
    findings.add(at, show(upgrades), 'websocket only on a route that takes GET, which every WebSocket begins with');
}

/** The host as callers write it; undefined where it is none, such as 10.0.0.256. */
function canonicalHost(host: string): string | undefined {
  const wildcard = host.startsWith('*.') ? '*.' : '';
  const url = `http://${host.slice(wildcard.length)}`;
  return URL.canParse(url) ? wildcard + new URL(url).hostname : undefined;
}

function findRepeated(
  values: readonly string[],
  at: Path,
  what: string,
  findings: Findings,
  keyOf: (value: string) => string = (value) => value,
): void {
  const keys = values.map(keyOf);
  keys.forEach((key, i) => {
    const before = keys.indexOf(key);
    if (before < i) findings.add([...at, i], show(values[i]), `${what} of its own; ${String(at.at(-1))}[${before}] has it already`);
  });
}
