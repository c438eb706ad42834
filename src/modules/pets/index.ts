export { type KnownPet, PetCatalog, PetDependents } from './pet-catalog';
export { PET_STATUSES, type PetStatus, type StockChange } from './pet-status';
export { NewPetDto, PetNotFoundError, UnknownCategoryError } from './pets.dto';
export { PetsModule } from './pets.module';
export { PETS, PetsService } from './pets.service';
