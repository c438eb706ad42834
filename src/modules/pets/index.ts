export { type KnownPet, PET_COLUMNS, PetCatalog, PetDependents } from './pet-catalog';
export { PET_DEFAULTS, PET_STATUSES, type PetStatus } from './pet-status';
export { NewPetDto, PetNotFoundError } from './pets.dto';
export { PetsModule } from './pets.module';
export { PETS, PetsService } from './pets.service';
