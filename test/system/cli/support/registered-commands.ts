import { CommandFactory, type CommandRunner, CommandRunnerService } from 'nest-commander';
import { CliModule } from '../../../../src/cli/cli.module';

export type Commander = Parameters<CommandRunner['setCommand']>[0];

/** The command `petstore` with all commands below it, as commander knows them; nothing is run. */
export async function registeredCommands(): Promise<Commander> {
  const application = await CommandFactory.createWithoutRunning(
    CliModule.forActor({ kind: 'cli', name: 'test' }),
  );
  const command = application.get(CommandRunnerService)['commander'] as Commander;
  await application.close();
  return command;
}

/** The paths of all commands, such as `keys issue`, that have nothing below them. */
export function leavesOf(command: Commander, path: string[] = []): { path: string; command: Commander }[] {
  if (command.commands.length === 0) {
    return [{ path: path.join(' '), command }];
  }
  return command.commands.flatMap((below) => leavesOf(below, [...path, below.name()]));
}
