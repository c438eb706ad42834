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
export { HungUp } from './hung-up.decorator';
export { JsonBodyGuard, deferBodyParsing } from './json-body.guard';
export { MAX_BODY_BYTES, parseJson } from './read-json';
export { JSON_TYPE, RepresentedBy, representationOf, type Representation } from './representation';
export { requestIdOf } from './request-id';
export { repairRequestTarget } from './request-target';
export { WithRouteConfig, routeOf } from './route';
export { IfMatch, SingleResource } from './single-resource';
export { takeOverNodeAnswers, type SocketAnswer } from './socket-errors';
