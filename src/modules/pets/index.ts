export { BulkPets, PET_COLUMNS } from './bulk-pets';
export { PetCatalog, type KnownPet } from './pet-catalog';
export { petFields } from './pets.dto';
export { PetLifecycle, type PetLifecycleListener } from './pet-lifecycle';
export { PET_DEFAULTS, PET_STATUSES, type PetStatus } from './pet-status';
export { PetHasOpenOrdersError, PetNotFoundError } from './pets.errors';
export { PetsModule } from './pets.module';
export { PetsService } from './pets.service';
