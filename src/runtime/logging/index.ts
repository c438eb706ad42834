export { endLog } from './log-output';
export { createLogger, lostLogLines, nestLogger } from './logger';
export { terminalLog } from './terminal-log';
