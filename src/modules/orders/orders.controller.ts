import { Body, Controller, Delete, Get, Patch, Post, Query } from '@nestjs/common';
import { ApiExtraModels } from '@nestjs/swagger';
import type { CallerId, CommandSource } from '#libs/database';
import { IdParam, Operation, Tag } from '#libs/http';
import { ClientId, ScopeByMethod } from '../auth';
import { InsufficientStockError, StockLimitExceededError } from '../inventory';
import { Source, SendsCommands } from '../writes';
import {
  ListOrdersQuery,
  NewOrderDto,
  OrderAlreadyCompleteError,
  OrderDto,
  OrderNotFoundError,
  OrderPatchDto,
  PetNotAvailableError,
  UnknownPetError,
} from './orders.dto';
import { OrdersService } from './orders.service';

const OrderId = () => IdParam('orderId', 'Identifier of the order (Order.id).');

const PLACED = { id: 1, petId: 1, quantity: 1, complete: false };

@Tag({ place: 30, name: 'Orders', description: 'Orders for pets.', parent: 'Store' })
@Controller('store/orders')
@ApiExtraModels(OrderDto)
@ScopeByMethod()
@SendsCommands()
export class OrdersController {
  constructor(private readonly orders: OrdersService) {}

  @Get()
  @Operation({
    id: 'listOrders',
    summary: 'List orders',
    description:
      'Returns a page of orders, sorted by id. `Link` leads to the next page. Cancelled orders are not included.',
    response: { description: 'One page of orders.', page: 'StoredOrder', example: [PLACED] },
    hideTryItPanel: true,
  })
  list(@Query() query: ListOrdersQuery, @ClientId() clientId: CallerId) {
    return this.orders.list(query, clientId);
  }

  @Post()
  @Operation({
    id: 'placeOrder',
    summary: 'Place an order',
    description:
      'The pet must be `available` and have enough units in stock. The order takes them immediately; when the last one is taken, the pet becomes `pending`, and `sold` once no order is open any more. `complete: true` places and fulfils the order in one step. Send an `Idempotency-Key` to make the request safe to retry.',
    response: {
      status: 201,
      description: 'The order was placed.',
      resource: 'StoredOrder',
      examples: {
        placed: { summary: 'One unit', value: PLACED },
        fulfilled: {
          summary: 'Sold over the counter',
          value: { ...PLACED, id: 2, petId: 3, complete: true },
        },
      },
    },
    errors: [UnknownPetError, PetNotAvailableError, InsufficientStockError],
    bodyExamples: {
      placed: { summary: 'One unit', value: { petId: 1 } },
      fulfilled: { summary: 'Sold over the counter', value: { petId: 3, complete: true } },
    },
  })
  place(@Body() body: NewOrderDto, @Source() source: CommandSource) {
    return this.orders.place(body, source);
  }

  @Get(':orderId')
  @Operation({
    id: 'getOrder',
    summary: 'Get an order',
    description:
      'Returns one order. Send its `ETag` as `If-Match` with a change, or as `If-None-Match` with the next read.',
    response: { description: 'The order.', resource: 'StoredOrder', example: PLACED },
    errors: [OrderNotFoundError],
  })
  get(@OrderId() orderId: number, @ClientId() clientId: CallerId) {
    return this.orders.get(orderId, clientId);
  }

  @Patch(':orderId')
  @Operation({
    id: 'updateOrder',
    summary: 'Update or complete an order',
    description:
      'A JSON Merge Patch (RFC 7396). `shipDate: null` removes the date. `complete: true` fulfils the order and is final. If nothing is left in stock and no order is open, the pet becomes `sold`.',
    response: {
      description: 'The updated order.',
      resource: 'StoredOrder',
      examples: {
        postponed: {
          summary: 'Change the ship date',
          value: { ...PLACED, shipDate: '2026-11-30T09:30:00.000Z' },
        },
        unscheduled: { summary: 'Remove the ship date', value: PLACED },
      },
    },
    errors: [OrderNotFoundError, OrderAlreadyCompleteError],
    stability: 'beta',
    bodyExamples: {
      postponed: { summary: 'Change the ship date', value: { shipDate: '2026-11-30T09:30:00Z' } },
      unscheduled: { summary: 'Remove the ship date', value: { shipDate: null } },
    },
  })
  update(@OrderId() orderId: number, @Body() body: OrderPatchDto, @Source() source: CommandSource) {
    return this.orders.update(orderId, body, source);
  }

  @Delete(':orderId')
  @Operation({
    id: 'cancelOrder',
    summary: 'Cancel an order',
    description:
      'Returns the units of an open order to the stock. If the stock was 0, the pet becomes `available` again. A pet that had units in stock keeps its status. A complete order cannot be cancelled.',
    errors: [OrderNotFoundError, OrderAlreadyCompleteError, StockLimitExceededError],
  })
  cancel(@OrderId() orderId: number, @Source() source: CommandSource) {
    return this.orders.cancel(orderId, source);
  }
}
