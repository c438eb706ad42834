export { buildDocument, documentText } from './build-document';
export { answerUnknownPage } from './pages/browsers';
export { serveDocument } from './serve-document';
