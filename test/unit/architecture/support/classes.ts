import ts from 'typescript';

/** Classes of this source text whose constructors take more than this many dependencies. */
export function overloadedConstructors(text: string, most: number): string[] {
  const found: string[] = [];
  const visit = (node: ts.Node): void => {
    if (ts.isClassLike(node)) {
      const constructor = node.members.find(ts.isConstructorDeclaration);
      const dependencies = constructor?.parameters.filter(isDependency) ?? [];
      if (dependencies.length > most) {
        found.push(`${node.name?.text ?? 'class'} (${dependencies.length})`);
      }
    }
    ts.forEachChild(node, visit);
  };
  visit(ts.createSourceFile('a.ts', text, ts.ScriptTarget.Latest, true));
  return found;
}

function isDependency(parameter: ts.ParameterDeclaration): boolean {
  return parameter.type !== undefined && !parameter.dotDotDotToken;
}
