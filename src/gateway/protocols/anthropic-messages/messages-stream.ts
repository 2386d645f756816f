import { parseForeign } from '#gateway/framing/foreign-json.ts';
import { classifications, type EventClassification } from '#gateway/framing/stream-interpreter.ts';
import { NeutralStream } from '#gateway/protocols/neutral-stream.ts';
import { isObject } from '#shared/json/json.ts';
import { MessagesAnswerReader } from './messages-answer-reader.ts';

const endMark = 'event: message_stop\ndata: {"type":"message_stop"}\n\n';

/** Types of events that may be large. Any other may be an error. */
const kinds: ReadonlyMap<unknown, 'content' | 'no-content'> = new Map([
  ['content_block_delta', 'content'],
  ['content_block_start', 'no-content'],
  ['message_start', 'no-content'],
]);

export class MessagesStream extends NeutralStream {
  constructor(keepsText: boolean) {
    super(new MessagesAnswerReader(), endMark, keepsText);
  }

  override classify(data: string | null): EventClassification {
    const classification = super.classify(data);
    return classification.kind === 'no-content' && saysNothing(data) ? classifications.empty : classification;
  }

  peek(beginning: string): 'content' | 'no-content' | null {
    const event = parseForeign(beginning);
    return isObject(event) ? (kinds.get(event.type) ?? null) : null;
  }
}

/** An event without content: a ping, or an empty piece of a text or of thinking. */
function saysNothing(data: string | null): boolean {
  if (data === null) return true;
  const event = parseForeign(data);
  if (!isObject(event)) return data === '';
  const { type, delta } = event;
  return type === 'ping' || (isObject(delta) && (delta.thinking ?? delta.text) === '');
}
