export { type KnownPet, PET_COLUMNS, PetCatalog, PetLifecycle } from './pet-catalog';
export { PET_DEFAULTS, PET_STATUSES, type PetStatus } from './pet-status';
export { NewPetDto, PetHasOpenOrdersError, PetNotFoundError } from './pets.dto';
export { PetsModule } from './pets.module';
export { PetsService } from './pets.service';
