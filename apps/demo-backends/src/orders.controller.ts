import { Controller, Get, Header, HttpCode, Module, NotFoundException, Param, Post, Req } from '@nestjs/common';
import type { FastifyRequest } from 'fastify';
import { arrivalOf, type Arrival } from './arrival.js';

export interface Order {
  readonly id: string;
  readonly item: string;
  readonly status: 'accepted' | 'shipped';
}

const orders: readonly Order[] = [
  { id: '1', item: 'lock gate', status: 'shipped' },
  { id: '2', item: 'paddle gear', status: 'shipped' },
  { id: '3', item: 'mitre sill', status: 'accepted' },
];

/** The cheap backend: answers at once and keeps nothing. */
@Controller()
export class OrdersController {
  @Get('orders')
  @Header('x-backend', 'orders')
  list(@Req() request: FastifyRequest): { orders: readonly Order[]; arrived: Arrival } {
    return { orders, arrived: arrivalOf(request) };
  }

  /** @throws NotFoundException */
  @Get('orders/:id')
  @Header('x-backend', 'orders')
  one(@Param('id') id: string, @Req() request: FastifyRequest): { order: Order; arrived: Arrival } {
    const order = orders.find((candidate) => candidate.id === id);
    if (order === undefined) throw new NotFoundException('no such order');
    return { order, arrived: arrivalOf(request) };
  }

  /** Accepts anything. */
  @Post('orders')
  @Header('x-backend', 'orders')
  place(@Req() request: FastifyRequest): { order: Order; arrived: Arrival } {
    return { order: { id: String(orders.length + 1), item: 'as ordered', status: 'accepted' }, arrived: arrivalOf(request) };
  }

  /** Lets nobody in: it only has to be worth protecting. */
  @Post('login')
  @HttpCode(200)
  @Header('x-backend', 'orders')
  login(@Req() request: FastifyRequest): { welcome: false; arrived: Arrival } {
    return { welcome: false, arrived: arrivalOf(request) };
  }
}

@Module({ controllers: [OrdersController] })
export class OrdersModule {}
