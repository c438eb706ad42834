import { Module } from '@nestjs/common';
import { AccessGuard } from './access.guard';
import { AccessRules } from './access-rules';
import { ApiKeyGuard } from './api-key.guard';
import { Authenticator } from './authenticator';
import { ClientsService } from './clients.service';
import { KeyDirectory } from './key-directory';
import { KeyUse } from './key-use';
import { KeysService } from './keys.service';

/** Who calls: clients, their keys, and the guards that ask for them. */
@Module({
  providers: [
    AccessRules,
    Authenticator,
    KeyDirectory,
    KeyUse,
    ApiKeyGuard,
    AccessGuard,
    ClientsService,
    KeysService,
  ],
  exports: [Authenticator, KeyDirectory, ApiKeyGuard, AccessGuard, ClientsService, KeysService],
})
export class AuthModule {}
