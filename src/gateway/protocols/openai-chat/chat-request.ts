import * as E from 'fp-ts/lib/Either.js';
import type { Failure, InputError } from '#domain/shared/failure.ts';
import { invalidInput } from '#exchange/input-errors.ts';
import {
  checkFlag,
  checkText,
  continueRead,
  inputError,
  type JsonRequest,
  MemberCollector,
  type ReadBody,
  readMembers,
  scalarMember,
  spellingFaults,
  type ValuePlace,
  wantedNames,
} from '#gateway/framing/json-members.ts';
import type { Edit } from '#gateway/framing/splice.ts';
import { callIdEditsIn } from '#gateway/protocols/call-id-edits.ts';
import { anyCallId } from '#gateway/protocols/call-id-rules.ts';
import { MessageChecker, messagesFaults } from '#gateway/protocols/message-checker.ts';
import { type ReasoningHint, reasoningHints } from '#gateway/protocols/protocol.ts';
import {
  CompiledIdRules,
  fileNames,
  IdSuspicion,
  maxIdsOfClient,
  type NamedId,
  type NamedIds,
  refuseIds,
} from '#gateway/protocols/provider-ids.ts';
import type { Json } from '#shared/json/json.ts';
import type { JsonListener } from '#shared/json/json-scanner.ts';
import { OwnDetails } from './own-details.ts';

export interface ChatRequest extends JsonRequest {
  readonly model: string;
  readonly hint: ReasoningHint;
  readonly stream: boolean;
  readonly choices: number;
  /** The ids of files of the project. */
  readonly files: ReadonlyArray<NamedId>;
  readonly lastUserContent: ValuePlace | null;
  /** What the gateway wrote for the client, of the reasoning of other protocols. */
  readonly ownDetails: Pick<OwnDetails, 'edits' | 'pointers'>;
  /** Whether the last message is the user's, and not for example the result of a tool. */
  readonly isUserLast: boolean;
  /** Edits that cut states out of the ids of calls. */
  readonly callIdEdits: ReadonlyArray<Edit>;
}

const chatNames = wantedNames(
  {
    model: [],
    messages: [],
    stream: [],
    reasoning: [],
    n: [],
    stream_options: ['include_usage'],
    response_format: ['type'],
    tools: [],
    tool_choice: [],
    functions: [],
    logprobs: [],
    audio: [],
    modalities: [],
  },
  ['model'],
);

/** The ids of a chat, and the JSON in it that is the client's own. */
const chatIdRules = new CompiledIdRules({
  names: { ...fileNames, cached_content: 'cache' },
  paths: [
    [['messages', '*', 'content', '*', 'file', 'file_id'], 'own file'],
    [['messages', '*', 'audio', 'id'], 'audio'],
    [['audio', 'voice', 'id'], 'voice'],
  ],
  freeJson: [
    ['tools', '*', 'function', 'parameters'],
    ['tools', '*', 'custom', 'format'],
    ['messages', '*', 'tool_calls', '*', 'function', 'arguments'],
    ['functions', '*', 'parameters'],
    ['response_format'],
    ['metadata'],
  ],
});

const findCallIdEdits = callIdEditsIn('messages', [
  [['tool_calls', '*', 'id'], anyCallId],
  [['tool_call_id'], anyCallId],
]);

/**
 * Checks the members that the gateway needs, and the roles and contents of messages.
 * @returns invalid input; or not found for an id of what lives at a provider
 */
export function readChatRequest(bytes: Buffer, maxValues: number): ReadBody<ChatRequest> {
  const listener = new ChatListener(bytes);
  const read = readMembers(bytes, listener.members, maxValues, listener);
  return continueRead(read, (request) =>
    continueRead(listener.ids.findIds(maxIdsOfClient), (ids) =>
      continueRead(checkChatRequest(request, listener, ids), (checked) =>
        continueRead(findCallIdEdits(bytes), (callIdEdits) => E.right({ ...checked, callIdEdits })),
      ),
    ),
  );
}

function checkChatRequest(
  request: JsonRequest,
  listener: ChatListener,
  ids: NamedIds,
): E.Either<Failure, Omit<ChatRequest, 'callIdEdits'>> {
  const { bytes, members } = request;
  const model = scalarMember(bytes, members, 'model');
  const stream = scalarMember(bytes, members, 'stream');
  const reasoning = scalarMember(bytes, members, 'reasoning');
  const choices = scalarMember(bytes, members, 'n');
  const faults = [
    ...spellingFaults(members.otherSpellings, ['model']),
    ...checkText('/model', model),
    ...messagesFaults(bytes, listener.members, listener.messages),
    ...checkFlag('/stream', stream),
    ...hintFaults(model, reasoning),
  ];
  if (faults.length > 0) return E.left(invalidInput(faults));
  const refused = refuseIds(ids);
  if (refused !== null) return E.left(refused);
  return E.right({
    ...request,
    model: model as string,
    files: ids.found,
    hint: (reasoning ?? 'balanced') as ReasoningHint,
    stream: stream === true,
    lastUserContent: listener.messages.lastUserContent,
    isUserLast: listener.messages.isUserLast,
    ownDetails: listener.ownDetails,
    choices: typeof choices === 'number' && choices >= 1 ? choices : 1,
  });
}

class ChatListener implements JsonListener {
  readonly maxLevel: number;
  readonly members: MemberCollector;
  readonly messages: MessageChecker;
  readonly ids: IdSuspicion;
  readonly ownDetails: OwnDetails;
  #isInMessages = false;

  constructor(bytes: Buffer) {
    this.members = new MemberCollector(bytes, chatNames);
    this.messages = new MessageChecker(bytes);
    this.ids = new IdSuspicion(bytes, chatIdRules);
    this.ownDetails = new OwnDetails(bytes);
    this.maxLevel = this.ids.maxLevel;
  }

  begin(level: number, start: number, nameStart: number, nameEnd: number): void {
    this.ids.begin(nameStart, nameEnd);
    if (level < 3) this.members.begin(level, start, nameStart, nameEnd);
    if (level === 1) this.#isInMessages = this.members.current === 'messages';
    if (!this.#isInMessages) return;
    if (level < 4) this.messages.begin(level, start, nameStart, nameEnd);
    if (level < 6) this.ownDetails.begin(level, start, nameStart, nameEnd);
  }

  end(level: number, end: number): void {
    if (level < 3) this.members.end(level, end);
    if (!this.#isInMessages) return;
    if (level < 4) this.messages.end(level, end);
    if (level === 3) this.ownDetails.end(level, end);
  }
}

function hintFaults(model: Json | undefined, reasoning: Json | undefined): ReadonlyArray<InputError> {
  if (model !== 'auto' || reasoning === undefined || reasoning === null) return [];
  if (reasoningHints.some((hint) => hint === reasoning)) return [];
  const known = reasoningHints.map((hint) => `"${hint}"`).join(', ');
  return [inputError('/reasoning', `must be one of ${known}`, reasoning)];
}
