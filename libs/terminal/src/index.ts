export { terminalOf, type Terminal } from './terminal';
