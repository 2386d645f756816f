import type { Failure } from '#domain/shared/failure.ts';
import type { JsonObject } from '#shared/json/json.ts';

/** Anthropic's types by status (https://docs.anthropic.com/en/api/errors). */
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

export function anthropicErrorType(status: number): string {
  return types.get(status) ?? (status >= 500 ? 'api_error' : 'invalid_request_error');
}

/** What Claude Code looks for before it shortens a conversation. */
export const promptTooLong = 'prompt is too long: ';

/** Claude Code repeats its request with fewer tokens for the answer when it reads these numbers. */
const tokensOfAnswer = /input length and `max_tokens` exceed context limit: \d+ \+ \d+ > \d+/;

/** Whether clients of Anthropic recognize the text as "prompt is too long". */
export function saysPromptTooLong(message: string): boolean {
  return message.startsWith(promptTooLong) || tokensOfAnswer.test(message);
}

export function anthropicError(type: string, message: string, requestId: string): JsonObject {
  return { type: 'error', error: { type, message }, request_id: requestId };
}

/** Maximum number of faults that a message names. Others are counted. */
const maxNamedFaults = 5;

/** Names the faults of an input, because Anthropic's form has no other place for them. */
export function anthropicMessage({ detail, errors = [] }: Failure): string {
  if (errors.every(({ pointer }) => detail.includes(pointer))) return detail;
  const faults = errors.slice(0, maxNamedFaults).map(({ pointer, message }) => `${pointer} ${message}`);
  const more = errors.length > maxNamedFaults ? `; and ${errors.length - maxNamedFaults} more` : '';
  return `${detail} ${faults.join('; ')}${more}`;
}
