import * as E from 'fp-ts/lib/Either.js';
import type { BlobStore, ListedBlob } from '#blob-store/blob-store.ts';
import { partBlobPrefix } from '#domain/batch/batch.ts';
import { eventCodecs } from '#domain/event-codecs.ts';
import { upcasters } from '#domain/upcasters.ts';
import { UpcastError, upcastWith } from '#event-store/recorded-event.ts';
import { describeUndecodable, InterruptedError, LogError } from '#event-store/transfer/log-failure.ts';
import { pagesOf, type RawEvent, type RawLog } from '#event-store/transfer/raw-log.ts';
import { inputErrors } from '#exchange/input-errors.ts';
import { fileBlobPrefix } from './file-uploads.ts';
import { concernsBlobs, type Orphan, OrphanSearch } from './orphan-search.ts';

/** @param fraction from 0 to 1; null if the total is unknown */
type Report = (done: number, fraction: number | null) => void;

export interface BlobSweepOptions {
  readonly blobs: Pick<BlobStore, 'list' | 'delete'>;
  readonly eventLog: RawLog;
  readonly now: () => Date;
  readonly signal: AbortSignal;
}

/** The sweep ignores content with other prefixes. */
const sweptPrefixes = [fileBlobPrefix, partBlobPrefix];

/**
 * The event of a younger blob may still come. No upload or recording of a part takes nearly as long from the blob to
 * its event.
 */
const minAgeMs = 24 * 60 * 60 * 1_000;

/** Number of blobs that are removed between two reads of new events. */
const removedAtOnce = 100;

const upcast = upcastWith(upcasters);

/** Removes content of files and batches that nothing uses. The service may run meanwhile. */
export class BlobSweep {
  readonly #options: BlobSweepOptions;
  readonly #search: OrphanSearch;
  /** The position up to which the log was read. */
  #position = 0;

  private constructor(options: BlobSweepOptions, candidates: Iterable<ListedBlob>) {
    this.#options = options;
    this.#search = new OrphanSearch(candidates);
  }

  /**
   * Lists the blobs that are older than 24 hours, and only then reads the log, so that it sees all events of the hours
   * since each blob was stored.
   * @throws UnavailableError; LogError for an event that cannot be read; InterruptedError
   */
  static async find(options: BlobSweepOptions, onListed: Report, onRead: Report): Promise<BlobSweep> {
    const candidates: ListedBlob[] = [];
    const storedBefore = options.now().getTime() - minAgeMs;
    let listed = 0;
    for (const prefix of sweptPrefixes) {
      for await (const blob of options.blobs.list(prefix)) {
        if (blob.storedAt.getTime() < storedBefore) candidates.push(blob);
        listed += 1;
        onListed(listed, null);
        checkInterrupted(options.signal);
      }
    }
    const sweep = new BlobSweep(options, candidates);
    await sweep.#readOn(onRead);
    return sweep;
  }

  /** The blobs older than 24 hours, and those among them that an event ever named. */
  get judged(): { readonly old: number; readonly named: number } {
    return { old: this.#search.size, named: this.#search.named };
  }

  orphans(): ReadonlyArray<Orphan> {
    return this.#search.orphans();
  }

  /**
   * Yields each orphan after its removal. After a day without the event store, an event may name a blob only now, so
   * new events are read before each hundred.
   * @throws UnavailableError, LogError, InterruptedError; earlier removals are not undone
   */
  async *remove(): AsyncGenerator<Orphan, void, void> {
    const orphans = this.orphans();
    for (const [index, orphan] of orphans.entries()) {
      checkInterrupted(this.#options.signal);
      if (index % removedAtOnce === 0) await this.#readOn(() => undefined);
      if (!this.#search.isOrphan(orphan.id)) continue;
      await this.#options.blobs.delete(orphan.id);
      yield orphan;
    }
  }

  async #readOn(report: Report): Promise<void> {
    const { eventLog, signal } = this.#options;
    const end = await eventLog.lastPosition();
    let events = 0;
    for await (const page of pagesOf(eventLog, end, this.#position)) {
      for (const event of page) if (concernsBlobs(event.type)) this.#search.add(decoded(event));
      this.#position = page.at(-1)?.position ?? end;
      events += page.length;
      report(events, this.#position / end);
      checkInterrupted(signal);
    }
  }
}

function checkInterrupted(signal: AbortSignal): void {
  if (signal.aborted) throw new InterruptedError('stopped; the blobs that were removed before stay removed.');
}

/** @throws LogError, because nothing may be removed if an event cannot be read */
function decoded(event: RawEvent): { readonly type: string; readonly data: unknown } {
  const { type, data, metadata } = event;
  try {
    const { schemaVersion } = JSON.parse(metadata) as { schemaVersion: number };
    const read = eventCodecs[type]?.decode(upcast(type, schemaVersion, JSON.parse(data)));
    if (read !== undefined && E.isRight(read)) return { type, data: read.right };
    const [fault] = read === undefined ? [] : inputErrors(read.left);
    throw new LogError(describeUndecodable(event, `${fault?.pointer} ${fault?.message}`));
  } catch (error) {
    if (!(error instanceof UpcastError || error instanceof SyntaxError)) throw error;
    throw new LogError(describeUndecodable(event, error.message));
  }
}
