import { Command } from 'nest-commander';
import { PetstoreCommand } from './command';

@Command({
  name: 'serve',
  description: 'run the service until SIGTERM or Ctrl-C; configured by the environment',
})
export class ServeCommand extends PetstoreCommand {
  protected override readonly examples = ['serve', 'serve > petstore.log'];

  async run(): Promise<void> {
    const [{ start }, { readSettings }] = await Promise.all([
      import('../runtime/start.js'),
      import('../settings.js'),
    ]);
    await start(readSettings(process.env));
  }
}
