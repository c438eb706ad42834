import type { Category, Order, Pet } from '#libs/client';
import type { ApiCaller } from './api-caller';

export type { Category, InventoryItem, Order, Pet } from '#libs/client';

/** The body of a new pet. Valid from the start; each method changes one thing. */
class PetBuilder {
  constructor(private readonly body: Record<string, unknown>) {}

  named(name: string): PetBuilder {
    return new PetBuilder({ ...this.body, name });
  }

  inCategory(categoryId: number): PetBuilder {
    return new PetBuilder({ ...this.body, categoryId });
  }

  pending(): PetBuilder {
    return new PetBuilder({ ...this.body, status: 'pending' });
  }

  sold(): PetBuilder {
    return new PetBuilder({ ...this.body, status: 'sold' });
  }

  /** @param categoryId unless it has another one */
  build(categoryId = 1): Record<string, unknown> {
    return { categoryId, ...this.body };
  }
}

export function aPet(): PetBuilder {
  return new PetBuilder({ name: 'Rex' });
}

/** Creates things through the API and fails loudly when that does not work. */
export class Arrange {
  constructor(private readonly caller: ApiCaller) {}

  async category(name = 'Dogs'): Promise<Category> {
    return this.created<Category>('/categories', { name });
  }

  /** A pet, in a category of its own unless it has one; with this stock when given. */
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
