import type { Type } from '@nestjs/common';
import type { NestFastifyApplication } from '@nestjs/platform-fastify';
import type { SchemaObject } from '@nestjs/swagger';
import type { CommandRunner } from 'nest-commander';
import type { Registry } from 'prom-client';
import type { Entity, ExpiredRows, State, Transaction } from '#libs/database';
import type { Settings } from './settings';

/**
 * Everything that a folder of `src/modules` adds to the application. Each folder exports one Feature in its `index.ts`, so a
 * feature can be removed with its folder and its line in `features.ts`.
 */
export interface Feature {
  module: Type;
  /** The module to load for commands, without parts that only the HTTP service needs. Default: `module`. */
  commandModule?: Type;
  /** Loads the commands for operators, in the order of the help. The HTTP service never loads the commands. */
  commands?: () => Promise<Type<CommandRunner>[]>;
  /** Tables that requests can change, with the events that report the changes. Parents come before the children that refer to them. */
  tables?: readonly ReportedTable[];
  /** Completes the settings of the HTTP service. Called when the database is open. */
  prepare?(settings: Settings): Settings;
  /** Returns a file that a copy of the store needs besides the database, for example the key for webhook secrets. */
  copiedFile?(settings: Settings): CopiedFile | undefined;
  expired?: readonly ExpiredRows[];
  /** What the feature does when a client is deleted or one of its keys is revoked. */
  ofClient?: ClientDependent;
  schemas?: Record<string, SchemaObject>;
  metrics?: (app: NestFastifyApplication, registers: Registry[]) => void;
}

export interface ReportedTable {
  readonly entity: Entity;
  /** Returns events for the changes of a command. `state` contains the rows after the changes. */
  eventsOf?(state: State): ReportedEvent[];
}

export interface ReportedEvent {
  type: string;
  petId?: number;
  data: object;
}

export interface ClientDependent {
  end(transaction: Transaction, clientId: number): Promise<void>;
  /** Describes to the operator what still works for a client after one of its keys was revoked, for example webhooks. */
  describeRemaining(reader: Transaction, client: { id: number; name: string }): Promise<string | undefined>;
}

/**
 * A file in the folder of an embedded database. If the store is copied to an external database, the file cannot be copied, and
 * `hint` tells the operator what to do.
 */
export type CopiedFile = Record<'path' | 'hint', string>;
