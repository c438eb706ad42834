export { CategoriesModule } from './categories.module';
export { CATEGORIES, CategoriesService } from './categories.service';
export { CategoryCatalog } from './category-catalog';
export { NewCategoryDto } from './categories.dto';
