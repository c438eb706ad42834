export { completeDocument } from './complete-document';
export { Operation, type OperationOptions } from './operation.decorator';
export {
  NOTES,
  documentBodies,
  documentError,
  documentErrors,
  documentHeaders,
  documentNever,
  documentParameters,
  errorWith,
  type ErrorNote,
  type Examples,
} from './operation-notes';
export { type SharedParts } from './shared-parts';
