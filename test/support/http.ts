import { connect } from 'node:net';
import { request as httpRequest, type IncomingHttpHeaders } from 'node:http';

export interface Answer {
  readonly status: number;
  readonly headers: IncomingHttpHeaders;
  readonly text: string;
  json(): Record<string, unknown>;
}

export interface Ask {
  readonly method?: string;
  /** Name and value in turn, or a record; repeated names are sent repeatedly. */
  readonly headers?: Readonly<Record<string, string | readonly string[]>> | readonly string[];
  readonly body?: string;
  /** From another loopback address, to be another caller. */
  readonly from?: string;
}

/** One request on a connection of its own; the path is sent as it is written. */
export function ask(url: string, path: string, { method = 'GET', headers = {}, body, from }: Ask = {}): Promise<Answer> {
  const { hostname, port } = new URL(url);
  return new Promise((resolve, reject) => {
    const call = httpRequest(
      { hostname, port, path, method, headers: headers as never, agent: false, ...(from === undefined ? {} : { localAddress: from }) },
      (response) => {
        const chunks: Buffer[] = [];
        response.on('data', (chunk: Buffer) => chunks.push(chunk));
        response.on('error', reject);
        response.on('end', () => {
          const text = Buffer.concat(chunks).toString('utf8');
          resolve({
            status: response.statusCode ?? 0,
            headers: response.headers,
            text,
            json: () => JSON.parse(text) as Record<string, unknown>,
          });
        });
      },
    );
    call.on('error', reject);
    call.end(body);
  });
}

/** Sends bytes and reads until the connection closes, or `until` is seen. For requests that no client library would send. */
export function askRaw(url: string, bytes: string, until?: RegExp): Promise<string> {
  const { hostname, port } = new URL(url);
  return new Promise((resolve, reject) => {
    let text = '';
    const socket = connect({ host: hostname, port: Number(port) }, () => socket.write(bytes, 'latin1'));
    socket.setTimeout(5000, () => socket.destroy(new Error(`no end of the answer within 5 s; so far: ${text.slice(0, 200)}`)));
    socket.on('data', (chunk) => {
      text += chunk.toString('latin1');
      if (until?.test(text) === true) socket.destroy();
    });
    socket.on('close', () => {
      resolve(text);
    });
    socket.on('error', reject);
  });
}

/** How often each status came. */
export function tally(answers: readonly { readonly status: number | string }[]): Record<number | string, number> {
  const counts: Record<number | string, number> = {};
  for (const { status } of answers) counts[status] = (counts[status] ?? 0) + 1;
  return counts;
}

export const times = <T>(count: number, make: (i: number) => Promise<T>): Promise<T[]> =>
  Promise.all(Array.from({ length: count }, (_, i) => make(i)));
