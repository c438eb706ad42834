import { createCipheriv, createDecipheriv, hash, randomBytes } from 'node:crypto';
import { ServiceUnavailableError } from '#libs/http';

const ALGORITHM = 'aes-256-gcm';
const IV_BYTES = 12;
const TAG_BYTES = 16;

/**
 * Encrypts signing secrets with a key that is not in the database, so that a leaked table is useless. Each secret is bound
 * to its webhook and cannot be decrypted for another one.
 */
export class SecretVault {
  /** @param key 32 bytes; without a key, nothing can be sealed or opened */
  constructor(private readonly key: Buffer | undefined) {}

  /** Prefix of everything sealed with this key. Identifies the key without revealing it. Undefined without a key. */
  get fingerprint(): string | undefined {
    return (
      this.key && hash('sha256', Buffer.concat([Buffer.from('petstore webhook key '), this.key])).slice(0, 16)
    );
  }

  /** @throws ApiError 503 without a key */
  seal(secret: string, webhookId: number): string {
    const iv = randomBytes(IV_BYTES);
    const cipher = createCipheriv(ALGORITHM, this.requireKey(), iv).setAAD(boundTo(webhookId));
    const text = Buffer.concat([cipher.update(secret, 'utf8'), cipher.final()]);
    const bytes = Buffer.concat([iv, cipher.getAuthTag(), text]);
    return `${this.fingerprint}.${bytes.toString('base64')}`;
  }

  /** @throws Error if it was sealed with another key or for another webhook; the message does not contain the secret */
  open(sealed: string, webhookId: number): string {
    const bytes = Buffer.from(sealed.split('.')[1] ?? '', 'base64');
    const iv = bytes.subarray(0, IV_BYTES);
    const decipher = createDecipheriv(ALGORITHM, this.requireKey(), iv, { authTagLength: TAG_BYTES })
      .setAAD(boundTo(webhookId))
      .setAuthTag(bytes.subarray(IV_BYTES, IV_BYTES + TAG_BYTES));
    return decipher.update(bytes.subarray(IV_BYTES + TAG_BYTES), undefined, 'utf8') + decipher.final('utf8');
  }

  private requireKey(): Buffer {
    if (this.key === undefined) {
      throw new ServiceUnavailableError();
    }
    return this.key;
  }
}

function boundTo(webhookId: number): Buffer {
  return Buffer.from(`webhook ${webhookId}`);
}
