export { BulkCategories, CATEGORY_COLUMNS, CategoriesService } from './categories.service';
export { CategoriesModule } from './categories.module';
export { CategoryCatalog } from './change-categories';
export { categoryFields } from './categories.dto';
