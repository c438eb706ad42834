import { Option, SubCommand } from 'nest-commander';
import type { Precondition } from '#libs/http';
import type { OrderChanges as Changes, OrdersService as Orders } from '../../modules/orders';
import { ReportingCommand, administer } from '../command';
import { confirm } from '../confirm';
import { type OutputOptions, counted, printOne } from '../output';
import { identifier } from '../parse';

/** Operators are not a client. */
const BY_OPERATOR = { owner: 0, status: 200 };

interface Services {
  changes: Changes;
  orders: Orders;
  unconditionally: Precondition;
}

async function withOrders<Result>(work: (services: Services) => Promise<Result>): Promise<Result> {
  const { OrderChanges, OrdersService } = await import('../../modules/orders/index.js');
  const { Precondition: Conditions } = await import('#libs/http');
  return administer((all) =>
    work({
      changes: all.get(OrderChanges),
      orders: all.get(OrdersService),
      unconditionally: Conditions.NONE,
    }),
  );
}

@SubCommand({
  name: 'complete',
  arguments: '<id>',
  description: 'mark an order as fulfilled, which is final',
})
export class CompleteOrderCommand extends ReportingCommand {
  protected override readonly examples = ['orders complete 1'];

  async run([text = '']: string[], options: OutputOptions): Promise<void> {
    const id = identifier('<id>', text);
    const order = await withOrders(({ changes, unconditionally }) =>
      changes.update(id, { complete: true }, unconditionally, BY_OPERATOR),
    );
    await printOne({ ...order }, options);
  }
}

@SubCommand({
  name: 'cancel',
  arguments: '<id>',
  description: 'cancel an open order and return its units to the stock',
})
export class CancelOrderCommand extends ReportingCommand {
  protected override readonly examples = ['orders cancel 1', 'orders cancel 1 --yes'];

  @Option({ flags: '-y, --yes', description: 'do not ask' })
  parseYes(): boolean {
    return true;
  }

  async run([text = '']: string[], options: OutputOptions & { yes?: boolean }): Promise<void> {
    const id = identifier('<id>', text);
    const order = await withOrders(async ({ changes, orders, unconditionally }) => {
      const found = await orders.get(id);
      const units = counted(found.quantity, 'unit', 'units');
      await confirm(`Cancel order ${id} for ${units} of pet ${found.petId}?`, options.yes);
      await changes.cancel(id, unconditionally, BY_OPERATOR);
      return found;
    });
    await printOne({ ...order, cancelled: true }, options);
  }
}
