export { MAX_BODY_BYTES, acceptJson, jsonTypesOf, parseJson } from './bodies';
export { ClientDisconnected, Connections, type ParserError } from './connections';
export {
  type Deprecation,
  OperationGoneError,
  deprecationHeadersOf,
  deprecationOf,
  isSunset,
} from './deprecation';
export * from './errors';
export {
  type FieldOptions,
  Field,
  ID_SCHEMA,
  Id,
  Integer,
  OneOf,
  Passes,
  TIMESTAMP_SCHEMA,
  Text,
  Timestamp,
  TrueOrFalse,
  parseTimestamp,
} from './validation';
export { InputGuard } from './input.guard';
export {
  EachOperation,
  type Examples,
  type HeaderNote,
  NOTES,
  type OperationNotes,
  Documented,
  errorWith,
  noNotes,
} from './notes';
export { Operation } from './operation';
export {
  DEFAULT_PAGE_SIZE,
  InvalidCursorError,
  MAX_PAGE_SIZE,
  type FeedPage,
  type Page,
  PageQuery,
  cursorAfter,
  Cursor,
  idBefore,
  nextLink,
  pageOf,
  rangeOf,
} from './paging';
export { AllowedMethods, MAX_PARAM_LENGTH, routeOf } from './routes';
export {
  IfMatch,
  JSON_TYPE,
  Precondition,
  entityTag,
  noneMatchHits,
  representationOf,
} from './single-resource';
export { IdParam, OptionalBody, RequestValidationPipe, validated } from './validation';
