export { BulkCategories, CATEGORY_COLUMNS } from './bulk-categories';
export { CategoriesModule } from './categories.module';
export { CategoriesService } from './categories.service';
export { CategoryCatalog } from './category-catalog';
export { categoryFields } from './categories.dto';
