import type { Answer, ErrorBody } from '../../../support/api-caller';
import type { Order, Pet } from '../../../support/builders';
import type { useStore } from '../../../support/use-service';

/** The largest stock that a pet can have. */
export const MOST = 2_147_483_647;

/** A pet, and the ids of its orders in the order in which they were placed. */
interface Course {
  petId: number;
  orders: number[];
}

/** The HTTP status of a success, or the code of an error. */
type Outcome = number | string;

/** A request about the pet or about one of its orders, with the outcome that it must have. */
type Step = (course: Course) => [outcome: Outcome, method: string, target: string, body?: object];

const place =
  (quantity: number, complete: boolean, outcome: Outcome): Step =>
  ({ petId }) => [outcome, 'POST', '/store/orders', { petId, quantity, complete }];
export const open = (quantity = 1, outcome: Outcome = 201) => place(quantity, false, outcome);
export const sale = place(1, true, 201);
const change =
  (order: number, body: object, outcome: Outcome): Step =>
  ({ orders }) => [outcome, 'PATCH', `/store/orders/${orders[order]}`, body];
export const complete = (order: number, outcome: Outcome = 200) => change(order, { complete: true }, outcome);
export const reopen = (order: number, outcome: Outcome) => change(order, { complete: false }, outcome);
export const cancel =
  (order: number, outcome: Outcome = 204): Step =>
  ({ orders }) => [outcome, 'DELETE', `/store/orders/${orders[order]}`];
export const set =
  (quantity: number, outcome: Outcome = 200): Step =>
  ({ petId }) => [outcome, 'PUT', `/store/inventory/${petId}`, { quantity }];
export const adjust =
  (delta: number, outcome: Outcome = 200): Step =>
  ({ petId }) => [outcome, 'POST', `/store/inventory/${petId}/adjustments`, { delta }];
export const byHand =
  (status: Pet['status']): Step =>
  ({ petId }) => [200, 'PATCH', `/pets/${petId}`, { status }];
export const remove =
  (outcome: Outcome = 204): Step =>
  ({ petId }) => [outcome, 'DELETE', `/pets/${petId}`];

/**
 * The steps begin with an available pet that has this stock, and end with what is left.
 * pet-status.spec.ts tests the rules of the status themselves.
 */
type Rule = [rule: string, stock: number, steps: Step[], left: number, status: Pet['status'] | 'deleted'];

/** One test for each rule. */
export function testRules({ caller, arrange, inventory }: ReturnType<typeof useStore>, rules: Rule[]): void {
  it.concurrent.each(rules)('%s', async (_rule, stock, steps, quantity, status) => {
    const { id: petId } = await arrange.pet(undefined, stock);
    const orders: number[] = [];
    for (const step of steps) {
      const [outcome, method, target, body] = step({ petId, orders });
      const answer: Answer<unknown> = await caller.send<unknown>(method, target, body);
      expect(answer.status < 400 ? answer.status : (answer.body as ErrorBody).code).toBe(outcome);
      if (answer.status === 201) orders.push((answer.body as Order).id);
    }
    const left = status === 'deleted' ? { code: 'pet_not_found' } : { petId, quantity, status };
    expect(await inventory(petId)).toMatchObject(left);
  });
}
