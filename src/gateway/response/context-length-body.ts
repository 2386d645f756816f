import { promptTooLong, saysPromptTooLong } from '#exchange/anthropic-error.ts';
import { type ErrorForm, openAiResponsesErrors } from '#exchange/error-form.ts';
import { contextLengthCode } from '#exchange/openai-error.ts';
import { maxErrorValues } from '#gateway/framing/foreign-json.ts';
import {
  lastMember,
  MemberCollector,
  type Members,
  scalarMember,
  scalarValue,
  wantedNames,
} from '#gateway/framing/json-members.ts';
import { applyEdits, asciiJson, type Edit, editsOf } from '#gateway/framing/splice.ts';
import { JsonScanner } from '#shared/json/json-scanner.ts';

const names = wantedNames({ error: ['code', 'message'] });

/** Adds what clients of a protocol look for; every other byte stays. @param body in the form of the protocol */
export function withContextLength(body: Buffer, errors: ErrorForm): Buffer {
  const members = new MemberCollector(body, names);
  const scanner = new JsonScanner(body, { maxValues: maxErrorValues }, members);
  while (!scanner.advance());
  const error = lastMember(members, 'error')?.inside;
  if (error === null || error === undefined) return body;
  return applyEdits(body, errors.name === 'openai' ? codeEdits(body, error, errors) : messageEdits(body, error));
}

/** On Responses a code is always a text: Codex does not read the number that llama.cpp and vLLM send. */
function codeEdits(body: Buffer, error: Members, errors: ErrorForm): ReadonlyArray<Edit> {
  const code = scalarMember(body, error, 'code') ?? null;
  const isMissing = code === null || code === '' || (errors === openAiResponsesErrors && typeof code === 'number');
  return isMissing ? editsOf(error, { replace: { code: asciiJson(contextLengthCode) }, add: ['code'] }) : [];
}

function messageEdits(body: Buffer, error: Members): ReadonlyArray<Edit> {
  const message = lastMember(error, 'message');
  const text = message === undefined ? null : scalarValue(body, message);
  if (message === undefined || typeof text !== 'string' || saysPromptTooLong(text)) return [];
  // After the quote.
  const start = message.valueStart + 1;
  return [{ start, end: start, text: promptTooLong }];
}
