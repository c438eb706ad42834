export { EnvironmentError, EnvironmentReader, type Environment, isWellFormedUrl } from './environment';
