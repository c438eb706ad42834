import { Module } from '@nestjs/common';
import { BanRegister } from './ban-register';

/** Bans for those who run the service; without the counting that requests need. */
@Module({ providers: [BanRegister], exports: [BanRegister] })
export class BansModule {}
