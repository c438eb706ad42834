export { CategoriesModule } from './categories.module';
export { CategoriesService } from './categories.service';
