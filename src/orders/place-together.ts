import { Injectable } from '@nestjs/common';
import { Coalescer } from '#libs/coalescing';
import { Database, type Transaction, isDatabaseUnavailable } from '#libs/database';
import { StockReservations } from '../inventory';
import { PetCatalog } from '../pets';
import { insertOrders } from './insert-orders';
import type { Order } from './order.entity';
import type { NewOrderDto } from './orders.dto';

const MAX_BATCH = 100;
/** One transaction waits for the disk, or for this process, while another one works. More would be smaller ones. */
const AT_ONCE = 2;

/**
 * Places orders that come at the same time in one transaction: one commit, and one wait for the disk, for all of them.
 * Only those that nothing is special about: whose pet is available and held by nobody else, and has units left when all
 * of them are served, so that no order depends on another and no pet changes its status.
 */
@Injectable()
export class PlaceTogether {
  private readonly orders = new Coalescer<NewOrderDto, Order>({
    maxBatch: MAX_BATCH,
    atOnce: AT_ONCE,
    // Or orders of one pet would find it locked by each other.
    about: ({ petId }) => petId,
    loadMany: (bodies) =>
      this.database
        .transaction((transaction) => this.placeAll(transaction, bodies))
        .catch((error: unknown) => orEachAlone(bodies, error)),
  });

  constructor(
    private readonly database: Database,
    private readonly pets: PetCatalog,
    private readonly stock: StockReservations,
  ) {}

  /** The order, or null for one that has to be judged alone; nothing was done for it then. */
  place(body: NewOrderDto): Promise<Order | null> {
    return this.orders.load(body);
  }

  private async placeAll(transaction: Transaction, bodies: NewOrderDto[]): Promise<Map<NewOrderDto, Order>> {
    const available = await this.pets.lockAvailable(transaction, [...unitsByPet(bodies).keys()]);
    const free = bodies.filter(({ petId }) => available.has(petId));
    const served = await this.stock.takeFromPlenty(transaction, unitsByPet(free));
    const plain = free.filter(({ petId }) => served.has(petId));
    const orders = await insertOrders(transaction, plain);
    return new Map(plain.map((body, index) => [body, orders[index]!]));
  }
}

/**
 * What one of them failed with is no matter of the others: nothing was placed, and each is judged alone. Not so when the
 * database could not be reached: it may have placed them, and would not be there for each of them either.
 */
function orEachAlone(bodies: NewOrderDto[], error: unknown): Map<NewOrderDto, Order> {
  if (bodies.length === 1 || isDatabaseUnavailable(error)) {
    throw error;
  }
  return new Map();
}

function unitsByPet(bodies: NewOrderDto[]): Map<number, number> {
  const units = new Map<number, number>();
  for (const { petId, quantity = 1 } of bodies) {
    units.set(petId, (units.get(petId) ?? 0) + quantity);
  }
  return units;
}
