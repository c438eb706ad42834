import type { OpenAPIObject } from '@nestjs/swagger';
import { type Schema, plain } from '../fuzz/support/schema-values';

/** JSON texts that a field with this schema does not take: beyond each bound, and of other types. */
export function wrongJson(schema: Schema): string[] {
  const { nullable, minItems, uniqueItems, items } = schema;
  const all = ['{}', '['.repeat(5_000) + ']'.repeat(5_000), ...(nullable ? [] : ['null'])];
  switch (schema.enum ? 'enum' : schema.type) {
    case 'integer':
      return [...all, ...wrongIntegers(schema), '1e400', '"1"', 'true'];
    case 'boolean':
      return [...all, '"true"', '1'];
    case 'array': {
      const [value] = items?.enum ?? [];
      const twice = uniqueItems ? [JSON.stringify([value, value])] : [];
      return [...all, '["other"]', '"other"', ...(minItems ? ['[]'] : []), ...twice];
    }
    case 'enum':
      return [...all, '"other"', '""', '1'];
    default:
      return [...all, ...wrongStrings(schema).map((text) => JSON.stringify(text)), '1', '["a"]'];
  }
}

/** Queries of a parameter that takes other values, or not so many. */
export function wrongTexts(name: string, schema: Schema, document: OpenAPIObject): string[] {
  const { items, maxItems = 1 } = schema;
  const single = items ? plain(document, items) : schema;
  const [good, bad] = {
    integer: ['1', [...wrongIntegers(single), '1e1', '05', 'x', '%201', '9007199254740993']],
    boolean: ['true', ['1', 'TRUE']],
    string: [single.enum?.[0] ?? 'a', single.enum ? ['other', 'a,b'] : wrongStrings(single)],
  }[single.type as 'integer' | 'boolean' | 'string'] as [string, string[]];
  const tooMany = Array.from({ length: maxItems + 1 }, () => `${name}=${good}`).join('&');
  return [tooMany, `${name}=`, ...bad.map((text) => `${name}=${text.replaceAll('\0', '%00')}`)];
}

function wrongIntegers({ minimum, maximum, not }: Schema): string[] {
  return [minimum! - 1, maximum! + 1, 1.5, ...(not?.enum ?? [])].map(String);
}

function wrongStrings({ minLength = 0, maxLength, format, pattern = '' }: Schema): string[] {
  if (format === 'date-time') return ['soon', '2026-11-21'];
  const blank = pattern.includes('\\S') ? [' \t'] : [];
  return ['x'.repeat(maxLength! + 1), 'a\0b', ...blank, ...(minLength > 0 ? [''] : [])];
}
