import { Injectable } from '@nestjs/common';
import {
  CommandExecutor,
  Database,
  type Origin,
  PageReader,
  type Parameter,
  type RowChange,
  type Selection,
  type State,
} from '#libs/database';
import { type Page, type Precondition, ValidationFailedError } from '#libs/http';
import { EventLog, type Occurrence } from '../events';
import { type KnownPet, PetCatalog, PetLifecycle, PetNotFoundError } from '../pets';
import {
  InsufficientStockError,
  type InventoryItemDto,
  type ListInventoryQuery,
  MAX_QUANTITY,
  toInventoryItemDto,
} from './inventory.dto';
import { FIRST_QUANTITY, StockReservations, unitsOf } from './stock-reservations';
import { InventoryItem, Stock } from './stock.entity';

/** The use cases of the stock. */
@Injectable()
export class InventoryService {
  private readonly pages: PageReader<InventoryItem, ListInventoryQuery>;

  constructor(
    private readonly database: Database,
    private readonly commands: CommandExecutor,
    private readonly events: EventLog,
    lifecycle: PetLifecycle,
  ) {
    this.pages = new PageReader(database, InventoryItem, selectItems);
    events.report(Stock, eventsOf);
    lifecycle.join({
      created: (state, { id, status }) =>
        state.insert(Stock, id, { petId: id, quantity: FIRST_QUANTITY[status] }),
      statusNeeds: (petId) => [StockReservations.load(petId)],
      statusChanged: (state, pet) => this.reportStatus(state, pet),
    });
  }

  async list(query: ListInventoryQuery, caller?: number): Promise<Page<InventoryItemDto>> {
    const { entries, lastId } = await this.pages.read(query, caller);
    return { entries: entries.map(toInventoryItemDto), lastId };
  }

  async get(petId: number, caller?: number): Promise<InventoryItemDto> {
    const item = await this.database.find(InventoryItem, petId, caller);
    if (item === null) {
      throw new PetNotFoundError(petId);
    }
    return toInventoryItemDto(item);
  }

  /** Sets the stock to a count. */
  set(
    petId: number,
    quantity: number,
    precondition: Precondition,
    origin: Origin,
  ): Promise<InventoryItemDto> {
    return this.change(petId, origin, (item) => {
      precondition.assertHolds(toInventoryItemDto(item));
      return { quantity, restocks: quantity > 0 };
    });
  }

  /** Adds units to the stock, or removes them. */
  adjust(petId: number, delta: number, origin: Origin): Promise<InventoryItemDto> {
    return this.change(petId, origin, (item) => {
      const quantity = item.quantity + delta;
      if (quantity < 0) {
        throw new InsufficientStockError(petId);
      }
      if (quantity > MAX_QUANTITY) {
        throw new ValidationFailedError(`delta must not take the stock above ${MAX_QUANTITY}.`);
      }
      return { quantity, restocks: delta > 0 };
    });
  }

  private change(
    petId: number,
    origin: Origin,
    rule: (item: InventoryItem) => { quantity: number; restocks: boolean },
  ): Promise<InventoryItemDto> {
    const command = {
      needs: [PetCatalog.lock(petId), StockReservations.load(petId)],
      decide: (state: State) => {
        const pet = PetCatalog.find(state, petId);
        if (pet === null) {
          throw new PetNotFoundError(petId);
        }
        const { quantity, restocks } = rule({ petId, quantity: unitsOf(state, petId), status: pet.status });
        const status = restocks ? 'available' : pet.status;
        state.update(Stock, petId, { petId, quantity });
        PetCatalog.setStatus(state, petId, status);
        return toInventoryItemDto({ petId, quantity, status });
      },
    };
    return this.commands.run(command, origin);
  }

  /** A changed count has been reported already, with the status. */
  private reportStatus(state: State, { id }: KnownPet): void {
    if (!state.isChanged(Stock, id)) {
      this.events.add(state, updated(state, id));
    }
  }
}

function selectItems({ status }: ListInventoryQuery, parameter: Parameter): Selection {
  const parameters = status && [...new Set(status)].map((value) => parameter(value, 'text'));
  return {
    conditions: [],
    within: parameters && { column: 'status', sorted: 'ASC', parameters },
  };
}

/** A new pet reports none for its first count. */
function eventsOf({ before, after }: RowChange<Stock>, state: State): Occurrence[] {
  return before === null ? [] : [updated(state, after!.petId)];
}

function updated(state: State, petId: number): Occurrence {
  const { status } = PetCatalog.find(state, petId)!;
  const data = toInventoryItemDto({ petId, quantity: unitsOf(state, petId), status });
  return { type: 'inventory.updated', petId, data };
}
