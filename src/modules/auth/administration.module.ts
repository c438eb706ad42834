import { Module } from '@nestjs/common';
import { ClientsService } from './clients.service';
import { KeysService } from './keys.service';

/** Clients and keys for operators, without the guards and the cache that requests need. */
@Module({ providers: [ClientsService, KeysService], exports: [ClientsService, KeysService] })
export class AdministrationModule {}
