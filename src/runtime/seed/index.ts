import { Module } from '@nestjs/common';
import { AdministrationModule } from '../../modules/auth';
import { CatalogueTransferModule } from '../../modules/catalogue';
import { SeedService } from './seed.service';

export { DEMO_CLIENT, SeedService } from './seed.service';

/** Sample data for an empty store. */
@Module({
  imports: [AdministrationModule, CatalogueTransferModule],
  providers: [SeedService],
  exports: [SeedService],
})
export class SeedModule {}
