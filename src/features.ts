import type { Type } from '@nestjs/common';
import type { NestFastifyApplication } from '@nestjs/platform-fastify';
import type { SchemaObject } from '@nestjs/swagger';
import type { CommandRunner } from 'nest-commander';
import type { Registry } from 'prom-client';
import type { ExpiredRows } from '#libs/database';
import { AUDIT } from './modules/audit';
import { AUTH, type ClientDependent } from './modules/auth';
import { CATALOGUE } from './modules/catalogue';
import { CATEGORIES } from './modules/categories';
import { DEPRECATIONS } from './modules/deprecations';
import { EVENTS, type ReportedTable } from './modules/events';
import { IDEMPOTENCY } from './modules/idempotency';
import { INVENTORY } from './modules/inventory';
import { ORDERS } from './modules/orders';
import { PETS } from './modules/pets';
import { QUOTAS } from './modules/quotas';
import { WEBHOOKS } from './modules/webhooks';
import type { Settings } from './settings';

/** A file in the folder of an embedded database, and a hint for the operator, if the copy has no folder. */
export type CopiedFile = Record<'path' | 'hint', string>;

/**
 * What a folder of `src/modules` adds to the application; its `index.ts` exports one. The assembly asks each for everything
 * that it adds, so to delete a feature is to delete its folder and its line below.
 */
export interface Feature {
  module: Type;
  /** Its part of a command, without what only requests need. By default the same. */
  commandModule?: Type;
  /** The commands of its operators, in the order of the help. Loaded by the command line only. */
  commands?: () => Promise<Type<CommandRunner>[]>;
  /** Tables whose rows the commands of callers change, parents before children, and the events that report the changes. */
  tables?: readonly ReportedTable[];
  /** Completes the settings of a service, once its database is open. */
  prepare?: (settings: Settings) => Settings;
  /** The file that a copy of the store needs as well, if there is one. */
  copiedFile?: (settings: Settings) => CopiedFile | undefined;
  expired?: readonly ExpiredRows[];
  /** What it has of a client, where one is deleted or loses a key. */
  ofClient?: ClientDependent;
  /** Schemas of the OpenAPI document that belong to no class, by name. */
  schemas?: Record<string, SchemaObject>;
  metrics?: (app: NestFastifyApplication, registers: Registry[]) => void;
}

/** Rows are locked and written in this order, parents before children, and reported in the reverse one. The help has it, too. */
export const FEATURES: readonly Feature[] = [
  AUTH,
  QUOTAS,
  CATEGORIES,
  PETS,
  INVENTORY,
  ORDERS,
  EVENTS,
  WEBHOOKS,
  CATALOGUE,
  DEPRECATIONS,
  AUDIT,
  IDEMPOTENCY,
];
