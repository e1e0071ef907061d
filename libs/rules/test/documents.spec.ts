import { describe, expect, it } from '@jest/globals';
import { Ajv } from 'ajv';
import { mkdtempSync, readFileSync, readdirSync, writeFileSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { fileURLToPath } from 'node:url';
import { parse } from 'yaml';
import { DocumentError, documentKind, documentSchemas, loadEdgeDocument, loadLimitsDocument } from '#libs/rules';

const fixtures = fileURLToPath(new URL('./fixtures/', import.meta.url));
const bad = join(fixtures, 'bad/');
const expected = JSON.parse(readFileSync(join(bad, 'expected.json'), 'utf8')) as Readonly<Record<string, readonly string[]>>;
const config = fileURLToPath(new URL('../../../config/', import.meta.url));

function problemsOf(load: () => unknown): readonly string[] {
  try {
    load();
  } catch (error) {
    if (error instanceof DocumentError) return error.message.split('\n').map((line) => line.replaceAll(bad, ''));
    throw error;
  }
  return ['accepted'];
}

const load = (file: string): unknown => (/edge/.test(file) ? loadEdgeDocument(file) : loadLimitsDocument(file));

describe('a bad document', () => {
  const names = readdirSync(bad).filter((name) => name.endsWith('.yaml'));

  it('has a fixture for each kind of mistake', () => {
    expect(names.sort()).toEqual(Object.keys(expected).sort());
    expect(names.length).toBeGreaterThanOrEqual(20);
  });

  it.each(names)('%s is refused with its file, place, what was found and what is allowed', (name) => {
    const problems = problemsOf(() => load(join(bad, name)));
    expect(problems).toEqual(expected[name]);
    for (const problem of problems) expect(problem).toMatch(/^[\w-]+\.yaml(:\d+)?: .*(found .+|missing); allowed: .+/);
  });

  it('CFG-09: duplicates are told once, naming both places', () => {
    expect(expected['limits-policy-twice.yaml']).toHaveLength(1);
    expect(expected['limits-policy-twice.yaml']?.[0]).toMatch(/policies\[1\].*policies\[0\]/);
    expect(expected['limits-selector-twice.yaml']?.[0]).toMatch(/limits\[2\].*limits\[1\]/);
    for (const name of ['urls-twice', 'urls-twice-written-otherwise', 'hosts-twice', 'upgrades-twice']) {
      expect(expected[`edge-${name}.yaml`]).toHaveLength(1);
      expect(expected[`edge-${name}.yaml`]?.[0]).toMatch(/\[1\].*\[0\] has it already/);
    }
  });

  it('SHED-03: an unknown class is refused, a missing one is sheddable', () => {
    expect(expected['edge-criticality.yaml']).toHaveLength(1);
    expect(loadEdgeDocument(join(fixtures, 'good-edge.yaml')).routes[1]).toMatchObject({ criticality: 'sheddable' });
  });

  it('NUM-11: a limit beyond what is exact is refused with a clear message', () => {
    expect(expected['limits-capacity-large.yaml']?.[0]).toContain('9000000000');
  });

  it('lists every problem at once, not the first', () => {
    const file = join(mkdtempSync(join(tmpdir(), 'esclusa-')), 'many-edge.yaml');
    writeFileSync(file, 'version: 2\nupstreams: {}\nroutes: [{ name: A, path: x }]\nsurprise: 1\n');
    expect(problemsOf(() => loadEdgeDocument(file)).length).toBeGreaterThanOrEqual(5);
  });

  it('which is neither kind is told so', () => {
    const file = join(mkdtempSync(join(tmpdir(), 'esclusa-')), 'other.yaml');
    writeFileSync(file, 'a: 1\n');
    expect(problemsOf(() => documentKind(file))[0]).toContain('an edge document (with routes) or a limits document (with policies)');
  });
});

describe('a good document', () => {
  it.each([join(fixtures, 'good-edge.yaml'), join(fixtures, 'good-limits.yaml'), join(config, 'edge.yaml'), join(config, 'limits.yaml')])(
    '%s is taken, and its defaults are filled in',
    (file) => {
      expect(problemsOf(() => load(file))).toEqual(['accepted']);
    },
  );

  it('may name a tenant whatever it likes, such as __proto__', () => {
    expect(loadLimitsDocument(join(fixtures, 'good-limits.yaml')).tenants?.get('__proto__')).toMatchObject({ tier: 'odd' });
  });
});

describe('the JSON Schemas', () => {
  const schemas = documentSchemas();
  const validators = Object.fromEntries(
    Object.entries(schemas).map(([name, schema]) => [name, new Ajv({ strict: false, allErrors: true }).compile(schema)]),
  );
  const isGood = (file: string): boolean => validators[/edge/.test(file) ? 'edge' : 'limits']?.(parse(readFileSync(file, 'utf8'))) === true;

  it.each(['edge', 'limits'] as const)('docs/schemas/%s.schema.json is what the classes say now', (name) => {
    const text = readFileSync(fileURLToPath(new URL(`../../../docs/schemas/${name}.schema.json`, import.meta.url)), 'utf8');
    expect(JSON.parse(text)).toEqual(schemas[name]);
  });

  it.each([join(fixtures, 'good-edge.yaml'), join(fixtures, 'good-limits.yaml'), join(config, 'edge.yaml'), join(config, 'limits.yaml')])(
    'take %s',
    (file) => {
      expect(isGood(file)).toBe(true);
    },
  );

  it.each([
    'edge-version',
    'edge-unknown-field',
    'edge-criticality',
    'edge-failure-mode',
    'edge-cost',
    'edge-upstream-concurrency',
    'edge-timeouts',
    'edge-shedding',
    'edge-route-method',
    'edge-routes-empty',
    'edge-route-is-list',
    'edge-identity-list',
    'edge-null-local',
    'edge-upstream-credentials',
    'edge-upstream-url',
    'edge-jwt-algorithm',
    'edge-name',
    'edge-name-long',
    'edge-listener-is-port',
    'edge-listener-unknown',
    'edge-listener-null',
    'edge-tls-is-true',
    'edge-tls-no-key',
    'edge-tls-empty-file',
    'edge-http2-without-tls',
    'edge-http2-misplaced',
    'edge-hosts-is-text',
    'edge-hosts-empty',
    'edge-hosts-scheme',
    'edge-hosts-port',
    'edge-hosts-upper-case',
    'edge-request-ms',
    'edge-max-header-bytes',
    'edge-max-headers',
    'edge-tracing-unknown',
    'edge-sample-ratio',
    'edge-urls-is-text',
    'edge-urls-empty',
    'edge-urls-twice',
    'edge-urls-path',
    'edge-url-query',
    'edge-timeouts-unknown',
    'edge-timeouts-upgrade-idle',
    'edge-connections',
    'edge-queue',
    'edge-upstream-host',
    'edge-retries-attempts',
    'edge-retries-budget',
    'edge-upstream-tls-empty-file',
    'edge-upstream-tls-unverified',
    'edge-upstream-server-name-port',
    'edge-upstream-server-name-address',
    'edge-deadline',
    'edge-deadline-text',
    'edge-upgrades-is-text',
    'edge-upgrades-empty',
    'edge-upgrades-h2c',
    'edge-upgrades-upper-case',
    'edge-strict-path',
    'edge-strict-path-misspelt',
    'limits-no-policies',
    'limits-null-unlimited',
    'limits-null-kind',
    'limits-null-selector',
    'limits-kind-is-list',
    'limits-prototype-field',
    'limits-revision',
    'limits-rate-quoted',
    'limits-policy-name',
    'limits-per',
    'limits-per-twice',
    'limits-callers',
    'limits-unlimited-false',
    'limits-later-kind',
    'limits-capacity',
    'limits-capacity-large',
    'limits-rate-zero',
    'limits-rate-text',
    'limits-misspelt',
    'limits-tenants',
  ])('refuse the structural mistake of %s.yaml, as editors will', (name) => {
    expect(isGood(join(bad, `${name}.yaml`))).toBe(false);
  });
});
