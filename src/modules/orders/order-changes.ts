import { Injectable } from '@nestjs/common';
import { CommandExecutor, type Origin } from '#libs/commands';
import type { Precondition } from '#libs/http';
import { cancelOrder, updateOrder } from './change-order';
import type { OrderDto, OrderPatchDto } from './orders.dto';
import { OrdersService } from './orders.service';

/** Changes orders, for callers and operators. Reads the order first, because its pet is what gets locked. */
@Injectable()
export class OrderChanges {
  constructor(
    private readonly orders: OrdersService,
    private readonly commands: CommandExecutor,
  ) {}

  async update(
    id: number,
    patch: OrderPatchDto,
    precondition: Precondition,
    origin: Origin,
  ): Promise<OrderDto> {
    const order = await this.orders.get(id);
    return this.commands.run(updateOrder(order, patch, precondition), origin);
  }

  async cancel(id: number, precondition: Precondition, origin: Origin): Promise<void> {
    const order = await this.orders.get(id);
    await this.commands.run(cancelOrder(order, precondition), origin);
  }
}
