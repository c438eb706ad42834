export { WriteBehind, type BatchWriter, type WriteBehindOptions } from './write-behind';
