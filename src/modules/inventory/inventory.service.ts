import { Injectable } from '@nestjs/common';
import {
  CommandExecutor,
  Database,
  type Need,
  type Origin,
  PageReader,
  type Parameter,
  type Selection,
  type State,
} from '#libs/database';
import { type Page, pagesOf, rangeOf } from '#libs/http';
import type { NewEvent, ReportedTable } from '../events';
import {
  type KnownPet,
  OrdersOfPets,
  PetOperations,
  PetNotFoundError,
  type PetStatus,
  type StockChange,
} from '../pets';
import {
  InsufficientStockError,
  type InventoryItemDto,
  type ListInventoryQuery,
  MAX_QUANTITY,
  StockLimitExceededError,
  toInventoryItemDto,
} from './inventory.dto';
import { InventoryItem, Stock } from './stock.entity';

/** The use cases of the stock. */
@Injectable()
export class InventoryService {
  private readonly pages = new PageReader(
    this.database,
    InventoryItem,
    selectItems,
    pagesOf(toInventoryItemDto),
  );

  constructor(
    private readonly database: Database,
    private readonly commands: CommandExecutor,
    private readonly orders: OrdersOfPets,
  ) {}

  async list(query: ListInventoryQuery, caller?: number): Promise<Page<InventoryItemDto>> {
    return this.pages.read(rangeOf(query), query, caller);
  }

  async get(petId: number, caller?: number): Promise<InventoryItemDto> {
    const item = await this.database.find(InventoryItem, petId, caller);
    if (item === null) {
      throw new PetNotFoundError(petId);
    }
    return toInventoryItemDto(item);
  }

  /** Sets the stock to a count. */
  set(petId: number, quantity: number, origin: Origin): Promise<InventoryItemDto> {
    return this.change(petId, () => quantity, quantity === 0, origin);
  }

  /** Adds units to the stock, or removes them. */
  adjust(petId: number, delta: number, origin: Origin): Promise<InventoryItemDto> {
    return this.change(petId, (item) => sumOf(item, delta), delta < 0, origin);
  }

  /** @param mayEmpty whether nothing may be left, so that the status depends on open orders */
  private change(
    petId: number,
    quantityAfter: (item: InventoryItem) => number,
    mayEmpty: boolean,
    origin: Origin,
  ): Promise<InventoryItemDto> {
    return this.commands.execute(origin, {
      needs: [
        PetOperations.lock(petId),
        StockOperations.load(petId),
        ...(mayEmpty ? [this.orders.countOpen(petId)] : []),
      ],
      decide: (state) => {
        const pet = PetOperations.find(state, petId);
        if (pet === null) {
          throw new PetNotFoundError(petId);
        }
        const item = { petId, quantity: unitsOf(state, petId), status: pet.status };
        origin.precondition?.assertHolds(toInventoryItemDto(item));
        const quantity = quantityAfter(item);
        const change = setUnits(state, petId, quantity);
        const hasOpenOrders = () => this.orders.hasOpen(state, petId);
        const status = PetOperations.followStock(state, petId, change, hasOpenOrders);
        return toInventoryItemDto({ petId, quantity, status });
      },
    });
  }
}

function selectItems({ status }: ListInventoryQuery, parameter: Parameter): Selection {
  const parameters = status && [...new Set(status)].map((value) => parameter(value, 'text'));
  return {
    conditions: [],
    within: parameters && { column: 'status', sorted: 'ASC', parameters },
  };
}

/** The stock of a new pet by default. */
export const INITIAL_STOCK: Readonly<Record<PetStatus, number>> = { available: 1, pending: 1, sold: 0 };

/** The operations on stock that other modules may use: in commands that have locked the pet (PetOperations). */
export const StockOperations = {
  load: (petId: number): Need => ({ row: Stock, id: petId }),

  /** The stock of a new pet. */
  create: (state: State, { id, status }: KnownPet, quantity = INITIAL_STOCK[status]): void => {
    state.insert(Stock, id, { petId: id, quantity });
  },

  /**
   * Takes units from the stock.
   * @throws ApiError 409 `insufficient_stock`
   */
  take: (state: State, petId: number, quantity: number): StockChange => add(state, petId, -quantity),

  /**
   * Returns units to the stock.
   * @throws ApiError 409 `stock_limit_exceeded`
   */
  returnUnits: add,

  left: unitsOf,
};

/** Units in stock. Every pet has a stock row from its creation on. */
function unitsOf(state: State, petId: number): number {
  return state.find(Stock, petId)!.quantity;
}

function add(state: State, petId: number, units: number): StockChange {
  return setUnits(state, petId, sumOf({ petId, quantity: unitsOf(state, petId) }, units));
}

function sumOf({ petId, quantity }: Stock, units: number): number {
  const sum = quantity + units;
  if (sum < 0) {
    throw new InsufficientStockError(petId);
  }
  if (sum > MAX_QUANTITY) {
    throw new StockLimitExceededError(petId);
  }
  return sum;
}

function setUnits(state: State, petId: number, after: number): StockChange {
  const before = unitsOf(state, petId);
  state.update(Stock, petId, { petId, quantity: after });
  return { before, after };
}

/** The part of the stock in writes. Count and status are reported together; a new pet reports none for its first count. */
export const STOCK_TABLE: ReportedTable = {
  entity: Stock,
  eventsOf: (state) => {
    const counted = state
      .changesOf(Stock)
      .filter(({ before, after }) => before !== null || !isInitialStock(state, after!))
      .map(({ after }) => after!.petId);
    const others = PetOperations.withNewStatus(state).map(({ id }) => id);
    return [...new Set([...counted, ...others])].map((petId) => updated(state, petId));
  },
};

function isInitialStock(state: State, { petId, quantity }: Stock): boolean {
  return quantity === INITIAL_STOCK[PetOperations.find(state, petId)!.status];
}

function updated(state: State, petId: number): NewEvent {
  const { status } = PetOperations.find(state, petId)!;
  const data = toInventoryItemDto({ petId, quantity: unitsOf(state, petId), status });
  return { type: 'inventory.updated', petId, data };
}
