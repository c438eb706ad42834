import { int8ToNumber } from '#libs/database';
import type { PetStatus } from './pet-status';
import type { PetDto } from './pets.dto';

/** The columns of a pet that are answered, as the driver hands them over. */
export const PET_COLUMNS = 'id, name, category_id, status';

export interface PetRow {
  id: string;
  name: string;
  category_id: string;
  status: PetStatus;
}

export function petOf({ id, name, category_id, status }: PetRow): PetDto {
  return { id: int8ToNumber(id), name, categoryId: int8ToNumber(category_id), status };
}
