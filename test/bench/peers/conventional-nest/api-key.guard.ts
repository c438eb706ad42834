import { createHash } from 'node:crypto';
import { type CanActivate, type ExecutionContext, Injectable, UnauthorizedException } from '@nestjs/common';
import { InjectRepository } from '@nestjs/typeorm';
import { IsNull, Repository } from 'typeorm';
import { ApiKey } from './entities';

export interface RequestWithKey {
  headers: Record<string, string | undefined>;
  ip: string;
  clientId?: number;
}

@Injectable()
export class ApiKeyGuard implements CanActivate {
  constructor(@InjectRepository(ApiKey) private readonly keys: Repository<ApiKey>) {}

  async canActivate(context: ExecutionContext): Promise<boolean> {
    const request = context.switchToHttp().getRequest<RequestWithKey>();
    const key = request.headers['x-api-key'];
    if (key === undefined) {
      throw new UnauthorizedException('Send your API key as X-API-Key.');
    }
    const digest = createHash('sha256').update(key).digest('base64url');
    const found = await this.keys.findOneBy({ digest, revokedAt: IsNull() });
    if (!found || (found.expiresAt && found.expiresAt.getTime() <= Date.now())) {
      throw new UnauthorizedException('The API key is not valid.');
    }
    request.clientId = found.clientId;
    return true;
  }
}
