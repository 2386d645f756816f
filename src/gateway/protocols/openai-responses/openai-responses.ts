import * as E from 'fp-ts/lib/Either.js';
import { openAiResponsesErrors } from '#exchange/error-form.ts';
import { continueRead, lastMember } from '#gateway/framing/json-members.ts';
import { waitingComment } from '#gateway/framing/sse-event.ts';
import type { ParsedRequest, TextProtocol, TextRequest } from '#gateway/protocols/protocol.ts';
import { newResponseId } from '#responses/response-ids.ts';
import { type JsonObject, parsedJson } from '#shared/json/json.ts';
import { pointerTo } from '#shared/json/json-pointer.ts';
import { parseResponses } from './parse-responses.ts';
import { echoedMembers, type ResponseFrame } from './response-object.ts';
import { ResponsesAnswerReader, readResponsesAnswer } from './responses-answer-reader.ts';
import { ResponsesAnswerWriter, writeResponsesAnswer } from './responses-answer-writer.ts';
import { type NamedContainer, responsesBody, unsupportedByTarget } from './responses-body.ts';
import { type ResponsesRequest, readResponsesRequest } from './responses-request.ts';
import { ResponsesStream, RewrittenResponsesStream } from './responses-stream.ts';
import type { StorageMembers } from './rewrite-response.ts';
import { writeResponses } from './write-responses.ts';

/** The path of responses. Below it, a provider also has the responses that it keeps. */
export const responsesPath = '/responses';

/** https://platform.openai.com/docs/api-reference/responses */
export const openAiResponses: TextProtocol = {
  name: 'openai-responses',
  requiredMember: 'output',
  path: () => responsesPath,
  client: {
    headers: [],
    askingHeaders: [],
    read: (bytes, maxValues) =>
      continueRead(readResponsesRequest(bytes, maxValues), (request) => E.right(responsesTextRequest(request, null))),
    errors: openAiResponsesErrors,
    signOfLife: waitingComment,
    hasArgumentsAsObjects: false,
  },
  provider: {
    write: writeResponses,
    createReader: (from) => new ResponsesAnswerReader(from),
    readWhole: readResponsesAnswer,
    cannotContinue: true,
  },
};

interface StoredParts {
  readonly containers: ReadonlyArray<NamedContainer>;
  /** Ids of files of earlier turns. */
  readonly gone: ReadonlyArray<string>;
}

function withGone(parsed: ParsedRequest, gone: ReadonlyArray<string>): ParsedRequest {
  return gone.length === 0 ? parsed : { ...parsed, ignored: [...parsed.ignored, ...goneAt(gone)] };
}

function goneAt(gone: ReadonlyArray<string>): ReadonlyArray<string> {
  return gone.map((id) => pointerTo(['previous_response_id', id]));
}

/**
 * The request with all of its items, which are in the request.
 * @param storage for its response; null for a response that is not stored and continues no other
 */
export function responsesTextRequest(
  request: ResponsesRequest,
  storage: StorageMembers | null,
  { containers, gone }: StoredParts = { containers: [], gone: [] },
): TextRequest {
  const frameOf = (model: string): ResponseFrame => ({
    id: newResponseId(),
    model,
    createdAt: Math.floor(Date.now() / 1_000),
    ...(storage ?? notStored),
    echo: echoOf(request),
  });
  return {
    size: request.bytes.length + (request.before?.size ?? 0),
    model: request.model,
    files: [],
    hint: 'balanced',
    isStreamed: request.isStreamed,
    repeatedBytes: echoedBytes(request),
    asksForUsage: () => true,
    isContinuable: () => false,
    mustTranslate: false,
    unsupportedBy: (target, isStrict) => unsupportedByTarget(request, containers, target, isStrict),
    changed: ({ target }) => {
      const { body, ignored } = responsesBody(request, target);
      return { body, ignored: [...ignored, ...goneAt(gone)] };
    },
    watch: ({ redactErrors }) =>
      storage === null
        ? new ResponsesStream(() => frameOf(request.model))
        : new RewrittenResponsesStream({
            storage,
            frame: request.isInBackground ? null : () => frameOf(request.model),
            redactErrors,
          }),
    parse: async (maxValues, longTexts) => {
      const parsed = await parseResponses(request, maxValues, longTexts);
      return E.isLeft(parsed) ? parsed : E.right(withGone(parsed.right, gone));
    },
    createWriter: (options) => new ResponsesAnswerWriter(frameOf(options.model), options.tools),
    failedStream: (model, error) =>
      new ResponsesStream(request.isInBackground ? null : () => frameOf(model)).errorEvent(error),
    writeWhole: (answer, options) => writeResponsesAnswer(frameOf(options.model), answer, options.tools),
  };
}

const notStored: StorageMembers = { isStored: false, previousResponseId: null };

/** The members that the response repeats. They are parsed only for an answer of another protocol. */
function echoOf({ bytes, members }: ResponsesRequest): JsonObject {
  return Object.fromEntries(
    echoedMembers.flatMap((name) => {
      const member = lastMember(members, name);
      return member === undefined ? [] : [[name, parsedJson(bytes.toString('utf8', member.valueStart, member.end))]];
    }),
  );
}

function echoedBytes({ members }: ResponsesRequest): number {
  const echoed = echoedMembers.flatMap((name) => lastMember(members, name) ?? []);
  return echoed.reduce((sum, { valueStart, end }) => sum + end - valueStart, 0);
}
