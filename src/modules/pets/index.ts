export { PET_STATUSES, type PetStatus, type StockChange } from './pet-status';
export { NewPetDto, PetNotFoundError, UnknownCategoryError } from './pets.dto';
export { PetsModule } from './pets.module';
export { type KnownPet, PETS, PetOperations, PetDependents, PetsService } from './pets.service';
