import { largeBodyBytes, turn } from '#exchange/turns.ts';
import { maxForeignValues, parseForeign, tooLargeJson } from '#gateway/framing/foreign-json.ts';
import { lastMember, MemberCollector, type Members, wantedNames } from '#gateway/framing/json-members.ts';
import { applyEdits, asciiJson, editsOf } from '#gateway/framing/splice.ts';
import { workForAll } from '#shared/async/fair-queue.ts';
import { isObject, type Json, type JsonObject } from '#shared/json/json.ts';
import { JsonScanner } from '#shared/json/json-scanner.ts';

/** What a response says of its storage here, in place of what the provider says. */
export interface StorageMembers {
  readonly isStored: boolean;
  readonly previousResponseId: string | null;
}

const ofResponse = wantedNames({ store: [], previous_response_id: [] });
const ofEvent = wantedNames({ response: ['store', 'previous_response_id'] });

/**
 * Rewrites a whole response. Every other byte is unchanged. A large one is read in pieces, and may have any number of
 * values.
 */
export async function rewriteResponse(bytes: Buffer, storage: StorageMembers): Promise<Buffer> {
  const members = new MemberCollector(bytes, ofResponse);
  const scanner = new JsonScanner(bytes, { maxValues: Number.POSITIVE_INFINITY }, members);
  do if (bytes.length > largeBodyBytes) await turn(workForAll(), 'answer', scanner.bytesOfSlice);
  while (!scanner.advance());
  return rewritten(bytes, members, storage);
}

export function rewriteEvent(data: string, storage: StorageMembers): string {
  const bytes = Buffer.from(data);
  const members = new MemberCollector(bytes, ofEvent);
  const scanner = new JsonScanner(bytes, { maxValues: maxForeignValues }, members);
  while (!scanner.advance());
  const inside = lastMember(members, 'response')?.inside ?? null;
  return inside === null ? data : rewritten(bytes, inside, storage).toString('utf8');
}

function rewritten(bytes: Buffer, members: Members, { isStored, previousResponseId }: StorageMembers): Buffer {
  const previous = previousResponseId === null ? 'null' : asciiJson(previousResponseId);
  const replace = { store: String(isStored), previous_response_id: previous };
  return applyEdits(bytes, editsOf(members, { replace, add: ['store', 'previous_response_id'] }));
}

const dataLine = '\ndata: ';

/** The data of the first event. A line feed is in no JSON text, so none is inside of it. */
export function firstDataIn(events: Buffer): string {
  const text = events.toString();
  const start = text.indexOf(dataLine) + dataLine.length;
  return text.slice(start, text.indexOf('\n', start));
}

export function lastDataIn(events: Buffer): string {
  const text = events.toString();
  return text.slice(text.lastIndexOf(dataLine) + dataLine.length).trimEnd();
}

/** The response in an answer, or in an event. */
export function responseIn(text: string): JsonObject | null {
  const value = parseForeign(text);
  return value === tooLargeJson ? null : responseOf(value);
}

/** The value itself, or the response of an event. */
export function responseOf(value: Json | undefined): JsonObject | null {
  if (!isObject(value)) return null;
  const response = isObject(value.response) ? value.response : value;
  return typeof response.id === 'string' ? response : null;
}
