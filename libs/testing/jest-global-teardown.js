import { importTypeScript } from './import-typescript.js';

export default async function globalTeardown() {
  const { default: teardown } = await importTypeScript('./src/jest-global-teardown.ts');
  await teardown();
}
