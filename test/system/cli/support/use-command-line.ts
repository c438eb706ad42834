import { reportFailure } from '#libs/command-line';
import { executeCommand } from '../../../../src/cli/command-line';
import { type Environment, type Outcome, cleanEnvironment } from '../../../support/command-line';
import { Output } from '../../../support/output';
import { useDatabase } from '../../../support/test-database';

/** Runs a command in this process, like `src/cli/main.ts` in a process of its own. */
export async function runCommand(
  args: string[],
  environment: Environment,
  columns?: number,
): Promise<Outcome> {
  const output = new Output(columns);
  let stderr = '';
  const replaced = [
    jest.replaceProperty(process, 'env', cleanEnvironment(environment)),
    jest.replaceProperty(process, 'argv', ['node', 'petstore', ...args]),
    jest.spyOn(process, 'stdout', 'get').mockReturnValue(output as unknown as NodeJS.WriteStream & { fd: 1 }),
    jest.spyOn(process.stderr, 'write').mockImplementation((text) => Boolean((stderr += text.toString()))),
  ];
  try {
    const code = await executeCommand().then(() => 0, reportFailure);
    return { code, stdout: output.text, stderr };
  } finally {
    replaced.forEach((one) => ('restore' in one ? one.restore() : one.mockRestore()));
  }
}

/** Runs a command with --json, which must succeed. @returns the value that it prints */
export async function commandJson<Printed>(args: string[], environment: Environment): Promise<Printed> {
  const { code, stdout, stderr } = await runCommand([...args, '--json'], environment);
  expect({ args, code, stderr }).toEqual({ args, code: 0, stderr: '' });
  return JSON.parse(stdout) as Printed;
}

/** A database for all tests of the file, and functions that run commands with this database. */
export function useCommandLine() {
  const database = useDatabase();
  const environment = {
    get DATABASE_URL() {
      return database.url;
    },
  };
  return {
    database,
    environment,
    run: (...args: string[]) => runCommand(args, environment),
    json: <Printed>(...args: string[]) => commandJson<Printed>(args, environment),
  };
}
