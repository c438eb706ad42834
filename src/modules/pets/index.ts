export { BulkPets, PET_COLUMNS, PetsService } from './pets.service';
export { PetCatalog, type KnownPet, PetLifecycle, type PetLifecycleListener } from './pet-catalog';
export { petFields, PetHasOpenOrdersError, PetNotFoundError } from './pets.dto';
export { PET_DEFAULTS, PET_STATUSES, type PetStatus } from './pet-status';
export { PetsModule } from './pets.module';
