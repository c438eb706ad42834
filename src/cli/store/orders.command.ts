import { Command, Option, SubCommand } from 'nest-commander';
import { Precondition } from '#libs/http';
import { OPERATOR, OrdersService } from '../../modules/orders';
import {
  type ChangeOptions,
  ChangingCommand,
  CommandGroup,
  ConfirmedCommand,
  type ConfirmedOptions,
} from '../command/command';
import { confirm } from '../command/confirm';
import { type OutputOptions, counted, printOne } from '../output/output';
import { identifier } from '../command/parse';
import { type ListOptions, StoreListCommand, StoreShowCommand } from './store-command';

interface OrderFilters extends ListOptions {
  pet?: number;
  open?: boolean;
  complete?: boolean;
}

@SubCommand({ name: 'list', description: 'list orders; cancelled ones are not included' })
export class ListOrdersCommand extends StoreListCommand {
  protected override readonly examples = ['orders list --open', 'orders list --pet 1 --sort -id'];

  constructor(private readonly orders: OrdersService) {
    super();
  }

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
    const { pet: petId, open, complete } = options;
    // Both together are all of them.
    const only = open === complete ? undefined : complete === true;
    await this.list(
      options,
      (page) => this.orders.list({ ...page, petId, complete: only }),
      'There are no such orders.',
    );
  }
}

@SubCommand({ name: 'show', arguments: '<id>', description: 'show an order' })
export class ShowOrderCommand extends StoreShowCommand {
  protected override readonly examples = ['orders show 1'];

  constructor(private readonly orders: OrdersService) {
    super();
  }

  async run([id = '']: string[], options: OutputOptions): Promise<void> {
    await this.show(id, options, (orderId) => this.orders.get(orderId));
  }
}

@SubCommand({
  name: 'complete',
  arguments: '<id>',
  description: 'mark an order as fulfilled, which is final',
})
export class CompleteOrderCommand extends ChangingCommand {
  protected override readonly examples = ['orders complete 1'];

  constructor(private readonly orders: OrdersService) {
    super();
  }

  async run([text = '']: string[], options: ChangeOptions): Promise<void> {
    const id = identifier('<id>', text);
    await this.store.open(options.reason);
    const order = await this.orders.update(id, { complete: true }, Precondition.NONE, OPERATOR);
    await printOne({ ...order }, options);
  }
}

@SubCommand({
  name: 'cancel',
  arguments: '<id>',
  description: 'cancel an open order and return its units to the stock',
})
export class CancelOrderCommand extends ConfirmedCommand {
  protected override readonly examples = [
    'orders cancel 1',
    'orders cancel 1 --yes --reason "customer called"',
  ];

  constructor(private readonly orders: OrdersService) {
    super();
  }

  async run([text = '']: string[], options: ConfirmedOptions): Promise<void> {
    const id = identifier('<id>', text);
    await this.store.open(options.reason);
    const order = await this.orders.get(id);
    const units = counted(order.quantity, 'unit', 'units');
    await confirm(`Cancel order ${id} for ${units} of pet ${order.petId}?`, options.yes);
    await this.orders.cancel(id, Precondition.NONE, OPERATOR);
    await printOne({ ...order, cancelled: true }, options);
  }
}

@Command({
  name: 'orders',
  description: 'look at orders, complete or cancel them',
  subCommands: [ListOrdersCommand, ShowOrderCommand, CompleteOrderCommand, CancelOrderCommand],
})
export class OrdersCommand extends CommandGroup {}
