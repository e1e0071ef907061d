import { afterAll, beforeAll, describe, expect, it } from '@jest/globals';
import { mkdtempSync, rmSync, writeFileSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { spawnNode } from './spawn-node.js';

describe('spawnNode', () => {
  let dir: string;
  beforeAll(() => {
    dir = mkdtempSync(join(tmpdir(), 'esclusa-spawn-'));
  });
  afterAll(() => {
    rmSync(dir, { recursive: true, force: true });
  });
  const script = (name: string, code: string) => {
    const file = join(dir, `${name}.mjs`);
    writeFileSync(file, code);
    return file;
  };

  it('hands over arguments and exactly the environment given', async () => {
    const code = 'console.log(process.argv[2], JSON.stringify(Object.keys(process.env).sort()), process.cwd())';
    const child = spawnNode(script('env', code), { env: { PORT: '1' }, args: ['hello'], cwd: dir });
    const [, names, cwd] = await child.waitForLine(/^hello (\S+) (.*)/);
    expect(JSON.parse(names ?? '')).toEqual(['HOME', 'PATH', 'PORT']);
    expect(cwd).toBe(dir);
    expect(await child.exited).toBe(0);
  });

  it('waits for a line of either output, printed before or after', async () => {
    const code = "console.log('early 1'); setTimeout(() => console.error('late 22'), 50); setTimeout(() => undefined, 10_000)";
    const child = spawnNode(script('lines', code));
    expect((await child.waitForLine(/late (\d+)/))[1]).toBe('22');
    expect((await child.waitForLine(/early (\d)/g))[1]).toBe('1');
    expect(child.lines).toEqual(['early 1', 'late 22']);
    await child.kill();
    expect(await child.exited).toBe(137);
  });

  it('gives the exit code of a process that ends on a signal in its own way, or of it', async () => {
    const polite = spawnNode(
      script('polite', "process.on('SIGTERM', () => process.exit(3)); console.log('up'); setInterval(() => undefined, 1000)"),
    );
    await polite.waitForLine(/up/);
    expect(await polite.stop()).toBe(3);
    expect(await polite.stop()).toBe(3);
    const plain = spawnNode(script('plain', "console.log('up'); setInterval(() => undefined, 1000)"));
    await plain.waitForLine(/up/);
    expect(await plain.stop('SIGINT')).toBe(130);
  });

  it('quotes the output when the process ends before the line comes', async () => {
    const child = spawnNode(script('dies', "console.error('REDIS_URL: missing'); process.exitCode = 1"));
    await expect(child.waitForLine(/ready/)).rejects.toThrow(/ended with code 1 before[\s\S]*\| REDIS_URL: missing/);
  });

  it('quotes the output when the line does not come in time', async () => {
    const child = spawnNode(script('mute', "console.log('starting'); setInterval(() => undefined, 1000)"));
    await child.waitForLine(/starting/);
    await expect(child.waitForLine(/ready/, 20)).rejects.toThrow(/nothing like \/ready\/ within 20 ms[\s\S]*\| starting/);
    await child.kill();
  });

  it('throws where nothing can be started', () => {
    expect(() => spawnNode('any.mjs', { cwd: join(dir, 'no-such-folder') })).toThrow(/could not be started in .*no-such-folder/);
  });

  it('kills a process that ignores the signal, and says so', async () => {
    const child = spawnNode(
      script('deaf', "process.on('SIGTERM', () => console.log('no')); console.log('up'); setInterval(() => undefined, 1000)"),
    );
    await child.waitForLine(/up/);
    await expect(child.stop('SIGTERM', 200)).rejects.toThrow(/had to be killed[\s\S]*\| no/);
    expect(await child.exited).toBe(137);
  });
});
