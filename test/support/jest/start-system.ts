import { PROGRAMS, ensurePrograms } from '../programs';
import startHttp from './start-http';

/** Installs the programs that tests of whole processes need, and starts what the HTTP tier needs. */
export default async function start(): Promise<void> {
  ensurePrograms(...PROGRAMS);
  await startHttp();
}
