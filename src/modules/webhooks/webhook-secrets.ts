import { createCipheriv, createDecipheriv, randomBytes } from 'node:crypto';
import { existsSync, lstatSync, readFileSync, renameSync, writeFileSync } from 'node:fs';
import { join } from 'node:path';
import { Inject, Injectable, Logger, type OnModuleInit } from '@nestjs/common';
import { InjectRepository } from '@nestjs/typeorm';
import { Webhook as Signer } from 'standardwebhooks';
import { Repository } from 'typeorm';
import { OperatorActionNeededError } from '#libs/http';
import { OperatorError, StartError } from '#libs/messages';
import type { CompanionFile } from '../../feature';
import { SETTINGS } from '../../settings/settings';
import { WEBHOOK_KEY_BYTES, type WebhookSettings, webhookKeyIn } from './settings';
import { type StoredSecret, Webhook } from './webhook.entity';

const ALGORITHM = 'aes-256-gcm';
const IV_BYTES = 12;
const TAG_BYTES = 16;

const PREFIX = 'whsec_';
/** Standard Webhooks 1.0 allows secrets of 24 to 64 bytes. */
const SECRET_BYTES = 32;
const OVERLAP_MS = 24 * 3_600_000;
/** Maximum number of valid secrets of a webhook. Each valid secret adds a signature to every delivery. */
export const MAX_SECRETS = 5;

const KEY_FILE = 'webhook.key';
const NO_KEY =
  'WEBHOOK_KEY is not set. Without this key, which encrypts the secrets of webhooks, no webhook can be created and no webhook gets events. ' +
  'Set WEBHOOK_KEY to the same 32 random bytes on all instances: openssl rand -base64 32';

export function validSecrets(secrets: readonly StoredSecret[], now: Date): StoredSecret[] {
  return secrets.filter(({ until }) => until === null || Date.parse(until) > now.getTime());
}

/** Returns the secrets of a webhook with a new secret in front. The replaced secret stays valid for 24 hours. */
export function withNewSecret(secrets: readonly StoredSecret[], sealed: string, now: Date): StoredSecret[] {
  const until = new Date(now.getTime() + OVERLAP_MS).toISOString();
  const replaced = validSecrets(secrets, now).map((secret) => ({ ...secret, until: secret.until ?? until }));
  return [{ sealed, until: null }, ...replaced];
}

const boundTo = (webhookId: number): Buffer => Buffer.from(`webhook ${webhookId}`);

/** Encrypts secrets with a key that is not in the database. Each secret can only be decrypted for its own webhook. */
@Injectable()
export class SecretVault {
  /** Undefined if there is no key, and in commands, which need none. `WebhookKeyLoader` sets the key of a service. */
  key?: Buffer;

  /** Creates and encrypts a secret. @throws OperatorActionNeededError if WEBHOOK_KEY is not set */
  encryptNew(webhookId: number): string {
    const secret = PREFIX + randomBytes(SECRET_BYTES).toString('base64');
    const iv = randomBytes(IV_BYTES);
    const cipher = createCipheriv(ALGORITHM, this.requireKey(), iv).setAAD(boundTo(webhookId));
    const text = Buffer.concat([cipher.update(secret, 'utf8'), cipher.final()]);
    return Buffer.concat([iv, cipher.getAuthTag(), text]).toString('base64');
  }

  /** Decrypts a secret. @throws Error if the secret was encrypted with another key or for another webhook */
  decrypt(sealed: string, webhookId: number): string {
    const bytes = Buffer.from(sealed, 'base64');
    const iv = bytes.subarray(0, IV_BYTES);
    const decipher = createDecipheriv(ALGORITHM, this.requireKey(), iv, { authTagLength: TAG_BYTES })
      .setAAD(boundTo(webhookId))
      .setAuthTag(bytes.subarray(IV_BYTES, IV_BYTES + TAG_BYTES));
    return decipher.update(bytes.subarray(IV_BYTES + TAG_BYTES), undefined, 'utf8') + decipher.final('utf8');
  }

  /** Returns one signature for each valid secret, separated by spaces. Undefined if a secret cannot be decrypted. */
  sign(
    { secrets, webhookId, eventId }: { secrets: StoredSecret[]; webhookId: number; eventId: string },
    body: string,
    now: Date,
  ): string | undefined {
    try {
      const signers = validSecrets(secrets, now).map(
        ({ sealed }) => new Signer(this.decrypt(sealed, webhookId)),
      );
      return signers.map((signer) => signer.sign(eventId, now, body)).join(' ');
    } catch {
      // Do not log the error, which may contain the secret.
      return undefined;
    }
  }

  private requireKey(): Buffer {
    if (this.key === undefined) {
      throw new OperatorActionNeededError(NO_KEY);
    }
    return this.key;
  }
}

/**
 * Gives the key to the vault at startup, and checks that the key decrypts the secrets in the database, because all
 * instances must have the same key.
 */
@Injectable()
export class WebhookKeyLoader implements OnModuleInit {
  constructor(
    @Inject(SETTINGS) private readonly settings: WebhookSettings,
    @InjectRepository(Webhook) private readonly webhooks: Repository<Webhook>,
    private readonly vault: SecretVault,
  ) {}

  async onModuleInit(): Promise<void> {
    this.vault.key = webhookKeyOf(this.settings);
    if (this.vault.key === undefined) {
      new Logger('Webhooks').warn(NO_KEY);
      return;
    }
    const [newest] = await this.webhooks.find({ order: { id: 'DESC' }, take: 1 });
    try {
      newest?.secrets.forEach(({ sealed }) => this.vault.decrypt(sealed, newest.id));
    } catch {
      throw new OperatorError(
        'The webhook secrets in this database are encrypted with a different key than the one in WEBHOOK_KEY or webhook.key. ' +
          'All instances need the same key; docs/operations/runbooks.md says what to do if the key is lost.',
        'invalid_webhook_key',
      );
    }
  }
}

/**
 * Returns the path of the file with the webhook key. Returns undefined if the settings have a key or an external
 * database, because no file is used then.
 */
function keyFileOf({ webhookKey, databaseUrl, dataDirectory }: WebhookSettings): string | undefined {
  return webhookKey === undefined && databaseUrl === undefined ? join(dataDirectory, KEY_FILE) : undefined;
}

/** Returns the file with the webhook key, which `db copy` copies too. Returns undefined if there is no such file. */
export function webhookKeyFile(settings: WebhookSettings): CompanionFile | undefined {
  const path = keyFileOf(settings);
  const hint = `The secrets of webhooks are encrypted with the key in ${path}: set WEBHOOK_KEY to the content of that file.`;
  return path !== undefined && existsSync(path) ? { path, hint } : undefined;
}

/** Returns the key in the file, which is created if there is none. Returns undefined if the file holds no key. */
function keyIn(file: string): Buffer | undefined {
  // Use `lstat`, so that a link counts as a file even if its target is on a disk that is not mounted.
  if (lstatSync(file, { throwIfNoEntry: false }) === undefined) {
    const key = randomBytes(WEBHOOK_KEY_BYTES).toString('base64');
    // Write to a temporary file and rename it, so that an interrupted write never leaves an incomplete key.
    writeFileSync(`${file}.tmp`, `${key}\n`, { mode: 0o600, flush: true });
    renameSync(`${file}.tmp`, file);
  }
  return existsSync(file) ? webhookKeyIn(readFileSync(file, 'utf8').trim()) : undefined;
}

/**
 * Returns WEBHOOK_KEY or, if it is not set and the database is embedded, the key in a file, which is created at the first
 * start.
 */
export function webhookKeyOf(settings: WebhookSettings): Buffer | undefined {
  const file = keyFileOf(settings);
  if (file === undefined) {
    return settings.webhookKey;
  }
  let webhookKey: Buffer | undefined;
  try {
    webhookKey = keyIn(file);
  } catch (error) {
    const { message } = error as Error;
    throw new StartError(
      `${file} cannot be read or created: ${message}. Let this user read and write the folder, or restore the file from a backup.`,
    );
  }
  if (webhookKey === undefined) {
    throw new StartError(
      `${file} does not hold a key of ${WEBHOOK_KEY_BYTES} bytes in base64. Restore it from a backup.`,
    );
  }
  return webhookKey;
}
