import { Command, Option, SubCommand } from 'nest-commander';
import { CategoriesService } from '../../modules/categories';
import { CommandGroup } from '../command/command';
import type { OutputOptions } from '../output/output';
import { type ListOptions, StoreListCommand, StoreShowCommand } from './store-command';

@SubCommand({ name: 'list', description: 'list categories' })
export class ListCategoriesCommand extends StoreListCommand {
  protected override readonly examples = ['categories list', 'categories list --name do'];

  constructor(private readonly categories: CategoriesService) {
    super();
  }

  @Option({
    flags: '--name <prefix>',
    description: 'only categories whose name starts with this, ignoring case',
  })
  parseName(text: string): string {
    return text;
  }

  async run(_arguments: string[], options: ListOptions & { name?: string }): Promise<void> {
    const { name } = options;
    await this.list(
      options,
      (page) => this.categories.list({ ...page, name }),
      'There are no such categories.',
    );
  }
}

@SubCommand({ name: 'show', arguments: '<id>', description: 'show a category' })
export class ShowCategoryCommand extends StoreShowCommand {
  protected override readonly examples = ['categories show 1'];

  constructor(private readonly categories: CategoriesService) {
    super();
  }

  async run([id = '']: string[], options: OutputOptions): Promise<void> {
    await this.show(id, options, (categoryId) => this.categories.get(categoryId));
  }
}

@Command({
  name: 'categories',
  description: 'look at categories',
  subCommands: [ListCategoriesCommand, ShowCategoryCommand],
})
export class CategoriesCommand extends CommandGroup {}
