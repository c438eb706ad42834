import { defineError } from '#libs/errors';

export const OperationGoneError = defineError({
  code: 'operation_gone',
  status: 410,
  when: 'The operation was deprecated and its sunset has passed. `Link` names its successor.',
  message: () => 'This operation is gone. The Link header names its successor.',
  example: [],
});
