import { Command } from 'nest-commander';
import { VERSION } from '../runtime/version';
import { type OutputOptions, isForPeople, print, printOne } from './output/output';
import { ReportingCommand } from './command/command';

@Command({ name: 'version', description: 'print the version; also: -v, --version' })
export class VersionCommand extends ReportingCommand {
  protected override readonly examples = ['version', 'version --json'];

  async run(_arguments: string[], options: OutputOptions): Promise<void> {
    if (isForPeople(options)) {
      print(VERSION);
    } else {
      await printOne({ version: VERSION, node: process.versions.node }, options);
    }
  }
}
