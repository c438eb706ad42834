import { Injectable } from '@nestjs/common';
import {
  type CallerId,
  CommandExecutor,
  Database,
  type Need,
  type CommandSource,
  PageReader,
  type RowChange,
  type Select,
  type State,
} from '#libs/database';
import { type Page, pageMapper, rangeOf } from '#libs/http';
import type { WrittenTable } from '../../feature';
import type { NewEvent } from '../events';
import { PetNotFoundError, PetRows, type PetStatus, type PetWithStatus, type Stock } from '../pets';
import { InventoryItem, StockWithStatus } from './inventory-item.entity';
import {
  InsufficientStockError,
  type InventoryItemDto,
  type ListInventoryQuery,
  MAX_QUANTITY,
  StockLimitExceededError,
} from './inventory.dto';

@Injectable()
export class InventoryService {
  private readonly pages = new PageReader(this.database, StockWithStatus, selectByStatus, pageMapper(toDto));

  constructor(
    private readonly database: Database,
    private readonly commands: CommandExecutor,
  ) {}

  async list(query: ListInventoryQuery, callerId: CallerId): Promise<Page<InventoryItemDto>> {
    return this.pages.read(rangeOf(query), query, callerId);
  }

  async get(petId: number, callerId: CallerId): Promise<InventoryItemDto> {
    const item = await this.database.find(StockWithStatus, petId, callerId);
    if (item === null) {
      throw new PetNotFoundError(petId);
    }
    return toDto(item);
  }

  set(petId: number, quantity: number, source: CommandSource): Promise<InventoryItemDto> {
    return this.change(petId, () => quantity, source);
  }

  adjust(petId: number, delta: number, source: CommandSource): Promise<InventoryItemDto> {
    return this.change(petId, (item) => stockAfter(item, delta), source);
  }

  private change(
    petId: number,
    stockOf: (item: Readonly<InventoryItem>) => number,
    source: CommandSource,
  ): Promise<InventoryItemDto> {
    return this.commands.execute(source, {
      needs: StockRows.needsOf(petId),
      resource: (state) => dtoOf(state, petId),
      decide: (state) => {
        // Throw a 404 if there is no such pet. `resource` above throws the same 404, but is called only for a request with
        // conditions.
        PetRows.get(state, petId);
        StockRows.change(state, petId, { stock: stockOf(StockRows.get(state, petId)) });
        return dtoOf(state, petId);
      },
    });
  }
}

const INITIAL_STOCK: Readonly<Record<PetStatus, number>> = { available: 1, pending: 1, sold: 0 };

export const StockRows = {
  needsOf: (petId: number): Need[] => [
    PetRows.needOf(petId),
    { entity: InventoryItem, id: petId, lock: 'FOR NO KEY UPDATE' },
  ],

  get: (state: State, petId: number): Readonly<InventoryItem> => state.find(InventoryItem, petId)!,

  create(state: State, { id: petId, status }: PetWithStatus, stock = INITIAL_STOCK[status]): void {
    state.insert(InventoryItem, petId, { petId, stock, openOrders: 0 });
  },

  change(state: State, petId: number, change: Partial<Stock>): void {
    const before = StockRows.get(state, petId);
    const after = { ...before, ...change };
    state.update(InventoryItem, petId, after);
    PetRows.followStock(state, petId, before, after);
  },
};

function toDto({ petId, stock, status }: StockWithStatus): InventoryItemDto {
  return { petId, quantity: stock, status };
}

/** @throws ApiError 404 `pet_not_found` */
function dtoOf(state: State, petId: number): InventoryItemDto {
  const { status } = PetRows.get(state, petId);
  return toDto({ ...StockRows.get(state, petId), status });
}

/**
 * Returns the stock after adding units, or after removing units if `added` is negative.
 * @throws ApiError 409 `insufficient_stock` or `stock_limit_exceeded`
 */
export function stockAfter({ petId, stock }: Readonly<InventoryItem>, added: number): number {
  const sum = stock + added;
  if (sum < 0) {
    throw new InsufficientStockError(petId);
  }
  if (sum > MAX_QUANTITY) {
    throw new StockLimitExceededError(petId);
  }
  return sum;
}

const selectByStatus: Select<ListInventoryQuery> = ({ status }, parameter) => {
  const values = status && [...new Set(status)].map((value) => parameter(value, 'text'));
  // PostgreSQL finds pets of a status by the index `pets_by_status`, which has `status` in ascending order.
  return { conditions: [], anyOf: values && { column: 'status', indexDirection: 'ASC', values } };
};

/**
 * Reports the event `inventory.updated` for each pet whose stock or status a command has changed. If both have changed,
 * there is still only one such event for the pet.
 */
export const INVENTORY_TABLE: WrittenTable = {
  entity: InventoryItem,
  eventsOf: (state) => {
    const petIds = [
      ...state
        .changesOf(InventoryItem)
        .flatMap((change) => (isReported(state, change) ? change.after!.petId : [])),
      ...PetRows.withNewStatus(state),
    ];
    return [...new Set(petIds)].map((petId): NewEvent => ({
      type: 'inventory.updated',
      petId,
      data: dtoOf(state, petId),
    }));
  },
};

/**
 * True if the change needs an event `inventory.updated`: if the stock of a pet has changed, or if a new pet has another
 * stock than new pets of its status get by default.
 */
function isReported(state: State, { before, after }: RowChange<InventoryItem>): boolean {
  const { petId, stock } = after!;
  return stock !== (before?.stock ?? INITIAL_STOCK[PetRows.get(state, petId).status]);
}
