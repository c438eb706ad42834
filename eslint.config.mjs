import regexp from 'eslint-plugin-regexp';
import tseslint from 'typescript-eslint';

export default tseslint.config(
  { ignores: ['dist', 'coverage', 'node_modules', '.petstore', 'libs/client/src/generated'] },
  {
    files: ['src/**/*.ts', 'libs/**/*.ts', 'test/**/*.ts'],
    extends: [...tseslint.configs.recommendedTypeChecked, ...tseslint.configs.stylisticTypeChecked],
    languageOptions: { parserOptions: { project: './tsconfig.json', tsconfigRootDir: import.meta.dirname } },
    linterOptions: { reportUnusedDisableDirectives: 'error' },
    rules: {
      '@typescript-eslint/no-floating-promises': 'error',
      '@typescript-eslint/no-misused-promises': 'error',
      '@typescript-eslint/return-await': ['error', 'error-handling-correctness-only'],
      '@typescript-eslint/consistent-type-imports': ['error', { disallowTypeAnnotations: false }],
      '@typescript-eslint/switch-exhaustiveness-check': [
        'error',
        { considerDefaultExhaustiveForUnions: true },
      ],
      // Empty text mostly counts as missing here, and ?? would not replace it.
      '@typescript-eslint/prefer-nullish-coalescing': ['error', { ignorePrimitives: { string: true } }],
      // emitDecoratorMetadata needs explicit types.
      '@typescript-eslint/no-inferrable-types': 'off',
      '@typescript-eslint/unbound-method': 'off',
      '@typescript-eslint/consistent-type-definitions': 'off',
      '@typescript-eslint/non-nullable-type-assertion-style': 'off',
      '@typescript-eslint/no-unused-vars': ['error', { argsIgnorePattern: '^_', varsIgnorePattern: '^_' }],
      '@typescript-eslint/no-extraneous-class': 'off',
      curly: ['error', 'multi-line', 'consistent'],
      eqeqeq: ['error', 'always', { null: 'ignore' }],
      'no-console': 'error',
    },
  },
  {
    files: ['src/**/*.ts', 'libs/**/*.ts'],
    plugins: { regexp },
    rules: {
      // Decorators need the classes of injected parameters at run time, which a type import would erase.
      '@typescript-eslint/consistent-type-imports': 'off',
      // A pattern that takes more than linear time lets one caller block the process for all others.
      'regexp/no-super-linear-backtracking': ['error', { report: 'potential' }],
      'regexp/no-super-linear-move': ['error', { report: 'potential', ignorePartial: false }],
      'regexp/no-dupe-disjunctions': ['error', { reportExponentialBacktracking: 'potential' }],
      'no-restricted-syntax': [
        'error',
        {
          selector: ':matches(NewExpression, CallExpression)[callee.name="RegExp"]',
          message:
            'Write the pattern as a literal, so that it can be checked and no caller can influence it.',
        },
        {
          selector: 'CallExpression[callee.name="forwardRef"]',
          message: 'Remove the circle; do not hide it.',
        },
      ],
    },
  },
  {
    // Scripts that run in browsers without compilation.
    files: ['src/**/*.js'],
    languageOptions: {
      globals: Object.fromEntries(
        [
          ...[
            'document',
            'location',
            'sessionStorage',
            'matchMedia',
            'getSelection',
            'NodeFilter',
            'URL',
            'fetch',
          ],
          ...['addEventListener', 'setTimeout', 'structuredClone', 'globalThis', 'SwaggerUIBundle'],
        ].map((name) => [name, 'readonly']),
      ),
    },
    rules: { eqeqeq: 'error', 'no-undef': 'error', 'no-unused-vars': ['error', { argsIgnorePattern: '^_' }] },
  },
  {
    // Of the rules that need types, only those that find tests that do not wait: jest's matchers have the type any anyway.
    files: ['test/**/*.ts'],
    rules: {
      ...tseslint.configs.disableTypeChecked.rules,
      '@typescript-eslint/no-floating-promises': 'error',
      '@typescript-eslint/await-thenable': 'error',
      '@typescript-eslint/no-misused-promises': 'error',
      '@typescript-eslint/no-empty-function': 'off',
    },
  },
);
