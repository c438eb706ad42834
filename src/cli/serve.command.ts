import { Command } from 'nest-commander';
import { PetstoreCommand } from './command';

@Command({
  name: 'serve',
  description: 'run the service until SIGTERM or Ctrl-C; configured by the environment',
})
export class ServeCommand extends PetstoreCommand {
  async run(): Promise<void> {
    const [{ serve }, { readSettings }] = await Promise.all([
      import('../serve.js'),
      import('../settings.js'),
    ]);
    await serve(readSettings(process.env));
  }
}
