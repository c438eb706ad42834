import { Module } from '@nestjs/common';
import { AccessGuard } from './access.guard';
import { AccessRules } from './access-rules';
import { ApiKeyGuard } from './api-key.guard';
import { Authenticator } from './authenticator';
import { AdministrationModule } from './administration.module';
import { KeyController } from './key.controller';
import { KeyDirectory } from './key-directory';
import { KeyUse } from './key-use';

/** Who calls: clients, their keys, the guards that ask for them, and `GET /key`. */
@Module({
  imports: [AdministrationModule],
  controllers: [KeyController],
  providers: [AccessRules, Authenticator, KeyDirectory, KeyUse, ApiKeyGuard, AccessGuard],
  exports: [AdministrationModule, Authenticator, KeyDirectory, ApiKeyGuard, AccessGuard],
})
export class AuthModule {}
