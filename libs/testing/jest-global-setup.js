import { importTypeScript } from './import-typescript.js';

export default async function globalSetup() {
  const { default: setup } = await importTypeScript('./src/jest-global-setup.ts');
  await setup();
}
