import * as E from 'fp-ts/lib/Either.js';
import { createdUnder, type OperationRoute, pathParameters } from '#application/operations/registry.ts';
import type { AskOperation } from '#mcp/server/ask-operation.ts';
import type { McpExchange } from '#mcp/server/mcp-exchange.ts';
import type { OperationTool } from '#mcp/tools/tool-catalogue.ts';
import { EncodedJson } from '#shared/json/encoded-json.ts';
import type { Json, JsonObject } from '#shared/json/json.ts';
import { isObject } from '#shared/json/json-value.ts';

/** Values of one completion at most: the protocol's limit. */
const maxValues = 100;
/** What a list belongs to (a flow's versions) is tried for so many at most. */
const maxParents = 10;
/** Items of a list that are looked at. */
const maxItems = 1_000;

/** Values that fit what was typed. */
export interface Completion {
  readonly values: string[];
  readonly hasMore: boolean;
}

/** What a completion is asked of. */
export interface CompletionRequest {
  /** The path of the query whose parameter it is: `/v1/flow-versions/:versionId`. */
  readonly path: string;
  readonly parameter: string;
  /** What was typed so far: the beginning of an id, or a part of a name. */
  readonly typed: string;
  /** Arguments that are known already. */
  readonly known: Readonly<Record<string, string>>;
}

/**
 * The ids that a path parameter may have, found by the lists of the same table: those within the caller's reach alone.
 * @param visible the queries that the caller may ask
 */
export async function completeArgument(
  ask: AskOperation,
  exchange: McpExchange,
  visible: ReadonlyArray<OperationTool>,
  { path, parameter, typed, known }: CompletionRequest,
): Promise<Completion> {
  // The second id of a comparison is of the same kind as the first: its prefix is the path's own, up to any parameter.
  const prefix = path.slice(0, path.indexOf(':'));
  const items = await new IdFinder(ask, exchange, visible, known).itemsUnder(prefix, parameter);
  const wanted = typed.toLowerCase();
  const fitting = items.filter(({ id, name }) => id.startsWith(wanted) || name.toLowerCase().includes(wanted));
  const values = [...new Set(fitting.map(({ id }) => id))];
  return { values: values.slice(0, maxValues), hasMore: values.length > maxValues };
}

interface Item {
  readonly id: string;
  readonly name: string;
}

/** Finds the ids of a collection; a list that belongs to something else is asked for each of those. */
class IdFinder {
  readonly #ask: AskOperation;
  readonly #exchange: McpExchange;
  readonly #visible: ReadonlyArray<OperationTool>;
  readonly #known: Readonly<Record<string, string>>;

  constructor(
    ask: AskOperation,
    exchange: McpExchange,
    visible: ReadonlyArray<OperationTool>,
    known: Readonly<Record<string, string>>,
  ) {
    this.#ask = ask;
    this.#exchange = exchange;
    this.#visible = visible;
    this.#known = known;
  }

  /** @param prefix where the items are read: `/v1/flows/`; @param parameter whose values are wanted */
  async itemsUnder(prefix: string, parameter: string): Promise<ReadonlyArray<Item>> {
    const route = this.#listOf(prefix);
    if (route === null) return [];
    const { path } = route.operation.http;
    const [parent] = pathParameters(path);
    if (parent === undefined) return this.#items(route, {}, parameter);
    const items: Item[] = [];
    for (const id of await this.#parentIds(path, parent)) {
      items.push(...(await this.#items(route, { [parent]: id }, parameter)));
      if (items.length > maxItems) break;
    }
    return items;
  }

  /** The list whose items are read under a prefix. */
  #listOf(prefix: string): OperationRoute | null {
    const operations = this.#visible.map(({ route }) => route.operation);
    const lists = this.#visible.filter(
      ({ route, isReadOnly }) => isReadOnly && !/:\w+$/.test(route.operation.http.path),
    );
    return lists.find(({ route }) => createdUnder(route.operation.http.path, operations) === prefix)?.route ?? null;
  }

  async #parentIds(path: string, parent: string): Promise<ReadonlyArray<string>> {
    const known = this.#known[parent];
    if (known !== undefined && known !== '') return [known];
    const prefix = path.slice(0, path.indexOf(`:${parent}`));
    const ids = (await this.itemsUnder(prefix, parent)).map(({ id }) => id);
    // Its own project first: that is what is meant most often.
    const own = parent === 'projectId' ? [this.#exchange.caller.projectId] : [];
    return [...new Set([...own, ...ids])].slice(0, maxParents);
  }

  async #items(route: OperationRoute, given: JsonObject, parameter: string): Promise<ReadonlyArray<Item>> {
    const answered = await this.#ask(this.#exchange, route, given);
    // What is refused has nothing to offer here.
    if (E.isLeft(answered)) return [];
    const { body } = answered.right;
    const list = body instanceof EncodedJson ? (body.parse() as Json) : body;
    const items = isObject(list) ? Object.values(list).find((member) => Array.isArray(member)) : [];
    return ((items ?? []) as ReadonlyArray<Json>).flatMap((item) => itemOf(item, parameter));
  }
}

/** `id`, but for what is known by another's id: a customer by its organization's. */
function itemOf(item: Json, parameter: string): ReadonlyArray<Item> {
  if (!isObject(item)) return [];
  const id = item.id ?? item[parameter] ?? item.name;
  const label = [item.name, item.tag, item.phoneNumber].find((text) => typeof text === 'string');
  return typeof id === 'string' ? [{ id, name: typeof label === 'string' ? label : '' }] : [];
}
