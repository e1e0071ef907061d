import { describe, expect, it } from '@jest/globals';
import { apiKeyId, createApiKey, digestApiKey } from './api-key.js';
import { KeyFileError, parseKeyFile } from './api-key-file.js';

const digest = digestApiKey('a pepper', createApiKey());
const line = `{ id: ${apiKeyId(digest)}, digest: ${digest}, tenant: acme, createdAt: 2026-12-01T00:00:00Z }`;
const MARKER = 'MARKERsecret';

describe('parseKeyFile', () => {
  it('reads entries; a list without any is fine', () => {
    expect(parseKeyFile('keys.yaml', `version: 1\nkeys: [${line}]`)).toMatchObject([{ id: apiKeyId(digest), digest, tenant: 'acme' }]);
    expect(parseKeyFile('keys.yaml', 'version: 1\nkeys: []')).toEqual([]);
  });

  it.each<[string, RegExp]>([
    ['version: 2\nkeys: []', /^keys\.yaml: version: allowed: 1$/],
    ['version: 1', /keys: allowed: a list/],
    ['version: 1\nkeys: { a: 1 }', /keys: allowed: a list/],
    ['version: 1\nkeys: [null]', /keys(\[0\])?: allowed: a (list of mappings|mapping)/],
    ['version: 1\nkeys: [[]]', /keys: allowed: a list of mappings/],
    ['version: 1\nkeys: [a]', /keys(\[0\])?: allowed: a (list of mappings|mapping)/],
    [`version: 1\nkeys: [${line.replace(digest, MARKER)}]`, /keys\[0\]\.digest: allowed: 64 hex digits/],
    [`version: 1\nkeys: [${line.replace(apiKeyId(digest), 'k_000000000000')}]`, /keys\[0\]\.id: allowed: k_ and the first 12 digits/],
    [`version: 1\nkeys: [${line}, ${line}]`, /keys\[1\]: allowed: each key once/],
    [`version: 1\nkeys: [${line.replace('acme', '7')}]`, /keys\[0\]\.tenant: allowed: the name of a tenant/],
    [`version: 1\nkeys: [${line.replace('acme', 'acme, user: ""')}]`, /keys\[0\]\.user: allowed: the name of a user/],
    [`version: 1\nkeys: [${line.replace('}', `, key: ${MARKER} }`)}]`, /keys\[0\]\.key: allowed/],
    ['version: 1\nkeys: []\nextra: 1', /extra/],
    ['[]', /allowed: a mapping/],
    ['', /allowed: a mapping/],
    ['version: [', /^keys\.yaml:1:\d+: allowed: YAML/],
    [`version: 1\nkeys: |${MARKER}\n x`, /^keys\.yaml:2:\d+: allowed: YAML/],
    [`version: 1\nkeys: !foo!${MARKER} x`, /^keys\.yaml:2:\d+: allowed: YAML/],
    [`version: 1\nkeys: [*${MARKER}]`, /allowed: YAML without aliases/],
    ['version: 1\nkeys: []\n---\nversion: 1', /^keys\.yaml:3:\d+: allowed: YAML/],
  ])('KEY-13: %j is refused, saying where and what is allowed but not what was found', (text, told) => {
    expect(() => parseKeyFile('keys.yaml', text)).toThrow(KeyFileError);
    expect(() => parseKeyFile('keys.yaml', text)).toThrow(told);
    expect(() => parseKeyFile('keys.yaml', text)).not.toThrow(MARKER);
  });
});
