import type { AnswerEvent } from './answer-event.ts';

/** Maximum length of a piece, which is written in one turn of the event loop. */
const maxPieceLength = 128 * 1024;

type TextEvent = Extract<AnswerEvent, { readonly text: string }>;

export function isLongText(event: AnswerEvent): event is TextEvent {
  return 'text' in event && event.text.length > maxPieceLength;
}

/** The same as events with a piece of the text each, as a provider would stream them. */
export function* textPieces(event: TextEvent): Iterable<TextEvent> {
  const { text } = event;
  for (let start = 0; start < text.length; ) {
    const end = pieceEnd(text, start);
    yield { ...event, text: text.slice(start, end) };
    start = end;
  }
}

/** The end of a piece, which keeps a character of two code units whole. */
function pieceEnd(text: string, start: number): number {
  const end = start + maxPieceLength;
  const last = text.charCodeAt(end - 1);
  return last >= 0xd800 && last <= 0xdbff ? end + 1 : end;
}
