import { Module } from '@nestjs/common';
import { AccessGuard } from './access.guard';
import { AccessRules } from './access-rules';
import { ApiKeyGuard } from './api-key.guard';
import { Authenticator } from './authenticator';
import { AdministrationModule } from './administration.module';
import { KeyDirectory } from './key-directory';
import { KeyUse } from './key-use';

/** Who calls: clients, their keys, and the guards that ask for them. */
@Module({
  imports: [AdministrationModule],
  providers: [AccessRules, Authenticator, KeyDirectory, KeyUse, ApiKeyGuard, AccessGuard],
  exports: [AdministrationModule, Authenticator, KeyDirectory, ApiKeyGuard, AccessGuard],
})
export class AuthModule {}
