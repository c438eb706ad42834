import { Command, Option, SubCommand } from 'nest-commander';
import { PetsService, type PetStatus } from '../../modules/pets';

import { CommandGroup } from '../command/command';
import type { OutputOptions } from '../output/output';
import { identifier, petStatuses } from '../command/parse';
import { type ListOptions, StoreListCommand, StoreShowCommand } from './store-command';

interface PetFilters extends ListOptions {
  status?: PetStatus[];
  category?: number;
  name?: string;
}

@SubCommand({ name: 'list', description: 'list pets' })
export class ListPetsCommand extends StoreListCommand {
  protected override readonly examples = [
    'pets list',
    'pets list --status available --category 1',
    'pets list --name ad --sort name --output csv',
  ];

  constructor(private readonly pets: PetsService) {
    super();
  }

  @Option({
    flags: '--status <statuses>',
    description: 'only available, pending or sold ones; several: pending,sold',
  })
  parseStatus(text: string): PetStatus[] {
    return petStatuses(text);
  }

  @Option({ flags: '--category <id>', description: 'only pets of this category' })
  parseCategory(text: string): number {
    return identifier('--category', text);
  }

  @Option({ flags: '--name <prefix>', description: 'only pets whose name starts with this, ignoring case' })
  parseName(text: string): string {
    return text;
  }

  async run(_arguments: string[], options: PetFilters): Promise<void> {
    const { status, category: categoryId, name } = options;
    await this.list(
      options,
      (page) => this.pets.list({ ...page, status, categoryId, name }),
      'There are no such pets.',
    );
  }
}

@SubCommand({ name: 'show', arguments: '<id>', description: 'show a pet' })
export class ShowPetCommand extends StoreShowCommand {
  protected override readonly examples = ['pets show 1'];

  constructor(private readonly pets: PetsService) {
    super();
  }

  async run([id = '']: string[], options: OutputOptions): Promise<void> {
    await this.show(id, options, (petId) => this.pets.get(petId));
  }
}

@Command({ name: 'pets', description: 'look at pets', subCommands: [ListPetsCommand, ShowPetCommand] })
export class PetsCommand extends CommandGroup {}
