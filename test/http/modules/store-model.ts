import type { Pet } from '../../support/builders';

type Status = Pet['status'];

/** What a caller can do to one pet, its stock and its orders. Orders are named by their turn, modulo their number. */
export type Step =
  | { do: 'set'; quantity: number }
  | { do: 'adjust'; delta: number }
  | { do: 'place'; quantity: number; complete: boolean }
  | { do: 'complete' | 'reopen' | 'cancel'; order: number }
  | { do: 'change status'; status: Status }
  | { do: 'delete' };

/** A success's HTTP status, or an error's code. */
export type Outcome = number | string;

/** The rules of the store for one pet, written down once more, in memory and one step after the other. */
export class StoreModel {
  stock: number;
  deleted = false;
  private readonly orders: { quantity: number; state: 'open' | 'complete' | 'cancelled' }[] = [];

  constructor(public status: Status) {
    this.stock = status === 'sold' ? 0 : 1;
  }

  take(step: Step): Outcome {
    switch (step.do) {
      case 'set':
        return this.restock(step.quantity);
      case 'adjust':
        return this.restock(this.stock + step.delta);
      case 'place':
        return this.place(step.quantity, step.complete);
      case 'change status':
        return this.changeStatus(step.status);
      case 'delete':
        return this.delete();
      default:
        return this.changeOrder(step.do, step.order);
    }
  }

  private restock(quantity: number): Outcome {
    if (this.deleted) return 'pet_not_found';
    if (quantity < 0) return 'insufficient_stock';
    this.follow(quantity);
    return 200;
  }

  private place(quantity: number, complete: boolean): Outcome {
    if (this.deleted) return 'unknown_pet';
    if (this.status !== 'available') return 'pet_not_available';
    if (this.stock < quantity) return 'insufficient_stock';
    this.orders.push({ quantity, state: complete ? 'complete' : 'open' });
    this.follow(this.stock - quantity);
    return 201;
  }

  private changeOrder(change: 'complete' | 'reopen' | 'cancel', turn: number): Outcome {
    const order = this.orders[turn % this.orders.length];
    if (!order || order.state === 'cancelled') return 'order_not_found';
    if (order.state === 'complete') return change === 'complete' ? 200 : 'order_already_complete';
    if (change === 'cancel') {
      order.state = 'cancelled';
      this.follow(this.stock + order.quantity);
      return 204;
    }
    if (change === 'complete') {
      order.state = 'complete';
      this.follow(this.stock);
    }
    return 200;
  }

  private changeStatus(status: Status): Outcome {
    if (this.deleted) return 'pet_not_found';
    if (this.status === 'sold' && status === 'pending') return 'invalid_status_transition';
    if (this.stock === 0 && status === 'available') return 'invalid_status_transition';
    this.status = status;
    return 200;
  }

  private delete(): Outcome {
    if (this.deleted) return 'pet_not_found';
    if (this.hasOpenOrders()) return 'pet_has_open_orders';
    this.deleted = true;
    return 204;
  }

  /** The status follows stock and open orders. */
  private follow(stock: number): void {
    const before = this.stock;
    this.stock = stock;
    if (before === 0 && stock > 0) this.status = 'available';
    if (stock === 0 && this.status === 'available') this.status = 'pending';
    if (stock === 0 && this.status === 'pending' && !this.hasOpenOrders()) this.status = 'sold';
  }

  private hasOpenOrders(): boolean {
    return this.orders.some(({ state }) => state === 'open');
  }
}
