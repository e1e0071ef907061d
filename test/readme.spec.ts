import { mkdtempSync, readFileSync, rmSync, writeFileSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { describe, expect, it } from '@jest/globals';
import { compileRules, loadEdgeDocument, loadLimitsDocument } from '#libs/rules';
import { repositoryRoot } from '#libs/testing';

describe('README', () => {
  it('its two sample documents are whole and fit together', () => {
    const blocks = [...readFileSync(join(repositoryRoot, 'README.md'), 'utf8').matchAll(/^```yaml\n([\s\S]*?)^```/gm)].map(
      ([, text]) => text ?? '',
    );
    expect(blocks).toHaveLength(2);
    const folder = mkdtempSync(join(tmpdir(), 'esclusa-readme-'));
    const [edge = '', limits = ''] = blocks.map((text, i) => {
      const file = join(folder, `${i}.yaml`);
      writeFileSync(file, text);
      return file;
    });
    const rules = compileRules(loadEdgeDocument(edge), loadLimitsDocument(limits), undefined);
    rmSync(folder, { recursive: true });
    expect(rules.routes.has('search')).toBe(true);
  });
});
