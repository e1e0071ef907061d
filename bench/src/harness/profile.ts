import { readFileSync, readdirSync } from 'node:fs';
import { join } from 'node:path';
import { markdownTable } from './table.js';

interface Profile {
  readonly nodes: readonly { readonly id: number; readonly callFrame: { readonly functionName: string; readonly url: string } }[];
  readonly samples: readonly number[];
  readonly timeDeltas: readonly number[];
}

export interface ProfileSummary {
  /** Share of busy time, largest first. */
  readonly byOrigin: readonly (readonly [origin: string, share: number])[];
  readonly topFunctions: readonly (readonly [name: string, share: number])[];
}

/** Loading modules is no part of serving. */
const START_UP_US = 2_000_000;

/** Self time of a V8 CPU profile by where the code comes from; idle time and start-up left out. */
export function summariseProfile(file: string): ProfileSummary {
  const { nodes, samples, timeDeltas } = JSON.parse(readFileSync(file, 'utf8')) as Profile;
  const frames = new Map(nodes.map(({ id, callFrame }) => [id, callFrame]));
  const origins = new Map<string, number>();
  const functions = new Map<string, number>();
  let busy = 0;
  let elapsed = 0;
  samples.forEach((id, i) => {
    elapsed += timeDeltas[i] ?? 0;
    if (elapsed < START_UP_US) return;
    const frame = frames.get(id);
    if (frame === undefined || frame.functionName === '(idle)') return;
    const micros = timeDeltas[i] ?? 0;
    const origin = originOf(frame.functionName, frame.url);
    busy += micros;
    origins.set(origin, (origins.get(origin) ?? 0) + micros);
    const name = `${frame.functionName || '(anonymous)'} [${origin}]`;
    functions.set(name, (functions.get(name) ?? 0) + micros);
  });
  const shares = (times: ReadonlyMap<string, number>): (readonly [string, number])[] =>
    [...times].map(([name, micros]) => [name, micros / busy] as const).sort((a, b) => b[1] - a[1]);
  return { byOrigin: shares(origins), topFunctions: shares(functions).slice(0, 15) };
}

/** Ours by library or app, others by package, the rest by what V8 calls it. */
export function originOf(functionName: string, url: string): string {
  const own = /\/dist\/((?:libs|apps)\/[\w-]+)\//.exec(url)?.[1];
  if (own !== undefined) return own;
  const [, scoped] = /.*\/node_modules\/((?:@[\w-]+\/)?[\w.-]+)\//.exec(url) ?? [];
  if (scoped !== undefined) return scoped;
  if (functionName === '(garbage collector)') return 'garbage collection';
  if (url.startsWith('node:')) return `node:${url.slice(5).split('/').slice(0, 2).join('/')}`;
  if (url.startsWith('wasm:')) return 'wasm';
  // V8's own code and what node binds to it (writev, runMicrotasks …) has no address.
  return url === '' ? 'native code' : 'other';
}

/** Node options by which a process leaves a profile under its name; none where there is no folder. */
export function profileArgs(folder: string | undefined, name: string): readonly string[] {
  return folder === undefined ? [] : ['--cpu-prof', '--cpu-prof-dir', join(folder, name)];
}

/** The profiles that these processes have left, as Markdown; none where there is no folder. */
export function profileSections(folder: string | undefined, names: readonly string[]): readonly string[] {
  if (folder === undefined) return [];
  return names.map((name) => {
    const [file = ''] = readdirSync(join(folder, name));
    const { byOrigin, topFunctions } = summariseProfile(join(folder, name, file));
    const rows = (pairs: readonly (readonly [string, number])[]): string[][] =>
      pairs.map(([what, share]) => [what, `${(share * 100).toFixed(1)} %`]);
    return [
      `### Where the time goes: ${name}`,
      markdownTable(['origin', 'self time'], rows(byOrigin.filter(([, share]) => share >= 0.005))),
      markdownTable(['function', 'self time'], rows(topFunctions)),
    ].join('\n\n');
  });
}
