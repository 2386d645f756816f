import { parseForeign } from '#gateway/framing/foreign-json.ts';
import { NeutralStream } from '#gateway/protocols/neutral-stream.ts';
import { isObject } from '#shared/json/json.ts';
import { MessagesAnswerReader } from './messages-answer-reader.ts';

const endMark = 'event: message_stop\ndata: {"type":"message_stop"}\n\n';

/** What the types of events are that may be large. Any other may be an error. */
const kinds: ReadonlyMap<unknown, 'content' | 'no-content'> = new Map([
  ['content_block_delta', 'content'],
  ['content_block_start', 'no-content'],
  ['message_start', 'no-content'],
]);

/** Interprets a stream of Messages that passes as it comes. */
export class MessagesStream extends NeutralStream {
  constructor(keepsText: boolean) {
    super(new MessagesAnswerReader(), endMark, keepsText);
  }

  peek(beginning: string): 'content' | 'no-content' | null {
    const event = parseForeign(beginning);
    return isObject(event) ? (kinds.get(event.type) ?? null) : null;
  }
}
