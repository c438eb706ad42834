import { Injectable } from '@nestjs/common';
import {
  CommandExecutor,
  Database,
  MAX_COUNT,
  type Need,
  type Origin,
  PageReader,
  type Parameter,
  type Selection,
  type State,
  countById,
} from '#libs/database';
import { type Page, pagesOf, rangeOf } from '#libs/http';
import type { NewEvent, ReportedTable } from '../events';
import { StockOperations } from '../inventory';
import { PetOperations } from '../pets';
import { Order } from './order.entity';
import {
  type ListOrdersQuery,
  type NewOrderDto,
  OrderAlreadyCompleteError,
  type OrderDto,
  OrderNotFoundError,
  type OrderPatchDto,
  parseDate,
  PetNotAvailableError,
  toOrderDto,
  UnknownPetError,
} from './orders.dto';

/** In the order of the index, because PostgreSQL may otherwise collect all of a pet's orders before it counts the first. */
const COUNT = countById(
  'the number of open orders',
  `SELECT asked.id, count(*) FROM unnest($1::bigint[]) AS asked (id) CROSS JOIN LATERAL
    (SELECT 1 FROM orders WHERE pet_id = asked.id AND cancelled_at IS NULL AND complete = false
     ORDER BY complete DESC, id LIMIT ${MAX_COUNT}) AS open
    GROUP BY asked.id`,
);

/** The operations on orders that commands of pets and of their stock use. */
export const OrderOperations = {
  countOpen: (petId: number): Need => ({ lookup: COUNT, key: petId }),
  hasOpen: (state: State, petId: number): boolean => state.lookUp(COUNT, petId) > 0,
  opened: (state: State, petId: number): void => state.note(COUNT, petId, (count) => count + 1),
  closed: (state: State, petId: number): void => state.note(COUNT, petId, (count) => count - 1),
};

/** The use cases of orders. */
@Injectable()
export class OrdersService {
  private readonly pages = new PageReader(this.database, Order, selectOrders, pagesOf(toOrderDto));

  constructor(
    private readonly database: Database,
    private readonly commands: CommandExecutor,
  ) {}

  async list(query: ListOrdersQuery, caller?: number): Promise<Page<OrderDto>> {
    return this.pages.read(rangeOf(query), query, caller);
  }

  async get(id: number, caller?: number): Promise<OrderDto> {
    const order = await this.database.find(Order, id, caller);
    if (order?.cancelledAt !== null) {
      throw new OrderNotFoundError(id);
    }
    return toOrderDto(order);
  }

  /** Takes the stock at once. */
  place(body: NewOrderDto, origin: Origin): Promise<OrderDto> {
    const { petId, quantity = 1, shipDate, complete = false } = body;
    return this.commands.execute(origin, {
      needs: [
        PetOperations.lock(petId),
        StockOperations.load(petId),
        ...(complete ? [OrderOperations.countOpen(petId)] : []),
        { newId: Order },
      ],
      decide: (state) => {
        assertAvailable(state, petId);
        const taken = StockOperations.take(state, petId, quantity);
        const id = state.newId(Order);
        const order = { id, petId, quantity, shipDate: parseDate(shipDate), complete, cancelledAt: null };
        state.insert(Order, id, order);
        if (!complete) {
          OrderOperations.opened(state, petId);
        }
        PetOperations.followStock(
          state,
          petId,
          taken,
          () => !complete || OrderOperations.hasOpen(state, petId),
        );
        return toOrderDto(order);
      },
    });
  }

  /** Reschedules an order, or completes it. Only completing it concerns its pet. */
  async update(id: number, patch: OrderPatchDto, origin: Origin): Promise<OrderDto> {
    const petId = patch.complete === true ? await this.petOf(id, origin) : undefined;
    return this.commands.execute(origin, {
      needs:
        petId === undefined ? [lockOrder(id)] : [...orderNeeds(id, petId), OrderOperations.countOpen(petId)],
      decide: (state) => {
        const before = foundOrder(state, id, origin);
        const { complete = before.complete } = patch;
        if (before.complete && !complete) {
          throw new OrderAlreadyCompleteError(id);
        }
        const shipDate = patch.shipDate === undefined ? before.shipDate : parseDate(patch.shipDate);
        const after: Order = { ...before, complete, shipDate };
        state.update(Order, id, after);
        if (petId !== undefined && !before.complete) {
          OrderOperations.closed(state, petId);
          const left = StockOperations.left(state, petId);
          const unchanged = { before: left, after: left };
          PetOperations.followStock(state, petId, unchanged, () => OrderOperations.hasOpen(state, petId));
        }
        return toOrderDto(after);
      },
    });
  }

  /** Cancels an open order and returns its units to the stock. */
  async cancel(id: number, origin: Origin): Promise<void> {
    const petId = await this.petOf(id, origin);
    return this.commands.execute(origin, {
      needs: orderNeeds(id, petId),
      decide: (state) => {
        const order = foundOrder(state, id, origin);
        if (order.complete) {
          throw new OrderAlreadyCompleteError(id);
        }
        state.update(Order, id, { ...order, cancelledAt: state.now });
        OrderOperations.closed(state, petId);
        const returned = StockOperations.returnUnits(state, petId, order.quantity);
        // The pet exists, because it cannot be deleted while an order is open. With units in stock, its status does not depend on
        // other open orders.
        PetOperations.followStock(state, petId, returned, () => true);
      },
    });
  }

  /** Read before the command, because the pet is what gets locked. An order never changes its pet. */
  private async petOf(id: number, origin: Origin): Promise<number> {
    return (await this.get(id, origin.owner)).petId;
  }
}

function assertAvailable(state: State, petId: number): void {
  const pet = PetOperations.find(state, petId);
  if (pet === null) {
    throw new UnknownPetError(petId);
  }
  if (pet.status !== 'available') {
    throw new PetNotAvailableError(petId, pet.status);
  }
}

function orderNeeds(id: number, petId: number): Need[] {
  return [PetOperations.lock(petId), StockOperations.load(petId), lockOrder(id)];
}

function lockOrder(id: number): Need {
  return { row: Order, id, lock: 'FOR NO KEY UPDATE' };
}

function foundOrder(state: State, id: number, origin: Origin): Order {
  const order = state.find(Order, id);
  if (order?.cancelledAt !== null) {
    throw new OrderNotFoundError(id);
  }
  origin.precondition?.assertHolds(toOrderDto(order));
  return order;
}

function selectOrders({ petId, complete }: ListOrdersQuery, parameter: Parameter): Selection {
  const ofPet = petId === undefined ? [] : [`pet_id = ${parameter(petId, 'bigint')}`];
  const wanted = complete === undefined ? [false, true] : [complete];
  return {
    conditions: ['cancelled_at IS NULL', ...ofPet],
    within: {
      column: 'complete',
      sorted: petId === undefined ? 'ASC' : 'DESC',
      parameters: wanted.map((value) => parameter(value, 'boolean')),
    },
  };
}

/** The part of orders in writes. The row of a cancelled order is kept. */
export const ORDERS_TABLE: ReportedTable = {
  entity: Order,
  eventsOf: (state) => state.changesOf(Order).flatMap(({ before, after }) => eventsOf(before, after!)),
};

/** An order can be completed in the same step in which it is placed or rescheduled. */
function eventsOf(before: Order | null, after: Order): NewEvent[] {
  const { petId, shipDate, complete, cancelledAt } = after;
  if (cancelledAt !== null) {
    return [{ type: 'order.cancelled', petId, data: toOrderDto(before!) }];
  }
  const data = toOrderDto(after);
  const isRescheduled = before !== null && shipDate?.getTime() !== before.shipDate?.getTime();
  return [
    ...(before === null ? [{ type: 'order.placed', petId, data } as const] : []),
    ...(isRescheduled ? [{ type: 'order.updated', petId, data } as const] : []),
    ...(complete && before?.complete !== true ? [{ type: 'order.completed', petId, data } as const] : []),
  ];
}
