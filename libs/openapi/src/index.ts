export { completeDocument, type SharedParts } from './complete-document';
export { Operation, type OperationOptions } from './operation.decorator';
export { NOTES, documentErrors, documentHeaders, documentNever, documentParameters } from './operation-notes';
