import { readFileSync } from 'node:fs';
import { join } from 'node:path';
import ts from 'typescript';
import type { Members, RequestMembers, Shape } from '../../gateway/support/request-members.ts';

interface Declared {
  readonly sdk: string;
  readonly file: string;
  readonly name: string;
}

/** Where the SDKs declare their requests. */
const declared: Readonly<Record<string, Declared>> = {
  'openai-chat': {
    sdk: 'openai',
    file: 'resources/chat/completions/completions.d.ts',
    name: 'ChatCompletionCreateParamsBase',
  },
  'openai-responses': {
    sdk: 'openai',
    file: 'resources/responses/responses.d.ts',
    name: 'ResponseCreateParamsBase',
  },
  'anthropic-messages': {
    sdk: '@anthropic-ai/sdk',
    file: 'resources/messages/messages.d.ts',
    name: 'MessageCreateParamsBase',
  },
  'anthropic-messages-beta': {
    sdk: '@anthropic-ai/sdk',
    file: 'resources/beta/messages/messages.d.ts',
    name: 'MessageCreateParamsBase',
  },
};

const folderOf = (sdk: string) => join(import.meta.dirname, '../node_modules', sdk);

/** Reads the types of requests of the SDKs that are installed, by protocol. */
export function readSdkRequests(): RequestMembers {
  const pathOf = ({ sdk, file }: Declared) => join(folderOf(sdk), file);
  const program = ts.createProgram(Object.values(declared).map(pathOf), {
    target: ts.ScriptTarget.ESNext,
    module: ts.ModuleKind.NodeNext,
    moduleResolution: ts.ModuleResolutionKind.NodeNext,
    strict: true,
    types: [],
  });
  return Object.fromEntries(
    Object.entries(declared).map(([protocol, request]) => {
      const file = program.getSourceFile(pathOf(request));
      if (file === undefined) throw new Error(`${request.sdk} has no ${request.file}.`);
      const reader = new TypeReader(program.getTypeChecker());
      const name = reader.read(declarationIn(file, request.name));
      return [protocol, { sdk: request.sdk, version: versionOf(request.sdk), request: name, types: reader.types }];
    }),
  );
}

/** The version of an SDK that is installed. */
function versionOf(sdk: string): string {
  const manifest = JSON.parse(readFileSync(join(folderOf(sdk), 'package.json'), 'utf8')) as {
    readonly version: string;
  };
  return manifest.version;
}

function declarationIn(file: ts.SourceFile, name: string): ts.InterfaceDeclaration {
  const found = file.statements.find((each) => ts.isInterfaceDeclaration(each) && each.name.text === name);
  if (found === undefined) throw new Error(`${file.fileName} declares no ${name}.`);
  return found as ts.InterfaceDeclaration;
}

/** Reads the shapes of types, each named one once. */
class TypeReader {
  readonly #checker: ts.TypeChecker;
  readonly #types = new Map<string, Members>();

  constructor(checker: ts.TypeChecker) {
    this.#checker = checker;
  }

  get types(): Readonly<Record<string, Members>> {
    return Object.fromEntries([...this.#types].sort(([one], [other]) => (one < other ? -1 : 1)));
  }

  /** @returns the name of the declared type */
  read(declaration: ts.InterfaceDeclaration): string {
    const shape = this.#shapeOf(this.#checker.getTypeAtLocation(declaration));
    if (typeof shape !== 'string') throw new Error(`${declaration.name.text} is not an object with members.`);
    return shape;
  }

  #shapeOf(type: ts.Type): Shape {
    const { flags } = type;
    if (flags & (ts.TypeFlags.String | ts.TypeFlags.TemplateLiteral)) return 'string';
    if (flags & ts.TypeFlags.Number) return 'number';
    if (flags & ts.TypeFlags.Boolean) return 'boolean';
    if (flags & ts.TypeFlags.Null) return 'null';
    if (flags & ts.TypeFlags.BooleanLiteral) return { is: this.#checker.typeToString(type) === 'true' };
    if (type.isStringLiteral() || type.isNumberLiteral()) return { is: type.value };
    if (type.isUnion()) return this.#unionOf(type);
    // `string & {}` keeps an editor's suggestions, and is a string.
    if (type.isIntersection()) return this.#shapeOf(type.types[0] as ts.Type);
    return flags & ts.TypeFlags.Object ? this.#objectOf(type) : 'any';
  }

  #unionOf(type: ts.UnionType): Shape {
    const parts = type.types.filter(({ flags }) => !(flags & ts.TypeFlags.Undefined));
    const isBoolean = parts.filter(({ flags }) => flags & ts.TypeFlags.BooleanLiteral).length === 2;
    const others = isBoolean ? parts.filter(({ flags }) => !(flags & ts.TypeFlags.BooleanLiteral)) : parts;
    const shapes = [...others.map((part) => this.#shapeOf(part)), ...(isBoolean ? ['boolean'] : [])];
    // A list of known texts beside any text says nothing more.
    const kept = shapes.includes('string') ? shapes.filter((shape) => !isText(shape)) : shapes;
    return kept.length === 1 ? (kept[0] as Shape) : { oneOf: kept };
  }

  #objectOf(type: ts.Type): Shape {
    const checker = this.#checker;
    if (checker.isArrayType(type)) {
      const [item] = checker.getTypeArguments(type as ts.TypeReference);
      return { list: item === undefined ? 'any' : this.#shapeOf(item) };
    }
    const properties = checker.getPropertiesOfType(type);
    if (properties.length === 0) {
      const values = checker.getIndexInfosOfType(type)[0];
      return values === undefined ? 'any' : { map: this.#shapeOf(values.type) };
    }
    const symbol = type.aliasSymbol ?? type.getSymbol();
    if (symbol === undefined || symbol.flags & ts.SymbolFlags.TypeLiteral)
      return { members: this.#membersOf(properties) };
    const name = checker.getFullyQualifiedName(symbol).replace(/^".*"\./, '');
    if (!this.#types.has(name)) {
      this.#types.set(name, {});
      this.#types.set(name, this.#membersOf(properties));
    }
    return name;
  }

  #membersOf(properties: ReadonlyArray<ts.Symbol>): Members {
    return Object.fromEntries(
      properties.map((property) => {
        const isOptional = (property.flags & ts.SymbolFlags.Optional) !== 0;
        return [`${property.name}${isOptional ? '?' : ''}`, this.#shapeOf(this.#checker.getTypeOfSymbol(property))];
      }),
    );
  }
}

function isText(shape: Shape): boolean {
  return typeof shape === 'object' && 'is' in shape && typeof shape.is === 'string';
}
