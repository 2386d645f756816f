import { type ChatEvent, readChatEvent } from './chat-event.ts';

/** The bytes around the text in an event that only adds text. */
interface Frame {
  readonly before: string;
  readonly after: string;
}

const contentMember = '"content":"';
/** Characters inside a JSON string that need no escape. */
const plain = /^[^"\\\p{Cc}]+$/u;

/**
 * Reads the events of one stream. Most events differ only in their text, so the bytes around the text are compared with
 * those of an event that was parsed. This gives the same result as parsing each event and costs a tenth.
 */
export class ChatEventReader {
  #frame: Frame | null = null;
  /**
   * Whether text has been read. The first text skips the work that only later events use, because the client waits for
   * it.
   */
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

/** The bytes around the text of an event; null if they are not certain. */
function frameOf(data: string, text: string): Frame | null {
  const start = data.indexOf(contentMember) + contentMember.length;
  const end = start + text.length;
  if (!plain.test(text) || data.slice(start, end) !== text || data[end] !== '"') return null;
  const frame = { before: data.slice(0, start), after: data.slice(end) };
  // Another member may have the same bytes. To be sure, an event with other text in this place must give that text.
  const other = `${text}.`;
  const event = readChatEvent(frame.before + other + frame.after);
  return isTextOnly(event) && event.text === other ? frame : null;
}
