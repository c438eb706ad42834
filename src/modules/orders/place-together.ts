import { Injectable } from '@nestjs/common';
import { Coalescer } from '#libs/coalescing';
import { Database, type Transaction, isRefusedStatement } from '#libs/database';
import { StockReservations } from '../inventory';
import { PetCatalog } from '../pets';
import { insertOrders } from './insert-orders';
import type { Order } from './order.entity';
import type { NewOrderDto } from './orders.dto';

const MAX_BATCH = 500;
/** One transaction waits for the disk, or for this process, while another one works. With more, each would hold fewer orders. */
const AT_ONCE = 2;

const NOTHING_PLACED = new Error('None of the orders can be placed together with others.');

type Placed = Map<NewOrderDto, Order>;
/** Locks those of the pets that are available, and tells which they are. */
type Lock = (transaction: Transaction, petIds: number[]) => Promise<Set<number>>;

/**
 * Places orders that come at the same time in one transaction: one commit, and one wait for the disk, for all of them.
 * Only those that nothing is special about: whose pet is available, and has units left when all of them are served, so
 * that no order depends on another and no pet changes its status. Those whose pet somebody else has locked wait for it
 * in a transaction of their own, one for each pet, and hold nobody else up.
 */
@Injectable()
export class PlaceTogether {
  private readonly orders = new Coalescer<NewOrderDto, Promise<Order | null>>({
    maxBatch: MAX_BATCH,
    atOnce: AT_ONCE,
    // Or orders of one pet would find it locked by each other.
    about: ({ petId }) => petId,
    loadMany: (bodies) => this.placeBatch(bodies),
  });

  constructor(
    private readonly database: Database,
    private readonly pets: PetCatalog,
    private readonly stock: StockReservations,
  ) {}

  /** The order, or null for one that has to be judged alone; nothing was done for it then. */
  async place(body: NewOrderDto): Promise<Order | null> {
    return this.orders.load(body);
  }

  private async placeBatch(bodies: NewOrderDto[]): Promise<Map<NewOrderDto, Promise<Order | null>>> {
    const placed = await this.placePlain(bodies, (transaction, petIds) =>
      this.pets.lockAvailable(transaction, petIds),
    );
    const answers = new Map([...placed].map(([body, order]) => [body, Promise.resolve<Order | null>(order)]));
    for (const group of byPet(bodies.filter((body) => !placed.has(body)))) {
      const waiting = this.placeWaiting(group);
      group.forEach((body) =>
        answers.set(
          body,
          waiting.then((orders) => orders.get(body) ?? null),
        ),
      );
    }
    return answers;
  }

  /** Places orders of one pet when it is free; one alone is judged alone as well. */
  private async placeWaiting(bodies: NewOrderDto[]): Promise<Placed> {
    if (bodies.length === 1) {
      return new Map();
    }
    return this.placePlain(bodies, async (transaction, [petId]) => {
      const pet = await this.pets.lock(transaction, petId!);
      return new Set(pet?.status === 'available' ? [pet.id] : []);
    });
  }

  private placePlain(bodies: NewOrderDto[], lock: Lock): Promise<Placed> {
    return this.database
      .transaction(async (transaction) => {
        const available = await lock(transaction, [...new Set(bodies.map(({ petId }) => petId))]);
        const free = bodies.filter(({ petId }) => available.has(petId));
        const served = await this.stock.takeFromPlenty(transaction, unitsByPet(free));
        const plain = free.filter(({ petId }) => served.has(petId));
        if (plain.length === 0) {
          // Unlike a commit, a rollback of what was only locked does not wait for the disk.
          throw NOTHING_PLACED;
        }
        const orders = await insertOrders(transaction, plain);
        return new Map(plain.map((body, index) => [body, orders[index]!]));
      })
      .catch((error: unknown) => orEachAlone(bodies, error));
  }
}

/**
 * What one of them was refused for is no matter of the others: nothing was placed, and each is judged alone. Not so when
 * anything else failed: they may have been placed all the same.
 */
function orEachAlone(bodies: NewOrderDto[], error: unknown): Placed {
  if (error === NOTHING_PLACED || (bodies.length > 1 && isRefusedStatement(error))) {
    return new Map();
  }
  throw error;
}

function unitsByPet(bodies: NewOrderDto[]): Map<number, number> {
  const units = new Map<number, number>();
  for (const { petId, quantity = 1 } of bodies) {
    units.set(petId, (units.get(petId) ?? 0) + quantity);
  }
  return units;
}

function byPet(bodies: NewOrderDto[]): NewOrderDto[][] {
  const groups = new Map<number, NewOrderDto[]>();
  for (const body of bodies) {
    const group = groups.get(body.petId);
    if (group) {
      group.push(body);
    } else {
      groups.set(body.petId, [body]);
    }
  }
  return [...groups.values()];
}
