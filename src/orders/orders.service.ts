import { Injectable } from '@nestjs/common';
import { IsNull, MoreThan } from 'typeorm';
import { Database } from '#libs/database';
import { type Page, idBefore, pageOf } from '#libs/paging';
import { Order } from './order.entity';
import type { ListOrdersQuery } from './orders.dto';
import { OrderNotFoundError } from './orders.errors';

/** Reads of orders; what changes them has files of its own. */
@Injectable()
export class OrdersService {
  constructor(private readonly database: Database) {}

  async list({ petId, complete, limit, cursor }: ListOrdersQuery): Promise<Page<Order>> {
    const rows = await this.database.reader.find(Order, {
      where: {
        id: MoreThan(idBefore(cursor)),
        cancelledAt: IsNull(),
        ...(petId === undefined ? {} : { petId }),
        ...(complete === undefined ? {} : { complete }),
      },
      order: { id: 'ASC' },
      take: limit + 1,
    });
    return pageOf(rows, limit, ({ id }) => id);
  }

  async get(id: number): Promise<Order> {
    const order = await this.database.reader.findOneBy(Order, { id, cancelledAt: IsNull() });
    if (!order) {
      throw new OrderNotFoundError(id);
    }
    return order;
  }
}
