import { describe, expect, it } from '@jest/globals';
import { mkdtempSync, readFileSync, writeFileSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { digestApiKey } from '#libs/identity';
import { repositoryRoot, spawnNode } from '#libs/testing';

const PEPPER = 'a pepper for tests only';
const script = join(repositoryRoot, 'dist/apps/gateway/src/cli/keys.js');
const folder = (): string => mkdtempSync(join(tmpdir(), 'esclusa-keys-'));

async function keys(cwd: string, args: readonly string[], env: Readonly<Record<string, string>> = { API_KEY_PEPPER: PEPPER }) {
  const command = spawnNode(script, { cwd, args, env });
  return { code: await command.exited, lines: command.lines, text: command.lines.join('\n') };
}

describe('npm run keys', () => {
  it('creates a key, shows it once, stores its digest alone, and takes it out again', async () => {
    const cwd = folder();
    const created = await keys(cwd, ['create', '--tenant', 'acme', '--user', 'eve', '--file', 'keys.yaml']);
    expect(created.code).toBe(0);
    const shown = created.lines.filter((line) => line.startsWith('esc_'));
    expect(shown).toEqual([expect.stringMatching(/^esc_[0-9A-Za-z]{49}$/)]);
    const stored = readFileSync(join(cwd, 'keys.yaml'), 'utf8');
    expect(stored).toContain(`digest: ${digestApiKey(PEPPER, shown[0]!)}`);
    expect(stored).not.toContain(shown[0]);
    const id = /k_[0-9a-f]{12}/.exec(created.text)![0];
    expect((await keys(cwd, ['revoke', '--id', id, '--file', 'keys.yaml'])).code).toBe(0);
    expect(readFileSync(join(cwd, 'keys.yaml'), 'utf8')).not.toContain(id);
    expect((await keys(cwd, ['revoke', '--id', id, '--file', 'keys.yaml'])).code).toBe(1);
  });

  it('takes the pepper from .env too', async () => {
    const cwd = folder();
    writeFileSync(join(cwd, '.env'), `API_KEY_PEPPER=${PEPPER}\n`);
    expect((await keys(cwd, ['create', '--tenant', 'acme', '--file', 'keys.yaml'], {})).code).toBe(0);
  });

  it.each<[string, readonly string[], Readonly<Record<string, string>>, number, RegExp]>([
    ['no pepper', ['create', '--tenant', 'a'], {}, 2, /API_KEY_PEPPER must be set .* at least 16 characters/],
    ['a short pepper', ['create', '--tenant', 'a'], { API_KEY_PEPPER: 'short' }, 2, /API_KEY_PEPPER must be set/],
    ['no tenant', ['create'], { API_KEY_PEPPER: PEPPER }, 2, /--tenant is missing/],
    [
      'an empty user',
      ['create', '--tenant', 'a', '--user', '', '--file', 'k.yaml'],
      { API_KEY_PEPPER: PEPPER },
      1,
      /keys\[0\]\.user: allowed/,
    ],
    ['no such file', ['revoke', '--id', 'k_000000000000', '--file', 'k.yaml'], {}, 1, /^k\.yaml: there is no such file$/],
    [
      'no such folder',
      ['create', '--tenant', 'a', '--file', 'no/k.yaml'],
      { API_KEY_PEPPER: PEPPER },
      1,
      /^no\/k\.yaml: cannot be changed/,
    ],
    ['an unknown option', ['create', '--tenat', 'a'], {}, 2, /npm run keys -- create/],
    ['nothing to do', [], {}, 2, /nothing to do/],
  ])('says what is wrong, without a stack: %s', async (_what, args, env, code, told) => {
    const answer = await keys(folder(), args, env);
    expect(answer).toMatchObject({ code, text: expect.stringMatching(told) });
    expect(answer.text).not.toMatch(/^ +at |esc_/m);
  });
});
