import { realpathSync } from 'node:fs';
import { Command } from 'nest-commander';
import { PetstoreCommand } from './command/command';
import { SHELLS, completionScript } from './completion-script';
import { writeOutput } from './output/standard-output';
import { UsageError } from './command/command-failure';

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

  override run([name = 'bash']: string[]): Promise<void> {
    const shell = SHELLS.find((known) => known === name);
    if (shell === undefined) {
      throw new UsageError(`completion supports ${SHELLS.join(', ')}, not "${name}".`);
    }
    // The full path: with a name, npx could fetch another package.
    const program = [process.execPath, realpathSync(process.argv[1]!)];
    writeOutput(completionScript(this.command.parent!, shell, program));
    return Promise.resolve();
  }
}
