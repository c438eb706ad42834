import { Global, Module } from '@nestjs/common';
import { TypeOrmModule } from '@nestjs/typeorm';
import type { Feature } from '../../feature';
import { ApiKey, SCOPES } from './api-key.entity';
import { ApiKeyGuard } from './api-key.guard';
import { Authenticator } from './authenticator';
import { Client } from './client.entity';
import { ClientsService } from './clients.service';
import { KeyController } from './key.controller';

export { Access, API_KEY_SCHEME, BEARER_SCHEME, MISSING_KEY, ScopeByMethod } from './access-rules';
export { banEndOf, type ClientKey, describeKey, type Identity, type StoredBan } from './api-key';
export { type ApiKey, type Scope, SCOPES } from './api-key.entity';
export { ApiKeyGuard, assertMayCall, ClientId, apiKeyOf } from './api-key.guard';
export { Authenticator } from './authenticator';
export type { Client } from './client.entity';
export {
  CLIENT_DEPENDENTS,
  ClientRows,
  ClientsService,
  type IssuedKey,
  type KeyReference,
} from './clients.service';

@Global()
@Module({
  imports: [TypeOrmModule.forFeature([Client, ApiKey])],
  controllers: [KeyController],
  providers: [ApiKeyGuard, Authenticator, ClientsService],
  exports: [ApiKeyGuard, Authenticator, ClientsService],
})
class AuthModule {}

/** The commands `clients` and `keys` are in the quotas module, because they also show limits and bans. */
export const AUTH: Feature = {
  module: AuthModule,
  tables: [{ entity: Client }],
  schemas: {
    KeyScope: {
      type: 'string',
      enum: [...SCOPES],
      description: 'What a key may do: `read` (GET and HEAD) or `write` (all other methods).',
    },
  },
};
