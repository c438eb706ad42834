export { buildDocument } from './build-document';
export { serveDocument } from './serve-document';
