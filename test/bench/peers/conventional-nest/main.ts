import 'reflect-metadata';
import { Controller, type ExecutionContext, Get, Module, ValidationPipe } from '@nestjs/common';
import { APP_GUARD, NestFactory } from '@nestjs/core';
import { ExpressAdapter } from '@nestjs/platform-express';
import { SkipThrottle, ThrottlerGuard, ThrottlerModule } from '@nestjs/throttler';
import { TypeOrmModule } from '@nestjs/typeorm';
import { ApiKeyGuard, type RequestWithKey } from './api-key.guard';
import { CategoriesController } from './categories';
import { ApiKey, Category, IdempotencyRecord, Order, Pet, Stock } from './entities';
import { IdempotencyService } from './idempotency';
import { InventoryController, InventoryService } from './inventory';
import { OrdersController, OrdersService } from './orders';
import { PetsController, PetsService } from './pets';
import { WindowStorage } from './window-storage';

// The service's work as Nest's documentation teaches it, chapter by chapter.

const ENTITIES = [ApiKey, Category, IdempotencyRecord, Order, Pet, Stock];
const ADDRESS_PER_MINUTE = 60;
const CLIENT_PER_MINUTE = 2_147_483_647;
const CLIENT_PER_DAY = 2_000_000_000;

function keyOf(context: ExecutionContext): string | undefined {
  return context.switchToHttp().getRequest<RequestWithKey>().headers['x-api-key'];
}

@SkipThrottle({ minute: true, day: true })
@Controller('health')
class HealthController {
  @Get('live')
  live(): { status: string } {
    return { status: 'ok' };
  }
}

@Module({
  imports: [
    TypeOrmModule.forRoot({
      type: 'postgres',
      url: process.env.DATABASE_URL,
      poolSize: Number(process.env.DATABASE_POOL),
      entities: ENTITIES,
      synchronize: false,
      parseInt8: true,
    }),
    TypeOrmModule.forFeature(ENTITIES),
    ThrottlerModule.forRoot({
      storage: new WindowStorage(),
      getTracker: ({ headers, ip }) => (headers as RequestWithKey['headers'])['x-api-key'] ?? String(ip),
      throttlers: [
        {
          name: 'minute',
          ttl: 60_000,
          limit: (context) => (keyOf(context) === undefined ? ADDRESS_PER_MINUTE : CLIENT_PER_MINUTE),
        },
        {
          name: 'day',
          ttl: 86_400_000,
          limit: CLIENT_PER_DAY,
          skipIf: (context) => keyOf(context) === undefined,
        },
      ],
    }),
  ],
  controllers: [
    HealthController,
    PetsController,
    CategoriesController,
    OrdersController,
    InventoryController,
  ],
  providers: [
    PetsService,
    OrdersService,
    InventoryService,
    IdempotencyService,
    ApiKeyGuard,
    { provide: APP_GUARD, useClass: ThrottlerGuard },
  ],
})
class AppModule {}

async function main(): Promise<void> {
  const app = await NestFactory.create(AppModule, new ExpressAdapter(), { logger: ['error', 'warn'] });
  app.useGlobalPipes(new ValidationPipe({ whitelist: true, forbidNonWhitelisted: true, transform: true }));
  await app.listen(Number(process.env.PORT), '127.0.0.1');
}

void main();
