export { BulkCategories } from './bulk-categories';
export { CategoriesModule } from './categories.module';
export { CategoryCatalog } from './category-catalog';
export { categoryFields } from './category-fields';
