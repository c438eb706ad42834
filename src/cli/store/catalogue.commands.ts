import { Inject } from '@nestjs/common';
import { Command, SubCommand } from 'nest-commander';
import { MAX_PAGE_SIZE } from '#libs/http';
import { CategoriesService } from '../../modules/categories';
import { InventoryService } from '../../modules/inventory';
import { PET_STATUSES, type PetStatus, PetsService } from '../../modules/pets';
import { CommandGroup } from '../command/command';
import { CommandFailure } from '../command/failure';
import { Value, anyText, identifier, someOf } from '../command/option';
import { type PageRequest, StoreListCommand, StoreShowCommand } from './store-command';

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
