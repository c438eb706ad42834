export * from './command';
export * from './failure';
export * from './files';
export * from './interruption';
export * from './operator';
export * from './option';
export * from './output';
