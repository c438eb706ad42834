import { type Context, createContext, runInContext } from 'node:vm';
import type { Pattern } from './patterns';

/** As long as the longest header field that is let in: 16 KiB. */
const LENGTH = 16_384;
/** A pattern that looks at each character a few times needs a tenth of a millisecond; a quadratic one needs far more. */
const MOST_MS = 150;
/** A machine that was busy with something else is not so busy several times in a row. */
const ATTEMPTS = 3;

/** What classes of characters hold, for repetitions that the pattern does not spell out. */
const COMMON = 'aA0 \t\n"-./';

/** Single characters and short runs that the pattern's own text suggests. */
function pieces(source: string): string[] {
  const literal = source.replace(/\\[nrt0]/g, '\n').replace(/\\(.)/g, '$1');
  const neighbours = [...literal].map((character, index) => character + (literal[index + 1] ?? ''));
  return [...new Set([...literal, ...COMMON, ...neighbours])];
}

/** Beginnings that bring a match as far as its repetitions: the pattern's own text, without its operators. */
function beginnings(source: string): string[] {
  const plain = source
    .replace(/\(\?[:=!<]+|\\[bBdDwWsS]|[\][()^$+*?|]|\{[\d,]+\}/g, ' ')
    .replace(/\\(.)/g, '$1');
  const words = plain.split(' ').filter(Boolean).slice(0, 3);
  return [...new Set(['', ...words, words.join(''), '1', 'a'])];
}

/** Texts that make careless patterns go over them again and again: much of one thing, and an end that does not fit. */
export function* attacksOn({ source }: Pattern): Generator<string> {
  for (const piece of pieces(source)) {
    const much = piece.repeat(LENGTH / piece.length);
    for (const beginning of beginnings(source)) {
      yield beginning + much;
      yield `${beginning}${much}\0`;
    }
  }
}

/** @returns the beginning of the first text on which the pattern takes too long; null if there is none */
export function weaknessOf(pattern: Pattern): string | null {
  const context = createContext({
    text: '',
    pattern: new RegExp(pattern.source, pattern.flags.replace('y', '')),
  });
  const run = pattern.flags.includes('g') ? 'text.replace(pattern, "")' : 'pattern.test(text)';
  for (const text of attacksOn(pattern)) {
    context.text = text;
    if (Array.from({ length: ATTEMPTS }).every(() => takesTooLong(run, context))) {
      return `${JSON.stringify(text.slice(0, 40))}…${JSON.stringify(text.slice(-4))}`;
    }
  }
  return null;
}

function takesTooLong(run: string, context: Context): boolean {
  try {
    runInContext(run, context, { timeout: MOST_MS });
    return false;
  } catch {
    return true;
  }
}
