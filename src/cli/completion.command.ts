import { Command, Help } from 'nest-commander';
import { PetstoreCommand, UsageError } from './command';
import { SHELLS, completionScript } from './completion-script';
import { writeOutput } from './standard-output';
import { PETSTORE } from '../runtime/command-name';

@Command({
  name: 'completion',
  arguments: '[shell]',
  description: 'print a completion script for bash (default) or zsh',
})
export class CompletionCommand extends PetstoreCommand {
  @Help('after')
  installation(): string {
    const alias = PETSTORE === 'petstore' ? '' : `  alias petstore='${PETSTORE}'\n`;
    return `\nIn ~/.bashrc:\n${alias}  eval "$(${PETSTORE} completion bash)"\n`;
  }

  override run([name = 'bash']: string[]): Promise<void> {
    const shell = SHELLS.find((known) => known === name);
    if (shell === undefined) {
      throw new UsageError(`completion supports ${SHELLS.join(' and ')}, not "${name}".`);
    }
    writeOutput(completionScript(this.command.parent!, shell));
    return Promise.resolve();
  }
}
