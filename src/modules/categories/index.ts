export { CategoriesModule } from './categories.module';
export { CATEGORIES, CategoriesService, CategoryOperations } from './categories.service';
export { NewCategoryDto } from './categories.dto';
