import type { Type } from '@nestjs/common';
import type { NestFastifyApplication } from '@nestjs/platform-fastify';
import type { SchemaObject } from '@nestjs/swagger';
import type { CommandRunner } from 'nest-commander';
import type { Registry } from 'prom-client';
import type { Entity, ExpiredRows, State, Transaction } from '#libs/database';
import type { Settings } from './settings/settings';

/**
 * Everything that a folder of `src/modules` adds to the application. The folder declares all of this itself, so that a
 * feature can be removed with its folder. Features that the pipeline or the seed names cannot be removed like this.
 */
export interface Feature {
  module: Type;
  /** The module to load for the command line. Default: `module`. */
  cliModule?: Type;
  /** Loads the commands of the command line, in the order of the help. */
  cliCommands?: () => Promise<Type<CommandRunner>[]>;
  /** Tables that requests can change. Parents come before the children that refer to them. */
  tables?: readonly WrittenTable[];
  /**
   * Returns a file without which a copy of the database would be incomplete, for example the file with the key for
   * webhook secrets. Returns undefined if there is no such file.
   */
  companionFile?(settings: Settings): CompanionFile | undefined;
  expiredRows?: readonly ExpiredRows[];
  clientDependent?: ClientDependent;
  schemas?: Record<string, SchemaObject>;
  /** Adds metrics. The `collect` of a metric must not fail, because the scrape would then have no metric at all. */
  metrics?: (app: NestFastifyApplication, registers: Registry[]) => void;
}

export interface WrittenTable {
  readonly entity: Entity;
  /** Returns events for the changes of one write. `state` contains the rows after the changes. */
  eventsOf?(state: State): ReportedEvent[];
}

export interface ReportedEvent {
  type: string;
  petId?: number;
  data: object;
}

export interface ClientDependent {
  /** Deletes the rows of this feature that belong to a client, when the client is deleted. */
  deleteRowsOf(transaction: Transaction, clientId: number): Promise<void>;
  /** Describes to the operator what still works after a key was revoked, for example webhooks. */
  describeRemaining(reader: Transaction, client: { id: number; name: string }): Promise<string | undefined>;
}

/**
 * A file beside an embedded database without which the content of the database cannot be used. If `db copy` copies the
 * database to a folder, the file is copied into this folder. If `db copy` copies to another database, the operator has
 * to do something with the file, which `hint` describes.
 */
export type CompanionFile = Record<'path' | 'hint', string>;
