import { readFileSync } from 'node:fs';
import { join } from 'node:path';
import { GUIDES, type GuideName } from '../../src/http/document/guides';

export const GUIDES_FOLDER = join(__dirname, '../../docs/guides');

/** One command of a guide, with what the guide shows of its output. */
export interface Step {
  line: number;
  command: string;
  /** An `http` block: the answer of `curl -i`. A `text` block: all that is printed. Null: nothing is shown. */
  shown: { language: 'http' | 'text'; text: string } | null;
}

export interface Block {
  line: number;
  language: string;
  /** What follows the language: `run` for a command, or the name of a file. */
  name: string | undefined;
  text: string;
}

export function readGuide(name: GuideName): string {
  return readFileSync(join(GUIDES_FOLDER, `${name}.md`), 'utf8');
}

export function blocksOf(markdown: string): Block[] {
  return [...markdown.matchAll(/^```(\w*)(?: ([\w.]+))?\n([^]*?)^```$/gm)].map((match) => ({
    line: markdown.slice(0, match.index).split('\n').length,
    language: match[1]!,
    name: match[2],
    text: match[3]!,
  }));
}

/** The commands that are marked to be run. What a block shows belongs to the command right before it. */
export function stepsOf(markdown: string): Step[] {
  const blocks = blocksOf(markdown);
  return blocks.flatMap(({ name, line, text }, index) =>
    name === 'run' ? [{ line, command: text, shown: outputIn(blocks[index + 1]) }] : [],
  );
}

function outputIn(block: Block | undefined): Step['shown'] {
  return block?.language === 'http' || block?.language === 'text'
    ? { language: block.language, text: block.text }
    : null;
}

/** The tour in the README and all guides, as far as they have something to run. */
export function pagesWithSteps(): { name: string; text: string; steps: Step[] }[] {
  const tour = { name: 'README.md', text: readFileSync(join(__dirname, '../../README.md'), 'utf8') };
  const guides = GUIDES.map((name) => ({ name: `docs/guides/${name}.md`, text: readGuide(name) }));
  return [tour, ...guides]
    .map((page) => ({ ...page, steps: stepsOf(page.text) }))
    .filter(({ steps }) => steps.length > 0);
}

/** The text of the file that a guide shows, without the end of its last line. */
export function fileIn(guide: GuideName, name: string): string {
  return blocksOf(readGuide(guide))
    .find((block) => block.name === name)!
    .text.trimEnd();
}
