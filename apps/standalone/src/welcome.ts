import type { DemoKey } from './demo-config.js';

/** What is shown once everything is up: where it is, with which keys, and three things to try. */
export function welcome(url: string, adminUrl: string, keys: readonly DemoKey[]): string {
  const free = keys.find((key) => key.tier === 'free')?.key ?? keys[0]?.key ?? '';
  const width = Math.max(...keys.map((key) => key.tier.length));
  return [
    '',
    'Esclusa is up: one process, no services, limits in memory.',
    '',
    `  edge     ${url}`,
    `  admin    ${adminUrl}/metrics  ${adminUrl}/health/ready`,
    '',
    'Keys to try (good until this process ends):',
    ...keys.map(({ tier, tenant, key }) => `  ${tier.padEnd(width)}  ${key}  (tenant ${tenant})`),
    '',
    'Try:',
    '',
    '  1. One search, and what the edge says about your budget:',
    `     curl -i -H 'x-api-key: ${free}' '${url}/search?q=x'`,
    '',
    '  2. Thirty at once: ten pass, then five a second:',
    `     seq 30 | xargs -P 30 -I{} curl -s -o /dev/null -w '%{http_code}\\n' -H 'x-api-key: ${free}' '${url}/search?q=x' | sort | uniq -c`,
    '',
    '  3. What is left, without spending it:',
    `     curl -s -H 'x-api-key: ${free}' '${url}/rate-limit'`,
    '',
    'Stop with Ctrl-C.',
    '',
  ].join('\n');
}
