import * as E from 'fp-ts/lib/Either.js';
import * as t from 'io-ts';
import type { RecordStore } from '#records/record-store.ts';
import { EncodedJson } from '#shared/json/encoded-json.ts';

/**
 * A stored state of a stream at one of its events. With it, a long stream need not be read from its beginning. It is a
 * cache, so a loss only costs time. It has no texts, no personal data and no secrets.
 */
export interface StoredSnapshot {
  readonly stream: string;
  /** The revision of the last event in it. */
  readonly revision: number;
  /** The hash of that event. If the event in the log has a different hash, the snapshot is of another log. */
  readonly hash: string;
  /** The entity's `stateVersion`. */
  readonly stateVersion: number;
  /** One JSON value in each line: see `snapshot-text.ts`. At most 12 MiB. */
  readonly body: string;
}

/** Stores one snapshot for each stream. */
export interface SnapshotStore {
  /** @throws UnavailableError */
  read(stream: string): Promise<StoredSnapshot | null>;
  /** Stores a snapshot in place of the stream's earlier one. @throws UnavailableError */
  save(snapshot: StoredSnapshot): Promise<void>;
}

const kind = 'snapshots';

const Head = t.type({ revision: t.number, hash: t.string, stateVersion: t.number });

/**
 * Snapshots as records. The value is a list: a head, and each line of the body. Its text is made of the lines, and taken
 * apart, without encoding or parsing them, because that would hold up other requests.
 */
export class RecordSnapshots implements SnapshotStore {
  readonly #records: Pick<RecordStore, 'encoded' | 'put'>;

  constructor(records: Pick<RecordStore, 'encoded' | 'put'>) {
    this.#records = records;
  }

  async read(stream: string): Promise<StoredSnapshot | null> {
    const text = (await this.#records.encoded(kind, stream))?.text ?? '';
    const headEnd = text.indexOf(separator);
    if (headEnd < 0) return null;
    const head = Head.decode(JSON.parse(text.slice(1, headEnd)));
    const body = text.slice(headEnd + separator.length, -1).replaceAll(separator, '\n');
    return E.isRight(head) ? { stream, ...head.right, body } : null;
  }

  save({ stream, revision, hash, stateVersion, body }: StoredSnapshot): Promise<void> {
    const head = JSON.stringify({ revision, hash, stateVersion });
    const text = `[${head}${separator}${body.replaceAll('\n', separator)}]`;
    return this.#records.put(kind, new Map([[stream, new EncodedJson(text)]]));
  }
}

/** Separates the lines. No JSON text has a line break in itself. */
const separator = ',\n';
