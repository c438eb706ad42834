import { ApiProperty, ApiSchema } from '@nestjs/swagger';
import { Id, Text, Timestamp } from '#libs/http';
import type { ClientKey } from './api-key';
import { type Scope, SCOPES } from './api-key.entity';

@ApiSchema({ name: 'Key', description: 'The API key that sent the request, and the client it belongs to.' })
export class KeyDto {
  @Id({ description: 'Identifier of the key. It stays the same for the life of the key.', example: 1 })
  id!: number;

  @Text({
    min: 1,
    max: 100,
    description: 'What the key is for. Absent for a key without a name.',
    example: 'price list',
    optional: true,
  })
  name?: string;

  @Text({ min: 4, max: 4, description: 'The last four characters of the key.', example: 'x7Qa' })
  endsWith!: string;

  @Text({
    min: 1,
    max: 100,
    description: 'Name of the client. All its keys share its limits.',
    example: 'acme',
  })
  client!: string;

  // Refer to the schema `Plan` by name. The class of this schema belongs to the quotas module, which cannot be imported
  // here, because the quotas module depends on this module.
  @ApiProperty({
    allOf: [{ $ref: '#/components/schemas/Plan' }],
    description: 'The plan of the client.',
    example: 'free',
  })
  plan!: string;

  @ApiProperty({
    description: 'What the key may do: `read` (GET and HEAD), `write` (all other methods), or both.',
    type: 'array',
    items: { $ref: '#/components/schemas/KeyScope' },
    minItems: 1,
    maxItems: SCOPES.length,
    example: ['read', 'write'],
  })
  scopes!: readonly Scope[];

  @Timestamp({ description: 'When the key was issued.', example: '2026-11-01T08:00:00.000Z' })
  createdAt!: string;

  @Timestamp({
    description: 'When the key stops working. Absent for a key that does not expire.',
    example: '2027-11-01T08:00:00.000Z',
    optional: true,
  })
  expiresAt?: string;

  @Timestamp({
    description:
      'When the overlap of a rotation ends. Present only for a key that has been replaced: switch to the new key before then.',
    optional: true,
  })
  overlapEndsAt?: string;
}

export function toKeyDto({ id, clientName, name, expiresAt, overlapEndsAt, ...key }: ClientKey): KeyDto {
  return {
    id,
    ...(name === null ? {} : { name }),
    endsWith: key.last4,
    client: clientName,
    plan: key.plan,
    scopes: key.scopes,
    createdAt: new Date(key.createdAt).toISOString(),
    ...(expiresAt === null ? {} : { expiresAt: new Date(expiresAt).toISOString() }),
    ...(overlapEndsAt === null ? {} : { overlapEndsAt: new Date(overlapEndsAt).toISOString() }),
  };
}
