import * as E from 'fp-ts/lib/Either.js';
import { type Failure, failure, type InputError } from '#domain/shared/failure.ts';
import { invalidInput } from '#exchange/input-errors.ts';
import { lastMember, MemberCollector, scalarMember, scalarValue, wantedNames } from '#gateway/framing/json-members.ts';
import { type FoundPlace, PlaceFinder, pointerOf } from '#gateway/framing/json-places.ts';
import { continueRead, type JsonRequest, type ReadBody, readMembers } from '#gateway/framing/json-request.ts';
import { checkFlag, checkText, inputError, spellingFaults } from '#gateway/framing/member-checks.ts';
import { MessageChecker, messagesFaults } from '#gateway/protocols/message-checker.ts';
import type { Json } from '#shared/json/json.ts';
import type { JsonListener } from '#shared/json/json-scanner.ts';

/** The parts of a request of Messages that the gateway reads. */
export interface MessagesRequest extends JsonRequest {
  readonly model: string;
  readonly isStreamed: boolean;
  /** Whether its messages hold reasoning without a signature, which Anthropic refuses. */
  readonly hasForeignReasoning: boolean;
}

const names = wantedNames(
  { model: [], messages: [], max_tokens: [], stream: [], container: [], tools: [], thinking: ['type'] },
  ['model'],
);

const emptyText = '""';

const tooManyBlocks = invalidInput([{ pointer: '/messages', message: 'has too many blocks with reasoning' }]);

const content = ['messages', '*', 'content', '*'];
const signatures = [...content, 'signature'];
/** Where an id of a file at the provider can be: in a block, in the result of a tool, and in a document of blocks. */
const fileIds = [
  [...content, 'file_id'],
  [...content, 'source', 'file_id'],
  [...content, 'content', '*', 'file_id'],
  [...content, 'content', '*', 'source', 'file_id'],
  [...content, 'source', 'content', '*', 'source', 'file_id'],
];

/**
 * Reads and checks a request of Messages: the members that the gateway needs, and the roles and contents of messages.
 * @param needsMaxTokens whether `max_tokens` is required, as it is for an answer
 * @returns invalid input; or not found for an id of what lives at a provider, because all tenants share one account there
 */
export function readMessagesRequest(
  bytes: Buffer,
  maxValues: number,
  needsMaxTokens: boolean,
): ReadBody<MessagesRequest> {
  const listener = new MessagesListener(bytes);
  const read = readMembers(bytes, listener.members, maxValues, listener);
  return continueRead(read, (request) => checkMessagesRequest(request, listener, needsMaxTokens));
}

function checkMessagesRequest(
  request: JsonRequest,
  listener: MessagesListener,
  needsMaxTokens: boolean,
): E.Either<Failure, MessagesRequest> {
  const { bytes, members } = request;
  const said = (name: string) => scalarMember(bytes, members, name);
  const faults = [
    ...spellingFaults(members.otherSpellings, ['model']),
    ...checkText('/model', said('model')),
    ...messagesFaults(bytes, listener.members, listener.messages),
    ...(needsMaxTokens ? maxTokensFaults(said('max_tokens')) : []),
    ...checkFlag('/stream', said('stream')),
  ];
  if (faults.length > 0) return E.left(invalidInput(faults));
  // What was not looked at might name what lives at a provider.
  if (listener.places.isOverflown) return E.left(tooManyBlocks);
  const foreign = foreignIdIn(bytes, request, listener.places.found);
  if (foreign !== null) return E.left(foreign);
  return E.right({
    ...request,
    model: said('model') as string,
    isStreamed: said('stream') === true,
    hasForeignReasoning: listener.places.found.some(
      ({ pattern, valueStart, end }) => pattern === signatures && end - valueStart === emptyText.length,
    ),
  });
}

function maxTokensFaults(value: Json | undefined): ReadonlyArray<InputError> {
  const pointer = '/max_tokens';
  if (value === undefined) return [{ pointer, message: 'is required' }];
  return Number.isSafeInteger(value) && Number(value) > 0
    ? []
    : [inputError(pointer, 'must be a whole number above 0', value)];
}

/** Refuses an id of what lives at a provider: nothing says that it belongs to this project. */
function foreignIdIn(bytes: Buffer, { members }: JsonRequest, places: ReadonlyArray<FoundPlace>): Failure | null {
  const container = lastMember(members, 'container');
  if (container !== undefined && scalarValue(bytes, container) !== null) {
    return notHere('/container', 'container', 'Leave container out: the provider then makes a new one for the call.');
  }
  const place = places.find(({ pattern }) => pattern !== signatures);
  if (place === undefined) return null;
  const pointer = pointerOf(place);
  return notHere(pointer, 'file', 'Send the content of the file instead: a source of the type base64, text or url.');
}

function notHere(pointer: string, kind: string, instead: string): Failure {
  const detail = `${pointer} names a ${kind} at the provider, which this key cannot access. ${instead}`;
  return failure('provider-resource-not-found', detail, { errors: [{ pointer, message: 'must be left out' }] });
}

/** Collects the members of a request, checks its messages, and finds what lives at a provider. */
class MessagesListener implements JsonListener {
  readonly maxLevel: number;
  readonly members: MemberCollector;
  readonly messages: MessageChecker;
  readonly places: PlaceFinder;
  #isInMessages = false;

  constructor(bytes: Buffer) {
    this.members = new MemberCollector(bytes, names);
    this.messages = new MessageChecker(bytes);
    this.places = new PlaceFinder(bytes, [signatures, ...fileIds]);
    this.maxLevel = this.places.maxLevel;
  }

  begin(level: number, start: number, nameStart: number, nameEnd: number): void {
    if (level < 3) this.members.begin(level, start, nameStart, nameEnd);
    if (level === 1) this.#isInMessages = this.members.current === 'messages';
    if (level > 0 && !this.#isInMessages) return;
    this.places.begin(level, start, nameStart, nameEnd);
    if (level > 0 && level < 4) this.messages.begin(level, start, nameStart, nameEnd);
  }

  end(level: number, end: number): void {
    if (level < 3) this.members.end(level, end);
    if (!this.#isInMessages) return;
    this.places.end(level, end);
    if (level < 4) this.messages.end(level, end);
  }
}
