import { Body, Controller, Delete, Get, Patch, Post, Query } from '@nestjs/common';
import { ApiTags } from '@nestjs/swagger';
import { CommandExecutor, Idempotent, type Origin, SentBy } from '#libs/commands';
import { Created, IfMatch, Precondition, SingleResource } from '#libs/http';
import { Operation } from '#libs/openapi';
import { MAX_PAGE_SIZE, Paged, type Page } from '#libs/paging';
import { BodyExamples, IdParam } from '#libs/validation';
import { RequiresScope } from '../auth';
import { InsufficientStockError } from '../inventory';
import { cancelOrder, updateOrder } from './change-order';
import { ListOrdersQuery, NewOrderDto, OrderDto, OrderPatchDto, toOrderDto } from './orders.dto';
import {
  OrderAlreadyCompleteError,
  OrderNotFoundError,
  PetNotAvailableError,
  UnknownPetError,
} from './orders.errors';
import { OrdersService } from './orders.service';
import { placeOrder } from './place-order';

const EXAMPLE: OrderDto = {
  id: 1,
  petId: 1,
  quantity: 1,
  shipDate: '2026-11-24T09:30:00.000Z',
  complete: false,
};
const ORDER_ID = 'Identifier of the order (Order.id).';

@ApiTags('Orders')
@Controller('store/orders')
export class OrdersController {
  constructor(
    private readonly orders: OrdersService,
    private readonly commands: CommandExecutor,
  ) {}

  @Get()
  @RequiresScope('read')
  @Paged()
  @Operation({
    id: 'listOrders',
    summary: 'List orders',
    description:
      'Orders in ascending id, a page at a time: the next one is where `Link` with `rel="next"` says. Cancelled orders are not among them.',
    answer: {
      description: 'One page of orders.',
      type: OrderDto,
      maxItems: MAX_PAGE_SIZE,
      example: [EXAMPLE],
    },
    hideTryItPanel: true,
  })
  async list(@Query() query: ListOrdersQuery): Promise<Page<OrderDto>> {
    const page = await this.orders.list(query);
    return { ...page, entries: page.entries.map(toOrderDto) };
  }

  @Post()
  @RequiresScope('write')
  @Idempotent()
  @Created('/store/orders')
  @SingleResource()
  @Operation({
    id: 'placeOrder',
    summary: 'Place an order',
    description:
      'The pet has to be `available`, with enough units in stock, and the order takes them at once. When the last one is taken the pet becomes `pending`. With `complete: true` the order is fulfilled in the same step. Send an `Idempotency-Key` to be able to retry without a second order.',
    answer: { status: 201, description: 'The order was placed.', type: OrderDto, example: EXAMPLE },
    errors: [UnknownPetError, PetNotAvailableError, InsufficientStockError],
  })
  @BodyExamples(NewOrderDto, {
    single: { summary: 'One unit', value: { petId: 1 } },
    scheduled: {
      summary: 'Two units, to be shipped on a day',
      value: { petId: 1, quantity: 2, shipDate: '2026-11-24T09:30:00Z' },
    },
    fulfilled: { summary: 'Sold over the counter', value: { petId: 1, complete: true } },
  })
  place(@Body() body: NewOrderDto, @SentBy() origin: Origin): Promise<OrderDto> {
    return this.commands.run(placeOrder(body), origin);
  }

  @Get(':orderId')
  @RequiresScope('read')
  @SingleResource()
  @Operation({
    id: 'getOrder',
    summary: 'Get an order',
    description:
      'One order by its id. Its `ETag` is what `If-Match` takes in a change, and `If-None-Match` in the next read.',
    answer: { description: 'The order.', type: OrderDto, example: EXAMPLE },
    errors: [OrderNotFoundError],
  })
  async get(@IdParam('orderId', ORDER_ID) orderId: number): Promise<OrderDto> {
    return toOrderDto(await this.orders.get(orderId));
  }

  @Patch(':orderId')
  @RequiresScope('write')
  @SingleResource()
  @Operation({
    id: 'updateOrder',
    summary: 'Change or complete an order',
    description:
      'A JSON Merge Patch (RFC 7396): `shipDate: null` removes the date, `complete: true` fulfils the order, which is final. When nothing is left in stock and no order is open, the pet becomes `sold`.',
    answer: {
      description: 'The order as it is now.',
      type: OrderDto,
      example: { ...EXAMPLE, complete: true },
    },
    errors: [OrderNotFoundError, OrderAlreadyCompleteError],
    stability: 'beta',
  })
  @BodyExamples(OrderPatchDto, {
    fulfilled: { summary: 'Fulfil the order', value: { complete: true } },
    postponed: { summary: 'Another ship date', value: { shipDate: '2026-11-30T09:30:00Z' } },
    unscheduled: { summary: 'No ship date any more', value: { shipDate: null } },
  })
  async update(
    @IdParam('orderId', ORDER_ID) orderId: number,
    @Body() body: OrderPatchDto,
    @IfMatch() precondition: Precondition,
    @SentBy() origin: Origin,
  ): Promise<OrderDto> {
    const order = await this.orders.get(orderId);
    return this.commands.run(updateOrder(order, body, precondition), origin);
  }

  @Delete(':orderId')
  @RequiresScope('write')
  @Operation({
    id: 'cancelOrder',
    summary: 'Cancel an order',
    description:
      'Gives the units of an open order back to the stock, and a `pending` pet becomes `available` again. A complete order cannot be cancelled.',
    answer: { status: 204, description: 'The order is cancelled.' },
    errors: [OrderNotFoundError, OrderAlreadyCompleteError],
  })
  async cancel(
    @IdParam('orderId', ORDER_ID) orderId: number,
    @IfMatch() precondition: Precondition,
    @SentBy() origin: Origin,
  ): Promise<void> {
    const order = await this.orders.get(orderId);
    await this.commands.run(cancelOrder(order, precondition), origin);
  }
}
