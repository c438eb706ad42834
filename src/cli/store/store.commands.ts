import { Inject } from '@nestjs/common';
import { Command, SubCommand } from 'nest-commander';
import { cursorAfter, MAX_PAGE_SIZE, type Page, Precondition } from '#libs/http';
import { CategoriesService } from '../../modules/categories';
import { InventoryService } from '../../modules/inventory';
import { OPERATOR, OrdersService } from '../../modules/orders';
import { PET_STATUSES, PetsService, type PetStatus } from '../../modules/pets';
import {
  ChangingCommand,
  CommandGroup,
  ConfirmedCommand,
  ListingCommand,
  ResultCommand,
} from '../command/command';
import { CommandFailure, UsageError } from '../command/failure';
import { confirm } from '../command/operator';
import { anyText, Flag, identifier, Limit, someOf, Value } from '../command/option';
import { counted, isForPeople, printMany, printOne, type Row, sorted } from '../output/output';

interface PageRequest {
  limit: number;
  cursor?: string;
}

/** The most rows that a command keeps in memory. */
const MAX_ROWS = 100_000;

/** A command that lists entries of the store in ascending id, or sorts all that match. */
abstract class StoreListCommand extends ListingCommand {
  protected abstract readonly whenEmpty: string;

  @Limit('rows', MAX_ROWS, 50) limit!: number;
  @Value('--after <id>', 'only entries with a higher id', identifier) after?: number;

  protected abstract read(page: PageRequest): Promise<Page<object>>;

  async run(): Promise<void> {
    const { limit, sort } = this;
    await this.store.open();
    const { entries, lastId } = await this.pagesUpTo(sort === undefined ? limit : MAX_ROWS);
    if (sort !== undefined && lastId !== null) {
      const most = counted(MAX_ROWS, 'row', 'rows');
      throw new UsageError(`--sort takes up to ${most}, and more match. Add a filter, or use export.`);
    }
    const rows = sorted(entries, sort).slice(0, limit);
    await printMany(rows, this, this.whenEmpty);
    if (isForPeople(this) && (lastId !== null || rows.length < entries.length)) {
      const next = lastId === null ? '' : `--after ${lastId} continues, `;
      process.stderr.write(`\nThere are more: ${next}--limit shows more at once.\n`);
    }
  }

  private async pagesUpTo(limit: number): Promise<Page<Row>> {
    const entries: Row[] = [];
    let lastId = this.after ?? null;
    do {
      const cursor = lastId === null ? undefined : cursorAfter(lastId);
      const page = await this.read({ limit: Math.min(MAX_PAGE_SIZE, limit - entries.length), cursor });
      entries.push(...page.entries.map((entry) => ({ ...entry })));
      lastId = page.lastId;
    } while (lastId !== null && entries.length < limit);
    return { entries, lastId };
  }
}

/** A command that shows one entry of the store. */
abstract class StoreShowCommand extends ResultCommand {
  protected abstract readonly entries: { get(id: number): Promise<object> };

  async run([text = '']: string[]): Promise<void> {
    const id = identifier(text);
    await this.store.open();
    await printOne({ ...(await this.entries.get(id)) }, this);
  }
}

function Statuses(description: string) {
  return Value('--status <statuses>', description, someOf(PET_STATUSES));
}

@SubCommand({ name: 'list', description: 'list pets' })
export class ListPetsCommand extends StoreListCommand {
  protected override readonly examples = [
    'pets list',
    'pets list --status available --category Dogs',
    'pets list --name ad --sort name --output csv',
  ];
  protected override readonly whenEmpty = 'There are no such pets.';
  @Inject() private readonly pets!: PetsService;
  @Inject() private readonly categories!: CategoriesService;
  private categoryId?: Promise<number | undefined>;

  @Statuses('only available, pending or sold ones; several: pending,sold') status?: PetStatus[];
  @Value('--category <category>', 'only pets of this category: its id or its name', anyText)
  category?: string;
  @Value('--name <prefix>', 'only pets whose name starts with this, ignoring case', anyText) name?: string;

  protected override async read(page: PageRequest) {
    const { status, name } = this;
    this.categoryId ??= this.idOfCategory();
    return this.pets.list({ ...page, status, categoryId: await this.categoryId, name });
  }

  private async idOfCategory(): Promise<number | undefined> {
    const { category: text } = this;
    if (text === undefined || /^\d+$/.test(text)) {
      return text === undefined ? undefined : identifier(text, '--category');
    }
    const { entries } = await this.categories.list({ name: text, limit: MAX_PAGE_SIZE });
    const found = entries.filter(({ name }) => name.toLowerCase() === text.toLowerCase());
    if (found.length !== 1) {
      const ids = found.map(({ id }) => id).join(', ');
      throw new CommandFailure(
        found.length === 0
          ? `There is no category named ${text}.`
          : `Several categories are named ${text}. Choose one by its id: ${ids}.`,
      );
    }
    return found[0]!.id;
  }
}

@SubCommand({ name: 'show', arguments: '<id>', description: 'show a pet' })
export class ShowPetCommand extends StoreShowCommand {
  protected override readonly examples = ['pets show 1'];
  @Inject() protected override readonly entries!: PetsService;
}

@Command({ name: 'pets', description: 'look at pets', subCommands: [ListPetsCommand, ShowPetCommand] })
export class PetsCommand extends CommandGroup {}

@SubCommand({ name: 'list', description: 'list categories' })
export class ListCategoriesCommand extends StoreListCommand {
  protected override readonly examples = ['categories list', 'categories list --name do'];
  protected override readonly whenEmpty = 'There are no such categories.';
  @Inject() private readonly categories!: CategoriesService;

  @Value('--name <prefix>', 'only categories whose name starts with this, ignoring case', anyText)
  name?: string;

  protected override read(page: PageRequest) {
    return this.categories.list({ ...page, name: this.name });
  }
}

@SubCommand({ name: 'show', arguments: '<id>', description: 'show a category' })
export class ShowCategoryCommand extends StoreShowCommand {
  protected override readonly examples = ['categories show 1'];
  @Inject() protected override readonly entries!: CategoriesService;
}

@Command({
  name: 'categories',
  description: 'look at categories',
  subCommands: [ListCategoriesCommand, ShowCategoryCommand],
})
export class CategoriesCommand extends CommandGroup {}

@SubCommand({ name: 'list', description: 'list how many of each pet are in stock' })
export class ListStockCommand extends StoreListCommand {
  protected override readonly examples = ['stock list', 'stock list --status available --sort quantity'];
  protected override readonly whenEmpty = 'There is no such stock.';
  @Inject() private readonly inventory!: InventoryService;

  @Statuses('only of available, pending or sold pets; several: pending,sold') status?: PetStatus[];

  protected override read(page: PageRequest) {
    return this.inventory.list({ ...page, status: this.status });
  }
}

@SubCommand({ name: 'show', arguments: '<pet-id>', description: 'show how many of a pet are in stock' })
export class ShowStockCommand extends StoreShowCommand {
  protected override readonly examples = ['stock show 1'];
  @Inject() protected override readonly entries!: InventoryService;
}

@Command({
  name: 'stock',
  description: 'look at the stock',
  subCommands: [ListStockCommand, ShowStockCommand],
})
export class StockCommand extends CommandGroup {}

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
