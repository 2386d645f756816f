import { randomUUID } from 'node:crypto';

/** Clients recognize an answer by it. */
type AnswerIdPrefix = 'msg_' | 'chatcmpl-' | 'resp_';

/** The form of what follows the prefix in the ids of OpenAI and Anthropic, and of providers that write theirs. */
const restOfId = /^[\w-]{1,128}$/;

/** The id in the form of the client's protocol: the provider's if it has it, else a new one. */
export function answerIdOf(prefix: AnswerIdPrefix, said: string | null): string {
  if (said?.startsWith(prefix) === true && restOfId.test(said.slice(prefix.length))) return said;
  return prefix + randomUUID().replaceAll('-', '');
}
