export * from './failure';
export * from './text';
