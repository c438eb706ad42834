import { Command } from 'nest-commander';
import { PetstoreCommand } from './command/command';

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
