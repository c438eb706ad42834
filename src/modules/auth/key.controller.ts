import { Controller, Get, Req } from '@nestjs/common';
import { ApiTags } from '@nestjs/swagger';
import type { FastifyRequest } from 'fastify';
import { Operation } from '#libs/http';
import { Access } from './access-rules';
import { apiKeyOf } from './api-key.guard';
import { KeyDto, toKeyDto } from './key.dto';

@ApiTags('Account')
@Controller('key')
export class KeyController {
  @Get()
  @Access('any key')
  @Operation({
    id: 'getKey',
    summary: 'Get your API key',
    description:
      'Describes the API key that you send: its client and plan, its scopes, and when it expires. The response never contains the key itself. The operation needs no scope.',
    response: { description: 'Your API key.', body: KeyDto },
    stability: 'beta',
  })
  getKey(@Req() request: FastifyRequest): KeyDto {
    return toKeyDto(apiKeyOf(request));
  }
}
