import {
  Body,
  ConflictException,
  Controller,
  Injectable,
  Post,
  UnprocessableEntityException,
  UseGuards,
} from '@nestjs/common';
import { DataSource } from 'typeorm';
import { ApiKeyGuard } from './api-key.guard';
import { CreateOrderDto } from './dto';
import { Order, Pet, Stock } from './entities';

@Injectable()
export class OrdersService {
  constructor(private readonly dataSource: DataSource) {}

  create(body: CreateOrderDto): Promise<Order> {
    const { petId, quantity } = body;
    return this.dataSource.transaction(async (manager) => {
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
        pet.status = 'pending';
        await manager.save(pet);
      }
      return manager.save(manager.create(Order, body));
    });
  }
}

@Controller('store/orders')
@UseGuards(ApiKeyGuard)
export class OrdersController {
  constructor(private readonly orders: OrdersService) {}

  @Post()
  async create(@Body() body: CreateOrderDto): Promise<Partial<Order>> {
    const { id, petId, quantity, shipDate, complete } = await this.orders.create(body);
    return { id, petId, quantity, shipDate: shipDate ?? undefined, complete };
  }
}
