export { buildDocument, documentText } from './build-document';
export { sendUnknownPage } from './pages';
export { serveDocument } from './serve-document';
