import type { GuideName } from '../../src/http/document/guides';
import { read } from './files';

export interface Block {
  line: number;
  language: string;
  /** The word after the language: `run` for a command, or the name of a file. */
  name: string | undefined;
  text: string;
}

export function readGuide(name: GuideName): string {
  return read(`docs/guides/${name}.md`);
}

export function blocksOf(markdown: string): Block[] {
  return [...markdown.matchAll(/^```(\w*)(?: ([\w.]+))?\n([^]*?)^```$/gm)].map((match) => ({
    line: markdown.slice(0, match.index).split('\n').length,
    language: match[1]!,
    name: match[2],
    text: match[3]!,
  }));
}

/** The text of the file that a guide shows, without the end of its last line. */
export function fileIn(guide: GuideName, name: string): string {
  return blocksOf(readGuide(guide))
    .find((block) => block.name === name)!
    .text.trimEnd();
}
