import { Controller, Get, Req } from '@nestjs/common';
import { ApiTags } from '@nestjs/swagger';
import type { FastifyRequest } from 'fastify';
import { Operation } from '#libs/http';
import { RequiresKey } from './auth.decorators';
import type { KeyHolder } from './caller';
import { KeyDto } from './key.dto';

const KEY: KeyDto = {
  id: 1,
  endsWith: 'x7Qa',
  client: 'acme',
  plan: 'free',
  scopes: ['read', 'write'],
  createdAt: '2026-11-01T08:00:00.000Z',
};
const ROTATED: KeyDto = {
  ...KEY,
  expiresAt: '2026-11-22T09:30:00.000Z',
  overlapEndsAt: '2026-11-22T09:30:00.000Z',
};

@ApiTags('Account')
@Controller('key')
export class KeyController {
  @Get()
  @RequiresKey()
  @Operation({
    id: 'getKey',
    summary: 'Get your API key',
    description:
      'Describes the API key that you send: its client and plan, its scopes, and when it expires. Never the key itself. Any valid key may call it, whatever its scopes.',
    response: {
      description: 'Your API key.',
      type: KeyDto,
      examples: {
        valid: { summary: 'Key without an expiry date', value: KEY },
        rotated: { summary: 'Key that has been replaced by a new one', value: ROTATED },
      },
    },
    stability: 'beta',
  })
  getKey(@Req() request: FastifyRequest): KeyDto {
    // ApiKeyGuard has checked that there is a valid key.
    return toDto(request.caller!.holder!);
  }
}

function toDto({ keyId, clientName, expiresAt, overlapEndsAt, ...holder }: KeyHolder): KeyDto {
  return {
    id: keyId,
    endsWith: holder.last4,
    client: clientName,
    plan: holder.plan,
    scopes: holder.scopes,
    createdAt: new Date(holder.createdAt).toISOString(),
    ...(expiresAt === Infinity ? {} : { expiresAt: new Date(expiresAt).toISOString() }),
    ...(overlapEndsAt === null ? {} : { overlapEndsAt: new Date(overlapEndsAt).toISOString() }),
  };
}
