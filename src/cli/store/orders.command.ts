import { Command, Option, SubCommand } from 'nest-commander';
import { CommandGroup } from '../command/command';
import type { OutputOptions } from '../output/output';
import { identifier } from '../command/parse';
import { CancelOrderCommand, CompleteOrderCommand } from './change-order.command';
import { type ListOptions, StoreListCommand, StoreShowCommand } from './store-command';

interface OrderFilters extends ListOptions {
  pet?: number;
  open?: boolean;
  complete?: boolean;
}

@SubCommand({ name: 'list', description: 'list orders; cancelled ones are not included' })
export class ListOrdersCommand extends StoreListCommand {
  protected override readonly examples = ['orders list --open', 'orders list --pet 1 --sort -id'];

  @Option({ flags: '--pet <id>', description: 'only orders for this pet' })
  parsePet(text: string): number {
    return identifier('--pet', text);
  }

  @Option({ flags: '--open', description: 'only open orders' })
  parseOpen(): boolean {
    return true;
  }

  @Option({ flags: '--complete', description: 'only fulfilled orders' })
  parseComplete(): boolean {
    return true;
  }

  async run(_arguments: string[], options: OrderFilters): Promise<void> {
    const { OrdersService } = await import('../../modules/orders/index.js');
    const { pet: petId, open, complete } = options;
    // Both together are all of them.
    const only = open === complete ? undefined : complete === true;
    await this.list(
      options,
      (services, page) => services.get(OrdersService).list({ ...page, petId, complete: only }),
      'There are no such orders.',
    );
  }
}

@SubCommand({ name: 'show', arguments: '<id>', description: 'show an order' })
export class ShowOrderCommand extends StoreShowCommand {
  protected override readonly examples = ['orders show 1'];

  async run([id = '']: string[], options: OutputOptions): Promise<void> {
    const { OrdersService } = await import('../../modules/orders/index.js');
    await this.show(id, options, (services, orderId) => services.get(OrdersService).get(orderId));
  }
}

const SUB_COMMANDS = [ListOrdersCommand, ShowOrderCommand, CompleteOrderCommand, CancelOrderCommand];

@Command({
  name: 'orders',
  description: 'look at orders, complete or cancel them',
  subCommands: SUB_COMMANDS,
})
export class OrdersCommand extends CommandGroup {}

export const ORDER_COMMANDS = [OrdersCommand, ...SUB_COMMANDS];
