import type { Type } from '@nestjs/common';
import { PATH_METADATA } from '@nestjs/common/constants';
import { ModulesContainer } from '@nestjs/core';
import { useService } from '../../support/use-service';
import { operationsOf } from '../../support/document';

/** Each route of these controllers by its access rule, which its handler declares (src/modules/auth/api-key.guard.ts). */
function routesOf(controllers: Type<unknown>[]): { name: string; rule: unknown }[] {
  return controllers.flatMap((controller) =>
    Object.entries(Object.getOwnPropertyDescriptors(controller.prototype))
      .filter(
        ([key, { value }]) => key !== 'constructor' && Reflect.hasMetadata(PATH_METADATA, value as object),
      )
      .map(([key, { value }]) => ({
        name: `${controller.name}.${key}`,
        rule: Reflect.getMetadata('auth:access-rule', value as object) as unknown,
      })),
  );
}

const withRule = (routes: ReturnType<typeof routesOf>, wanted: unknown) =>
  routes.filter(({ rule }) => rule === wanted).map(({ name }) => name);

// That each operation needs the right scope, and no scope for the key alone, is tested by calling all of them.
describe('Every route of the application', () => {
  const service = useService();
  let routes: ReturnType<typeof routesOf>;

  beforeAll(() => {
    const modules = [...service.app.get(ModulesContainer).values()];
    const controllers = modules.flatMap((module) => [...module.controllers.values()]);
    routes = routesOf(controllers.map(({ metatype }) => metatype as Type<unknown>));
  });

  it('is checked: the operations and the two health checks', () => {
    expect(routes.length).toBe(operationsOf(service.document).size + 2);
  });

  it('declares who may call it', () => {
    expect(withRule(routes, undefined)).toEqual([]);
  });

  it('is public only for health checks', () => {
    expect(withRule(routes, 'public').sort()).toEqual(['HealthController.live', 'HealthController.ready']);
  });
});
