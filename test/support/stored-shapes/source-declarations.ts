import { existsSync, readFileSync } from 'node:fs';
import { dirname, join, relative, resolve } from 'node:path';
import ts from 'typescript';

const root = resolve(import.meta.dirname, '../../..');
const printer = ts.createPrinter({ removeComments: true });

/** A type, an interface or a constant at the top of a source file. */
type Declaration = ts.InterfaceDeclaration | ts.TypeAliasDeclaration | ts.VariableStatement;

interface SourceDeclarations {
  readonly file: ts.SourceFile;
  readonly byName: ReadonlyMap<string, Declaration>;
  /** The files from which names are imported. */
  readonly imports: ReadonlyMap<string, string>;
}

/** Reads declarations of source files without their comments, and what they refer to in other files. */
export class DeclarationReader {
  readonly #files = new Map<string, SourceDeclarations>();

  /** The names at the top of a file, in order. @param path from the root of the repository */
  namesIn(path: string): ReadonlyArray<string> {
    return [...this.#read(join(root, path)).byName.keys()];
  }

  /** The text of a declaration alone. @throws Error if the file has none of that name */
  textOf(path: string, name: string): string {
    const { file, byName } = this.#read(join(root, path));
    const declaration = byName.get(name);
    if (declaration === undefined) throw new Error(`${path} declares no ${name}.`);
    return printer.printNode(ts.EmitHint.Unspecified, declaration, file);
  }

  /** The text of a declaration and of all those that it refers to. */
  wholeTextOf(path: string, name: string): string {
    const texts = new Map<string, string>();
    const visit = (file: string, wanted: string): void => {
      const place = `${relative(root, file)}#${wanted}`;
      const source = this.#read(file);
      const declaration = source.byName.get(wanted);
      const imported = source.imports.get(wanted);
      if (declaration === undefined) {
        if (imported !== undefined) visit(imported, wanted);
      } else if (!texts.has(place)) {
        texts.set(place, this.textOf(relative(root, file), wanted));
        for (const identifier of identifiersIn(declaration)) visit(file, identifier);
      }
    };
    visit(join(root, path), name);
    return [...texts.values()].sort().join('\n');
  }

  #read(path: string): SourceDeclarations {
    const known = this.#files.get(path);
    if (known !== undefined) return known;
    const file = ts.createSourceFile(path, readFileSync(path, 'utf8'), ts.ScriptTarget.Latest, true);
    const read = { file, byName: declarationsIn(file), imports: importsOf(file, path) };
    this.#files.set(path, read);
    return read;
  }
}

function declarationsIn(file: ts.SourceFile): ReadonlyMap<string, Declaration> {
  const found = new Map<string, Declaration>();
  for (const statement of file.statements) {
    if (ts.isInterfaceDeclaration(statement) || ts.isTypeAliasDeclaration(statement))
      if (!found.has(statement.name.text))
        // A codec and its type have one name: the codec says more.
        found.set(statement.name.text, statement);
    if (!ts.isVariableStatement(statement)) continue;
    for (const { name } of statement.declarationList.declarations)
      if (ts.isIdentifier(name)) found.set(name.text, statement);
  }
  return found;
}

/** Only those of the repository. */
function importsOf(file: ts.SourceFile, path: string): ReadonlyMap<string, string> {
  const found = new Map<string, string>();
  for (const statement of file.statements) {
    if (!ts.isImportDeclaration(statement) || !ts.isStringLiteral(statement.moduleSpecifier)) continue;
    const target = fileOf(statement.moduleSpecifier.text, path);
    const bindings = statement.importClause?.namedBindings;
    if (target === null || bindings === undefined || !ts.isNamedImports(bindings)) continue;
    for (const { name } of bindings.elements) found.set(name.text, target);
  }
  return found;
}

function fileOf(specifier: string, from: string): string | null {
  if (!specifier.endsWith('.ts')) return null;
  if (specifier.startsWith('.')) return resolve(dirname(from), specifier);
  const inside = specifier.slice(1);
  return [join(root, 'src', inside), join(root, inside)].find(existsSync) ?? null;
}

/** The names in a declaration, but for those of members. */
function identifiersIn(declaration: ts.Node): ReadonlySet<string> {
  const found = new Set<string>();
  const visit = (node: ts.Node): void => {
    const isMember = ts.isPropertyAccessExpression(node.parent) && node.parent.name === node;
    if (ts.isIdentifier(node) && !isMember) found.add(node.text);
    // What a function does is not the shape.
    if (!ts.isFunctionLike(node)) ts.forEachChild(node, visit);
  };
  ts.forEachChild(declaration, visit);
  return found;
}
