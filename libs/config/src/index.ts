export { EnvironmentError, EnvironmentReader, type Environment } from './environment';
