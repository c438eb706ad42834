import { Injectable } from '@nestjs/common';
import { type Command, CommandExecutor } from '#libs/database';
import { Precondition } from '#libs/http';
import { AuditTrail, type OrderAction } from '../audit';
import { cancelOrder, updateOrder } from './change-order';
import { Order } from './order.entity';
import type { OrderDto } from './orders.dto';
import { OrdersService } from './orders.service';

/** Operators are not a client. */
const BY_OPERATOR = { owner: 0, status: 200 };

/** Changes of orders by operators: by the rules of the API, and recorded in the audit log. */
@Injectable()
export class OrderAdministration {
  constructor(
    private readonly orders: OrdersService,
    private readonly commands: CommandExecutor,
    private readonly trail: AuditTrail,
  ) {}

  /** Records nothing if the order is complete already. */
  async complete(id: number): Promise<OrderDto> {
    const order = await this.orders.get(id);
    const command = updateOrder(order, { complete: true }, Precondition.NONE);
    return this.commands.run(this.recorded(order, command, 'order.completed'), BY_OPERATOR);
  }

  /** @param order as it was read before */
  async cancel(order: OrderDto): Promise<void> {
    const command = cancelOrder(order, Precondition.NONE);
    await this.commands.run(this.recorded(order, command, 'order.cancelled'), BY_OPERATOR);
  }

  private recorded<Answer>(
    { id: orderId, petId, quantity }: OrderDto,
    command: Command<Answer>,
    action: OrderAction,
  ): Command<Answer> {
    return {
      ...command,
      decide: (state) => {
        const before = state.find(Order, orderId);
        const answer = command.decide(state);
        if (state.find(Order, orderId) !== before) {
          void this.trail.record(state, { action, details: { orderId, petId, quantity } });
        }
        return answer;
      },
    };
  }
}
