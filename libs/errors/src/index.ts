export { ApiError, type ErrorBody } from './api-error';
export {
  defineError,
  errorCatalogue,
  type AnyDefinedError,
  type DefinedError,
  type ErrorDefinition,
} from './define-error';
