import { Command, Option, SubCommand } from 'nest-commander';
import { InventoryService } from '../../modules/inventory';
import type { PetStatus } from '../../modules/pets';

import { CommandGroup } from '../command/command';
import type { OutputOptions } from '../output/output';
import { petStatuses } from '../command/parse';
import { type ListOptions, StoreListCommand, StoreShowCommand } from './store-command';

@SubCommand({ name: 'list', description: 'list how many of each pet are in stock' })
export class ListStockCommand extends StoreListCommand {
  protected override readonly examples = ['stock list', 'stock list --status available --sort quantity'];

  constructor(private readonly inventory: InventoryService) {
    super();
  }

  @Option({
    flags: '--status <statuses>',
    description: 'only of available, pending or sold pets; several: pending,sold',
  })
  parseStatus(text: string): PetStatus[] {
    return petStatuses(text);
  }

  async run(_arguments: string[], options: ListOptions & { status?: PetStatus[] }): Promise<void> {
    const { status } = options;
    await this.list(options, (page) => this.inventory.list({ ...page, status }), 'There is no such stock.');
  }
}

@SubCommand({ name: 'show', arguments: '<pet-id>', description: 'show how many of a pet are in stock' })
export class ShowStockCommand extends StoreShowCommand {
  protected override readonly examples = ['stock show 1'];

  constructor(private readonly inventory: InventoryService) {
    super();
  }

  async run([id = '']: string[], options: OutputOptions): Promise<void> {
    await this.show(id, options, (petId) => this.inventory.get(petId));
  }
}

@Command({
  name: 'stock',
  description: 'look at the stock',
  subCommands: [ListStockCommand, ShowStockCommand],
})
export class StockCommand extends CommandGroup {}
