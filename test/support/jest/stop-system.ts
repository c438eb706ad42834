import { rm } from 'node:fs/promises';
import { installation } from '../installation';
import stopPostgres from './stop-postgres';

export default async function stopSystem(): Promise<void> {
  await rm(installation(), { recursive: true, force: true });
  await stopPostgres();
}
