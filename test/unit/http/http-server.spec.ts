import { Controller, Get } from '@nestjs/common';
import type { NestFastifyApplication } from '@nestjs/platform-fastify';
import { Test } from '@nestjs/testing';
import { Clock } from '#libs/clock';
import { readSettings } from '../../../src/all-settings';
import { configureHttp, createHttpAdapter } from '../../../src/http/http-server';
import { RequestLimiter } from '../../../src/modules/quotas';
import { createLogger } from '../../../src/runtime/logging';
import { WatchedLog } from '../../support/watched-log';

@Controller('undeclared')
class UndeclaredController {
  @Get()
  find(): object {
    return {};
  }
}

it('The service does not start with an operation that declares no access rule', async () => {
  const settings = readSettings({});
  const providers = [Clock, { provide: RequestLimiter, useValue: {} }];
  const controllers = [UndeclaredController];
  const compiled = await Test.createTestingModule({ controllers, providers }).compile();
  const app = compiled.createNestApplication<NestFastifyApplication>(
    createHttpAdapter(settings, createLogger('silent', new WatchedLog())),
  );
  try {
    configureHttp(app, settings);
    await expect(app.init()).rejects.toThrow(
      'GET /undeclared has no access rule. Decorate the controller with @ScopeByMethod()',
    );
  } finally {
    await app.close();
  }
});
