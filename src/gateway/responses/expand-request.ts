import * as E from 'fp-ts/lib/Either.js';
import { isStrict } from '#application/operations/request-headers.ts';
import { type Failure, failure } from '#domain/shared/failure.ts';
import { bodyTooLarge } from '#exchange/body.ts';
import { invalidInput } from '#exchange/input-errors.ts';
import { largeBodyBytes, turn } from '#exchange/turns.ts';
import { lastMember, scalarValue } from '#gateway/framing/json-members.ts';
import { maxPlaces } from '#gateway/framing/json-places.ts';
import { applyEdits, asciiJson, type Edit, editsOf, growthOf, inPlace, type Splice } from '#gateway/framing/splice.ts';
import type { GatewayCall, GatewayLimits } from '#gateway/gateway-call.ts';
import { inputEdits, type NamedContainer } from '#gateway/protocols/openai-responses/responses-body.ts';
import {
  isItemReference,
  type ListedObject,
  type ResponsesRequest,
  readExpandedRequest,
} from '#gateway/protocols/openai-responses/responses-request.ts';
import { maxIdsOfConversation, type NamedId, notHere } from '#gateway/protocols/provider-ids.ts';
import { signatureIn, signatureTextOf } from '#gateway/protocols/signature-text.ts';
import { inlineFiles } from '#gateway/text/inline-files.ts';
import { responseIdNamedBy } from '#responses/response-ids.ts';
import type { ResponseOutline } from '#responses/response-store.ts';
import type { KeptTurn } from '#responses/turn.ts';
import { maxTurns, type NotRead, type TurnReadLimits } from '#responses/turn-reader.ts';
import { currentWorkOwner } from '#shared/async/fair-queue.ts';
import { findContainersBefore } from './containers-before.ts';
import { containerName, reasoningName } from './item-names.ts';
import { ItemsOfTurns } from './items-before.ts';
import { findItems, type NamedItem } from './named-item.ts';
import { emptyReasoning } from './sent-item.ts';

export interface ExpandedRequest {
  readonly request: ResponsesRequest;
  /** The response that the request continues; null if it continues none. */
  readonly previous: ResponseOutline | null;
  /** The ids of responses whose items the input names. */
  readonly referenced: ReadonlyArray<string>;
  readonly reasoning: SentReasoning;
  /** The containers that the request names, or the items that are put into it. */
  readonly containers: ReadonlyArray<NamedContainer>;
  /** The ids of files of earlier turns that are gone. */
  readonly gone: ReadonlyArray<string>;
}

interface SentReasoning {
  /** Edits that name the provider that has made the reasoning. */
  readonly marks: ReadonlyArray<Edit>;
  /** Ids that no stored response has made. */
  readonly unknownIds: ReadonlyArray<string>;
}

/** Maximum number of references in one request, which are looked up by their ids. */
const maxReferences = 5_000;

const tooManyReferences = invalidInput([
  { pointer: '/input', message: `may name ${maxReferences} items by their ids at most` },
]);

/**
 * Puts into a request what it only names: the turns before it, items, and files of its project.
 * @returns not found for what this project does not have; too large for more than a body may have
 * @throws UnavailableError
 */
export async function expandRequest(
  call: GatewayCall,
  request: ResponsesRequest,
): Promise<E.Either<Failure, ExpandedRequest>> {
  const expanded = await new Expansion(call, request).expand();
  if (E.isLeft(expanded)) return expanded;
  const { request: whole } = expanded.right;
  if (whole.files.length === 0) return expanded;
  const inlined = await inlineFiles(call, whole, { imageMember: 'image_url', isEarlier: earlierIn(request, whole) });
  if (E.isLeft(inlined)) return inlined;
  const { gone } = inlined.right;
  const [lost] = gone;
  if (lost !== undefined && isStrict(call.headers)) return E.left(fileGone(lost));
  const read = await readExpandedRequest(inlined.right.bytes, call.limits.maxJsonValues);
  return E.isLeft(read) ? read : E.right({ ...expanded.right, gone, request: { ...read.right, before: whole.before } });
}

/** True if the id is in an item that the client has not sent: of a turn before, or one that is named by its id. */
function earlierIn({ bytes, members, items }: ResponsesRequest, whole: ResponsesRequest): (id: NamedId) => boolean {
  const input = lastMember(members, 'input');
  const isText = input !== undefined && typeof scalarValue(bytes, input) === 'string';
  const before = whole.items.length - (isText ? 1 : items.length);
  return ({ pointer }) => {
    const index = Number(pointer.split('/')[2]) - before;
    const own = items[index];
    return index < 0 || (own !== undefined && isItemReference(own));
  };
}

function fileGone(id: string): Failure {
  return failure('file-not-found', `The file ${quoted(id)} of an earlier turn is no longer available.`, {
    errors: [{ pointer: '/previous_response_id', message: 'must be a conversation whose files are available' }],
  });
}

class Expansion {
  readonly #call: GatewayCall;
  readonly #request: ResponsesRequest;
  readonly #limits: GatewayLimits;
  /** The failure if no memory was left for what is stored. */
  #shortage: Failure | null = null;

  constructor(call: GatewayCall, request: ResponsesRequest) {
    this.#call = call;
    this.#request = request;
    this.#limits = call.limits;
  }

  async expand(): Promise<E.Either<Failure, ExpandedRequest>> {
    const request = this.#request;
    const { previousResponseId } = request;
    const references = request.items.filter(isItemReference).map(({ id }) => id as string);
    if (references.length > maxReferences) return E.left(tooManyReferences);
    const containers = await this.#containersNamed();
    if (E.isLeft(containers)) return containers;
    const reasoning = await this.#findReasoning();
    if (previousResponseId === null && references.length === 0 && reasoning.marks.length === 0)
      return E.right({ request, previous: null, referenced: [], reasoning, containers: containers.right, gone: [] });
    const turns = await this.#turnsBefore(previousResponseId);
    if (E.isLeft(turns)) return turns;
    const items = await this.#itemsNamed(references, turns.right);
    if (E.isLeft(items)) return items;
    const missing = request.items.find((item) => isRequired(item) && !items.right.has(item.id as string));
    if (missing !== undefined) return E.left(itemNotFound(missing.id as string));
    const before = turns.right.length === 0 ? null : new ItemsOfTurns(turns.right, items.right);
    const size = request.bytes.length + (before?.size ?? 0);
    if (size > largeBodyBytes) await turn(currentWorkOwner(), 'body', size);
    const expanded = await this.#withItems(before, items.right, reasoning.marks);
    if (E.isLeft(expanded)) return expanded;
    const named = references.flatMap((id) => items.right.get(id)?.turn.outline.id ?? []);
    const inStored = await this.#containersStored(turns.right, [...items.right.values()]);
    return E.right({
      request: expanded.right,
      previous: turns.right.at(-1)?.outline ?? null,
      referenced: idsOutside(turns.right, named),
      reasoning,
      containers: [...containers.right, ...inStored],
      gone: [],
    });
  }

  async #turnsBefore(id: string | null): Promise<E.Either<Failure, ReadonlyArray<KeptTurn>>> {
    if (id === null) return E.right([]);
    const { gateway, caller } = this.#call;
    const turns = await gateway.responses.turns.conversation(caller.projectId, id, this.#readLimits);
    if (turns === null) return E.left(previousNotFound(id));
    if (typeof turns === 'string') return E.left(this.#failureOf(turns, conversationTooLong(this.#limits)));
    return turns.at(-1)?.outline.background === null ? E.right(turns) : E.left(previousUnfinished(id));
  }

  /** Finds which providers have the named containers: only what an answer to this project has named is there for it. */
  async #containersNamed(): Promise<E.Either<Failure, ReadonlyArray<NamedContainer>>> {
    const { bytes, containers } = this.#request;
    if (containers.length === 0) return E.right([]);
    if (containers.length > maxReferences) return E.left(tooManyReferences);
    const named = containers.map((id) => ({ id, name: containerName(String(scalarValue(bytes, id))) }));
    const { gateway, caller } = this.#call;
    const providers = await gateway.responses.turns.providersOf(caller.projectId, [
      ...new Set(named.map(({ name }) => name)),
    ]);
    const found: NamedContainer[] = [];
    for (const { id, name } of named) {
      const provider = providers.get(name);
      if (provider === undefined) return E.left(notHere(id));
      found.push({ pointer: id.pointer, provider });
    }
    return E.right(found);
  }

  #containersStored(
    turns: ReadonlyArray<KeptTurn>,
    named: ReadonlyArray<NamedItem>,
  ): Promise<ReadonlyArray<NamedContainer>> {
    const { gateway, caller } = this.#call;
    return findContainersBefore(gateway.responses.turns, { projectId: caller.projectId, turns, named });
  }

  async #itemsNamed(
    references: ReadonlyArray<string>,
    turns: ReadonlyArray<KeptTurn>,
  ): Promise<E.Either<Failure, ReadonlyMap<string, NamedItem>>> {
    const { gateway, caller } = this.#call;
    const found = new Map<string, NamedItem>();
    const before = new Set(turns.flatMap(({ text }) => text.references));
    if (references.length === 0 && before.size === 0) return E.right(found);
    const take = async (wanted: ReadonlySet<string>, from: ReadonlyArray<KeptTurn>) => {
      for (const [id, item] of await findItems(wanted, from)) found.set(id, item);
    };
    await take(new Set([...references, ...before]), turns);
    if ([...before].some((id) => !found.has(id))) {
      const ids = await this.#idsNeededBy(turns, found);
      const needed = await gateway.responses.turns.neededTurns(caller.projectId, ids, this.#readLimits);
      if (typeof needed === 'string') return E.left(this.#failureOf(needed, conversationTooLong(this.#limits)));
      await take(notIn(found, [...before]), needed);
    }
    const others = await this.#turnsOf([...notIn(found, references)]);
    if (typeof others === 'string') return E.left(this.#failureOf(others, bodyTooLarge(this.#limits.maxJsonBytes)));
    await take(notIn(found, references), others);
    return E.right(found);
  }

  /** Responses outside of a conversation that made the items that its turns name, without known ones. */
  async #idsNeededBy(
    turns: ReadonlyArray<KeptTurn>,
    known: ReadonlyMap<string, NamedItem>,
  ): Promise<ReadonlyArray<string>> {
    const { gateway, caller } = this.#call;
    const naming = turns.filter(({ text }) => text.references.some((id) => !known.has(id)));
    const ids = naming.map(({ outline }) => outline.id);
    return idsOutside(turns, await gateway.responses.turns.needsOf(caller.projectId, ids));
  }

  /** The turns that have made the items, and were not deleted. */
  async #turnsOf(items: ReadonlyArray<string>): Promise<ReadonlyArray<KeptTurn> | NotRead> {
    if (items.length === 0) return [];
    const { gateway, caller } = this.#call;
    const ids = [...new Set(items.flatMap((id) => responseIdNamedBy(id) ?? []))];
    return gateway.responses.turns.turnsOfItems(caller.projectId, { items, ids }, this.#readLimits);
  }

  /**
   * Names the provider that has made the opaque part of reasoning, where a client sends a stored item again. A client
   * that stores nothing gets its items through as they are.
   */
  async #findReasoning(): Promise<SentReasoning> {
    const { bytes, items, isStored } = this.#request;
    const sent = isStored ? items.flatMap((item) => reasoningIn(bytes, item)) : [];
    if (sent.length === 0) return { marks: [], unknownIds: [] };
    const { gateway, caller } = this.#call;
    const names = new Set(sent.map(({ id }) => reasoningName(id)));
    const providers = await gateway.responses.turns.providersOf(caller.projectId, [...names].slice(0, maxReferences));
    const marks = sent.flatMap(({ id, place: { valueStart, end }, value }) => {
      const of = providers.get(reasoningName(id));
      const text = of === undefined ? null : asciiJson(signatureTextOf({ of, value, isRedacted: false }));
      return text === null ? [] : [{ start: valueStart, end, text }];
    });
    return { marks, unknownIds: sent.flatMap(({ id }) => (providers.has(reasoningName(id)) ? [] : [id])) };
  }

  /** The limits of reading. What is read counts as a part of the body. */
  get #readLimits(): TurnReadLimits {
    return {
      maxBytes: this.#limits.maxJsonBytes,
      reserve: (bytes) => {
        const { gateway, held } = this.#call;
        this.#shortage = gateway.admission.bytes(held, 'body', bytes);
        return this.#shortage === null;
      },
    };
  }

  #failureOf(refused: NotRead, tooLong: Failure): Failure {
    return refused === 'too-long' || this.#shortage === null ? tooLong : this.#shortage;
  }

  /** Puts the named items into the request, and the turns before it, into its input if targets do not get them alike. */
  async #withItems(
    before: ItemsOfTurns | null,
    found: ReadonlyMap<string, NamedItem>,
    marks: ReadonlyArray<Edit>,
  ): Promise<E.Either<Failure, ResponsesRequest>> {
    const request = this.#request;
    const { bytes, members, items } = request;
    const edits: Splice[] = [...marks, ...items.filter(isItemReference).map((item) => referenceEdit(item, found))];
    const isInInput = before?.mustBeInInput === true;
    const isChanged = edits.length > 0 || isInInput;
    const refused = await this.#checkSize(edits, before, isChanged);
    if (refused !== null) return E.left(refused);
    if (!isChanged) return E.right({ ...request, before });
    if (isInInput) edits.push(...inputEdits(request, before.text, items.length > 0));
    const removal = editsOf(members, { remove: ['previous_response_id'] });
    const changed = applyEdits(bytes, inPlace<Splice>([...edits, ...removal]));
    const read = await readExpandedRequest(changed, this.#limits.maxJsonValues);
    // The request itself was read before, so it is the turns before it that have too much.
    if (E.isLeft(read)) return isInInput ? E.left(tooMuchToRead(this.#limits)) : read;
    return E.right({ ...read.right, before: isInInput ? null : before });
  }

  /** Takes memory for all that is put into the request, before a new body is made. */
  async #checkSize(
    edits: ReadonlyArray<Splice>,
    before: ItemsOfTurns | null,
    isChanged: boolean,
  ): Promise<Failure | null> {
    const { maxJsonBytes } = this.#limits;
    const editedBytes = growthOf(edits);
    const addedBytes = editedBytes + (before?.size ?? 0);
    if ((before?.size ?? 0) > maxJsonBytes) return conversationTooLong(this.#limits);
    if (addedBytes > maxJsonBytes) return bodyTooLarge(maxJsonBytes);
    const bodyBytes = isChanged ? this.#request.bytes.length : 0;
    const { held, gateway } = this.#call;
    const refusal = gateway.admission.bytes(held, 'body', bodyBytes + addedBytes);
    if (refusal !== null) return refusal;
    if (editedBytes > largeBodyBytes) await turn(currentWorkOwner(), 'body', editedBytes);
    return null;
  }
}

/** True if without the named item the request means something else. Reasoning may be left out. */
function isRequired(item: ListedObject): boolean {
  return isItemReference(item) && item.type !== 'reasoning';
}

function referenceEdit({ id, valueStart, end }: ListedObject, found: ReadonlyMap<string, NamedItem>): Splice {
  return { start: valueStart, end, text: found.get(id ?? '')?.text ?? emptyReasoning };
}

function reasoningIn(bytes: Buffer, item: ListedObject) {
  const { id, encryptedContent: place } = item;
  if (id === null || place === null || isItemReference(item)) return [];
  const value = scalarValue(bytes, place);
  if (typeof value !== 'string' || signatureIn(value) !== null) return [];
  return [{ id, place, value }];
}

function idsOutside(turns: ReadonlyArray<KeptTurn>, ids: Iterable<string>): ReadonlyArray<string> {
  const inside = new Set(turns.map(({ outline }) => outline.id));
  return [...new Set(ids)].filter((id) => !inside.has(id));
}

function notIn(found: ReadonlyMap<string, unknown>, ids: ReadonlyArray<string>): ReadonlySet<string> {
  return new Set(ids.filter((id) => !found.has(id)));
}

function previousNotFound(id: string): Failure {
  return failure('response-not-found', `There is no response ${quoted(id)} that this key can access.`, {
    errors: [{ pointer: '/previous_response_id', message: 'must be the id of a stored response' }],
  });
}

/** The failure if the request is too large with the turns before it. */
function conversationTooLong({ maxJsonBytes }: GatewayLimits): Failure {
  const detail = `The conversation has more than ${maxJsonBytes} bytes (MAX_JSON_BYTES) or ${maxTurns} turns, the maximum of one that is continued.`;
  return failure('conversation-too-long', detail, {
    errors: [{ pointer: '/previous_response_id', message: 'must be the id of a response of a shorter conversation' }],
  });
}

/** The failure for too many values. All turns of the conversation are read together. */
function tooMuchToRead({ maxJsonValues }: GatewayLimits): Failure {
  const detail = `The conversation names files, adds tools or is compacted, and has more than ${maxJsonValues} values (MAX_GATEWAY_VALUES), ${maxPlaces} items with their types, ids and roles, or ${maxIdsOfConversation} ids.`;
  return failure('conversation-too-long', detail, {
    errors: [{ pointer: '/previous_response_id', message: 'must be the id of a response of a shorter conversation' }],
  });
}

function previousUnfinished(id: string): Failure {
  const detail = `The response ${quoted(id)} is not finished, or its end has not been read yet. Get it until its status says that it is finished.`;
  return failure('response-not-finished', detail, {
    errors: [{ pointer: '/previous_response_id', message: 'must be the id of a finished response' }],
  });
}

function itemNotFound(id: string): Failure {
  return failure('response-item-not-found', `There is no item ${quoted(id)} that this key can access.`, {
    errors: [{ pointer: '/input', message: 'must name items of stored responses' }],
  });
}

function quoted(id: string): string {
  return JSON.stringify(id.length > 100 ? `${id.slice(0, 100)}…` : id);
}
