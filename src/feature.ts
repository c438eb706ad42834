import type { Type } from '@nestjs/common';
import type { NestFastifyApplication } from '@nestjs/platform-fastify';
import type { SchemaObject } from '@nestjs/swagger';
import type { CommandRunner } from 'nest-commander';
import type { Registry } from 'prom-client';
import type { Entity, ExpiredRows, State, Transaction } from '#libs/database';
import type { Settings } from './settings';

/**
 * Everything that a folder of `src/modules` adds to the application. The folder's `index.ts` exports one Feature, so
 * deleting a feature means deleting its folder and its line in `features.ts`.
 */
export interface Feature {
  module: Type;
  /** The module that a command loads, if commands need less than a service. The default is `module`. */
  commandModule?: Type;
  /** Loads the feature's commands for operators, in the order of the help. A service never calls this function. */
  commands?: () => Promise<Type<CommandRunner>[]>;
  /** The tables that requests of callers change, parents before children, with the events that report the changes. */
  tables?: readonly ReportedTable[];
  /** Completes the settings of a service. Called when the database of the service is open. */
  prepare?(settings: Settings): Settings;
  /**
   * Returns the file that a copy of the store needs besides the database, for example the key that encrypts webhook
   * secrets.
   */
  copiedFile?(settings: Settings): CopiedFile | undefined;
  expired?: readonly ExpiredRows[];
  /** The data that the feature keeps for a client, and that ends when an operator deletes the client. */
  ofClient?: ClientDependent;
  schemas?: Record<string, SchemaObject>;
  metrics?: (app: NestFastifyApplication, registers: Registry[]) => void;
}

export interface ReportedTable {
  readonly entity: Entity;
  /** Returns the events that report a write. `state` contains the rows as they are after the write. */
  eventsOf?(state: State): ReportedEvent[];
}

export interface ReportedEvent {
  type: string;
  petId?: number;
  data: object;
}

export interface ClientDependent {
  end(transaction: Transaction, clientId: number): Promise<void>;
  /**
   * Returns a text for the operator about what still works for the client after one of its keys was revoked, for example
   * webhooks.
   */
  describeRemaining(reader: Transaction, client: { id: number; name: string }): Promise<string | undefined>;
}

/**
 * A file in the folder of an embedded database. The operator gets the hint if the store is copied to a database without a
 * folder.
 */
export type CopiedFile = Record<'path' | 'hint', string>;
