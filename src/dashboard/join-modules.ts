/** A module in JavaScript, with the imports of its source. */
export interface SourceModule {
  /** Other modules import it by this: `#dashboard/page/text/times.ts`. */
  readonly specifier: string;
  readonly text: string;
}

/** A module that stays a separate file. */
export interface OuterModule {
  readonly specifier: string;
  /** The address relative to the joined module. */
  readonly address: string;
}

const importStatement = /^import\s+([^'"]*?)\s*from\s*['"]([^'"]+)['"];?[ \t]*$/gm;
const exportedName = /^export\s+(?:async\s+)?(?:function\*?|const|class)\s+([\w$]+)/gm;
const exportKeyword = /^export\s+(?=(?:async\s+)?(?:function|const|class)\b)/gm;
/** A doc comment or a line with only a comment. A browser needs neither. */
const comments = /^[ \t]*(?:\/\*\*[\s\S]*?\*\/|\/\/.*)[ \t]*\n/gm;
const emptyLines = /^\s*\n/gm;
const trailingSpace = /[ \t]+$/gm;

/**
 * Joins modules into one, which compresses to half the size of the separate modules. Each module keeps its own scope
 * and runs after its imports.
 * @param main the specifier of the module that runs last
 * @throws Error for an unknown form of import or export, for an import of an unknown module, and for a circle
 */
export function joinModules(
  modules: ReadonlyArray<SourceModule>,
  outer: ReadonlyArray<OuterModule>,
  main: string,
): string {
  const byName = new Map(modules.map((each) => [each.specifier, each]));
  const outerAt = new Map(outer.map(({ specifier }, index) => [specifier, index]));
  const placeOf = new Map<string, string>();
  const parts = outer.map(({ address }, index) => `import * as o${index} from '${address}';`);
  for (const [specifier, index] of outerAt) placeOf.set(specifier, `o${index}`);
  for (const [index, module] of inOrder(byName, outerAt, main).entries()) {
    parts.push(`const m${index} = (() => {\n${scopeOf(module, placeOf)}\n})();`);
    placeOf.set(module.specifier, `m${index}`);
  }
  return `${parts.join('\n')}\n`;
}

/** Orders the modules so that each needed one follows its imports. */
function inOrder(
  modules: ReadonlyMap<string, SourceModule>,
  outer: ReadonlyMap<string, number>,
  main: string,
): ReadonlyArray<SourceModule> {
  const order: SourceModule[] = [];
  const state = new Map<string, 'begun' | 'done'>();
  const visit = (specifier: string, from: string) => {
    if (outer.has(specifier) || state.get(specifier) === 'done') return;
    const module = modules.get(specifier);
    if (module === undefined) throw new Error(`${from} imports ${specifier}, which the dashboard does not have.`);
    if (state.get(specifier) === 'begun') throw new Error(`${from} and ${specifier} import each other.`);
    state.set(specifier, 'begun');
    for (const [, , imported = ''] of module.text.matchAll(importStatement)) visit(imported, specifier);
    state.set(specifier, 'done');
    order.push(module);
  };
  visit(main, 'the page');
  return order;
}

function scopeOf({ specifier, text }: SourceModule, placeOf: ReadonlyMap<string, string>): string {
  const exported = [...text.matchAll(exportedName)].map(([, name]) => name);
  const body = text
    .replace(importStatement, (_, clause: string, from: string) => `const ${bindingOf(clause)} = ${placeOf.get(from)};`)
    .replace(exportKeyword, '')
    .replace(comments, '')
    .replace(trailingSpace, '')
    .replace(emptyLines, '');
  const left = /^(?:import|export)\b.*$/m.exec(body);
  if (left !== null) throw new Error(`${specifier}: "${left[0]}" is a form of import or export that cannot be joined.`);
  return `${body}return { ${exported.join(', ')} };`;
}

/** The names in `{ a, b as c }` or `D`, for a declaration. */
function bindingOf(clause: string): string {
  const named = /^\{([\s\S]*)\}$/.exec(clause);
  if (named === null) return `{ default: ${clause} }`;
  const names = (named[1] ?? '').split(',').map((name) => name.trim());
  return `{ ${names
    .filter((name) => name !== '')
    .map((name) => name.replace(/\s+as\s+/, ': '))
    .join(', ')} }`;
}
