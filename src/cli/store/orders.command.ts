import { Inject } from '@nestjs/common';
import { Command, SubCommand } from 'nest-commander';
import { Precondition } from '#libs/http';
import { OPERATOR, OrdersService } from '../../modules/orders';
import { ChangingCommand, CommandGroup, ConfirmedCommand } from '../command/command';
import { confirm } from '../command/operator';
import { Flag, Value, identifier } from '../command/option';
import { counted, printOne } from '../output/output';
import { type PageRequest, StoreListCommand, StoreShowCommand } from './store-command';

@SubCommand({ name: 'list', description: 'list orders; cancelled ones are not included' })
export class ListOrdersCommand extends StoreListCommand {
  protected override readonly examples = ['orders list --open', 'orders list --pet 1 --sort -id'];
  protected override readonly whenEmpty = 'There are no such orders.';
  @Inject() private readonly orders!: OrdersService;

  @Value('--pet <id>', 'only orders for this pet', identifier) pet?: number;
  @Flag('--open', 'only open orders') open?: boolean;
  @Flag('--complete', 'only fulfilled orders') complete?: boolean;

  protected override read(page: PageRequest) {
    // Both together are all of them.
    const complete = this.open === this.complete ? undefined : this.complete === true;
    return this.orders.list({ ...page, petId: this.pet, complete });
  }
}

@SubCommand({ name: 'show', arguments: '<id>', description: 'show an order' })
export class ShowOrderCommand extends StoreShowCommand {
  protected override readonly examples = ['orders show 1'];
  @Inject() protected override readonly entries!: OrdersService;
}

@SubCommand({
  name: 'complete',
  arguments: '<id>',
  description: 'mark an order as fulfilled, which is final',
})
export class CompleteOrderCommand extends ChangingCommand {
  protected override readonly examples = ['orders complete 1'];
  @Inject() private readonly orders!: OrdersService;

  async run([text = '']: string[]): Promise<void> {
    const id = identifier(text);
    await this.store.open(this.reason);
    const order = await this.orders.update(id, { complete: true }, Precondition.NONE, OPERATOR);
    await printOne({ ...order }, this);
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
  @Inject() private readonly orders!: OrdersService;

  async run([text = '']: string[]): Promise<void> {
    const id = identifier(text);
    await this.store.open(this.reason);
    const order = await this.orders.get(id);
    const units = counted(order.quantity, 'unit', 'units');
    await confirm(`Cancel order ${id} for ${units} of pet ${order.petId}?`, this.yes);
    await this.orders.cancel(id, Precondition.NONE, OPERATOR);
    await printOne({ ...order, cancelled: true }, this);
  }
}

@Command({
  name: 'orders',
  description: 'look at orders, complete or cancel them',
  subCommands: [ListOrdersCommand, ShowOrderCommand, CompleteOrderCommand, CancelOrderCommand],
})
export class OrdersCommand extends CommandGroup {}
