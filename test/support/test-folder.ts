import * as fs from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { killPostmaster } from './embedded-servers';
import type { SpawnedProcess } from './spawned-process';

/** A temporary folder, and the processes that tests start to work in it. */
export class TestFolder {
  readonly root: string;
  private readonly processes: SpawnedProcess[] = [];

  constructor() {
    this.root = fs.realpathSync(fs.mkdtempSync(join(tmpdir(), 'petstore-test-')));
    fs.chmodSync(this.root, 0o755);
  }

  path(...names: string[]): string {
    return join(this.root, ...names);
  }

  /** Creates a folder in this one. */
  make(name: string): string {
    fs.mkdirSync(this.path(name), { recursive: true });
    return this.path(name);
  }

  /** Adds a process, which `clear` ends. */
  add<Process extends SpawnedProcess>(process: Process): Process {
    this.processes.push(process);
    return process;
  }

  /** Ends the processes, also PostgreSQL servers which a test left running, and removes the folder. */
  async clear(): Promise<void> {
    await Promise.all(this.processes.map((one) => one.end('SIGKILL')));
    for (const name of fs.readdirSync(this.root, { recursive: true }) as string[]) {
      if (name.endsWith('/postmaster.pid')) await killPostmaster(this.path(name, '..'));
    }
    fs.rmSync(this.root, { recursive: true, force: true, maxRetries: 5 });
  }
}
