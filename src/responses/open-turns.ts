import { openBytes } from '#personal-data/sealed-text.ts';
import { markTurn, TurnText } from './turn-text.ts';

export interface OpeningKey {
  readonly subject: string;
  readonly key: Uint8Array;
}

/** The sealed contents of turns, with their ids. */
export type SealedTurns = Iterable<readonly [id: string, content: string]>;

/** Opens turns, and marks the places in them. Those that cannot be opened are left out: their key was destroyed. */
export function openTurns(sealed: SealedTurns, { subject, key }: OpeningKey): ReadonlyMap<string, TurnText> {
  const opened = new Map<string, TurnText>();
  for (const [id, content] of sealed) {
    const bytes = openBytes(key, { subject, field: id }, { ciphertext: content });
    const marks = bytes === null ? null : markTurn(bytes);
    if (bytes !== null && marks !== null) opened.set(id, new TurnText(bytes, marks));
  }
  return opened;
}

/** Opened turns on their way from one thread to another: the bytes of all in one buffer, which is not copied. */
export interface SentTurns {
  readonly ids: ReadonlyArray<string>;
  /** For each turn, where its bytes and its marks end. */
  readonly bytesEnds: ReadonlyArray<number>;
  readonly marksEnds: ReadonlyArray<number>;
  readonly bytes: Uint8Array<ArrayBuffer>;
  readonly marks: Uint32Array<ArrayBuffer>;
}

export function packTurns(turns: ReadonlyMap<string, TurnText>): SentTurns {
  const texts = [...turns.values()];
  const bytes = new Uint8Array(texts.reduce((sum, text) => sum + text.bytes.length, 0));
  const marks = new Uint32Array(texts.reduce((sum, text) => sum + text.marks.length, 0));
  const [bytesEnds, marksEnds]: [number[], number[]] = [[], []];
  let [bytesEnd, marksEnd] = [0, 0];
  for (const text of texts) {
    bytes.set(text.bytes, bytesEnd);
    marks.set(text.marks, marksEnd);
    bytesEnd += text.bytes.length;
    marksEnd += text.marks.length;
    bytesEnds.push(bytesEnd);
    marksEnds.push(marksEnd);
  }
  return { ids: [...turns.keys()], bytesEnds, marksEnds, bytes, marks };
}

export function unpackTurns({ ids, bytesEnds, marksEnds, bytes, marks }: SentTurns): ReadonlyMap<string, TurnText> {
  const all = Buffer.from(bytes.buffer);
  return new Map(
    ids.map((id, index) => {
      const own = all.subarray(bytesEnds[index - 1] ?? 0, bytesEnds[index]);
      return [id, new TurnText(own, marks.subarray(marksEnds[index - 1] ?? 0, marksEnds[index]))] as const;
    }),
  );
}
