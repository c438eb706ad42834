export { ClientDisconnected, Connections, UnsentResponses } from './connections';
export {
  Deprecated,
  type Deprecation,
  OperationGoneError,
  deprecationHeadersOf,
  deprecationOf,
  isSunset,
} from './deprecation';
export * from './errors';
export {
  BodyExamples,
  Field,
  IdParam,
  OptionalBody,
  QueryField,
  RepeatableQueryField,
  RequestValidationPipe,
  ResponseField,
  validated,
} from './fields';
export { InputGuard, deferBodyParsing, parseJson } from './input.guard';
export {
  type Examples,
  type HeaderNote,
  NOTES,
  Operation,
  type OperationNotes,
  Documented,
  errorWith,
  noNotes,
} from './operation';
export {
  DEFAULT_PAGE_SIZE,
  InvalidCursorError,
  MAX_PAGE_SIZE,
  type Page,
  PageQuery,
  Paged,
  cursorAfter,
  cursorText,
  idBefore,
  pageOf,
} from './paging';
export { repairRequestTarget, requestIdOf } from './request-head';
export { AllowedMethods, WithRouteConfig, routeOf } from './routes';
export {
  type Rule,
  boolean,
  except,
  integer,
  oneOf,
  parseTimestamp,
  resourceId,
  text,
  timestamp,
} from './rules';
export {
  Created,
  IfMatch,
  JSON_TYPE,
  Precondition,
  type Representation,
  SingleResource,
  entityTag,
  noneMatchHits,
  representationOf,
} from './single-resource';
export { type SocketResponse, takeOverNodeResponses, takeTurn, boundUnreadChunks } from './socket-errors';
