import { ForbiddenException, Injectable, UnauthorizedException, type CanActivate, type ExecutionContext } from '@nestjs/common';
import type { FastifyRequest } from 'fastify';
import { createHash, timingSafeEqual } from 'node:crypto';
import { GatewayEnv } from '../gateway.env.js';

const sha256 = (text: string): Buffer => createHash('sha256').update(text).digest();

/** Lets pass who shows `Authorization: Bearer ADMIN_TOKEN`; without a token set, nobody. */
@Injectable()
export class AdminTokenGuard implements CanActivate {
  constructor(private readonly env: GatewayEnv) {}

  canActivate(context: ExecutionContext): boolean {
    const expected = this.env.ADMIN_TOKEN;
    if (expected === undefined) throw new ForbiddenException('Set ADMIN_TOKEN to use this.');
    const shown = context.switchToHttp().getRequest<FastifyRequest>().headers.authorization ?? '';
    // Digests have one length, so the comparison tells nothing about the token.
    if (!timingSafeEqual(sha256(shown), sha256(`Bearer ${expected}`)))
      throw new UnauthorizedException('The admin token is missing or wrong.');
    return true;
  }
}
