export { Coalescer, type CoalescerOptions } from './coalescer';
export { SharedReads } from './shared-reads';
