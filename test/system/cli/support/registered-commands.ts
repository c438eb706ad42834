import { Module } from '@nestjs/common';
import { CommandFactory, type CommandRunner, InjectCommander } from 'nest-commander';
import { CliModule } from '../../../../src/cli/cli.module';

export type Commander = Parameters<CommandRunner['setCommand']>[0];

@Module({})
class Registered {
  constructor(@InjectCommander() readonly program: Commander) {}
}

/** The paths of all commands, such as `keys issue`, that have nothing below them; nothing is run. */
export async function registeredCommands(): Promise<{ path: string; command: Commander }[]> {
  const application = await CommandFactory.createWithoutRunning({
    module: Registered,
    imports: [CliModule.forActor({ kind: 'cli', name: 'test' })],
  });
  const { program } = application.get(Registered);
  await application.close();
  return leavesOf(program, []);
}

function leavesOf(command: Commander, path: string[]): { path: string; command: Commander }[] {
  if (command.commands.length === 0) {
    return [{ path: path.join(' '), command }];
  }
  return command.commands.flatMap((below) => leavesOf(below, [...path, below.name()]));
}
