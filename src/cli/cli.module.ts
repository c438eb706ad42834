import { Module } from '@nestjs/common';
import { CLIENT_COMMANDS } from './clients.command';
import { DB_COMMANDS } from './db.command';
import { KEY_COMMANDS } from './keys.command';
import { OpenapiCommand } from './openapi.command';
import { ServeCommand } from './serve.command';

/** All commands. They load what they need when they run, so that --help does not wait for it. */
@Module({ providers: [ServeCommand, ...CLIENT_COMMANDS, ...KEY_COMMANDS, ...DB_COMMANDS, OpenapiCommand] })
export class CliModule {}
