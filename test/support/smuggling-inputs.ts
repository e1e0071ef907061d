/** Requests that two servers might read in two ways, byte by byte as latin1. Behind each comes another request, for `/smuggled`. */
export interface RawRequest {
  readonly what: string;
  readonly bytes: string;
}

const head = (...lines: readonly string[]): string => `${['POST /target HTTP/1.1', 'Host: x', ...lines].join('\r\n')}\r\n\r\n`;
export const line = (requestLine: string, ...more: readonly string[]): string =>
  `${[requestLine, 'Host: x', ...more].join('\r\n')}\r\n\r\n`;
const chunked = (body: string): string => head('Transfer-Encoding: chunked') + body;

/** Refused as a whole: the answer's status, and whether it can be told from the head alone. */
export const REFUSED: readonly (RawRequest & { readonly status: number })[] = [
  { what: 'both lengths', bytes: head('Content-Length: 5', 'Transfer-Encoding: chunked') + '0\r\n\r\n', status: 400 },
  { what: 'both lengths, the other way round', bytes: head('Transfer-Encoding: chunked', 'Content-Length: 5') + '0\r\n\r\n', status: 400 },
  { what: 'chunked twice', bytes: head('Transfer-Encoding: chunked', 'Transfer-Encoding: chunked') + '0\r\n\r\n', status: 400 },
  {
    what: 'chunked and identity lines',
    bytes: head('Transfer-Encoding: chunked', 'Transfer-Encoding: identity') + '0\r\n\r\n',
    status: 400,
  },
  { what: 'xchunked', bytes: head('Transfer-Encoding: xchunked') + '0\r\n\r\n', status: 501 },
  { what: 'chunked, identity', bytes: head('Transfer-Encoding: chunked, identity') + '0\r\n\r\n', status: 400 },
  { what: 'identity, chunked', bytes: head('Transfer-Encoding: identity, chunked') + '0\r\n\r\n', status: 501 },
  { what: 'identity', bytes: head('Transfer-Encoding: identity'), status: 501 },
  { what: 'gzip, chunked', bytes: head('Transfer-Encoding: gzip, chunked') + '0\r\n\r\n', status: 501 },
  { what: 'chunked in quotes', bytes: head('Transfer-Encoding: "chunked"') + '0\r\n\r\n', status: 501 },
  { what: 'chunked with a parameter', bytes: head('Transfer-Encoding: chunked;q=1') + '0\r\n\r\n', status: 501 },
  { what: 'chunked behind a vertical tab', bytes: head('Transfer-Encoding: \u000bchunked') + '0\r\n\r\n', status: 400 },
  { what: 'an empty transfer coding', bytes: head('Transfer-Encoding:') + '0\r\n\r\n', status: 501 },
  { what: 'a space before the colon', bytes: head('Transfer-Encoding : chunked') + '0\r\n\r\n', status: 400 },
  { what: 'a space before the first field', bytes: head(' Transfer-Encoding: chunked') + '0\r\n\r\n', status: 400 },
  { what: 'a folded field', bytes: head('X-Folded: a', '\tb'), status: 400 },
  { what: 'a folded transfer coding', bytes: head('Transfer-Encoding:', ' chunked') + '0\r\n\r\n', status: 400 },
  { what: 'two lengths', bytes: head('Content-Length: 5', 'Content-Length: 6') + 'hello', status: 400 },
  { what: 'one length twice', bytes: head('Content-Length: 5', 'Content-Length: 5') + 'hello', status: 400 },
  { what: 'a list of lengths', bytes: head('Content-Length: 5, 5') + 'hello', status: 400 },
  { what: 'a length with a plus', bytes: head('Content-Length: +5') + 'hello', status: 400 },
  { what: 'a negative length', bytes: head('Content-Length: -1'), status: 400 },
  { what: 'a hexadecimal length', bytes: head('Content-Length: 0x5') + 'hello', status: 400 },
  { what: 'a length with a space in it', bytes: head('Content-Length: 1 0') + 'hello', status: 400 },
  { what: 'an empty length', bytes: head('Content-Length:') + 'hello', status: 400 },
  { what: 'a length beyond any number', bytes: head('Content-Length: 99999999999999999999'), status: 400 },
  { what: 'lines that end in LF', bytes: 'POST /target HTTP/1.1\nHost: x\nContent-Length: 0\n\n', status: 400 },
  { what: 'a field that ends in LF', bytes: head('X-One: 1\nContent-Length: 5') + 'hello', status: 400 },
  { what: 'a CR inside a field', bytes: head('X-One: 1\rContent-Length: 5') + 'hello', status: 400 },
  { what: 'a NUL inside a field', bytes: head('X-One: a\0b'), status: 400 },
  { what: 'a space inside a field name', bytes: head('X One: 1'), status: 400 },
  { what: 'a field without a name', bytes: head(': 1'), status: 400 },
  { what: 'a field without a colon', bytes: head('Content-Length'), status: 400 },
  { what: 'a field name outside ASCII', bytes: head('X-\u00e9: 1'), status: 400 },
  { what: 'an absolute target', bytes: line('GET http://other.example/target HTTP/1.1'), status: 400 },
  { what: 'an authority as the target', bytes: line('GET other.example:80 HTTP/1.1'), status: 400 },
  { what: 'an asterisk without OPTIONS', bytes: line('GET * HTTP/1.1'), status: 400 },
  { what: 'a space in the target', bytes: line('GET /target /x HTTP/1.1'), status: 400 },
  { what: 'a tab before the version', bytes: line('GET /target\tHTTP/1.1'), status: 400 },
  { what: 'no version', bytes: 'GET /target\r\n\r\n', status: 505 },
  { what: 'HTTP/0.9', bytes: line('GET /target HTTP/0.9'), status: 505 },
  { what: 'HTTP/1.2', bytes: line('GET /target HTTP/1.2'), status: 505 },
  { what: 'HTTP/2.0 without being it', bytes: line('GET /target HTTP/2.0'), status: 505 },
  { what: 'the preface of HTTP/2', bytes: 'PRI * HTTP/2.0\r\n\r\nSM\r\n\r\n', status: 505 },
  { what: 'a version in lower case', bytes: line('GET /target http/1.1'), status: 400 },
  { what: 'CONNECT', bytes: line('CONNECT other.example:443 HTTP/1.1'), status: 501 },
  { what: 'TRACE', bytes: line('TRACE /target HTTP/1.1'), status: 501 },
  { what: 'a method that nobody knows', bytes: line('FOO /target HTTP/1.1'), status: 501 },
  { what: 'a method in lower case', bytes: line('get /target HTTP/1.1'), status: 501 },
  { what: 'no host', bytes: 'GET /target HTTP/1.1\r\nX-One: 1\r\n\r\n', status: 400 },
  { what: 'two hosts', bytes: line('GET /target HTTP/1.1', 'Host: y'), status: 400 },
  { what: 'one host twice', bytes: line('GET /target HTTP/1.1', 'Host: x'), status: 400 },
  { what: 'an empty host', bytes: 'GET /target HTTP/1.1\r\nHost:\r\n\r\n', status: 400 },
  { what: 'a host with a path', bytes: 'GET /target HTTP/1.1\r\nHost: x/y\r\n\r\n', status: 400 },
  { what: 'a host with a user', bytes: 'GET /target HTTP/1.1\r\nHost: u@x\r\n\r\n', status: 400 },
  { what: 'two hosts in one field', bytes: 'GET /target HTTP/1.1\r\nHost: x, y\r\n\r\n', status: 400 },
  {
    what: 'a transfer coding in HTTP/1.0',
    bytes: 'POST /target HTTP/1.0\r\nHost: x\r\nTransfer-Encoding: chunked\r\n\r\n0\r\n\r\n',
    status: 400,
  },
  { what: 'a request line that is too long', bytes: line(`GET /${'x'.repeat(20_000)} HTTP/1.1`), status: 431 },
  { what: 'a field that is too long', bytes: head(`X-One: ${'x'.repeat(20_000)}`), status: 431 },
  { what: 'too many fields', bytes: head(...Array.from({ length: 150 }, (_, i) => `X-${i}: 1`)), status: 431 },
  { what: 'an expectation that nobody knows', bytes: head('Expect: 200-ok', 'Content-Length: 5'), status: 417 },
  { what: 'a response', bytes: 'HTTP/1.1 200 OK\r\nContent-Length: 0\r\n\r\n', status: 501 },
];

/** The head is fine and the body is not: what the upstream may have begun to get must never look whole. */
export const BROKEN_BODIES: readonly RawRequest[] = [
  { what: 'a chunk size that is no number', bytes: chunked('zz\r\nhello\r\n0\r\n\r\n') },
  { what: 'a chunk size with a prefix', bytes: chunked('0x5\r\nhello\r\n0\r\n\r\n') },
  { what: 'a negative chunk size', bytes: chunked('-5\r\nhello\r\n0\r\n\r\n') },
  { what: 'a chunk size beyond any number', bytes: chunked('FFFFFFFFFFFFFFFF1\r\nhello\r\n0\r\n\r\n') },
  { what: 'a chunk that is longer than it says', bytes: chunked('3\r\nhello\r\n0\r\n\r\n') },
  { what: 'a chunk line that ends in LF', bytes: chunked('5\nhello\r\n0\r\n\r\n') },
  { what: 'a chunk that ends in LF', bytes: chunked('5\r\nhello\n0\r\n\r\n') },
  { what: 'a chunk extension with an LF', bytes: chunked('5;a\nGET /smuggled HTTP/1.1\r\nhello\r\n0\r\n\r\n') },
  { what: 'a chunk extension without an end', bytes: chunked(`5;${'a'.repeat(40_000)}\r\nhello\r\n0\r\n\r\n`) },
  { what: 'a space behind a chunk size', bytes: chunked('5 \r\nhello\r\n0\r\n\r\n') },
  { what: 'trailers that would frame', bytes: chunked('5\r\nhello\r\n0\r\nContent-Length: 50\r\n\r\n') },
  { what: 'a last chunk without its end', bytes: chunked('5\r\nhello\r\n0\r\nX') },
];

/** Unusual, and clear to everyone: exactly one request arrives, with this body. */
export const TAKEN: readonly (RawRequest & { readonly body: string })[] = [
  { what: 'a length', bytes: head('Content-Length: 5') + 'hello', body: 'hello' },
  { what: 'a length with space around it', bytes: head('Content-Length: \t5 ') + 'hello', body: 'hello' },
  { what: 'a length with zeros before it', bytes: head('Content-Length: 0005') + 'hello', body: 'hello' },
  { what: 'a GET with a body', bytes: line('GET /target HTTP/1.1', 'Content-Length: 5') + 'hello', body: 'hello' },
  { what: 'CHUNKED', bytes: head('Transfer-Encoding: CHUNKED') + '5\r\nhello\r\n0\r\n\r\n', body: 'hello' },
  { what: 'chunks with extensions', bytes: chunked('5;a=b\r\nhello\r\n0;c\r\n\r\n'), body: 'hello' },
  {
    what: 'trailers',
    bytes: chunked('5\r\nhello\r\n0\r\nX-T: 1\r\nAuthorization: b\r\n\r\n'),
    body: 'hello',
  },
  {
    what: 'a Connection field that names the length',
    bytes: head('Content-Length: 5', 'Connection: Content-Length') + 'hello',
    body: 'hello',
  },
  {
    what: 'a Connection field that names the host',
    bytes: head('Content-Length: 5', 'Connection: Host, Transfer-Encoding') + 'hello',
    body: 'hello',
  },
  {
    what: 'a second length by underscore',
    bytes: head('Content-Length: 5', 'Content_Length: 0', 'Transfer_Encoding: chunked') + 'hello',
    body: 'hello',
  },
  { what: 'lines without anything before it', bytes: `\r\n\r\n${head('Content-Length: 5')}hello`, body: 'hello' },
  {
    what: 'a length in HTTP/1.0',
    bytes: 'POST /target HTTP/1.0\r\nHost: x\r\nConnection: keep-alive\r\nContent-Length: 5\r\n\r\nhello',
    body: 'hello',
  },
  { what: 'an expectation met with the body', bytes: head('Expect: 100-continue', 'Content-Length: 5') + 'hello', body: 'hello' },
];
