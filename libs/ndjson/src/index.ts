export { type Line, readLines } from './read-lines';
