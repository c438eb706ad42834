import type { ErrorBody } from '../../../support/api-caller';
import { type Category, aPet } from '../../../support/builders';
import { useStore } from '../../../support/use-service';

const { caller, arrange } = useStore();

it.concurrent.each([{ name: 'Cats', description: '' }, { name: 'Cats' }])(
  '200: PUT of a category with a description, %j, leaves nothing of it but the id',
  async (fields) => {
    const created = await caller.post<Category>('/categories', { name: 'Dogs', description: 'Loyal.' });
    const { id } = created.body;
    const answer = await caller.put<Category>(`/categories/${id}`, fields);
    expect([answer.status, answer.body]).toEqual([200, { id, ...fields }]);
    expect((await caller.get(`/categories/${id}`)).text).toBe(answer.text);
  },
);

it('409 category_in_use: names the pets, whatever their status is', async () => {
  const { categoryId } = await arrange.pet(aPet().sold());
  const { body } = await caller.delete<ErrorBody>(`/categories/${categoryId}`);
  expect(body).toMatchObject({ code: 'category_in_use', status: 409 });
  expect(body.message).toContain(`/pets?categoryId=${categoryId}`);
  expect((await caller.get(`/categories/${categoryId}`)).status).toBe(200);
});
