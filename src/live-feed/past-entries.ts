import * as E from 'fp-ts/lib/Either.js';
import { auditEntries, type EntryReads } from '#application/history/audit-entries.ts';
import { pastEvents } from '#application/history/past-events.ts';
import type { AuditEntry } from '#domain/history/record.ts';
import type { Admission } from '#exchange/admission.ts';
import { Held } from '#exchange/held.ts';
import { areShown, type Positions } from '#positions/positions.ts';
import type { ReadStore } from '#read-store/read-store.ts';
import { clock } from '#shared/clock.ts';
import { UnavailableError } from '#shared/errors/unavailable-error.ts';
import { entryMessage, type FeedReader } from './feed-reader.ts';

export interface PastEntriesOptions {
  readonly admission: Pick<Admission, 'slot'>;
  readonly documents: Pick<ReadStore, 'list'>;
  readonly reads: EntryReads;
  readonly positions: Pick<Positions, 'passed'>;
  /** How long a part stays in memory while its client reads. Default 1 s. */
  readonly partTimeoutMs?: number;
}

/** A piece of the past, of at most 64 KiB, or one entry. */
interface Piece {
  readonly bytes: Buffer;
  readonly entries: number;
  readonly position: number;
}

interface SentPart {
  readonly entries: number;
  readonly upTo: number | null;
}

const auditCollection = 'audit';
const auditWaitMs = 2_000;
const eventsOfPart = 100;
const maxPieceBytes = 64 * 1024;
const defaultPartTimeoutMs = 1_000;

/**
 * Sends readers the entries from before they joined, which the audit's read model finds. A few parts of the past are in
 * memory at the same time, for projects in turn. A client that does not read its part soon loses its turn: what is left
 * is made again when the client has read the rest.
 */
export class PastEntries {
  readonly #options: PastEntriesOptions;

  constructor(options: PastEntriesOptions) {
    this.#options = options;
  }

  /** Waits until all entries up to a position can be found. @throws UnavailableError after the time limit */
  async reach(position: number): Promise<void> {
    if (await areShown(this.#options.positions, [auditCollection], position, { ms: auditWaitMs })) return;
    throw new UnavailableError('The audit has not caught up with the log: past entries cannot be read just now.');
  }

  /**
   * Sends the entries without the one at `after`, with the one at `until`, as fast as the reader receives them.
   * @returns the number of entries
   * @throws UnavailableError
   */
  async send(reader: FeedReader, after: number, until: number): Promise<number> {
    if (after >= until) return 0;
    await this.reach(until);
    let entries = 0;
    for (let from: number | null = after; from !== null && from < until && !reader.hasEnded; ) {
      const sent: SentPart = await this.#sendPart(reader, from, until);
      entries += sent.entries;
      from = sent.upTo;
      await reader.whenRead();
    }
    return entries;
  }

  async #sendPart(reader: FeedReader, after: number, until: number): Promise<SentPart> {
    const held = new Held(reader.caller.projectId);
    const leave = await this.#options.admission.slot(held, 'past entries');
    if (E.isLeft(leave)) throw new UnavailableError(leave.left.detail);
    try {
      return await this.#sendInTurn(reader, after, until);
    } finally {
      leave.right();
    }
  }

  async #sendInTurn(reader: FeedReader, after: number, until: number): Promise<SentPart> {
    const { documents, reads, partTimeoutMs = defaultPartTimeoutMs } = this.#options;
    if (reader.hasEnded) return { entries: 0, upTo: after };
    const { events, lookedUpTo } = await pastEvents(documents, reader.caller, after, eventsOfPart);
    const places = events.filter(({ position }) => position <= until);
    const pieces = piecesOf(await auditEntries(reads, places));
    const end = clock.now() + partTimeoutMs;
    let sent: SentPart = { entries: 0, upTo: after };
    for (const { bytes, entries, position } of pieces) {
      if (!(await reader.whenRead(end - clock.now())) || reader.hasEnded) return sent;
      reader.sendFirst(bytes);
      sent = { entries: sent.entries + entries, upTo: position };
    }
    return { ...sent, upTo: lookedUpTo };
  }
}

function piecesOf(entries: ReadonlyArray<AuditEntry>): ReadonlyArray<Piece> {
  const pieces: Piece[] = [];
  let messages: Buffer[] = [];
  let bytes = 0;
  let position = 0;
  const endPiece = () => {
    if (messages.length > 0) pieces.push({ bytes: Buffer.concat(messages, bytes), entries: messages.length, position });
    messages = [];
    bytes = 0;
  };
  for (const entry of entries) {
    const message = Buffer.from(entryMessage(entry));
    if (bytes + message.length > maxPieceBytes) endPiece();
    messages.push(message);
    bytes += message.length;
    position = entry.position;
  }
  endPiece();
  return pieces;
}
