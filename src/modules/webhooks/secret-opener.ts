import { type CallHandler, type ExecutionContext, Injectable, type NestInterceptor } from '@nestjs/common';
import type { FastifyReply } from 'fastify';
import { type Observable, map } from 'rxjs';
import { UnavailableError } from '#libs/http';
import { SecretVault } from './webhook-secrets';
import type { WebhookWithSecretDto } from './webhooks.dto';

/**
 * Opens the secret in a response on its way out. Before, it is sealed wherever the response stands: with an Idempotency-Key it is
 * kept as it is, and a replay comes this way as well.
 */
@Injectable()
export class SecretOpener implements NestInterceptor<WebhookWithSecretDto, WebhookWithSecretDto> {
  constructor(private readonly vault: SecretVault) {}

  intercept(
    context: ExecutionContext,
    next: CallHandler<WebhookWithSecretDto>,
  ): Observable<WebhookWithSecretDto> {
    const reply = context.switchToHttp().getResponse<FastifyReply>();
    return next.handle().pipe(map((webhook) => ({ ...webhook, secret: this.opened(webhook, reply) })));
  }

  /** @throws UnavailableError if it was sealed with another key than the present one */
  private opened({ id, secret }: WebhookWithSecretDto, reply: FastifyReply): string {
    try {
      return this.vault.open(secret, id);
    } catch {
      void reply.removeHeader('Idempotent-Replayed');
      throw new UnavailableError(
        'A kept response has the secret of a webhook, sealed with another WEBHOOK_KEY.',
      );
    }
  }
}
