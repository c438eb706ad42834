import { realpathSync } from 'node:fs';
import { Command } from 'nest-commander';
import { VERSION } from '../runtime/version';
import { PetstoreCommand, ReportingCommand } from './command/command';
import { Flag, oneOf } from './command/option';
import { SHELLS, completionScript } from './completion-script';
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

@Command({
  name: 'completion',
  arguments: '[shell]',
  description:
    'print a completion script for bash (default), zsh or fish; it also finds petstore from any folder',
})
export class CompletionCommand extends PetstoreCommand {
  protected override readonly examples = [
    "completion bash > ~/.petstore.bash && echo '. ~/.petstore.bash' >> ~/.bashrc",
    "completion zsh > ~/.petstore.zsh && echo '. ~/.petstore.zsh' >> ~/.zshrc",
    'completion fish > ~/.config/fish/completions/petstore.fish',
  ];

  run([text = 'bash']: string[]): Promise<void> {
    const shell = oneOf(SHELLS)(text, 'completion');
    // The full path: with a name, npx could fetch another package.
    const program = [process.execPath, realpathSync(process.argv[1]!)];
    writeOutput(completionScript(this.command.parent!, shell, program));
    return Promise.resolve();
  }
}

@Command({ name: 'version', description: 'print the version; also: -v, --version' })
export class VersionCommand extends ReportingCommand {
  protected override readonly examples = ['version', 'version --json'];

  async run(): Promise<void> {
    await printDone(VERSION, { version: VERSION, node: process.versions.node }, this);
  }
}
