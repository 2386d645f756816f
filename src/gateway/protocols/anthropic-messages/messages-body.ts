import { lastMember, type Members, scalarMember } from '#gateway/framing/json-members.ts';
import { applyEdits, asciiJson, type Edit, editsOf, inPlace } from '#gateway/framing/splice.ts';
import type { MessagesRequest } from './messages-request.ts';

/**
 * The body for a target of the same protocol: the model is replaced, ids of calls become those that Anthropic takes,
 * and every other byte is unchanged.
 * @param continueFrom the answer's text so far, which the target continues; null for a new answer
 */
export function messagesBody(
  { bytes, members, callIdEdits }: MessagesRequest,
  model: string,
  continueFrom: string | null,
): Buffer {
  const edits = editsOf(members, { replace: { model: asciiJson(model) } });
  const more = continueFrom === null ? callIdEdits : [...callIdEdits, ...prefillEdits(members, continueFrom)];
  return applyEdits(bytes, more.length === 0 ? edits : inPlace([...edits, ...more]));
}

/** Adds the text so far as the assistant's last message. */
function prefillEdits({ found }: Members, continueFrom: string): ReadonlyArray<Edit> {
  const message = `{"role":"assistant","content":${asciiJson(continueFrom.trimEnd())}}`;
  return found
    .filter(({ name }) => name === 'messages')
    .map(({ end, size }) => ({ start: end - 1, end: end - 1, text: size === 0 ? message : `,${message}` }));
}

/** Whether another target may continue a part of the answer: one text, without tools and without thinking. */
export function isContinuable({ bytes, members }: MessagesRequest): boolean {
  const tools = lastMember(members, 'tools');
  if (tools !== undefined && tools.size > 0) return false;
  const thinking = lastMember(members, 'thinking');
  if (thinking === undefined) return true;
  return thinking.inside !== null && scalarMember(bytes, thinking.inside, 'type') === 'disabled';
}
