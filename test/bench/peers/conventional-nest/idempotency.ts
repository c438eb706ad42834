import { createHash } from 'node:crypto';
import {
  type ExecutionContext,
  Injectable,
  UnprocessableEntityException,
  createParamDecorator,
} from '@nestjs/common';
import { DataSource, type EntityManager } from 'typeorm';
import type { RequestWithKey } from './api-key.guard';
import { IdempotencyRecord } from './entities';

/** One use of an Idempotency-Key. */
export interface Use {
  ownerId: number;
  key: string;
  fingerprint: string;
}

export const IdempotencyUse = createParamDecorator((_data, context: ExecutionContext): Use | undefined => {
  const request = context
    .switchToHttp()
    .getRequest<RequestWithKey & { method: string; url: string; body: unknown }>();
  const { method, url, body, headers, clientId } = request;
  const key = headers['idempotency-key'];
  const fingerprint = createHash('sha256')
    .update(`${method} ${url} ${JSON.stringify(body)}`)
    .digest('base64url');
  return key === undefined ? undefined : { ownerId: clientId!, key, fingerprint };
});

@Injectable()
export class IdempotencyService {
  constructor(private readonly dataSource: DataSource) {}

  /** Does the work in a transaction; with a key only once, and answers what was answered before. */
  run<Answer extends object>(
    use: Use | undefined,
    work: (manager: EntityManager) => Promise<Answer>,
  ): Promise<Answer> {
    return this.dataSource.transaction(async (manager) => {
      if (!use) {
        return work(manager);
      }
      const { ownerId, key, fingerprint } = use;
      const earlier = await manager.findOneBy(IdempotencyRecord, { ownerId, key });
      if (earlier && earlier.fingerprint !== fingerprint) {
        throw new UnprocessableEntityException('The Idempotency-Key belongs to another request.');
      }
      if (earlier) {
        return JSON.parse(earlier.body) as Answer;
      }
      const answer = await work(manager);
      await manager.insert(IdempotencyRecord, { ...use, status: 201, body: JSON.stringify(answer) });
      return answer;
    });
  }
}
