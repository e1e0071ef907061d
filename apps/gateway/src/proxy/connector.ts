import { readFileSync } from 'node:fs';
import { isIP, type Socket } from 'node:net';
import { buildConnector } from 'undici';
import type { UpstreamTls } from '#libs/rules';
import { UpstreamFault } from './upstream-faults.js';

/**
 * Connects to an upstream within a time that is kept to the millisecond (undici's own is kept to about a second), and tells a name that is not
 * resolved in time from a host that does not answer.
 * @throws Error where a file that `tls` names cannot be read
 */
export function connectorFor(connectMs: number, tls: UpstreamTls): buildConnector.connector {
  const read = (file: string | undefined): Buffer | undefined => (file === undefined ? undefined : readFileSync(file));
  const given = { ca: read(tls.caFile), cert: read(tls.certFile), key: read(tls.keyFile), servername: tls.serverName };
  // Those left out are the system's; undefined would not be.
  const options = Object.fromEntries(Object.entries(given).filter(([, value]) => value !== undefined));
  // Its declared type leaves out the socket that it returns.
  const connect = buildConnector({ ...options, timeout: 0 }) as (...given: Parameters<buildConnector.connector>) => Socket;
  return (target, callback) => {
    const socket = connect(target, (...result) => {
      clearTimeout(timer);
      callback(...result);
    });
    let resolved = isIP(target.hostname.replace(/^\[|\]$/g, '')) !== 0;
    socket.once('lookup', (error: Error | null) => {
      resolved = error === null;
    });
    const timer = setTimeout(() => {
      socket.destroy(new UpstreamFault(resolved ? 'connection_timeout' : 'dns_timeout', true));
    }, connectMs);
  };
}
