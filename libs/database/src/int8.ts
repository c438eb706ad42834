import { PrimaryGeneratedColumn, type ValueTransformer } from 'typeorm';

/**
 * Turns a PostgreSQL `bigint`, which the driver returns as text, into a number.
 * @throws RangeError above 2^53 - 1, where a JSON number would silently lose precision.
 */
export function int8ToNumber(text: string | number): number {
  const value = Number(text);
  if (!Number.isSafeInteger(value)) {
    throw new RangeError(`The bigint ${text} cannot be carried exactly by a number.`);
  }
  return value;
}

/** For `@Column({ type: 'bigint', transformer: int8 })`. */
export const int8: ValueTransformer = {
  to: (value: unknown) => value,
  from: (value: string | number | null) => (value === null ? null : int8ToNumber(value)),
};

/** Column decorator: a primary key that the database assigns, as a number. */
export function GeneratedId(): PropertyDecorator {
  // TypeORM supports a transformer here, but the type of the options lacks it.
  const options = { type: 'bigint', generatedIdentity: 'ALWAYS', transformer: int8 } as const;
  return PrimaryGeneratedColumn('identity', options as object);
}
