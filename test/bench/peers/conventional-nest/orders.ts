import {
  Body,
  ConflictException,
  Controller,
  Get,
  Injectable,
  NotFoundException,
  Param,
  ParseIntPipe,
  Post,
  Query,
  UnprocessableEntityException,
  UseGuards,
} from '@nestjs/common';
import { InjectRepository } from '@nestjs/typeorm';
import { MoreThan, Repository } from 'typeorm';
import { ApiKeyGuard } from './api-key.guard';
import { CreateOrderDto, PageDto } from './dto';
import { Order, Pet, Stock } from './entities';
import { IdempotencyService, IdempotencyUse, type Use } from './idempotency';

function answerOf({ id, petId, quantity, shipDate, complete }: Order): Partial<Order> {
  return { id, petId, quantity, shipDate: shipDate ?? undefined, complete };
}

@Injectable()
export class OrdersService {
  constructor(
    @InjectRepository(Order) private readonly orders: Repository<Order>,
    private readonly idempotency: IdempotencyService,
  ) {}

  async findAll({ limit, cursor }: PageDto): Promise<Partial<Order>[]> {
    const orders = await this.orders.find({
      where: { id: MoreThan(cursor) },
      order: { id: 'ASC' },
      take: limit,
    });
    return orders.map(answerOf);
  }

  async findOne(id: number): Promise<Partial<Order>> {
    const order = await this.orders.findOneBy({ id });
    if (!order) {
      throw new NotFoundException(`There is no order ${id}.`);
    }
    return answerOf(order);
  }

  create(body: CreateOrderDto, use: Use | undefined): Promise<Partial<Order>> {
    const { petId, quantity, complete } = body;
    return this.idempotency.run(use, async (manager) => {
      const pet = await manager.findOne(Pet, { where: { id: petId }, lock: { mode: 'pessimistic_write' } });
      if (!pet) {
        throw new UnprocessableEntityException(`There is no pet ${petId}.`);
      }
      const stock = await manager.findOneByOrFail(Stock, { petId });
      if (pet.status !== 'available' || stock.quantity < quantity) {
        throw new ConflictException('The pet is not available in that quantity.');
      }
      stock.quantity -= quantity;
      await manager.save(stock);
      if (stock.quantity === 0) {
        const open = await manager.countBy(Order, { petId, complete: false });
        pet.status = complete && open === 0 ? 'sold' : 'pending';
        await manager.save(pet);
      }
      return answerOf(await manager.save(manager.create(Order, body)));
    });
  }
}

@Controller('store/orders')
@UseGuards(ApiKeyGuard)
export class OrdersController {
  constructor(private readonly orders: OrdersService) {}

  @Get()
  findAll(@Query() query: PageDto): Promise<Partial<Order>[]> {
    return this.orders.findAll(query);
  }

  @Get(':id')
  findOne(@Param('id', ParseIntPipe) id: number): Promise<Partial<Order>> {
    return this.orders.findOne(id);
  }

  @Post()
  create(@Body() body: CreateOrderDto, @IdempotencyUse() use?: Use): Promise<Partial<Order>> {
    return this.orders.create(body, use);
  }
}
