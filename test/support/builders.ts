import type { Category, Order, Pet } from '#libs/client';
import type { ApiCaller } from './api-caller';

export type { Category, InventoryItem, Order, Pet } from '#libs/client';

/** Builds the body of a new pet. The body is valid from the start, and each method sets one field. */
class PetBuilder {
  constructor(private readonly body: Record<string, unknown>) {}

  named = (name: string) => this.with({ name });
  inCategory = (categoryId: number) => this.with({ categoryId });
  pending = () => this.with({ status: 'pending' });
  sold = () => this.with({ status: 'sold' });

  /** @param categoryId for a pet without a category of its own */
  build(categoryId = 1): Record<string, unknown> {
    return { categoryId, ...this.body };
  }

  private with(fields: object): PetBuilder {
    return new PetBuilder({ ...this.body, ...fields });
  }
}

export function aPet(): PetBuilder {
  return new PetBuilder({ name: 'Rex' });
}

/** Creates resources through the API. If an answer is not 201, it throws an error with that answer. */
export class Arrange {
  constructor(private readonly caller: ApiCaller) {}

  async category(name = 'Dogs'): Promise<Category> {
    return this.created<Category>('/categories', { name });
  }

  /** Creates a pet, in a new category unless the builder names one. If a stock is given, it is set afterwards. */
  async pet(builder: PetBuilder = aPet(), stock?: number): Promise<Pet> {
    const { id: categoryId } = await this.category();
    const pet = await this.created<Pet>('/pets', builder.build(categoryId));
    if (stock !== undefined) {
      await this.caller.put(`/store/inventory/${pet.id}`, { quantity: stock });
    }
    return pet;
  }

  async order(petId: number, fields: Partial<Order> = {}): Promise<Order> {
    return this.created<Order>('/store/orders', { petId, ...fields });
  }

  private async created<Resource>(path: string, body: object): Promise<Resource> {
    const answer = await this.caller.post<Resource>(path, body);
    if (answer.status !== 201) {
      throw new Error(`POST ${path} was answered ${answer.status}: ${answer.text}`);
    }
    return answer.body;
  }
}
