export { Deprecated, deprecationHeadersOf, deprecationOf } from './deprecated.decorator';
export { OperationGoneError, announcementOf, isSunset, type Deprecation } from './deprecation';
