import type { ClientTools } from '#gateway/neutral/client-tools.ts';
import type { Tool } from '#gateway/neutral/conversation.ts';
import { withCacheControl } from '#gateway/protocols/cache-control.ts';
import { calledName } from '#gateway/protocols/call-parts.ts';
import { freeTextTool, functionTool } from '#gateway/protocols/declared-tool.ts';
import type { LeftOut } from '#gateway/protocols/left-out.ts';
import { listAt, listOr, objectOr, refuse, textAt } from '#gateway/protocols/parsing.ts';
import { shortName, type ToolNames } from '#gateway/protocols/tool-names.ts';
import { schemaIn } from '#gateway/protocols/tool-schema.ts';
import { isObject, type Json, type JsonObject } from '#shared/json/json.ts';
import { type BuiltInForm, declarationOf, isBuiltIn } from './built-in-tools.ts';

const toolForm = 'a tool of Responses is {"type": "function", "name": …, "description": …, "parameters": …}';

/**
 * The tools in the request's own list, in the items that add tools, and in what searches for tools found. A later tool
 * replaces an earlier one of the same namespace and name.
 */
export class DeclaredTools {
  readonly #names: ToolNames;
  readonly #leftOut: LeftOut;
  /** The tools by their names for targets, but for the built-in ones: these have the form as their key. */
  readonly #tools = new Map<string, Tool>();

  constructor(names: ToolNames, leftOut: LeftOut) {
    this.#names = names;
    this.#leftOut = leftOut;
  }

  /** @param isFound whether a search has found them, so that they are loaded in any case */
  add(tools: Json | undefined, pointer: string, isFound = false): void {
    for (const [index, tool] of listAt(tools, pointer).entries()) this.#add(tool, `${pointer}/${index}`, null, isFound);
  }

  /** All tools with their names for targets. Asked for before what calls them, they keep their names in every turn. */
  get all(): ReadonlyArray<Tool> {
    return [...this.#tools.values()].map((tool) => {
      const { form } = tool.client;
      return isBuiltIn(form) ? { ...tool, name: this.nameOfBuiltIn(form) } : tool;
    });
  }

  get clientTools(): ClientTools {
    return this.#names.clientTools(this.all);
  }

  /** The name for targets; null for a tool that does not run at the client. */
  nameIn(object: JsonObject, pointer: string): string | null {
    const { type } = object;
    if (isBuiltIn(type)) return this.nameOfBuiltIn(type);
    const { name, namespace } = this.#leftOut.read(object, pointer, ['type', 'name', 'namespace']);
    const isNamed = typeof name === 'string' && (type === 'function' || type === 'custom');
    return isNamed ? this.nameOf(namespace, name, pointer) : null;
  }

  /** The name for targets. The tool may be undeclared. */
  nameOf(namespace: Json | undefined, name: Json | undefined, pointer: string): string {
    return calledName(name, `${pointer}/name`, this.#names, namespaceAt(namespace, pointer));
  }

  /** The name for targets. It is known when all tools are read. */
  nameOfBuiltIn(form: BuiltInForm): string {
    return this.#names.nameOfBuiltIn(form);
  }

  /** The names for targets, of tools in a list that was read. */
  namesIn(tools: Json | undefined, namespace: Json | undefined = null): ReadonlyArray<string> {
    return listOr(tools).flatMap((each) => {
      const tool = objectOr(each);
      if (tool.type === 'namespace') return this.namesIn(tool.tools, tool.name);
      const name = this.nameIn({ type: tool.type, name: tool.name, namespace }, '');
      return name === null ? [] : [name];
    });
  }

  #add(tool: Json, pointer: string, namespace: string | null, isFound: boolean): void {
    if (!isObject(tool) || isForeignTool(tool)) refuse(pointer, toolForm);
    if (tool.type === 'function') this.#addNamed(this.#functionOf(tool, pointer, isFound), namespace);
    else if (tool.type === 'custom') this.#addNamed(freeTextTool(tool, pointer, this.#leftOut), namespace);
    else if (tool.type === 'namespace' && namespace === null) this.#addNamespace(tool, pointer, isFound);
    else if (isBuiltIn(tool.type) && runsAtClient(tool)) this.#addBuiltIn(tool.type, tool, pointer);
    else this.#leftOut.add(pointer);
  }

  #functionOf(tool: JsonObject, pointer: string, isFound: boolean): Tool {
    const { defer_loading: isDeferred, ...others } = tool;
    const isLoaded = isFound && isDeferred === true;
    return functionTool(isLoaded ? others : tool, 'parameters', pointer, this.#leftOut);
  }

  #addNamed(tool: Tool, namespace: string | null): void {
    const name = this.#names.nameOf(namespace, tool.client.name);
    this.#set(name, { ...tool, name, client: { ...tool.client, namespace } });
  }

  #set(key: string, tool: Tool): void {
    const replaced = this.#tools.get(key)?.cacheControl;
    if (replaced !== undefined) this.#leftOut.add(replaced.pointer);
    this.#tools.set(key, tool);
  }

  #addNamespace(tool: JsonObject, pointer: string, isFound: boolean): void {
    const { name, tools } = this.#leftOut.read(tool, pointer, ['type', 'name', 'tools']);
    if (typeof name !== 'string') refuse(`${pointer}/name`, 'must be the name of a namespace');
    const namespace = shortName(name, `${pointer}/name`);
    const inside = listAt(tools, `${pointer}/tools`);
    if (inside.length === 0) this.#leftOut.add(pointer);
    for (const [index, each] of inside.entries()) this.#add(each, `${pointer}/tools/${index}`, namespace, isFound);
  }

  #addBuiltIn(form: BuiltInForm, tool: JsonObject, pointer: string): void {
    const members = ['type', 'execution', 'description', 'parameters', 'environment'] as const;
    const { description, parameters, environment } = this.#leftOut.read(tool, pointer, members);
    this.#leftOut.read(objectOr(environment), `${pointer}/environment`, ['type']);
    const declared = declarationOf(form);
    const read: Tool = {
      name: form,
      client: { form, namespace: null, name: form },
      description: declared.description ?? textAt(description, `${pointer}/description`),
      schema: declared.schema ?? schemaIn(parameters),
      isStrict: null,
      pointer,
    };
    this.#set(keyOf(form), withCacheControl(read, tool, pointer, this.#leftOut));
  }
}

/** The key of a built-in tool. No name for targets has a colon. */
function keyOf(form: BuiltInForm): string {
  return `built-in:${form}`;
}

/**
 * True for a tool that is declared as in chat completions or Messages: without this, its name and schema would be lost.
 */
function isForeignTool({ type, function: inside, custom }: JsonObject): boolean {
  if (typeof type !== 'string') return true;
  return (type === 'function' && isObject(inside)) || (type === 'custom' && isObject(custom));
}

/** True for a tool of the client: OpenAI may search for tools itself, and has shells in containers. */
function runsAtClient({ type, execution, environment }: JsonObject): boolean {
  if (type === 'tool_search') return execution === 'client';
  return type !== 'shell' || (objectOr(environment).type ?? 'local') === 'local';
}

function namespaceAt(namespace: Json | undefined, pointer: string): string | null {
  const place = `${pointer}/namespace`;
  const name = textAt(namespace, place);
  return name === null ? null : shortName(name, place);
}
