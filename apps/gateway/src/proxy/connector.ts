import { isIP, type Socket } from 'node:net';
import { buildConnector } from 'undici';
import type { TlsFiles } from '../edge/tls-files.js';
import { UpstreamFault } from './upstream-faults.js';

/**
 * Connects to an upstream within a time that is kept to the millisecond (undici's own is kept to about a second), and tells a name that is not
 * resolved in time from a host that does not answer.
 * @param serverName whom the certificate must name, whatever Host the request carries; undefined: the host of the URL
 */
export function connectorFor(connectMs: number, files: TlsFiles, serverName: string | undefined): buildConnector.connector {
  // Its declared type leaves out the socket that it returns.
  const connect = buildConnector({ ...files, timeout: 0 }) as (...given: Parameters<buildConnector.connector>) => Socket;
  return (target, callback) => {
    const socket = connect({ ...target, servername: serverName ?? '' }, (...result) => {
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
