import * as E from 'fp-ts/lib/Either.js';
import type { Failure, InputError } from '#domain/shared/failure.ts';
import { invalidInput } from '#exchange/input-errors.ts';
import {
  checkFlag,
  checkText,
  continueRead,
  inputError,
  type JsonRequest,
  lastMember,
  MemberCollector,
  type Members,
  type ReadBody,
  readMembers,
  scalarMember,
  scalarValue,
  spellingFaults,
  type ValuePlace,
  wantedNames,
} from '#gateway/framing/json-members.ts';
import { compilePaths, PlaceFinder } from '#gateway/framing/json-places.ts';
import type { Edit } from '#gateway/framing/splice.ts';
import { callIdEditsIn } from '#gateway/protocols/call-id-edits.ts';
import { anyCallId, callIdForResponses, maxCallIdCharacters } from '#gateway/protocols/call-id-rules.ts';
import {
  IdSuspicion,
  maxIdsOfClient,
  maxIdsOfConversation,
  type NamedId,
  type NamedIds,
  refuseIds,
  tooManyIds,
} from '#gateway/protocols/provider-ids.ts';
import { describingMembers, idAloneTypes } from '#responses/turn-scan.ts';
import type { Json, JsonObject } from '#shared/json/json.ts';
import { isNamed, type JsonListener, stringIn } from '#shared/json/json-scanner.ts';
import { echoedMembers } from './response-object.ts';
import { responsesIdRules } from './responses-ids.ts';
import { type ToolList, ToolLists, toolPatterns } from './tool-lists.ts';

export interface ListedObject extends ValuePlace {
  /** The type; null without one. */
  readonly type: string | null;
  readonly id: string | null;
  /** True only for messages that have a role. */
  readonly hasRole: boolean;
  /** Whether it has content in addition to its id and what describes it. */
  readonly hasContent: boolean;
  readonly encryptedContent: ValuePlace | null;
}

/** The items of earlier turns. Targets get them before the request's own. */
export interface ItemsBefore {
  /** The approximate size of their texts. */
  readonly size: number;
  readonly values: number;
  /** Parses the items in pieces. Reasoning in them names the provider that can read its opaque part. */
  readonly parse: () => Promise<ReadonlyArray<JsonObject>>;
  /** The JSON texts of the items for a provider, with commas between them. */
  readonly textFor: (provider: string) => ReadonlyArray<Buffer>;
}

export interface ResponsesRequest extends JsonRequest {
  readonly model: string;
  readonly isStreamed: boolean;
  /** True if the client does not say otherwise. */
  readonly isStored: boolean;
  /** True if the provider makes the response after it has answered. */
  readonly isInBackground: boolean;
  readonly previousResponseId: string | null;
  /** The items; empty for a text. */
  readonly items: ReadonlyArray<ListedObject>;
  /** The tools of the request, and those of the items that add tools. */
  readonly tools: ReadonlyArray<ToolList>;
  readonly allowedTools: ReadonlyArray<ToolList>;
  readonly files: ReadonlyArray<NamedId>;
  /** The containers, which live at a provider. */
  readonly containers: ReadonlyArray<NamedId>;
  /** The items before; null if the request continues no conversation, or has all items in its input. */
  readonly before: ItemsBefore | null;
  /** Edits that cut states out of the ids of calls in its own items, and replace ids that OpenAI refuses. */
  readonly callIdEdits: ReadonlyArray<Edit>;
}

const none: ReadonlyArray<string> = [];
const names = wantedNames(
  {
    ...Object.fromEntries(echoedMembers.map((name) => [name, none])),
    model: [],
    input: [],
    stream: [],
    store: [],
    previous_response_id: [],
    background: [],
    include: [],
    tool_choice: ['type', 'name', 'mode'],
  },
  ['model'],
);

const item = ['input', '*'];
const encryptedContent = [...item, 'encrypted_content'];
const paths = compilePaths([
  ...[item, [...item, 'type'], [...item, 'id'], [...item, 'role'], encryptedContent],
  ...toolPatterns,
]);

/** Members that the gateway changes or obeys, so that each must be there once. */
const changedMembers = ['input', 'tools', 'tool_choice', 'store', 'include', 'previous_response_id', 'background'];

/**
 * Checks the members that the gateway needs, and the kinds of items and tools.
 * @returns invalid input; or not found for an id of what lives at a provider, because all tenants share one account
 *   there
 */
export function readResponsesRequest(bytes: Buffer, maxValues: number): ReadBody<ResponsesRequest> {
  return readWith(bytes, maxValues, { maxIds: maxIdsOfClient, refuse: refuseUnknown });
}

/** Reads the request after stored items were put into it. An answer to the project has named their ids. */
export function readExpandedRequest(bytes: Buffer, maxValues: number): ReadBody<ResponsesRequest> {
  const refuse = ({ isOverflown }: NamedIds) => (isOverflown ? tooManyIds : null);
  return readWith(bytes, maxValues, { maxIds: maxIdsOfConversation, refuse });
}

/** The output of a local shell names its call by `id` (https://platform.openai.com/docs/guides/tools-local-shell). */
const findCallIdEdits = callIdEditsIn('input', [
  [['call_id'], callIdForResponses],
  [['id'], anyCallId],
]);

interface IdLimits {
  readonly maxIds: number;
  readonly refuse: (ids: NamedIds) => Failure | null;
}

function readWith(bytes: Buffer, maxValues: number, { maxIds, refuse }: IdLimits): ReadBody<ResponsesRequest> {
  const listener = new ResponsesListener(bytes);
  const read = readMembers(bytes, listener.members, maxValues, listener);
  return continueRead(read, (request) =>
    continueRead(listener.ids.findIds(maxIds), (ids) => {
      const refused = refuse(ids);
      if (refused !== null) return E.left(refused);
      return continueRead(checkResponsesRequest(request, listener, ids), (checked) =>
        continueRead(findCallIdEdits(bytes, listener.callIds.hasLong), (callIdEdits) =>
          E.right({ ...checked, callIdEdits }),
        ),
      );
    }),
  );
}

/** Refuses unknown ids. Containers are looked up later, and a file that is cited with one is in it. */
function refuseUnknown({ found, isOverflown }: NamedIds): Failure | null {
  const besideContainers = new Set(
    found.flatMap(({ kind, object }) => (kind === 'container' ? [object.valueStart] : [])),
  );
  const unknown = found.filter(
    ({ kind, object }) => kind !== 'container' && !(kind === 'cited file' && besideContainers.has(object.valueStart)),
  );
  return refuseIds({ found: unknown, isOverflown });
}

function checkResponsesRequest(
  request: JsonRequest,
  listener: ResponsesListener,
  { found }: NamedIds,
): E.Either<Failure, Omit<ResponsesRequest, 'callIdEdits'>> {
  const { bytes, members } = request;
  const said = (name: string) => scalarMember(bytes, members, name);
  const { items, tools, allowedTools } = listedIn(bytes, listener);
  const faults = [
    ...spellingFaults(members.otherSpellings, ['model']),
    ...checkText('/model', said('model')),
    ...repetitionFaults(members),
    ...inputFaults(bytes, members, items),
    ...checkFlag('/stream', said('stream')),
    ...checkFlag('/store', said('store')),
    ...checkFlag('/background', said('background')),
    ...(said('background') === true && said('store') === false ? [unstoredBackground] : []),
    ...checkOptionalText('/previous_response_id', said('previous_response_id')),
  ];
  if (faults.length > 0) return E.left(invalidInput(faults));
  if (listener.places.isOverflown) return E.left(tooManyItems);
  return E.right({
    ...request,
    model: said('model') as string,
    isStreamed: said('stream') === true,
    isStored: said('store') !== false,
    isInBackground: said('background') === true,
    previousResponseId: (said('previous_response_id') ?? null) as string | null,
    items,
    tools,
    allowedTools,
    files: found.filter(({ kind }) => kind === 'own file'),
    containers: found.filter(({ kind }) => kind === 'container'),
    before: null,
  });
}

const tooManyItems = invalidInput([{ pointer: '/input', message: 'has too many items' }]);

const unstoredBackground = {
  pointer: '/store',
  message: 'must not be false for a response in the background, because its end could not be read',
};

function checkOptionalText(pointer: string, value: Json | undefined): ReadonlyArray<InputError> {
  return value === undefined || value === null || typeof value === 'string'
    ? []
    : [inputError(pointer, 'must be a string', value)];
}

function repetitionFaults({ found }: Members): ReadonlyArray<InputError> {
  return changedMembers
    .filter((name) => found.filter((member) => member.name === name).length > 1)
    .map((name) => ({ pointer: `/${name}`, message: 'comes twice' }));
}

function inputFaults(bytes: Buffer, members: Members, items: ReadonlyArray<ListedObject>): ReadonlyArray<InputError> {
  const pointer = '/input';
  const input = lastMember(members, 'input');
  if (input === undefined) {
    const continues = typeof scalarMember(bytes, members, 'previous_response_id') === 'string';
    return continues ? [] : [{ pointer, message: 'is required' }];
  }
  const value = scalarValue(bytes, input);
  if (typeof value !== 'string' && !Array.isArray(value))
    return [inputError(pointer, 'must be a string or a list of items', value)];
  const index = items.findIndex(({ valueStart }) => bytes[valueStart] !== openBrace);
  return index === -1 ? [] : [{ pointer: `${pointer}/${index}`, message: 'must be an object' }];
}

const openBrace = 0x7b;

type Growing = { -readonly [Key in keyof ListedObject]: ListedObject[Key] };

/** The objects at found places, which come in order. */
function listedIn(
  bytes: Buffer,
  { places, contents }: Pick<ResponsesListener, 'places' | 'contents'>,
): Pick<ResponsesRequest, 'items' | 'tools' | 'allowedTools'> {
  const items: Growing[] = [];
  const toolLists = new ToolLists(bytes);
  for (const place of places.found) {
    if (toolLists.take(place, items.length - 1)) continue;
    const { pattern, valueStart, end } = place;
    const name = pattern[2];
    const last = items.at(-1);
    if (name === undefined) {
      const hasContent = contents.found[items.length] ?? false;
      items.push({ valueStart, end, type: null, id: null, hasRole: false, hasContent, encryptedContent: null });
    } else if (last !== undefined) readInto(last, name, bytes, place);
  }
  return { items, tools: toolLists.declared, allowedTools: toolLists.allowed };
}

function readInto(listed: Growing, name: string, bytes: Buffer, place: ValuePlace): void {
  const value = name === 'encrypted_content' ? null : scalarValue(bytes, place);
  if (name === 'type') listed.type = typeof value === 'string' ? value : null;
  else if (name === 'id') listed.id = typeof value === 'string' ? value : null;
  else if (name === 'role') listed.hasRole = true;
  else if (name === 'encrypted_content') listed.encryptedContent = place;
}

const wholeTypes: ReadonlySet<string> = new Set(idAloneTypes);

export function isItemReference({ type, id, hasRole, hasContent }: ListedObject): boolean {
  if (type !== null && wholeTypes.has(type)) return false;
  return id !== null && (type === 'item_reference' || (type === null && !hasRole) || !hasContent);
}

const listNames: ReadonlySet<string | null> = new Set(['input', 'tools', 'tool_choice']);

class ResponsesListener implements JsonListener {
  readonly maxLevel: number;
  readonly members: MemberCollector;
  readonly places: PlaceFinder;
  readonly ids: IdSuspicion;
  readonly contents: ItemContents;
  readonly callIds: LongCallIds;
  #isInLists = false;

  constructor(bytes: Buffer) {
    this.members = new MemberCollector(bytes, names);
    this.places = new PlaceFinder(bytes, paths);
    this.ids = new IdSuspicion(bytes, responsesIdRules);
    this.contents = new ItemContents(bytes);
    this.callIds = new LongCallIds(bytes);
    this.maxLevel = this.ids.maxLevel;
  }

  begin(level: number, start: number, nameStart: number, nameEnd: number): void {
    this.ids.begin(nameStart, nameEnd);
    if (level < 3) this.members.begin(level, start, nameStart, nameEnd);
    if (level === 1) this.#isInLists = listNames.has(this.members.current);
    if (level === 0 || this.#isInLists) this.places.begin(level, start, nameStart, nameEnd);
    if (this.members.current !== 'input') return;
    this.contents.begin(level, start, nameStart, nameEnd);
    if (level === 3) this.callIds.begin(start, nameStart, nameEnd);
  }

  end(level: number, end: number): void {
    if (level < 3) this.members.end(level, end);
    if (this.#isInLists) this.places.end(level, end);
    if (level === 3) this.callIds.end(end);
  }
}

/** The ids that OpenAI may refuse, among the members of items. */
class LongCallIds {
  hasLong = false;
  readonly #bytes: Buffer;
  #start = 0;
  #nameStart = -1;
  #nameEnd = -1;

  constructor(bytes: Buffer) {
    this.#bytes = bytes;
  }

  begin(start: number, nameStart: number, nameEnd: number): void {
    this.#start = start;
    this.#nameStart = nameStart;
    this.#nameEnd = nameEnd;
  }

  end(end: number): void {
    if (this.#nameStart === -1 || end - this.#start <= maxCallIdCharacters + 2) return;
    this.hasLong ||= isNamed(this.#bytes, this.#nameStart, this.#nameEnd, 'call_id');
    this.#nameStart = -1;
  }
}

const letterN = 0x6e;
const openBracket = 0x5b;
const quote = 0x22;

/** Maximum size of a name. Members of items have shorter names. */
const maxNameBytes = 256;

/** Finds which items of the input have content. */
class ItemContents {
  readonly found: boolean[] = [];
  readonly #bytes: Buffer;
  /** The members of the latest item with content. Of those with the same name, the last counts, as for a parser. */
  readonly #members = new Set<string>();
  #member = '';

  constructor(bytes: Buffer) {
    this.#bytes = bytes;
  }

  begin(level: number, start: number, nameStart: number, nameEnd: number): void {
    if (level === 2) {
      this.found.push(false);
      this.#members.clear();
    } else if (level === 3) this.#beginMember(start, nameStart, nameEnd);
    else if (level === 4) this.#add();
  }

  #beginMember(start: number, nameStart: number, nameEnd: number): void {
    const hasName = nameStart !== -1 && nameEnd - nameStart <= maxNameBytes;
    this.#member = hasName ? stringIn(this.#bytes, nameStart, nameEnd) : '';
    this.#members.delete(this.#member);
    if (this.#isContent(start)) this.#add();
    else this.found[this.found.length - 1] = this.#members.size > 0;
  }

  #add(): void {
    if (this.#member === '') return;
    this.#members.add(this.#member);
    this.found[this.found.length - 1] = true;
  }

  #isContent(start: number): boolean {
    const bytes = this.#bytes;
    const first = bytes[start];
    if (first === letterN || first === openBrace || first === openBracket) return false;
    if (first === quote && bytes[start + 1] === quote) return false;
    return !describingMembers.includes(this.#member);
  }
}
