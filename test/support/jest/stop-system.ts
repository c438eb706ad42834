import { rm } from 'node:fs/promises';
import stopPostgres from './stop-postgres';

export default async function stopSystem(): Promise<void> {
  await rm(process.env.TEST_INSTALLATIONS!, { recursive: true, force: true });
  await stopPostgres();
}
