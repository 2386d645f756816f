import * as E from 'fp-ts/lib/Either.js';
import { type OperationRoute, pathParameters, placeOfItems } from '#application/operations/registry.ts';
import type { AskOperation } from '#mcp/request/ask-operation.ts';
import type { McpRequest } from '#mcp/request/mcp-request.ts';
import type { OperationTool } from '#mcp/tools/tool-catalogue.ts';
import { EncodedJson, isObject, type Json, type JsonObject } from '#shared/json/json.ts';

/** Maximum number of values of one completion: the protocol's limit. */
const maxValues = 100;
/** Maximum number of lists for one completion: of the items, and of their parents (flows, for their versions). */
const maxLists = 10;
const maxItems = 1_000;

export interface Completion {
  readonly values: string[];
  readonly hasMore: boolean;
}

export interface CompletionRequest {
  /** The path of the query with the parameter, such as `/v1/flow-versions/:versionId`. */
  readonly path: string;
  readonly parameter: string;
  /** The beginning of an id, or a part of a name. */
  readonly typed: string;
  /** Arguments that are known already. */
  readonly known: Readonly<Record<string, string>>;
}

/**
 * Reads the lists in the table of operations, so it finds only ids within the caller's reach.
 * @param visible the queries that the caller may use
 */
export async function completeArgument(
  ask: AskOperation,
  mcpRequest: McpRequest,
  visible: ReadonlyArray<OperationTool>,
  { path, parameter, typed, known }: CompletionRequest,
): Promise<Completion> {
  // The second id of a comparison has the kind of the first, so its prefix is the beginning of the path up to the
  // first parameter.
  const prefix = path.slice(0, path.indexOf(':'));
  const items: Item[] = [];
  for await (const item of new IdFinder(ask, mcpRequest, visible, known).itemsUnder(prefix, parameter)) {
    items.push(item);
    if (items.length >= maxItems) break;
  }
  const wanted = typed.toLowerCase();
  const fitting = items.filter(({ id, name }) => id.startsWith(wanted) || name.toLowerCase().includes(wanted));
  const values = [...new Set(fitting.map(({ id }) => id))];
  return { values: values.slice(0, maxValues), hasMore: values.length > maxValues };
}

interface Item {
  readonly id: string;
  readonly name: string;
}

/**
 * Finds ids. A list with a parent is read for each parent, and each parent's list before the next parent is looked for.
 * So a few lists already give items of the innermost collection.
 */
class IdFinder {
  readonly #ask: AskOperation;
  readonly #mcpRequest: McpRequest;
  readonly #visible: ReadonlyArray<OperationTool>;
  readonly #known: Readonly<Record<string, string>>;
  #listsLeft = maxLists;

  constructor(
    ask: AskOperation,
    mcpRequest: McpRequest,
    visible: ReadonlyArray<OperationTool>,
    known: Readonly<Record<string, string>>,
  ) {
    this.#ask = ask;
    this.#mcpRequest = mcpRequest;
    this.#visible = visible;
    this.#known = known;
  }

  /** @param prefix the beginning of the items' paths, such as `/v1/flows/` @param parameter whose values are wanted */
  async *itemsUnder(prefix: string, parameter: string): AsyncGenerator<Item> {
    const route = this.#listOf(prefix);
    if (route === null) return;
    const { path } = route.operation.http;
    const [parent] = pathParameters(path);
    if (parent === undefined) {
      yield* await this.#items(route, {}, parameter);
      return;
    }
    for await (const id of this.#parentIds(path, parent)) {
      yield* await this.#items(route, { [parent]: id }, parameter);
      if (this.#listsLeft === 0) return;
    }
  }

  #listOf(prefix: string): OperationRoute | null {
    const operations = this.#visible.map(({ route }) => route.operation);
    const lists = this.#visible.filter(
      ({ route, isReadOnly }) => isReadOnly && !/:\w+$/.test(route.operation.http.path),
    );
    return lists.find(({ route }) => placeOfItems(route.operation.http.path, operations) === prefix)?.route ?? null;
  }

  async *#parentIds(path: string, parent: string): AsyncGenerator<string> {
    const known = this.#known[parent];
    if (known !== undefined && known !== '') {
      yield known;
      return;
    }
    // The caller's own project comes first, because callers mean it most often.
    const own = parent === 'projectId' ? this.#mcpRequest.request.caller.projectId : null;
    if (own !== null) yield own;
    const prefix = path.slice(0, path.indexOf(`:${parent}`));
    for await (const { id } of this.itemsUnder(prefix, parent)) if (id !== own) yield id;
  }

  async #items(route: OperationRoute, given: JsonObject, parameter: string): Promise<ReadonlyArray<Item>> {
    if (this.#listsLeft === 0 || this.#mcpRequest.request.held.hasLeft) return [];
    this.#listsLeft -= 1;
    const answered = await this.#ask(this.#mcpRequest, route, given);
    // A refused list gives no values.
    if (E.isLeft(answered)) return [];
    const { body } = answered.right;
    const list = body instanceof EncodedJson ? (body.parse() as Json) : body;
    const items = isObject(list) ? Object.values(list).find((member) => Array.isArray(member)) : [];
    return ((items ?? []) as ReadonlyArray<Json>).flatMap((item) => itemOf(item, parameter));
  }
}

/** The id of an item: `id`, except for items with another's id, such as a customer with its organization's. */
function itemOf(item: Json, parameter: string): ReadonlyArray<Item> {
  if (!isObject(item)) return [];
  const id = item.id ?? item[parameter] ?? item.name;
  const label = [item.name, item.tag, item.phoneNumber].find((text) => typeof text === 'string');
  return typeof id === 'string' ? [{ id, name: typeof label === 'string' ? label : '' }] : [];
}
