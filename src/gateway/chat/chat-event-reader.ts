import { type ChatEvent, readChatEvent } from './chat-event.ts';

/** The bytes around the text in an event that only adds text. */
interface Frame {
  readonly before: string;
  readonly after: string;
}

const contentMember = '"content":"';
/** Inside a JSON string: nothing that is escaped or must be. */
const plain = /^[^"\\\p{Cc}]+$/u;

/**
 * Reads the events of one stream. Most of them differ in their text alone: what is around it is compared with an event
 * that was read whole, which says as much as reading each whole and costs a tenth of it.
 */
export class ChatEventReader {
  #frame: Frame | null = null;
  /** Whether text has been read: the first one, which a client waits for, is not held up by what is for the others. */
  #hasText = false;

  /** As `readChatEvent`. */
  read(data: string | null): ChatEvent {
    const text = this.#frame === null || data === null ? null : textWithin(this.#frame, data);
    if (text !== null) return textOnly(text);
    const event = readChatEvent(data);
    if (data !== null && isTextOnly(event)) {
      if (this.#hasText) this.#frame = frameOf(data, event.text ?? '') ?? this.#frame;
      this.#hasText = true;
    }
    return event;
  }
}

const firstChoice = [0];
const none: ReadonlyArray<number> = [];

function textOnly(text: string): ChatEvent {
  return {
    kind: 'chunk',
    hasContent: true,
    text,
    choices: firstChoice,
    finished: none,
    tokens: null,
    isUsageOnly: false,
  };
}

function isTextOnly(event: ChatEvent): event is Extract<ChatEvent, { kind: 'chunk' }> {
  if (event.kind !== 'chunk' || event.text === null || event.text === '') return false;
  return event.choices.length === 1 && event.finished.length === 0 && event.tokens === null;
}

function textWithin({ before, after }: Frame, data: string): string | null {
  if (data.length <= before.length + after.length || !data.startsWith(before) || !data.endsWith(after)) return null;
  const text = data.slice(before.length, data.length - after.length);
  return plain.test(text) ? text : null;
}

/** The bytes around the text of an event; null where they are not certain. */
function frameOf(data: string, text: string): Frame | null {
  const start = data.indexOf(contentMember) + contentMember.length;
  const end = start + text.length;
  if (!plain.test(text) || data.slice(start, end) !== text || data[end] !== '"') return null;
  const frame = { before: data.slice(0, start), after: data.slice(end) };
  // Another member may look the same: with other text in this place, that must be what is read.
  const other = `${text}.`;
  const event = readChatEvent(frame.before + other + frame.after);
  return isTextOnly(event) && event.text === other ? frame : null;
}
