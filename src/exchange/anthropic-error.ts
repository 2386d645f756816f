import type { Failure } from '#domain/shared/failure.ts';
import type { JsonObject } from '#shared/json/json.ts';

/** Anthropic's types of errors by status (https://docs.anthropic.com/en/api/errors). */
const types: ReadonlyMap<number, string> = new Map([
  [400, 'invalid_request_error'],
  [401, 'authentication_error'],
  [402, 'billing_error'],
  [403, 'permission_error'],
  [404, 'not_found_error'],
  [413, 'request_too_large'],
  [429, 'rate_limit_error'],
  [503, 'overloaded_error'],
  [504, 'timeout_error'],
  [529, 'overloaded_error'],
]);

/** Returns Anthropic's type of error for a status. */
export function anthropicErrorType(status: number): string {
  return types.get(status) ?? (status >= 500 ? 'api_error' : 'invalid_request_error');
}

/** What Claude Code looks for before it shortens a conversation. */
export const promptTooLong = 'prompt is too long: ';

/** Claude Code asks again with fewer tokens for the answer when it reads these numbers. */
const tokensOfAnswer = /input length and `max_tokens` exceed context limit: \d+ \+ \d+ > \d+/;

/** Whether clients of Anthropic understand a text that says that a prompt is too long. */
export function saysPromptTooLong(message: string): boolean {
  return message.startsWith(promptTooLong) || tokensOfAnswer.test(message);
}

/** Makes an error in the form that clients of Anthropic read. */
export function anthropicError(type: string, message: string, requestId: string): JsonObject {
  return { type: 'error', error: { type, message }, request_id: requestId };
}

/** The most faults that a message names. */
const maxNamedFaults = 5;

/** What a failure says: with the faults of an input, because Anthropic's form has no other place for them. */
export function anthropicMessage({ detail, errors = [] }: Failure): string {
  if (errors.every(({ pointer }) => detail.includes(pointer))) return detail;
  const faults = errors.slice(0, maxNamedFaults).map(({ pointer, message }) => `${pointer} ${message}`);
  const more = errors.length > maxNamedFaults ? `; and ${errors.length - maxNamedFaults} more` : '';
  return `${detail} ${faults.join('; ')}${more}`;
}
