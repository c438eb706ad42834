import { verdictOf } from './support/audit-verdict';
import { npm } from '../../system/supply-chain/support/npm';

/** Asks the registry what is known against the packages that are shipped, and ends with the verdict's exit code. */
async function main(): Promise<void> {
  const { exitCode, lines } = verdictOf(await npm('audit', '--omit=dev', '--json'));
  process.stdout.write(`${lines.join('\n')}\n`);
  process.exitCode = exitCode;
}

void main();
