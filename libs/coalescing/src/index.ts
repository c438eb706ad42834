export { Coalescer, type CoalescerOptions } from './coalescer';
export { Turns } from './turns';
