import { Command } from 'nest-commander';
import { VERSION } from '../runtime/version';
import { PetstoreCommand, ResultCommand } from './command/command';
import { Flag } from './command/option';
import { completionScript } from './completion-script';
import { printDone } from './output/output';
import { writeOutput } from './output/standard-output';

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

  @Flag('--yaml', 'as YAML instead of JSON') yaml?: boolean;

  async run(): Promise<void> {
    const { describeInterface } = await import('./describe-interface.js');
    writeOutput(await describeInterface(this.yaml ? 'yaml' : 'json'));
  }
}

@Command({ name: 'completion', description: 'print a completion script for bash and zsh' })
export class CompletionCommand extends PetstoreCommand {
  protected override readonly examples = [
    "completion > ~/.petstore.sh && echo '. ~/.petstore.sh' >> ~/.bashrc",
    "completion > ~/.petstore.sh && echo '. ~/.petstore.sh' >> ~/.zshrc",
  ];

  run(): Promise<void> {
    writeOutput(completionScript(this.command.parent!));
    return Promise.resolve();
  }
}

@Command({ name: 'version', description: 'print the version; also: -v, --version' })
export class VersionCommand extends ResultCommand {
  protected override readonly examples = ['version', 'version --json'];

  async run(): Promise<void> {
    await printDone(VERSION, { version: VERSION, node: process.versions.node }, this);
  }
}
