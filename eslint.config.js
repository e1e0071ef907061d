import jest from 'eslint-plugin-jest';
import prettier from 'eslint-config-prettier';
import tseslint from 'typescript-eslint';

export default tseslint.config(
  { ignores: ['dist/', 'coverage/', 'node_modules/', '**/*.js', '**/*.cjs', '**/*.mjs'] },
  ...tseslint.configs.strictTypeChecked,
  {
    languageOptions: { parserOptions: { projectService: true, tsconfigRootDir: import.meta.dirname } },
    rules: {
      '@typescript-eslint/consistent-type-imports': 'error',
      '@typescript-eslint/switch-exhaustiveness-check': 'error',
      '@typescript-eslint/no-extraneous-class': ['error', { allowWithDecorator: true }],
      '@typescript-eslint/restrict-template-expressions': ['error', { allowNumber: true, allowBoolean: true }],
      // A refusal is a value that leaves a guard: no stack trace is wanted, so it is no Error.
      '@typescript-eslint/only-throw-error': ['error', { allow: [{ from: 'file', name: 'Refusal' }] }],
      'no-restricted-properties': [
        'error',
        { object: 'process', property: 'env', message: 'Read the environment in a *.env.ts class only.' },
      ],
    },
  },
  {
    files: ['**/*.env.ts', 'libs/testing/**', 'test/**', 'bench/**', '**/*spec.ts', '**/*.contract.ts'],
    rules: { 'no-restricted-properties': 'off' },
  },
  {
    files: ['**/*spec.ts'],
    ...jest.configs['flat/recommended'],
    settings: { jest: { version: 30 } },
    rules: {
      ...jest.configs['flat/recommended'].rules,
      'jest/expect-expect': [
        'error',
        { assertFunctionNames: ['expect', 'expect*', 'waitFor', 'settled', 'request.**.expect', 'fc.assert'] },
      ],
      'jest/no-standalone-expect': 'off',
      'jest/no-conditional-expect': 'off',
      'jest/valid-title': ['error', { ignoreTypeOfDescribeName: true }],
      '@typescript-eslint/no-unsafe-assignment': 'off',
      '@typescript-eslint/no-non-null-assertion': 'off',
    },
  },
  prettier,
);
