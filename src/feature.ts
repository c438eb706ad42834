import type { Type } from '@nestjs/common';
import type { NestFastifyApplication } from '@nestjs/platform-fastify';
import type { SchemaObject } from '@nestjs/swagger';
import type { CommandRunner } from 'nest-commander';
import type { Registry } from 'prom-client';
import type { Entity, ExpiredRows, State, Transaction } from '#libs/database';
import type { Settings } from './settings';

/**
 * What a folder of `src/modules` adds to the application; the folder's `index.ts` exports one Feature. The assembly asks each
 * Feature for everything that the folder adds, so deleting a feature means deleting its folder and its line in `features.ts`.
 */
export interface Feature {
  module: Type;
  /** The module that a command loads, if a command needs less than a service. By default `module`. */
  commandModule?: Type;
  /** The commands for operators, in the order of the help. Only the command line loads them. */
  commands?: () => Promise<Type<CommandRunner>[]>;
  /** Tables whose rows the commands of callers change, parents before children, and the events that report the changes. */
  tables?: readonly ReportedTable[];
  /** Completes the settings of a service, once its database is open. */
  prepare?: (settings: Settings) => Settings;
  /** The file that a copy of the store needs as well, if there is one. */
  copiedFile?: (settings: Settings) => CopiedFile | undefined;
  expired?: readonly ExpiredRows[];
  /** What the feature keeps for a client, and ends when an operator deletes the client. */
  ofClient?: ClientDependent;
  /** Schemas of the OpenAPI document that belong to no class, by name. */
  schemas?: Record<string, SchemaObject>;
  metrics?: (app: NestFastifyApplication, registers: Registry[]) => void;
}

/** A table whose rows commands change. */
export interface ReportedTable {
  /** Absent if the feature reports rows of another feature's table as a resource of its own. */
  readonly entity?: Entity;
  /** Returns the events that report what a command did. The state is the one after the command. */
  eventsOf?(state: State): ReportedEvent[];
}

export interface ReportedEvent {
  type: string;
  petId?: number;
  data: object;
}

/** What a feature keeps for a client. */
export interface ClientDependent {
  /** Ends what the feature keeps, in the transaction that deletes the client. */
  end(transaction: Transaction, clientId: number): Promise<void>;
  /** Describes to the operator what continues to work for the client after one of its keys was revoked. */
  describeRemaining(reader: Transaction, client: { id: number; name: string }): Promise<string | undefined>;
}

/** A file in the folder of an embedded database, and a hint for the operator, if the copy has no folder. */
export type CopiedFile = Record<'path' | 'hint', string>;
