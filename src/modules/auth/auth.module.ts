import { Global, Module } from '@nestjs/common';
import { ApiKeyGuard } from './api-key.guard';
import { Authenticator } from './authenticator';
import { AdministrationModule } from './administration.module';
import { KeyController } from './key.controller';
import { KeyDirectory } from './key-directory';
import { KeyUse } from './key-use';

/** Authentication: clients, their keys, the guard, and `GET /key`. Global, so that any controller can use it. */
@Global()
@Module({
  imports: [AdministrationModule],
  controllers: [KeyController],
  providers: [Authenticator, KeyDirectory, KeyUse, ApiKeyGuard],
  exports: [AdministrationModule, Authenticator, KeyDirectory, ApiKeyGuard],
})
export class AuthModule {}
