export { SeedModule } from './seed.module';
export { DEMO_CLIENT, SeedService, type Seeded } from './seed.service';
