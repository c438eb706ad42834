// Asks the registry for known vulnerabilities of the packages that are shipped: `npm run audit`.
// Exit code 0: none is serious. 1: one is high or critical. 2: the registry could not be asked, so nothing is known.
import { spawnSync } from 'node:child_process';

const { stdout } = spawnSync('npm', ['audit', '--omit=dev', '--json'], { encoding: 'utf8' });
const report = parse(stdout);
if (report?.vulnerabilities === undefined) {
  console.log(`The registry could not be asked (${report?.message ?? 'no report'}). NOTHING WAS AUDITED.`);
  process.exit(2);
}
const found = Object.values(report.vulnerabilities);
const serious = found.filter(({ severity }) => ['high', 'critical'].includes(severity));
for (const { severity, name, range, fixAvailable } of found) {
  console.log(`${severity}: ${name} ${range}${fixAvailable ? ', and there is a fix' : ''}`);
}
console.log(
  `${found.length} packages with known vulnerabilities, ${serious.length} of them high or critical.`,
);
process.exit(serious.length > 0 ? 1 : 0);

function parse(text) {
  try {
    return JSON.parse(text);
  } catch {
    return undefined;
  }
}
