export {
  BAD_USAGE,
  DEFECT,
  type Failure,
  OperatorError,
  StartError,
  UsageError,
  describeFailure,
  failureOf,
  formatError,
  program,
} from './failure';
export {
  WRITTEN_OUT,
  isWrittenOut,
  printable,
  printableJson,
  shellWord,
  suggestionFor,
  withoutSecrets,
} from './text';
