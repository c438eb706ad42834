import { SubCommand } from 'nest-commander';
import {
  type ChangeOptions,
  ChangingCommand,
  ConfirmedCommand,
  type ConfirmedOptions,
  administer,
} from '../command/command';
import { confirm } from '../command/confirm';
import { counted, printOne } from '../output/output';
import { identifier } from '../command/parse';

@SubCommand({
  name: 'complete',
  arguments: '<id>',
  description: 'mark an order as fulfilled, which is final',
})
export class CompleteOrderCommand extends ChangingCommand {
  protected override readonly examples = ['orders complete 1'];

  async run([text = '']: string[], options: ChangeOptions): Promise<void> {
    const id = identifier('<id>', text);
    const { OrderAdministration } = await import('../../modules/orders/index.js');
    const order = await administer(
      (services) => services.get(OrderAdministration).complete(id),
      options.reason,
    );
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

  async run([text = '']: string[], options: ConfirmedOptions): Promise<void> {
    const id = identifier('<id>', text);
    const { OrderAdministration, OrdersService } = await import('../../modules/orders/index.js');
    const order = await administer(async (services) => {
      const found = await services.get(OrdersService).get(id);
      const units = counted(found.quantity, 'unit', 'units');
      await confirm(`Cancel order ${id} for ${units} of pet ${found.petId}?`, options.yes);
      await services.get(OrderAdministration).cancel(found);
      return found;
    }, options.reason);
    await printOne({ ...order, cancelled: true }, options);
  }
}
