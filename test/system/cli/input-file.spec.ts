import { exec } from 'node:child_process';
import { createReadStream } from 'node:fs';
import { Readable } from 'node:stream';
import { promisify } from 'node:util';
import { readInput } from '../../../src/cli/command/input-file';
import { CommandFailure } from '../../../src/cli/command/command-failure';
import { cleanEnvironment, petstoreScript } from '../../support/command-line';

async function read(stream: Readable, signal = new AbortController().signal) {
  const told: (number | undefined)[][] = [];
  let text = '';
  const input = { name: 'pets.ndjson', stream, bytes: undefined };
  for await (const chunk of readInput(input, signal, (...numbers) => told.push(numbers))) {
    text += chunk.toString();
  }
  return { text, told };
}

describe('the input of an import', () => {
  it('is read to its end, which is reported', async () => {
    const stream = Readable.from([Buffer.from('ab'), Buffer.from('c')]);
    expect(await read(stream)).toEqual({ text: 'abc', told: [[2], [3], [3, 3]] });
  });

  it('fails with the message of the system when it cannot be read, and does not count as ended', async () => {
    const failure = new CommandFailure('cannot read pets.ndjson: illegal operation on a directory.');
    await expect(read(createReadStream(__dirname))).rejects.toEqual(failure);
  });

  it('is not reported as a system failure when it is aborted', async () => {
    const controller = new AbortController();
    controller.abort();
    await expect(read(new Readable({ read: () => undefined }), controller.signal)).rejects.toMatchObject({
      name: 'AbortError',
    });
  });

  it('cannot be a folder on standard input', async () => {
    const command = `"${process.execPath}" "${petstoreScript()}" import < "${__dirname}"`;
    await expect(promisify(exec)(command, { env: cleanEnvironment({}) })).rejects.toMatchObject({
      ...{ code: 1, stdout: '', stderr: 'petstore: standard input is a folder, not a file.\n' },
    });
  });
});
