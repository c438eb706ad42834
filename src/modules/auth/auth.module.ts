import { Module } from '@nestjs/common';
import { ApiKeyGuard } from './api-key.guard';
import { Authenticator } from './authenticator';
import { AdministrationModule } from './administration.module';
import { KeyDirectory } from './key-directory';
import { KeyUse } from './key-use';

/** Who calls: clients, their keys, and the guard that asks for them. */
@Module({
  imports: [AdministrationModule],
  providers: [Authenticator, KeyDirectory, KeyUse, ApiKeyGuard],
  exports: [AdministrationModule, Authenticator, KeyDirectory, ApiKeyGuard],
})
export class AuthModule {}
