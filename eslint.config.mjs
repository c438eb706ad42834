import regexp from 'eslint-plugin-regexp';
import tseslint from 'typescript-eslint';

/** What oxlint (.oxlintrc.json) has no rules for. None of this needs types, which would take most of the time. */
export default tseslint.config(
  { ignores: ['dist', 'coverage', 'node_modules', '.petstore', 'libs/client/src/generated', 'test'] },
  {
    files: ['src/**/*.ts', 'libs/**/*.ts'],
    languageOptions: { parser: tseslint.parser },
    plugins: { regexp },
    rules: {
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
        ['document', 'location', 'getSelection', 'URL', 'setTimeout', 'globalThis'].map((name) => [
          name,
          'readonly',
        ]),
      ),
    },
    rules: { eqeqeq: 'error', 'no-undef': 'error', 'no-unused-vars': ['error', { argsIgnorePattern: '^_' }] },
  },
);
