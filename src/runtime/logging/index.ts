export { createLogger, endLog, lostLogLines, nestLogger } from './logger';
export { terminalLog } from './terminal-log';
