import { type ChildProcess, spawn } from 'node:child_process';
import { once } from 'node:events';
import { join } from 'node:path';

const PROGRAM = join(__dirname, '../../../../node_modules/@stoplight/prism-cli/dist/index.js');
const START_MS = 250_000;

/** An answer that came through Prism. */
export interface JudgedAnswer<Body = Record<string, unknown>> {
  status: number;
  headers: Headers;
  body: Body;
  /** What Prism says against it; absent when the answer is the service's own. */
  violation?: string;
}

/** Prism as a proxy (`prism proxy --errors`): it answers with an error where a request or an answer is not as documented. */
export class Prism {
  private constructor(
    private readonly child: ChildProcess,
    private readonly url: string,
  ) {}

  /**
   * @param document path of the document to judge by
   * @param upstream where the service is
   */
  static async start(document: string, upstream: string): Promise<Prism> {
    const child = spawn(process.execPath, [PROGRAM, 'proxy', document, upstream, '--errors', '--port', '0'], {
      env: { PATH: process.env.PATH },
      stdio: ['ignore', 'pipe', 'pipe'],
    });
    try {
      return new Prism(child, await addressOf(child));
    } catch (error) {
      child.kill('SIGKILL');
      throw error;
    }
  }

  async send<Body = Record<string, unknown>>(
    method: string,
    target: string,
    { headers = {}, body }: { headers?: Record<string, string>; body?: unknown } = {},
  ): Promise<JudgedAnswer<Body>> {
    const type: Record<string, string> = body === undefined ? {} : { 'Content-Type': 'application/json' };
    const response = await fetch(`${this.url}${target}`, {
      method,
      headers: { ...type, ...headers },
      body: body === undefined ? undefined : JSON.stringify(body),
    });
    const text = await response.text();
    const isPrisms = response.headers.get('content-type')?.startsWith('application/problem+json');
    return {
      status: response.status,
      headers: response.headers,
      body: (text === '' ? undefined : JSON.parse(text)) as Body,
      ...(isPrisms ? { violation: text } : {}),
    };
  }

  async stop(): Promise<void> {
    const ended = once(this.child, 'exit');
    this.child.kill('SIGKILL');
    await ended;
  }
}

/** Reads the address from what Prism prints when it is ready. */
function addressOf(child: ChildProcess): Promise<string> {
  return new Promise((resolve, reject) => {
    let printed = '';
    const fail = (why: string) => () => reject(new Error(`Prism ${why}: ${printed}`));
    const timer = setTimeout(fail('did not start in time'), START_MS);
    child.once('exit', fail('ended'));
    child.once('error', reject);
    for (const stream of [child.stdout!, child.stderr!]) {
      stream.setEncoding('utf8').on('data', (text: string) => {
        printed += text;
        const [, address] = /Prism is listening on (http:\/\/[\d.]+:\d+)/.exec(printed) ?? [];
        if (address !== undefined) {
          clearTimeout(timer);
          resolve(address);
        }
      });
    }
  });
}
