import { Global, Module } from '@nestjs/common';
import { TypeOrmModule } from '@nestjs/typeorm';
import { ApiKey, Client } from './api-key.entity';
import { ApiKeyGuard, Authenticator, KeyDirectory } from './api-key.guard';
import { ClientsService } from './clients.service';
import { KeyController } from './key.controller';
import { KeysService } from './keys.service';

/** Clients and keys for operators, without the guards and the cache that requests need. */
@Module({
  imports: [TypeOrmModule.forFeature([Client, ApiKey])],
  providers: [ClientsService, KeysService],
  exports: [ClientsService, KeysService, TypeOrmModule],
})
export class ClientAdministrationModule {}

/** Authentication: clients, their keys, the guard, and `GET /key`. Global, so that any controller can use it. */
@Global()
@Module({
  imports: [ClientAdministrationModule],
  controllers: [KeyController],
  providers: [Authenticator, KeyDirectory, ApiKeyGuard],
  exports: [ClientAdministrationModule, Authenticator, ApiKeyGuard],
})
export class AuthModule {}
