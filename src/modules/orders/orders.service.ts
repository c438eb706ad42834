import { Injectable } from '@nestjs/common';
import { Database, RowReader } from '#libs/database';
import { type Page, idBefore, pageOf } from '#libs/paging';
import { orderListStatement } from './order-list-statement';
import { Order } from './order.entity';
import { type ListOrdersQuery, type OrderDto, toOrderDto } from './orders.dto';
import { OrderNotFoundError } from './orders.errors';

/** Reads of orders; what changes them has files of its own. */
@Injectable()
export class OrdersService {
  private readonly orders: RowReader<Order>;

  constructor(private readonly database: Database) {
    this.orders = new RowReader(database, Order);
  }

  async list({ limit, cursor, ...filters }: ListOrdersQuery): Promise<Page<OrderDto>> {
    const columns = this.database.table(Order).names;
    const statement = orderListStatement(columns, filters, idBefore(cursor), limit + 1);
    const rows = await this.database.rows(Order, statement);
    return pageOf(rows.map(toOrderDto), limit, ({ id }) => id);
  }

  async get(id: number): Promise<OrderDto> {
    const order = await this.orders.find(id);
    if (order?.cancelledAt !== null) {
      throw new OrderNotFoundError(id);
    }
    return toOrderDto(order);
  }
}
