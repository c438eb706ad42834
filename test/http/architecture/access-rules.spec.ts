import { Controller, Get, Post, RequestMethod, type Type } from '@nestjs/common';
import { METHOD_METADATA, PATH_METADATA } from '@nestjs/common/constants';
import { ModulesContainer } from '@nestjs/core';
import { Public, RequiresScope } from '../../../src/modules/auth';
import { useService } from '../../support/use-service';
import { TABLE } from '../document/support/operations-table';

interface Route {
  name: string;
  method: string;
  rule: unknown;
}

/** Each route of these controllers with the access rule that its handler declares (src/modules/auth/auth.decorators.ts). */
function routesOf(controllers: Type<unknown>[]): Route[] {
  return controllers.flatMap((controller) =>
    Object.getOwnPropertyNames(controller.prototype).flatMap((key) => {
      const handler = (controller.prototype as Record<string, object>)[key]!;
      if (!Reflect.hasMetadata(PATH_METADATA, handler) || key === 'constructor') {
        return [];
      }
      const method = RequestMethod[Reflect.getMetadata(METHOD_METADATA, handler) as RequestMethod];
      const rule: unknown = Reflect.getMetadata('auth:access-rule', handler);
      return [{ name: `${controller.name}.${key}`, method, rule }];
    }),
  );
}

const undeclared = (routes: Route[]) =>
  routes.filter(({ rule }) => rule === undefined).map(({ name }) => name);
const mismatched = (routes: Route[]) =>
  routes
    .filter(({ rule }) => rule !== 'public' && rule !== 'any key')
    .filter(({ rule, method }) => rule !== (method === 'GET' ? 'read' : 'write'))
    .map(({ name }) => name);

describe('Every route of the application', () => {
  const service = useService();
  let routes: Route[];

  beforeAll(() => {
    const modules = [...service.app.get(ModulesContainer).values()];
    const controllers = modules.flatMap((module) => [...module.controllers.values()]);
    routes = routesOf(controllers.map(({ metatype }) => metatype as Type<unknown>));
  });

  it('is checked: the operations and the two health checks', () => {
    expect(routes.length).toBe(TABLE.length + 2);
  });

  it('declares who may call it', () => {
    expect(undeclared(routes)).toEqual([]);
  });

  it('needs the scope read for reading and write for everything else', () => {
    expect(mismatched(routes)).toEqual([]);
  });

  it('accepts any valid key only where the key itself is read', () => {
    const open = routes.filter(({ rule }) => rule === 'any key').map(({ name }) => name);
    expect(open).toEqual(['KeyController.getKey']);
  });

  it('is public only for health checks', () => {
    const open = routes.filter(({ rule }) => rule === 'public').map(({ name }) => name);
    expect(open.sort()).toEqual(['HealthController.live', 'HealthController.ready']);
  });
});

describe('The rules catch', () => {
  @Controller('planted')
  class PlantedController {
    @Get('forgotten')
    forgotten(): void {}

    @Post('read')
    @RequiresScope('read')
    writesWithRead(): void {}

    @Get('open')
    @Public()
    open(): void {}

    noRoute(): void {}
  }
  const planted = routesOf([PlantedController]);

  it('a route that declares nothing', () => {
    expect(undeclared(planted)).toEqual(['PlantedController.forgotten']);
  });

  it('a route with the wrong scope', () => {
    expect(mismatched(planted)).toEqual(['PlantedController.forgotten', 'PlantedController.writesWithRead']);
  });
});
