import * as E from 'fp-ts/lib/Either.js';
import type { Failure, InputError } from '#domain/shared/failure.ts';
import { invalidInput } from '#exchange/input-errors.ts';
import { scanJsonObject } from '#exchange/json-body.ts';
import {
  checkFlag,
  checkText,
  continueRead,
  inputError,
  type JsonRequest,
  lastMember,
  MemberCollector,
  type ReadBody,
  readMembers,
  scalarMember,
  spellingFaults,
  wantedNames,
} from '#gateway/framing/json-members.ts';
import type { Edit } from '#gateway/framing/splice.ts';
import { MessageChecker, messagesFaults } from '#gateway/protocols/message-checker.ts';
import {
  CompiledIdRules,
  fileNames,
  hostedNames,
  IdSuspicion,
  maxIdsOfClient,
  type NamedIds,
  refuseIds,
} from '#gateway/protocols/provider-ids.ts';
import type { Json } from '#shared/json/json.ts';
import type { JsonListener } from '#shared/json/json-scanner.ts';
import { BlockMembers } from './block-members.ts';
import { CalledTurn } from './called-turn.ts';
import { ServerToolResults } from './server-tool-results.ts';

export interface MessagesRequest extends JsonRequest {
  readonly model: string;
  readonly isStreamed: boolean;
  /**
   * Whether another model has made a part of its conversation in a way that Anthropic refuses: reasoning that is not
   * Anthropic's, or calls without a thought before them in a turn that thinks with a budget.
   */
  readonly hasForeignTurns: boolean;
  /** Edits that cut states out of the ids of calls, and replace the ids that Anthropic refuses. */
  readonly callIdEdits: ReadonlyArray<Edit>;
}

const names = wantedNames({ model: [], messages: [], max_tokens: [], stream: [], tools: [], thinking: ['type'] }, [
  'model',
]);

/** The ids of a request, and the JSON in it that is the client's own. */
const messagesIdRules = new CompiledIdRules({
  names: { ...fileNames, ...hostedNames },
  paths: [
    [['container', 'id'], 'container'],
    [['messages', '*', 'content', '*', 'content', 'content', '*', 'file_id'], 'made file'],
  ],
  freeJson: [
    ['tools', '*', 'input_schema'],
    ['tools', '*', 'input_examples'],
    ['messages', '*', 'content', '*', 'input'],
    ['output_config', 'format'],
    ['output_format'],
    ['metadata'],
  ],
});

/**
 * Checks the members that the gateway needs, and the roles and contents of messages.
 * @param needsMaxTokens whether `max_tokens` is required, as it is for an answer
 * @returns invalid input; or not found for an id of what lives at a provider, because all tenants share one account
 *   there
 */
export function readMessagesRequest(
  bytes: Buffer,
  maxValues: number,
  needsMaxTokens: boolean,
): ReadBody<MessagesRequest> {
  const listener = new MessagesListener(bytes);
  const read = readMembers(bytes, listener.members, maxValues, listener);
  return continueRead(read, (request) =>
    continueRead(findIds(bytes, listener), (ids) => checkMessagesRequest(request, listener, ids, needsMaxTokens)),
  );
}

/** Finds the ids without those of files in what the provider's own tools did: they give no access. */
function findIds(bytes: Buffer, { ids }: MessagesListener): ReadBody<NamedIds> {
  return continueRead(ids.findIds(maxIdsOfClient), (all) => {
    if (!all.found.some(({ kind }) => kind === 'made file')) return E.right(all);
    const results = new ServerToolResults(bytes);
    return continueRead(scanJsonObject(bytes, Number.POSITIVE_INFINITY, results), () => {
      const found = all.found.filter(({ kind, valueStart }) => kind !== 'made file' || !results.has(valueStart));
      return E.right({ found, isOverflown: all.isOverflown });
    });
  });
}

function checkMessagesRequest(
  request: JsonRequest,
  listener: MessagesListener,
  ids: NamedIds,
  needsMaxTokens: boolean,
): E.Either<Failure, MessagesRequest> {
  const { bytes, members } = request;
  const { blocks } = listener;
  const said = (name: string) => scalarMember(bytes, members, name);
  const faults = [
    ...spellingFaults(members.otherSpellings, ['model']),
    ...checkText('/model', said('model')),
    ...messagesFaults(bytes, listener.members, listener.messages),
    ...(needsMaxTokens ? maxTokensFaults(said('max_tokens')) : []),
    ...checkFlag('/stream', said('stream')),
  ];
  if (faults.length > 0) return E.left(invalidInput(faults));
  const refused = blocks.callIds.failure('messages') ?? refuseIds(ids, instead);
  if (refused !== null) return E.left(refused);
  return E.right({
    ...request,
    model: said('model') as string,
    isStreamed: said('stream') === true,
    hasForeignTurns: blocks.hasForeignReasoning || (listener.called.lacksThought && isThinking(request)),
    callIdEdits: blocks.callIds.found,
  });
}

function isThinking({ bytes, members }: JsonRequest): boolean {
  const inside = lastMember(members, 'thinking')?.inside ?? null;
  return inside !== null && scalarMember(bytes, inside, 'type') === 'enabled';
}

function maxTokensFaults(value: Json | undefined): ReadonlyArray<InputError> {
  const pointer = '/max_tokens';
  if (value === undefined) return [{ pointer, message: 'is required' }];
  return Number.isSafeInteger(value) && Number(value) > 0
    ? []
    : [inputError(pointer, 'must be a whole number above 0', value)];
}

const instead = 'Send the content of a file instead: a source of the type base64, text or url.';

class MessagesListener implements JsonListener {
  readonly maxLevel: number;
  readonly members: MemberCollector;
  readonly messages: MessageChecker;
  readonly ids: IdSuspicion;
  readonly blocks: BlockMembers;
  readonly called: CalledTurn;
  #isInMessages = false;

  constructor(bytes: Buffer) {
    this.members = new MemberCollector(bytes, names);
    this.messages = new MessageChecker(bytes);
    this.ids = new IdSuspicion(bytes, messagesIdRules);
    this.blocks = new BlockMembers(bytes);
    this.called = new CalledTurn(bytes);
    this.maxLevel = this.ids.maxLevel;
  }

  begin(level: number, start: number, nameStart: number, nameEnd: number): void {
    this.ids.begin(nameStart, nameEnd);
    if (level < 3) this.members.begin(level, start, nameStart, nameEnd);
    if (level === 1) this.#isInMessages = this.members.current === 'messages';
    if (level > 0 && !this.#isInMessages) return;
    this.blocks.begin(level, start, nameStart, nameEnd);
    if (level > 0 && level < 6) this.called.begin(level, start, nameStart, nameEnd);
    if (level > 0 && level < 4) this.messages.begin(level, start, nameStart, nameEnd);
  }

  end(level: number, end: number): void {
    if (level < 3) this.members.end(level, end);
    if (!this.#isInMessages) return;
    this.blocks.end(level, end);
    if (level === 3 || level === 5) this.called.end(level, end);
    if (level < 4) this.messages.end(level, end);
  }
}
