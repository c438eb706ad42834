import { Injectable } from '@nestjs/common';
import { CommandExecutor, type Origin, type RowChange } from '#libs/database';
import { type Page, rangeOf } from '#libs/http';
import type { ReportedTable } from '../../feature';
import type { NewEvent } from '../events';
import { INITIAL_STOCK, type KnownPet, PetOperations, PetsService } from '../pets';
import {
  InsufficientStockError,
  type InventoryItemDto,
  type ListInventoryQuery,
  MAX_QUANTITY,
  StockLimitExceededError,
} from './inventory.dto';

/** Reads and changes the stock of pets, which is stored in the row of each pet. */
@Injectable()
export class InventoryService {
  private readonly pages = this.pets.pagesAs(itemOf);

  constructor(
    private readonly pets: PetsService,
    private readonly commands: CommandExecutor,
  ) {}

  async list(query: ListInventoryQuery, clientId?: number): Promise<Page<InventoryItemDto>> {
    return this.pages.read(rangeOf(query), query, clientId);
  }

  async get(petId: number, clientId?: number): Promise<InventoryItemDto> {
    return itemOf(await this.pets.known(petId, clientId));
  }

  set(petId: number, quantity: number, origin: Origin): Promise<InventoryItemDto> {
    return this.change(petId, () => quantity, origin);
  }

  adjust(petId: number, delta: number, origin: Origin): Promise<InventoryItemDto> {
    return this.change(petId, (pet) => stockAfter(pet, delta), origin);
  }

  private change(
    petId: number,
    quantityOf: (pet: KnownPet) => number,
    origin: Origin,
  ): Promise<InventoryItemDto> {
    return this.commands.execute(origin, {
      needs: [PetOperations.lock(petId)],
      decide: (state) => {
        const pet = PetOperations.get(state, petId);
        origin.precondition?.assertHolds(itemOf(pet));
        return itemOf(PetOperations.changeStock(state, petId, { stock: quantityOf(pet) }));
      },
    });
  }
}

function itemOf({ id, stock, status }: KnownPet): InventoryItemDto {
  return { petId: id, quantity: stock, status };
}

/**
 * Returns the number of units in stock after adding units; a negative number removes units.
 * @throws ApiError 409 `insufficient_stock` or `stock_limit_exceeded`
 */
export function stockAfter({ id, stock }: KnownPet, added: number): number {
  const sum = stock + added;
  if (sum < 0) {
    throw new InsufficientStockError(id);
  }
  if (sum > MAX_QUANTITY) {
    throw new StockLimitExceededError(id);
  }
  return sum;
}

/** Reports changes of a pet's stock and status as one event, `inventory.updated`. */
export const STOCK_REPORT: ReportedTable = {
  eventsOf: (state) =>
    PetOperations.changes(state)
      .filter(isReported)
      .map(({ after }): NewEvent => ({ type: 'inventory.updated', petId: after!.id, data: itemOf(after!) })),
};

/**
 * True if the stock or the status has changed. A new pet is reported only if its stock differs from the initial stock of other
 * new pets.
 */
function isReported({ before, after }: RowChange<KnownPet>): boolean {
  const { stock, status } = after!;
  return before === null
    ? stock !== INITIAL_STOCK[status]
    : stock !== before.stock || status !== before.status;
}
