import ts from 'typescript';

/** One change of the text of a source file. */
export interface Change {
  readonly operator: string;
  readonly start: number;
  readonly end: number;
  readonly replacement: string;
}

type Replacement = Omit<Change, 'operator'>;

/** Makes the change of a node, or null if the operator does not fit it. */
type Operator = (node: ts.Node, file: ts.SourceFile) => Replacement | null;

const swaps = new Map<ts.SyntaxKind, string>([
  [ts.SyntaxKind.LessThanToken, '<='],
  [ts.SyntaxKind.LessThanEqualsToken, '<'],
  [ts.SyntaxKind.GreaterThanToken, '>='],
  [ts.SyntaxKind.GreaterThanEqualsToken, '>'],
  [ts.SyntaxKind.EqualsEqualsEqualsToken, '!=='],
  [ts.SyntaxKind.ExclamationEqualsEqualsToken, '==='],
  [ts.SyntaxKind.AmpersandAmpersandToken, '||'],
  [ts.SyntaxKind.BarBarToken, '&&'],
  [ts.SyntaxKind.PlusToken, '-'],
  [ts.SyntaxKind.MinusToken, '+'],
  [ts.SyntaxKind.AsteriskToken, '/'],
  [ts.SyntaxKind.SlashToken, '*'],
  [ts.SyntaxKind.PlusEqualsToken, '-='],
  [ts.SyntaxKind.MinusEqualsToken, '+='],
]);

const bounds = new Set(['<', '<=', '>', '>=']);
const equalities = new Set(['===', '!==']);
const connectives = new Set(['&&', '||']);

const operators: Readonly<Record<string, Operator>> = {
  'negate a condition': (node, file) => {
    const condition = conditionOf(node);
    return condition && replaced(condition, file, `!(${condition.getText(file)})`);
  },
  'move a bound': swapped((to) => bounds.has(to)),
  'swap an equality': swapped((to) => equalities.has(to)),
  'swap and with or': swapped((to) => connectives.has(to)),
  'swap an arithmetic operator': swapped((to) => !bounds.has(to) && !equalities.has(to) && !connectives.has(to)),
  'drop a fallback': (node) =>
    ts.isBinaryExpression(node) && node.operatorToken.kind === ts.SyntaxKind.QuestionQuestionToken
      ? { start: node.left.getEnd(), end: node.getEnd(), replacement: '' }
      : null,
  'drop a negation': (node, file) =>
    ts.isPrefixUnaryExpression(node) && node.operator === ts.SyntaxKind.ExclamationToken
      ? { start: node.getStart(file), end: node.operand.getStart(file), replacement: '' }
      : null,
  'drop a question mark of a chain': (node, file) =>
    ts.isPropertyAccessExpression(node) && node.questionDotToken ? replaced(node.questionDotToken, file, '.') : null,
  'remove a call': (node, file) =>
    ts.isExpressionStatement(node) && ts.isCallExpression(node.expression) && !isSuperCall(node.expression)
      ? replaced(node, file, ';')
      : null,
  'empty a block': (node, file) =>
    ts.isBlock(node) && node.statements.length > 0 && !ts.isTryStatement(node.parent)
      ? replaced(node, file, '{}')
      : null,
  'change a number': (node, file) =>
    ts.isNumericLiteral(node) && isValue(node) ? replaced(node, file, String(Number(node.text) + 1)) : null,
  'change a text': (node, file) =>
    ts.isStringLiteral(node) && isValue(node) ? replaced(node, file, node.text === '' ? "'changed'" : "''") : null,
  'swap true with false': (node, file) => {
    if (node.kind === ts.SyntaxKind.TrueKeyword) return replaced(node, file, 'false');
    return node.kind === ts.SyntaxKind.FalseKeyword ? replaced(node, file, 'true') : null;
  },
  'drop the last element of a list': (node, file) => {
    if (!ts.isArrayLiteralExpression(node) || node.elements.length === 0) return null;
    const [before, last] = [node.elements.at(-2), node.elements.at(-1) as ts.Expression];
    return { start: before?.getEnd() ?? last.getStart(file), end: last.getEnd(), replacement: '' };
  },
};

/** All changes that the operators make of a file's code, in the order of its text. Types are not code. */
export function changesOf(file: ts.SourceFile): ReadonlyArray<Change> {
  const changes: Change[] = [];
  const visit = (node: ts.Node): void => {
    if (isWithoutCode(node)) return;
    for (const [operator, change] of Object.entries(operators)) {
      const made = change(node, file);
      if (made !== null) changes.push({ operator, ...made });
    }
    ts.forEachChild(node, visit);
  };
  visit(file);
  return changes.sort((one, other) => one.start - other.start || one.end - other.end);
}

export function parse(path: string, text: string): ts.SourceFile {
  return ts.createSourceFile(path, text, ts.ScriptTarget.Latest, true);
}

/** @throws Error if the changed text is not TypeScript any more */
export function changed(text: string, { operator, start, end, replacement }: Change): string {
  const result = text.slice(0, start) + replacement + text.slice(end);
  const { diagnostics } = ts.transpileModule(result, {
    reportDiagnostics: true,
    compilerOptions: { target: ts.ScriptTarget.Latest, module: ts.ModuleKind.ESNext },
  });
  if (diagnostics?.length) throw new Error(`"${operator}" at ${start} makes text that does not parse.`);
  return result;
}

function swapped(isOurs: (to: string) => boolean): Operator {
  return (node, file) => {
    if (!ts.isBinaryExpression(node)) return null;
    const to = swaps.get(node.operatorToken.kind);
    return to !== undefined && isOurs(to) ? replaced(node.operatorToken, file, to) : null;
  };
}

function replaced(node: ts.Node, file: ts.SourceFile, replacement: string): Replacement {
  return { start: node.getStart(file), end: node.getEnd(), replacement };
}

function conditionOf(node: ts.Node): ts.Expression | null {
  if (ts.isIfStatement(node) || ts.isWhileStatement(node)) return node.expression;
  return ts.isConditionalExpression(node) ? node.condition : null;
}

/** Without it a constructor throws, whatever the tests check. */
function isSuperCall({ expression }: ts.CallExpression): boolean {
  return expression.kind === ts.SyntaxKind.SuperKeyword;
}

function isValue(node: ts.Node): boolean {
  const { parent } = node;
  if (ts.isExpressionStatement(parent)) return false;
  return !('name' in parent && parent.name === node);
}

function isWithoutCode(node: ts.Node): boolean {
  return (
    ts.isTypeNode(node) ||
    ts.isInterfaceDeclaration(node) ||
    ts.isTypeAliasDeclaration(node) ||
    ts.isImportDeclaration(node) ||
    ts.isExportDeclaration(node)
  );
}
