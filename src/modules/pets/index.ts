export { type KnownPet, PET_COLUMNS, PetCatalog, PetDependents } from './pet-catalog';
export { PET_STATUSES, type PetStatus, type StockChange } from './pet-status';
export { NewPetDto, PET_DEFAULTS, PetNotFoundError } from './pets.dto';
export { PetsModule } from './pets.module';
export { PETS, PetsService } from './pets.service';
