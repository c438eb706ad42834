export { ApiError, type ErrorBody } from './errors/api-error';
export {
  defineError,
  errorCatalogue,
  type AnyDefinedError,
  type DefinedError,
  type ErrorDefinition,
} from './errors/define-error';
export { completeDocument } from './openapi/complete-document';
export { Operation, type OperationOptions } from './openapi/operation.decorator';
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
} from './openapi/operation-notes';
export { type SharedParts } from './openapi/shared-parts';
export { BodyExamples } from './validation/body-examples.decorator';
export { AnswerField, Field, QueryField, RepeatableQueryField } from './validation/field.decorator';
export { OptionalBody } from './validation/fields';
export { IdParam } from './validation/id-param.decorator';
export { RequestValidationPipe, validated } from './validation/request-validation.pipe';
export {
  boolean,
  except,
  identifier,
  integer,
  oneOf,
  parseTimestamp,
  text,
  timestamp,
  type Rule,
} from './validation/rules';
export { Deprecated, deprecationHeadersOf, deprecationOf } from './deprecation/deprecated.decorator';
export { OperationGoneError, announcementOf, isSunset, type Deprecation } from './deprecation/deprecation';
export { InvalidCursorError, cursorAfter, idBefore } from './paging/cursor';
export { Paged, pageOf, type Page } from './paging/page';
export { DEFAULT_PAGE_SIZE, MAX_PAGE_SIZE, PageQuery, cursorText } from './paging/page-query';
export { AllowedMethods } from './allowed-methods';
export { Connections } from './connections';
export { Created } from './created.decorator';
export { Precondition, entityTag, noneMatchHits } from './entity-tag';
export {
  BadRequestError,
  HeadersTooLargeError,
  InternalError,
  MalformedJsonError,
  MethodNotAllowedError,
  PayloadTooLargeError,
  PreconditionFailedError,
  RequestTimeoutError,
  RouteNotFoundError,
  ServiceUnavailableError,
  UnsupportedMediaTypeError,
  ValidationFailedError,
} from './errors';
export { ClientDisconnected } from './client-disconnected.decorator';
export { InputGuard, deferBodyParsing } from './input.guard';
export { MAX_BODY_BYTES, parseJson } from './read-json';
export { JSON_TYPE, RepresentedBy, representationOf, type Representation } from './representation';
export { requestIdOf } from './request-id';
export { repairRequestTarget } from './request-target';
export { WithRouteConfig, routeOf } from './route';
export { IfMatch, SingleResource } from './single-resource';
export { takeOverNodeAnswers, takeTurn, type SocketAnswer } from './socket-errors';
export { UnsentResponses } from './unsent-responses';
