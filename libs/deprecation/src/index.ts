export { Deprecated, deprecationHeadersOf, deprecationOf } from './deprecated.decorator';
export { announcementOf, isSunset, type Deprecation } from './deprecation';
export { OperationGoneError } from './errors';
