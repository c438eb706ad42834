export { CategoriesModule } from './categories.module';
export { CATEGORIES, CategoriesService } from './categories.service';
export { CATEGORY_COLUMNS, CategoryCatalog } from './category-catalog';
export { NewCategoryDto } from './categories.dto';
