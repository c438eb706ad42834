export { CategoriesModule } from './categories.module';
export { CATEGORIES, CategoriesService, CategoryCatalog } from './categories.service';
export { NewCategoryDto } from './categories.dto';
