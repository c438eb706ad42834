import { shippedOf, wholeBill } from '../../system/supply-chain/support/bill-of-materials';
import { type PackageFile, readJson } from '../../support/lock-file';

/** Prints the bill of materials of what is shipped, as CycloneDX 1.5. */
async function main(): Promise<void> {
  const bill = shippedOf(await wholeBill(), readJson<PackageFile>('package.json'));
  process.stdout.write(`${JSON.stringify(bill, null, 2)}\n`);
}

void main();
