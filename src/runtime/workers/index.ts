export { serveWithWorkers } from './serve-with-workers';
export { listenToPrimary } from './worker-processes';
