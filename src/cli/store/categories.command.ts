import { Command, Option, SubCommand } from 'nest-commander';
import { CommandGroup } from '../command/command';
import type { OutputOptions } from '../output/output';
import { type ListOptions, StoreListCommand, StoreShowCommand } from './store-command';

@SubCommand({ name: 'list', description: 'list categories' })
export class ListCategoriesCommand extends StoreListCommand {
  protected override readonly examples = ['categories list', 'categories list --name do'];

  @Option({
    flags: '--name <prefix>',
    description: 'only categories whose name starts with this, ignoring case',
  })
  parseName(text: string): string {
    return text;
  }

  async run(_arguments: string[], options: ListOptions & { name?: string }): Promise<void> {
    const { CategoriesService } = await import('../../modules/categories/index.js');
    const { name } = options;
    await this.list(
      options,
      (services, page) => services.get(CategoriesService).list({ ...page, name }),
      'There are no such categories.',
    );
  }
}

@SubCommand({ name: 'show', arguments: '<id>', description: 'show a category' })
export class ShowCategoryCommand extends StoreShowCommand {
  protected override readonly examples = ['categories show 1'];

  async run([id = '']: string[], options: OutputOptions): Promise<void> {
    const { CategoriesService } = await import('../../modules/categories/index.js');
    await this.show(id, options, (services, categoryId) => services.get(CategoriesService).get(categoryId));
  }
}

@Command({
  name: 'categories',
  description: 'look at categories',
  subCommands: [ListCategoriesCommand, ShowCategoryCommand],
})
export class CategoriesCommand extends CommandGroup {}

export const CATEGORY_COMMANDS = [CategoriesCommand, ListCategoriesCommand, ShowCategoryCommand];
