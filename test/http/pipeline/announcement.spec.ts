import { execFile } from 'node:child_process';
import { promisify } from 'node:util';
import { announce } from '../../../src/runtime/serve';
import { useService } from '../../support/use-service';

const service = useService();

async function announced(isTTY: boolean): Promise<string> {
  let text = '';
  const output = { isTTY, write: (line: string) => (text += line) !== '' };
  await announce(service.app, { embedded: true }, { host: '127.0.0.1', port: service.port }, output);
  return text;
}

it('A first start on a terminal prints a key once, and a command that works', async () => {
  const text = await announced(true);
  expect(text.match(/^ {2}psk_live_\w{36}$/gm)).toHaveLength(1);
  const [command] = /^ +curl .+$/m.exec(text)!;
  const { stdout } = await promisify(execFile)('sh', ['-c', `${command} --silent --show-error`]);
  const [head = '', body = ''] = stdout.split('\r\n\r\n');
  expect(head).toMatch(/^HTTP\/1\.1 200 /);
  expect(JSON.parse(body)).toHaveLength(3);
  expect(await announced(true)).not.toContain('psk_live_');
});
