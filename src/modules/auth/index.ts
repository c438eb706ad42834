import { Global, Module } from '@nestjs/common';
import { TypeOrmModule } from '@nestjs/typeorm';
import type { Feature } from '../../feature';
import { ApiKey, Client, SCOPES } from './api-key.entity';
import { ApiKeyGuard } from './api-key.guard';
import { Authenticator } from './authenticator';
import { ClientsService } from './clients.service';
import { KeyController } from './key.controller';

export { Access, API_KEY_SCHEME, BEARER_SCHEME, MissingApiKeyError, ScopeByMethod } from './access-rules';
export { banEndOf, type ClientKey, describeKey, type Identity } from './api-key';
export { type Scope, SCOPES } from './api-key.entity';
export { ApiKeyGuard, assertMayCall, ClientId, keyOf } from './api-key.guard';
export { Authenticator } from './authenticator';
export {
  CLIENT_DEPENDENTS,
  ClientOperations,
  ClientsService,
  type IssuedKey,
  type KeyReference,
} from './clients.service';
export { keyInEnvironment, serviceUnreachable, RunningService, URL_OPTION } from './running-service';

@Module({
  imports: [TypeOrmModule.forFeature([Client, ApiKey])],
  providers: [ClientsService],
  exports: [ClientsService, TypeOrmModule],
})
export class ClientAdministrationModule {}

@Global()
@Module({
  imports: [ClientAdministrationModule],
  controllers: [KeyController],
  providers: [Authenticator, ApiKeyGuard],
  exports: [ClientAdministrationModule, Authenticator, ApiKeyGuard],
})
export class AuthModule {}

export const AUTH: Feature = {
  module: AuthModule,
  commandModule: ClientAdministrationModule,
  tables: [{ entity: Client }],
  schemas: {
    KeyScope: {
      type: 'string',
      enum: [...SCOPES],
      description: 'What a key may do: `read` (GET and HEAD) or `write` (all other methods).',
    },
  },
};
