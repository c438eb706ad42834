export { PETSTORE } from './command-name';
export { complaint, withoutKeys } from './complaint';
export { pad, printable, printableJson, widthOf, wrap } from './text';
