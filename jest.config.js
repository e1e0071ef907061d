import { readFileSync } from 'node:fs';

const swc = JSON.parse(readFileSync(new URL('./.swcrc', import.meta.url), 'utf8'));

/** One project per kind of test; what tells them apart is the file's suffix. */
const project = (displayName, suffix, more = {}) => ({
  displayName,
  rootDir: import.meta.dirname,
  roots: ['<rootDir>/apps', '<rootDir>/libs', '<rootDir>/test', '<rootDir>/bench'],
  testMatch: [`**/*.${suffix}.ts`],
  testEnvironment: 'node',
  testEnvironmentOptions: { customExportConditions: ['source', 'node', 'node-addons'] },
  extensionsToTreatAsEsm: ['.ts'],
  injectGlobals: false,
  moduleNameMapper: { '^(\\.{1,2}/.*)\\.js$': '$1' },
  transform: { '^.+\\.ts$': ['@swc/jest', { ...swc, sourceMaps: 'inline' }] },
  ...more,
});

/** Plain JavaScript, because jest runs these outside of its own module loader; each hands on to its namesake in src/. */
const servers = {
  globalSetup: '<rootDir>/libs/testing/jest-global-setup.js',
  globalTeardown: '<rootDir>/libs/testing/jest-global-teardown.js',
};

export default {
  maxWorkers: 2,
  testTimeout: process.env.ESCLUSA_LONG ? 900_000 : 30_000,
  reporters: ['default', '<rootDir>/libs/testing/jest-closing-line.js'],
  projects: [project('unit', 'spec'), project('integration', 'int-spec', servers), project('e2e', 'e2e-spec', servers)],
};
