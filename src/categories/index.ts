export { CategoriesModule } from './categories.module';
