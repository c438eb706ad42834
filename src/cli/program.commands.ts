import { Command, Option } from 'nest-commander';
import { VERSION } from '../runtime/messages';
import { PetstoreCommand, ResultCommand } from './command/command';
import { type OutputOptions, printDone } from './command/output';
import { writeOutput } from './command/files';

@Command({
  name: 'serve',
  description: 'run the service until SIGTERM or Ctrl-C; configured by the environment',
})
export class ServeCommand extends PetstoreCommand {
  protected override readonly examples = ['serve', 'serve > petstore.log'];

  /** Never returns: the server ends the process. */
  async run(): Promise<void> {
    await import('../main.js');
    await new Promise(() => undefined);
  }
}

@Command({ name: 'openapi', description: 'print the OpenAPI document; needs neither server nor database' })
export class OpenapiCommand extends PetstoreCommand {
  protected override readonly examples = ['openapi > openapi.json', 'openapi --yaml'];

  @Option({ flags: '--yaml', description: 'as YAML instead of JSON' })
  parseYaml(): boolean {
    return true;
  }

  async run(_inputs: string[], { yaml }: { yaml?: boolean }): Promise<void> {
    const { describeInterface } = await import('./describe-interface.js');
    writeOutput(await describeInterface(yaml ? 'yaml' : 'json'));
  }
}

@Command({ name: 'version', description: 'print the version; also: -v, --version' })
export class VersionCommand extends ResultCommand {
  protected override readonly examples = ['version', 'version --json'];

  async run(_inputs: string[], options: OutputOptions): Promise<void> {
    printDone(VERSION, { version: VERSION, node: process.versions.node }, options);
  }
}
