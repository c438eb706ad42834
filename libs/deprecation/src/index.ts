export { Deprecated, deprecationHeadersOf, deprecationOf } from './deprecated.decorator';
export { deprecationHeaders, isSunset, type Deprecation } from './deprecation';
export { DeprecationInterceptor } from './deprecation.interceptor';
export { OperationGoneError } from './errors';
