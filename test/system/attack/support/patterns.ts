import { readFileSync, readdirSync } from 'node:fs';
import { join } from 'node:path';
import ts from 'typescript';
import { ROOT } from '../../../support/cruise';

/** A regular expression as it stands in a file. */
export interface Pattern {
  file: string;
  source: string;
  flags: string;
}

/** Every regular expression literal of a text, and every place where one is put together at run time. */
export function patternsIn(file: string, text: string): { literals: Pattern[]; built: string[] } {
  const literals: Pattern[] = [];
  const built: string[] = [];
  const visit = (node: ts.Node): void => {
    if (ts.isRegularExpressionLiteral(node)) {
      const end = node.text.lastIndexOf('/');
      literals.push({ file, source: node.text.slice(1, end), flags: node.text.slice(end + 1) });
    } else if (isBuilt(node)) {
      built.push(`${file}: ${node.getText(source)}`);
    }
    ts.forEachChild(node, visit);
  };
  const source = ts.createSourceFile(file, text, ts.ScriptTarget.Latest, true);
  visit(source);
  return { literals, built };
}

function isBuilt(node: ts.Node): boolean {
  const isCall = ts.isNewExpression(node) || ts.isCallExpression(node);
  return isCall && ts.isIdentifier(node.expression) && node.expression.text === 'RegExp';
}

/** Every pattern of the service and its libraries. */
export function allPatterns(): { literals: Pattern[]; built: string[] } {
  const found = ['src', 'libs'].flatMap((folder) =>
    readdirSync(join(ROOT, folder), { recursive: true, encoding: 'utf8' })
      .filter((name) => name.endsWith('.ts'))
      .map((name) => patternsIn(`${folder}/${name}`, readFileSync(join(ROOT, folder, name), 'utf8'))),
  );
  return { literals: found.flatMap(({ literals }) => literals), built: found.flatMap(({ built }) => built) };
}
